//! `crease run`: a kernel on arrays in files.
//!
//! Inputs and the state at step 0 come from `.npy` files, are filled with a number, or else are the catalogue's initial
//! data; all must be given. Outputs, and the state after the last step, go to `.npy` files; a summary is printed. Files
//! of `f16` arrays hold `f32`, as the library for files has no half precision.

use std::convert::identity;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crease::kernel::affine::AffineOverflow;
use crease::kernel::graph::{Array, Element, Param, Role};
use crease::{ElementType, Kept, Plan, Run, RunOptions, f16};
use crease_bench::BenchError;
use crease_bench::code_variant::describe_tuning;
use crease_bench::columns::bytes;
use crease_pictures::fields::{self, FieldImage, is_drawn_as_flow};
use crease_pictures::timeline;
use ndarray::{ArrayD, Dimension};
use ndarray_npy::{WritableElement, write_npy};

use crate::destinations::{in_its_directory, resolved, verify_directory, verify_file, verify_replaced};
use crate::error::CommandError;
use crate::files::{FileOptions, steps_left};
use crate::kernel_source::{KernelSource, starts};
use crate::memory::{self, Held, Prediction};
use crate::request::{Resolved, threads};
use crate::run_request::RunRequest;
use crate::settings::Assignment;
use crate::start::{level, start};
use crate::steps::filled_bytes;

/// Runs a kernel and describes what came out.
///
/// # Errors
/// [`CommandError`] if a name is unknown, a value missing, a file unfit, or the engine refuses.
pub fn run(request: &RunRequest) -> Result<String, CommandError> {
    let Resolved { source, settings } = request.request.resolve()?;
    check_names(&source, request)?;
    if let (Some(id), None) = (source.kernel.step_param(), settings.steps) {
        let (kernel, name) = (source.kernel.name().to_owned(), source.kernel.params()[id.index()].name.clone());
        return Err(CommandError::Unset { kernel, what: "a number of steps for", name, option: "--set NAME=STEPS" });
    }
    request.files.verify(&source.kernel)?;
    verify_destinations(request)?;
    let restart = request.files.open_restart()?;
    let builder = request.request.plan(&source, &settings).run_opaque_functions(request.opaque);
    let plan = request.request.code.build(builder)?;
    let is_restored = |name: &str| restart.as_ref().is_some_and(|checkpoint| checkpoint.holds(name));
    let is_missing = |name: &String| !request.gives(name) && !is_restored(name);
    let made = if source.made_arrays().iter().any(is_missing) { source.made_arrays() } else { Vec::new() };
    // Of any level: one is held at a time.
    let array = |(name, _): &(String, PathBuf)| name.split('@').next().unwrap_or_default().to_owned();
    let read: Vec<String> = request.inputs.iter().map(array).collect();
    let written: Vec<String> = request.outputs.iter().map(array).collect();
    let held = Held {
        made: &made,
        read: &read,
        written: &written,
        archives: request.files.npz.is_some(),
        draws: request.images.is_some() || request.files.png.is_some(),
        derives: request.images.is_some() && is_drawn_as_flow(&source.kernel)
            || request.files.derives_fields(&source.kernel),
    };
    memory::verify(&plan, held)?;
    let (code, tuned) = request.request.code.compile(&plan)?;
    let mut predicted = memory::predict(&plan, held);
    let records_load = request.load || request.timeline.is_some();
    let options = RunOptions::default().threads(plan.threads()).records_load(records_load);
    let mut run = code.instantiate_with(options)?;
    let filled = filled_bytes(&run, request, settings.steps.unwrap_or(0))?;
    memory::verify_filled(&plan, held, filled)?;
    predicted.peak_bytes = predicted.peak_bytes.saturating_add(filled);
    start(&mut run, &source, &settings, request, restart.as_ref())?;
    let mut text = tuned.as_ref().map(describe_tuning).unwrap_or_default();
    let threads = threads(plan.report());
    advance(&mut run, settings.steps, &request.files, &threads, &mut text)?;
    describe_load(&run, request.timeline.as_deref(), &mut text)?;
    hand_out_all(&run, request, &mut text)?;
    describe_memory(&plan, predicted, &mut text);
    for (what, kept) in [("plan", plan.kept()), ("code", code.kept())] {
        if let Kept::Not(why) = kept {
            let _ = writeln!(text, "note: this {what} was not kept: {why}");
        }
    }
    Ok(text)
}

