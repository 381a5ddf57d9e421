//! Files that `crease run` writes on the way: series of fields, and checkpoints that it goes on from.
//!
//! In: options, a run.   Out: the run after its last step, the files, and lines that say what was written.
//!
//! Where there is a checkpoint to write, SIGINT and SIGTERM end the run at its last whole step, which is then saved.

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use crease::kernel::graph::Role;
use crease::{Cancel, Run, RunError};
use crease_files::checkpoint::Checkpoint;
use crease_files::{CheckpointError, Derived, Existing, Format, Grid, Output, OutputError, OutputOptions, TimeLoop};

use crease_pictures::fields::{flow_fields, is_flow};

use crate::error::CommandError;

/// What a process ends with that is interrupted a second time, as shells have it for SIGINT.
const INTERRUPTED: i32 = 130;

/// Which files are written on the way, and where a run goes on from.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct FileOptions {
    /// Write fields into this directory as image data of VTK (.vti, with a .pvd), for ParaView and the like.
    #[arg(long, value_name = "DIR")]
    pub vtk: Option<PathBuf>,
    /// Write fields into this directory, each to a .npy file a step.
    #[arg(long, value_name = "DIR")]
    pub npy: Option<PathBuf>,
    /// Write fields into this directory, all of a step to one .npz file.
    #[arg(long, value_name = "DIR")]
    pub npz: Option<PathBuf>,
    /// Draw fields into this directory, each to a .png file a step.
    #[arg(long, value_name = "DIR")]
    pub png: Option<PathBuf>,
    /// Write fields at the steps that K divides; else only before the first step and after the last, where they are
    /// written in any case.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub every: Option<u64>,
    /// The fields that are written, separated by commas: states and outputs, and of populations density, velocity_x,
    /// velocity_y, velocity_z, speed and vorticity; by default these, else all that the format takes.
    #[arg(long, value_name = "ARRAYS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// What becomes of files of such a series that are there already; by default those up to the step of a restart
    /// stay, and others are an error.
    #[arg(long, value_name = "POLICY")]
    pub existing: Option<ExistingFiles>,
    /// How far points of image data are apart, by x, y and z: the last index of an array is x.
    #[arg(long, value_name = "DX[,DY[,DZ]]", value_delimiter = ',')]
    pub spacing: Vec<f64>,
    /// Where the point of image data is whose indices are 0.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', allow_hyphen_values = true)]
    pub origin: Vec<f64>,
    /// The time that a step takes, for files that say the time.
    #[arg(long, value_name = "TIME")]
    pub time_step: Option<f64>,
    /// The values at both ends of the colours of pictures; by default the least and the greatest of each.
    #[arg(long, value_name = "LEAST,MOST", value_delimiter = ',', allow_hyphen_values = true)]
    pub png_range: Vec<f64>,
    /// Save all that a restart needs to this file after the last step, and when the process is asked to end.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Save it also at the steps that K divides.
    #[arg(long, value_name = "K", requires = "checkpoint", value_parser = clap::value_parser!(u64).range(1..))]
    pub checkpoint_every: Option<u64>,
    /// Go on from a checkpoint: to the step that is set, those before the restart included.
    #[arg(long, value_name = "FILE")]
    pub restart: Option<PathBuf>,
}

/// What becomes of files that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExistingFiles {
    /// They are an error.
    Refuse,
    /// They are removed.
    Replace,
    /// Those up to the step of the run stay, later ones are removed.
    Continue,
}

impl FileOptions {
    /// The checkpoint to go on from, if there is one: verified, before anything is planned.
    pub(crate) fn open_restart(&self) -> Result<Option<Checkpoint>, CommandError> {
        Ok(self.restart.as_ref().map(Checkpoint::open).transpose()?)
    }

    /// Whether all states are in memory at once, as doubles, to derive fields from them.
    pub(crate) fn derives_fields(&self, kernel: &crease::Kernel) -> bool {
        let writes = [&self.vtk, &self.npy, &self.npz, &self.png].into_iter().any(Option::is_some);
        writes && is_flow(kernel)
    }