/// Tries what is written after the last step, while nothing is lost yet.
fn verify_destinations(request: &RunRequest) -> Result<(), CommandError> {
    request.outputs.iter().try_for_each(|(_, path)| verify_file(path))?;
    request.files.checkpoint.iter().try_for_each(|path| verify_replaced(path))?;
    [&request.images, &request.timeline].into_iter().flatten().try_for_each(|path| verify_directory(path))
}

/// Tells of all arrays that the last step leaves, and writes and draws what is asked for.
fn hand_out_all(run: &Run, request: &RunRequest, text: &mut String) -> Result<(), CommandError> {
    let kernel = run.kernel();
    for id in kernel.array_ids() {
        let array = kernel.array(id);
        if matches!(array.role, Role::Output | Role::State) {
            for back in 0..kernel.state_depth(id).max(1) {
                hand_out(run, array, back, request, text)?;
            }
        }
    }
    if let Some(directory) = &request.images {
        for FieldImage { file, range: (least, most), title, .. } in fields::draw(run, kernel, directory)? {
            let _ = writeln!(text, "{title}: {least:.6e} to {most:.6e} -> {}", file.display());
        }
    }
    Ok(())
}

/// Does all steps, with the files that are due on the way, and says how long it took.
fn advance(
    run: &mut Run,
    end: Option<u64>,
    files: &FileOptions,
    threads: &str,
    text: &mut String,
) -> Result<(), CommandError> {
    let mut outputs = files.begin(run)?;
    let left = end.map(|end| steps_left(run, end, files.restart.as_deref())).transpose()?;
    let started = Instant::now();
    match left {
        Some(steps) => files.advance(run, steps, &mut outputs)?,
        None => {
            run.run_once()?;
            files.write_once(run, &mut outputs)?;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let steps = left.map(|steps| format!("{steps} steps, ")).unwrap_or_default();
    let _ = writeln!(text, "{}: {steps}{seconds:.6} s, threads {threads}", run.kernel().name());
    files.describe(&outputs, text);
    Ok(())
}

/// What the threads did, if that was recorded, and a picture of it.
fn describe_load(run: &Run, timeline: Option<&Path>, text: &mut String) -> Result<(), CommandError> {
    let Some(load) = run.take_load() else { return Ok(()) };
    let _ = writeln!(text, "load of {}", timeline::shares(&load));
    let Some(directory) = timeline else { return Ok(()) };
    let drawn = timeline::draw(&load, run.kernel().name(), directory)?;
    let where_to = drawn.map_or("nothing to draw: no parallel loop ran".to_owned(), |path| path.display().to_string());
    let _ = writeln!(text, "tiles over threads and time -> {where_to}");
    Ok(())
}

/// What the run kept, what the process had, and what was said of threads.
fn describe_memory(plan: &Plan, predicted: Prediction, text: &mut String) {
    let footprint = plan.footprint();
    let (folded, copied) = (bytes(footprint.folded_bytes), bytes(footprint.copied_bytes));
    let copies = if footprint.copied_bytes > 0 { format!(" and {copied} in copies of arrays") } else { String::new() };
    let measured = memory::measured_peak_bytes().map(|peak| format!(", measured {}", bytes(peak))).unwrap_or_default();
    let (peak, base) = (bytes(predicted.peak_bytes), bytes(predicted.base_bytes));
    let _ = writeln!(text, "memory: {folded} folded{copies}; peak predicted {peak}{measured}, {base} before the run");
    for note in plan.report().notes.iter().filter(|note| note.contains("threads") || note.contains("one thread")) {
        let _ = writeln!(text, "note: {note}");
    }
}

/// Every array named on the command line exists and has a role that fits.
fn check_names(source: &KernelSource, request: &RunRequest) -> Result<(), CommandError> {
    const STARTS: &str = "input, state or live-in output";
    let kernel = &source.kernel;
    let levels_of = |is: fn(&Array) -> bool| -> Vec<String> {
        let arrays = kernel.array_ids().filter(move |&id| is(kernel.array(id)));
        arrays
            .flat_map(|id| (0..kernel.state_depth(id).max(1)).map(move |back| level(kernel.array(id), back)))
            .collect()
    };
    let leaves = |array: &Array| matches!(array.role, Role::Output | Role::State);
    for (given, known, what) in
        [(&request.inputs, levels_of(starts), STARTS), (&request.outputs, levels_of(leaves), "output or state")]
    {
        for (position, (name, _)) in given.iter().enumerate() {
            if !known.contains(name) {
                return Err(BenchError::unknown(kernel.name(), what, name, known.iter()).into());
            }
            if given[..position].iter().any(|(other, _)| other == name) {
                return Err(CommandError::GivenTwice { name: name.clone() });
            }
        }
    }
    verify_own_files(source, request)?;
    let starts = source.starting_arrays();
    for (position, Assignment { name, .. }) in request.fills.iter().enumerate() {
        if !starts.contains(name) {
            return Err(BenchError::unknown(kernel.name(), STARTS, name, starts.iter()).into());
        }
        let is_read = request.inputs.iter().any(|(input, _)| input.split('@').next() == Some(name));
        if is_read || request.fills[..position].iter().any(|other| other.name == *name) {
            return Err(CommandError::GivenTwice { name: name.clone() });
        }
    }
    Ok(())
}

/// The text of the kernel, the checkpoint and all results have files of their own.
fn verify_own_files(source: &KernelSource, request: &RunRequest) -> Result<(), CommandError> {
    let kernel = Some(Path::new(&request.request.kernel)).filter(|_| source.entry.is_none()).map(resolved);
    // A checkpoint is renamed: what is replaced is the name, not the file that a link leads to.
    let checkpoint = request.files.checkpoint.as_deref().map(|path| (path, in_its_directory(path)));
    let outputs = request.outputs.iter().map(|(_, path)| (path.as_path(), resolved(path)));
    let mut taken: Vec<PathBuf> = Vec::new();
    for (path, file) in checkpoint.into_iter().chain(outputs) {
        if kernel.as_ref() == Some(&file) {
            return Err(CommandError::OverKernel { path: path.to_owned() });
        }
        if taken.contains(&file) {
            return Err(CommandError::GivenTwice { name: path.display().to_string() });
        }
        taken.push(file);
    }
    Ok(())
}

/// Tells of the newest level of an array, and of those that go to a file.
fn hand_out(run: &Run, array: &Array, back: u32, request: &RunRequest, text: &mut String) -> Result<(), CommandError> {
    let name = level(array, back);
    let path = request.outputs.iter().find(|(given, _)| *given == name).map(|(_, path)| path.as_path());
    if back > 0 && path.is_none() {
        return Ok(());
    }
    match array.element {
        Element::F64 => write_out::<f64, _>(run, (array, back), path, identity, text),
        Element::F32 => write_out::<f32, _>(run, (array, back), path, identity, text),
        Element::F16 => write_out(run, (array, back), path, f16::to_f32, text),
        Element::U8 => write_out::<u8, _>(run, (array, back), path, identity, text),
        Element::I8 => write_out::<i8, _>(run, (array, back), path, identity, text),
        Element::I16 => write_out::<i16, _>(run, (array, back), path, identity, text),
        Element::U16 => write_out::<u16, _>(run, (array, back), path, identity, text),
        Element::I32 => write_out::<i32, _>(run, (array, back), path, identity, text),
        Element::U32 => write_out::<u32, _>(run, (array, back), path, identity, text),
        Element::I64 => write_out::<i64, _>(run, (array, back), path, identity, text),
    }
}

fn write_out<T: ElementType, F: WritableElement + 'static>(
    run: &Run,
    (array, back): (&Array, u32),
    path: Option<&Path>,
    cell: fn(T) -> F,
    text: &mut String,
) -> Result<(), CommandError> {
    let mut field: ArrayD<T> = ArrayD::default(run.shape(&array.name)?);
    run.read_back(&array.name, back, field.view_mut())?;
    let name = level(array, back);
    let shape: Vec<String> = field.shape().iter().map(usize::to_string).collect();
    let told = if array.domain.is_box() {
        summary(field.iter().map(|&value| value.to_number()))
    } else {
        let (mut is_cell, mut unknown) = (cells_of(run, array)?, None);
        let cells = field.indexed_iter().filter(|(at, _)| {
            is_cell(at.slice()).unwrap_or_else(|error| {
                unknown = Some(error);
                false
            })
        });
        let told = summary(cells.map(|(_, &value)| value.to_number()));
        unknown.map_or(told, |error| format!("not summed up, as which cells it has is not known: {error}"))
    };
    let _ = write!(text, "{name} [{}]: {told}", shape.join(", "));
    if let Some(path) = path {
        write_npy(path, &field.mapv_into_any(cell))
            .map_err(|error| CommandError::BadArray { path: path.to_owned(), message: error.to_string() })?;
        let _ = write!(text, " -> {}", path.display());
    }
    text.push('\n');
    Ok(())
}

/// Which positions of a dense copy are cells of the array: where its domain is no box, the copy has others too.
fn cells_of<'a>(
    run: &Run,
    array: &'a Array,
) -> Result<impl FnMut(&[usize]) -> Result<bool, AffineOverflow> + use<'a>, CommandError> {
    let (sizes, ranges) = (run.sizes(), run.index_ranges(&array.name)?);
    // No domain asks for the number of steps.
    let size = |param: &Param| sizes.iter().find(|(name, _)| *name == param.name).map_or(0, |(_, size)| *size);
    let params: Vec<i64> = run.kernel().params().iter().map(size).collect();
    // Nor does that of a state ask for the step.
    let steps = array.index.len() - ranges.len();
    let mut index = vec![0; array.index.len()];
    Ok(move |at: &[usize]| {
        for ((value, position), (first, _)) in index[steps..].iter_mut().zip(at).zip(&ranges) {
            *value = first + *position as i64;
        }
        array.domain.holds(&index, &params)
    })
}

/// Least, mean and most of all values, and how many are no finite numbers.
fn summary(values: impl Iterator<Item = f64>) -> String {
    let (mut least, mut most, mut sum, mut count, mut bad) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0_u64, 0_u64);
    // The least and the most are those of the others, where some are NaN.
    for value in values {
        (least, most) = (least.min(value), most.max(value));
        (sum, count) = (sum + value, count + 1);
        bad += u64::from(!value.is_finite());
    }
    if count == 0 {
        return "no cells".to_owned();
    }
    if least > most {
        return format!("NaN in all {count} cells");
    }
    let mean = sum / count as f64;
    let bad = if bad > 0 { format!(", {bad} not finite") } else { String::new() };
    format!("min {least:.6e}, mean {mean:.6e}, max {most:.6e}{bad}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::KernelRequest;
    use crate::storage::StorageOptions;
    use crease_kernels::find;
    use ndarray_npy::read_npy;

    fn request(assignments: &[&str]) -> RunRequest {
        let assignments = assignments.iter().map(|text| text.parse().unwrap()).collect();
        let storage = StorageOptions { threads: Some(1), ..StorageOptions::default() };
        RunRequest {
            request: KernelRequest { assignments, storage, ..KernelRequest::of("heat-1d") },
            opaque: false,
            inputs: Vec::new(),
            fills: Vec::new(),
            outputs: Vec::new(),
            images: None,
            load: false,
            timeline: None,
            files: FileOptions::default(),
        }
    }

    #[test]
    fn a_state_read_from_a_file_and_written_to_one_matches_the_naive_loops() {
        let entry = find("heat-1d").unwrap();
        let mut case = entry.case(&entry.tests[0]);
        case.steps = 6;
        let initial = (entry.initial)(&case).unwrap();
        let expected = (entry.naive)(&case, &initial).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (input, output) = (directory.path().join("in.npy"), directory.path().join("out.npy"));
        write_npy(&input, &initial["u"]).unwrap();
        let mut request = request(&["N=21", "T=6"]);
        request.inputs = vec![("u".into(), input)];
        request.outputs = vec![("u".into(), output.clone())];
        let text = run(&request).unwrap();
        assert!(text.contains("6 steps"), "{text}");
        let found: ArrayD<f64> = read_npy(&output).unwrap();
        assert_eq!(found, expected["u"]);
    }

    /// Two levels of a state, and an output of which some cells are kept.
    const WAVE: &str = "kernel wave(size N; run T) {
      state u[t, x]: f64 for 0 <= x < N
      output seen[x]: f64 for 0 <= x < N live in for 0 <= x < N
      U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + u[t-2,x] }
      S[t, x] for 1 <= t <= T and t mod 10 = 0 and 0 <= x < N { seen[x] = u[t,x] }
      schedule rows { U -> [t, 0, x]; S -> [t, 1, x] }
    }";

    #[test]
    fn older_levels_go_to_files_and_come_from_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("wave.crk"), WAVE).unwrap();
        let mut request = request(&["N=4", "T=3"]);
        request.request.kernel = path("wave.crk").display().to_string();
        request.fills = vec!["u=1".parse().unwrap(), "seen=7".parse().unwrap()];
        request.outputs = vec![("u".into(), path("new.npy")), ("u@1".into(), path("old.npy"))];
        let text = run(&request).unwrap();
        assert!(text.contains("u@1 [4]:") && text.contains("seen [4]: min 7.0"), "{text}");
        let values = |name: &str| -> f64 { read_npy::<_, ArrayD<f64>>(path(name)).unwrap()[3] };
        assert_eq!((values("old.npy"), values("new.npy")), (3.0, 5.0));
        request.fills.remove(0);
        request.inputs = vec![("u".into(), path("new.npy")), ("u@1".into(), path("old.npy"))];
        request.outputs = vec![("u".into(), path("newest.npy"))];
        run(&request).unwrap();
        assert_eq!(values("newest.npy"), 21.0);
    }

    #[test]
    fn what_the_command_would_not_use_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wave.crk");
        std::fs::write(&path, WAVE).unwrap();
        let refused = |fills: &[&str], inputs: &[&str], outputs: &[&str]| {
            let mut request = request(&["N=4", "T=3"]);
            request.request.kernel = path.display().to_string();
            request.fills = fills.iter().map(|fill| fill.parse().unwrap()).collect();
            let files = |names: &[&str]| names.iter().map(|name| (name.to_string(), "no.npy".into())).collect();
            (request.inputs, request.outputs) = (files(inputs), files(outputs));
            run(&request).unwrap_err().to_string()
        };
        assert!(refused(&["u=0", "seen=0"], &[], &["u@2"]).contains("u, u@1, seen"));
        assert!(refused(&["seen=0"], &["u@9"], &[]).contains("`u@9`"));
        assert_eq!(refused(&["u=0", "seen=0"], &["u"], &[]), "two options name `u`; which one counts?");
        assert_eq!(refused(&["u=0", "seen=0"], &["u@1"], &[]), "two options name `u`; which one counts?");
        assert_eq!(refused(&["seen=0"], &["u@1", "u@1"], &[]), "two options name `u@1`; which one counts?");
        assert_eq!(refused(&["u=0", "u=1"], &[], &[]), "two options name `u`; which one counts?");
        assert_eq!(refused(&["u=0", "seen=0"], &[], &["u", "seen"]), "two options name `no.npy`; which one counts?");
        assert!(refused(&["u=0"], &[], &[]).contains("the live-in output"));
    }

    /// Nothing has run by then: there would be a result to lose.
    #[test]
    fn results_that_could_not_be_written_are_refused_before_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let mut request = request(&["N=21", "T=1000000000000000"]);
        request.outputs = vec![("u".into(), missing.join("u.npy"))];
        let refused = |request: &RunRequest| run(request).unwrap_err().to_string();
        assert!(refused(&request).contains("u.npy: "), "{}", refused(&request));
        request.outputs.clear();
        request.files.checkpoint = Some(missing.join("saved"));
        assert!(refused(&request).contains("saved: "), "{}", refused(&request));
    }

    #[test]
    fn values_that_are_no_numbers_are_counted() {
        let said = |values: &[f64]| summary(values.iter().copied());
        assert_eq!(said(&[]), "no cells");
        assert_eq!(said(&[f64::NAN, f64::NAN]), "NaN in all 2 cells");
        assert_eq!(said(&[f64::NAN, 2.0]), "min 2.000000e0, mean NaN, max 2.000000e0, 1 not finite");
        assert_eq!(said(&[f64::INFINITY, 2.0]), "min 2.000000e0, mean inf, max inf, 1 not finite");
    }

    /// A triangle, and a state whose domain lacks a cell: what the copy has beside them is zero.
    #[test]
    fn cells_outside_of_a_domain_are_not_told_of() {
        const TRIANGLE: &str = "kernel triangle(size N; run T) {
          state u[t, y, x]: f64 for 2 <= y < N and y <= x < N
          state v[t, x]: f64 for 0 <= x < N and x != 1
          output w[x]: f64 for 0 <= x < 2N and x mod 2 = 0
          U[t, y, x] for 1 <= t <= T and 2 <= y < N and y <= x < N { u[t,y,x] = u[t-1,y,x] + x }
          V[t, x] for 1 <= t <= T and 0 <= x < N and x != 1 { v[t,x] = 2 * v[t-1,x] }
          W[t, x] for 1 <= t <= T and t = T and 0 <= x < 2N and x mod 2 = 0 { w[x] = 5 }
        }";
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("triangle.crk");
        std::fs::write(&path, TRIANGLE).unwrap();
        let mut request = request(&["N=4", "T=1"]);
        request.request.kernel = path.display().to_string();
        request.fills = vec!["u=1".parse().unwrap(), "v=1".parse().unwrap()];
        let text = run(&request).unwrap();
        let told = |line: &str| assert!(text.contains(line), "{text}");
        told("u [2, 2]: min 3.000000e0, mean 3.666667e0, max 4.000000e0\n");
        told("v [4]: min 2.000000e0, mean 2.000000e0, max 2.000000e0\n");
        told("w [7]: min 5.000000e0, mean 5.000000e0, max 5.000000e0\n");
    }

    #[test]
    fn the_load_of_threads_is_told_and_drawn() {
        let directory = tempfile::tempdir().unwrap();
        let mut request = request(&["N=40", "T=6"]);
        request.request.kernel = "heat-2d-5pt".into();
        request.request.schedule = Some("parallel_rows".into());
        request.request.storage.threads = Some(2);
        request.timeline = Some(directory.path().into());
        let text = run(&request).unwrap();
        assert!(text.contains("load of 2 threads") && text.contains("timeline.svg"), "{text}");
        assert!(directory.path().join("timeline.csv").exists());
    }

    #[test]
    fn files_and_names_that_do_not_fit_are_errors() {
        let mut unknown = request(&["N=21"]);
        unknown.inputs = vec![("w".into(), "w.npy".into())];
        assert!(matches!(run(&unknown), Err(CommandError::Bench(BenchError::UnknownName { .. }))));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wrong.npy");
        write_npy(&path, &ArrayD::<f64>::zeros(vec![7])).unwrap();
        let mut wrong = request(&["N=21"]);
        wrong.inputs = vec![("u".into(), path.clone())];
        let refused = |request: &RunRequest| match run(request) {
            Err(CommandError::BadArray { path, message }) => format!("{}: {message}", path.ends_with("wrong.npy")),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(&wrong), "true: an array of shape [7], but `u` has [21]");
        write_npy(&path, &ArrayD::<f32>::zeros(vec![21])).unwrap();
        assert!(refused(&wrong).ends_with("; array `u` takes an .npy file of f64"), "{}", refused(&wrong));
        std::fs::write(&path, "no array").unwrap();
        assert!(refused(&wrong).ends_with("; array `u` takes an .npy file of f64"), "{}", refused(&wrong));
        // A header alone, of as many cells as no memory has, and of as many as are wanted.
        for (shape, message) in [
            ("(1099511627776, 3)", "an array of shape [1099511627776, 3], but `u` has [21]"),
            ("(21,)", "an array of shape [21] and cells of 8 bytes, of which the file holds 0 bytes"),
        ] {
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
            let header = format!("{header:117}\n");
            let magic = [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes()].concat();
            std::fs::write(&path, [magic.as_slice(), header.as_bytes()].concat()).unwrap();
            assert_eq!(refused(&wrong), format!("true: {message}"));
        }
    }

    #[test]
    fn steps_that_no_memory_holds_are_not_filled() {
        const DRIVEN: &str = "kernel driven(size N; run T) {
          input f[t]: f64 for 1 <= t <= T
          state u[t, x]: f64 for 0 <= x < N
          S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + f[t] }
        }";
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("driven.crk");
        std::fs::write(&path, DRIVEN).unwrap();
        let after = |steps: &str| {
            let mut request = request(&["N=3", steps]);
            request.request.kernel = path.display().to_string();
            request.fills = vec!["u=0".parse().unwrap(), "f=2".parse().unwrap()];
            run(&request)
        };
        for steps in ["T=4611686018427387903", "T=100000000000000"] {
            let refused = after(steps).unwrap_err();
            assert!(matches!(refused, CommandError::Memory { .. }), "{refused}");
        }
        // More than a block of cells.
        let text = after("T=600000").unwrap();
        assert!(text.contains("max 1.200000e6"), "{text}");
    }

    #[test]
    fn results_do_not_replace_each_other_nor_the_kernel() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("wave.crk"), WAVE).unwrap();
        std::fs::create_dir(at("inside")).unwrap();
        std::fs::write(at("there.npy"), "").unwrap();
        std::os::unix::fs::symlink(at("there.npy"), at("link.npy")).unwrap();
        let refused = |outputs: [&str; 2], checkpoint: Option<&str>| {
            let mut request = request(&["N=4", "T=3"]);
            request.request.kernel = at("wave.crk").display().to_string();
            request.fills = vec!["u=1".parse().unwrap(), "seen=7".parse().unwrap()];
            request.outputs = vec![("u".into(), at(outputs[0])), ("seen".into(), at(outputs[1]))];
            request.files.checkpoint = checkpoint.map(at);
            match run(&request) {
                Ok(_) => "nothing",
                Err(CommandError::GivenTwice { .. }) => "twice",
                Err(CommandError::OverKernel { .. }) => "kernel",
                Err(other) => panic!("{other}"),
            }
        };
        assert_eq!(refused(["a.npy", "inside/../a.npy"], None), "twice");
        assert_eq!(refused(["there.npy", "link.npy"], None), "twice");
        assert_eq!(refused(["a.npy", "wave.crk"], None), "kernel");
        assert_eq!(refused(["inside/../wave.crk", "a.npy"], None), "kernel");
        assert_eq!(refused(["a.npy", "b.npy"], Some("inside/../b.npy")), "twice");
        assert_eq!(refused(["a.npy", "b.npy"], Some("wave.crk")), "kernel");
        assert_eq!(refused(["a.npy", "b.npy"], Some("link.npy")), "nothing");
    }
}