    /// The series that are to be written.
    pub(crate) fn begin(&self, run: &Run) -> Result<Vec<Output>, CommandError> {
        let options = self.output_options()?;
        let formats =
            [(Format::Vtk, &self.vtk), (Format::Npy, &self.npy), (Format::Npz, &self.npz), (Format::Png, &self.png)];
        let asked = formats.into_iter().filter_map(|(format, directory)| Some((format, directory.as_ref()?)));
        let begin = |(format, directory)| -> Result<Output, CommandError> {
            Ok(Output::begin_derived(run, format, directory, &options, flow(run)?)?)
        };
        asked.map(begin).collect()
    }

    fn output_options(&self) -> Result<OutputOptions, CommandError> {
        let existing = match (self.existing, &self.restart) {
            (Some(ExistingFiles::Continue), _) | (None, Some(_)) => Existing::Continue,
            (Some(ExistingFiles::Replace), _) => Existing::Replace,
            (Some(ExistingFiles::Refuse) | None, _) => Existing::Refuse,
        };
        let mut grid = Grid::default();
        let origin = counted("--origin", "X[,Y[,Z]]", &self.origin, 0..=3)?;
        grid.origin.iter_mut().zip(origin).for_each(|(place, value)| *place = *value);
        // One spacing is that of all axes, two are those of x and of the others.
        let spacing = counted("--spacing", "DX[,DY[,DZ]]", &self.spacing, 0..=3)?;
        let last = spacing.last().copied().unwrap_or(1.0);
        grid.spacing = [0, 1, 2].map(|axis| spacing.get(axis).copied().unwrap_or(last));
        grid.time_step = self.time_step.unwrap_or(grid.time_step);
        let mut options = OutputOptions::default().existing(existing).grid(grid);
        if !self.png_range.is_empty() {
            let form = "LEAST,MOST, of which the first is less";
            let range = counted("--png-range", form, &self.png_range, 2..=2)?;
            // One of them may be NaN.
            let is_range = range[0] < range[1];
            if !is_range {
                return Err(not_of_form("--png-range", form, range));
            }
            options = options.range(range[0], range[1]);
        }
        Ok(if self.fields.is_empty() { options } else { options.fields(&self.fields) })
    }

    /// Runs so many steps more, and writes what is due on the way.
    pub(crate) fn advance(&self, run: &mut Run, steps: u64, outputs: &mut [Output]) -> Result<(), CommandError> {
        let mut time_loop = TimeLoop::new();
        for output in outputs {
            time_loop = time_loop.output(self.every.unwrap_or(u64::MAX), output);
        }
        if let Some(path) = &self.checkpoint {
            time_loop = time_loop.checkpoint(self.checkpoint_every.unwrap_or(u64::MAX), path);
            run.cancel_with(cancelled_by_signals()?);
        }
        time_loop.run(run, steps).map_err(|error| match (error, &self.checkpoint) {
            (OutputError::Run(crease::Error::Run(RunError::Cancelled { step, left })), Some(path)) => {
                CommandError::Stopped { step, left, path: path.clone() }
            }
            (error, _) => error.into(),
        })
    }

    /// Writes what a kernel without steps leaves.
    pub(crate) fn write_once(&self, run: &Run, outputs: &mut [Output]) -> Result<(), CommandError> {
        Ok(outputs.iter_mut().try_for_each(|output| output.write(run))?)
    }

    /// A kernel without steps cannot go on; and no option says how files are written that are none.
    pub(crate) fn verify(&self, kernel: &crease::Kernel) -> Result<(), CommandError> {
        let named = || kernel.name().to_owned();
        if !kernel.has_state() {
            if self.checkpoint.is_some() || self.restart.is_some() {
                return Err(CheckpointError::NoState { kernel: named() }.into());
            }
            if self.every.is_some() {
                return Err(CommandError::WithoutSteps { option: "--every", kernel: named() });
            }
        }
        let [vtk, npy, npz, png] = [&self.vtk, &self.npy, &self.npz, &self.png].map(Option::is_some);
        let (any, series) = (vtk || npy || npz || png, "--vtk, --npy, --npz and --png");
        let idle = [
            ("--every", self.every.is_some(), any, series),
            ("--fields", !self.fields.is_empty(), any, series),
            ("--existing", self.existing.is_some(), any, series),
            ("--spacing", !self.spacing.is_empty(), vtk, "--vtk"),
            ("--origin", !self.origin.is_empty(), vtk, "--vtk"),
            ("--time-step", self.time_step.is_some(), vtk || npz, "--vtk and --npz"),
            ("--png-range", !self.png_range.is_empty(), png, "--png"),
        ];
        match idle.into_iter().find(|(_, is_given, is_heeded, _)| *is_given && !is_heeded) {
            Some((option, _, _, formats)) => Err(CommandError::WithoutFiles { option, formats }),
            None => self.output_options().map(drop),
        }
    }

    /// Says what was written.
    pub(crate) fn describe(&self, outputs: &[Output], text: &mut String) {
        for output in outputs {
            let count = output.steps().count();
            let steps = if count == 1 { "step" } else { "steps" };
            let _ = writeln!(text, "{} of {count} {steps} -> {}", output.format(), output.directory().display());
        }
        if let Some(path) = &self.checkpoint {
            let _ = writeln!(text, "checkpoint -> {}", path.display());
        }
    }
}

/// Density, velocity and what follows from them, of a run of populations.
fn flow(run: &Run) -> Result<Option<Derived>, CommandError> {
    let Some(fields) = flow_fields(run)? else { return Ok(None) };
    let states = run.kernel().arrays().iter().find(|array| array.role == Role::State);
    let ranges = states.map(|array| run.index_ranges(&array.name)).transpose()?.unwrap_or_default();
    let names: Vec<_> = fields.into_iter().map(|(name, _)| (name, ranges.clone())).collect();
    Ok(Some(Derived::new(names, |run| {
        let fields = flow_fields(run)?.unwrap_or_default();
        Ok(fields.into_iter().map(|(_, values)| values).collect())
    })))
}

/// The numbers of an option, if they are as many as it takes.
fn counted<'a>(
    option: &str,
    form: &'static str,
    numbers: &'a [f64],
    count: RangeInclusive<usize>,
) -> Result<&'a [f64], CommandError> {
    if count.contains(&numbers.len()) {
        return Ok(numbers);
    }
    Err(not_of_form(option, form, numbers))
}

fn not_of_form(option: &str, form: &'static str, numbers: &[f64]) -> CommandError {
    let given: Vec<String> = numbers.iter().map(f64::to_string).collect();
    CommandError::BadSetting { text: format!("{option} {}", given.join(",")), form }
}

/// What is stopped by SIGINT and SIGTERM; a second signal ends the process at once. The handler stays, for the process.
fn cancelled_by_signals() -> Result<&'static Cancel, CommandError> {
    static CANCEL: OnceLock<Cancel> = OnceLock::new();
    if let Some(cancel) = CANCEL.get() {
        return Ok(cancel);
    }
    let cancel = Cancel::new();
    let by_signal = cancel.clone();
    ctrlc::set_handler(move || {
        if by_signal.is_cancelled() {
            process::exit(INTERRUPTED);
        }
        by_signal.cancel();
    })?;
    Ok(CANCEL.get_or_init(|| cancel))
}

/// Steps from where a restarted run stands to the end that was asked for.
pub(crate) fn steps_left(run: &Run, end: u64, restart: Option<&Path>) -> Result<u64, CommandError> {
    let done = run.step().unsigned_abs();
    let past = || CommandError::PastEnd { path: restart.map(Path::to_owned).unwrap_or_default(), step: done, end };
    end.checked_sub(done).ok_or_else(past)
}
