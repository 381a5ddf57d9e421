//! `crease run`: a kernel on arrays in files.
//!
//! Inputs and the state at step 0 come from `.npy` files, else from the catalogue's initial data; state that neither
//! gives starts at zero. Outputs, and the state after the last step, go to `.npy` files; a summary is printed. Files of
//! `f16` arrays hold `f32`, as the library for files has no half precision.

use std::convert::identity;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crease::kernel::graph::{Array, Element, Role};
use crease::{Arithmetic, ElementType, Run, RunOptions, f16};
use crease_kernels::{Fields, transfer};
use ndarray::{ArrayD, ArrayView1};
use ndarray_npy::{ReadableElement, WritableElement, read_npy, write_npy};

use crate::code_variant::{CodeVariant, describe_tuning};
use crate::error::BenchError;
use crate::explain::plan;
use crate::kernel_source::{KernelSource, load};
use crate::pictures::fields::{self, FieldImage};
use crate::settings::{Assignment, Settings};
use crate::storage::StorageOptions;
use crate::table::bytes;

/// What to run and on what.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// Name in the catalogue, or a file.
    pub kernel: String,
    /// Schedule; by default the kernel's first.
    pub schedule: Option<String>,
    /// Sizes, number of steps, scalars.
    pub assignments: Vec<Assignment>,
    /// How storage is found.
    pub storage: StorageOptions,
    /// Storage that is given, as text; empty for none.
    pub mapping: String,
    /// How strips are compiled.
    pub code: CodeVariant,
    /// What to do to arithmetic, instead of what the kernel allows.
    pub arithmetic: Option<Arithmetic>,
    /// Threads; by default all cores.
    pub threads: Option<usize>,
    /// Array and `.npy` file to read it from.
    pub inputs: Vec<(String, PathBuf)>,
    /// Array and `.npy` file to write it to.
    pub outputs: Vec<(String, PathBuf)>,
    /// Directory for images of what the last step leaves, if anywhere.
    pub images: Option<PathBuf>,
}

/// Runs a kernel and describes what came out.
///
/// # Errors
/// [`BenchError`] if a name is unknown, a value missing, a file unfit, or the engine refuses.
pub fn run(request: &RunRequest) -> Result<String, BenchError> {
    let mut source = load(&request.kernel)?;
    if let Some(arithmetic) = request.arithmetic {
        source.kernel = source.kernel.with_arithmetic(arithmetic);
    }
    let settings = Settings::resolve(&source, &request.assignments)?;
    check_names(&source, request)?;
    if let (Some(id), None) = (source.kernel.step_param(), settings.steps) {
        let (kernel, name) = (source.kernel.name().to_owned(), source.kernel.params()[id.index()].name.clone());
        return Err(BenchError::Unset { kernel, what: "a number of steps for", name, option: "--set NAME=STEPS" });
    }
    let plan = plan(&source, &settings, request.schedule.as_deref(), request.storage, &request.mapping)?;
    let mut options = RunOptions::default();
    options.threads = request.threads.unwrap_or(options.threads);
    let (code, tuned) = request.code.compile(&plan)?;
    let mut run = code.instantiate_with(options)?;
    for (name, value) in &settings.scalars {
        run.set(name, *value)?;
    }
    let initial = initial_data(&source, &settings)?;
    let mut text = tuned.as_ref().map(describe_tuning).unwrap_or_default();
    for array in source.kernel.arrays().iter().filter(|a| matches!(a.role, Role::Input | Role::State)) {
        fill(&mut run, &source, array, request, initial.as_ref(), &mut text)?;
    }
    let started = Instant::now();
    match settings.steps {
        Some(steps) => run.advance(steps)?,
        None => run.run_once()?,
    }
    let seconds = started.elapsed().as_secs_f64();
    let storage = bytes(plan.layout().folded_bytes(run.threads()));
    let steps = settings.steps.map(|steps| format!("{steps} steps, ")).unwrap_or_default();
    let _ = writeln!(text, "{}: {steps}{seconds:.6} s, threads {}, {storage}", source.kernel.name(), run.threads());
    for array in source.kernel.arrays().iter().filter(|a| matches!(a.role, Role::Output | Role::State)) {
        hand_out(&run, array, request, &mut text)?;
    }
    if let Some(directory) = &request.images {
        for FieldImage { file, range: (least, most), title, .. } in fields::draw(&run, &source.kernel, directory)? {
            let _ = writeln!(text, "{title}: {least:.6e} to {most:.6e} -> {}", file.display());
        }
    }
    Ok(text)
}

/// Every array named on the command line exists and has a role that fits.
fn check_names(source: &KernelSource, request: &RunRequest) -> Result<(), BenchError> {
    let sides = [(&request.inputs, Role::Input, "input or state"), (&request.outputs, Role::Output, "output or state")];
    for (given, role, what) in sides {
        let known =
            || source.kernel.arrays().iter().filter(|a| a.role == role || a.role == Role::State).map(|a| &a.name);
        if let Some((name, _)) = given.iter().find(|(name, _)| !known().any(|k| k == name)) {
            return Err(BenchError::unknown(source.kernel.name(), what, name, known()));
        }
    }
    Ok(())
}

fn initial_data(source: &KernelSource, settings: &Settings) -> Result<Option<Fields>, BenchError> {
    let Some(entry) = source.entry else { return Ok(None) };
    let mut case = entry.case(&entry.default);
    case.sizes.clone_from(&settings.sizes);
    case.scalars.clone_from(&settings.scalars);
    Ok(Some((entry.initial)(&case)?))
}

fn fill(
    run: &mut Run,
    source: &KernelSource,
    array: &Array,
    request: &RunRequest,
    initial: Option<&Fields>,
    text: &mut String,
) -> Result<(), BenchError> {
    let name = &array.name;
    if let Some((_, path)) = request.inputs.iter().find(|(given, _)| given == name) {
        return match array.element {
            Element::F64 => read_into::<f64, _>(run, name, path, identity),
            Element::F32 => read_into::<f32, _>(run, name, path, identity),
            Element::F16 => read_into(run, name, path, f16::from_f32),
            Element::U8 => read_into::<u8, _>(run, name, path, identity),
        };
    }
    match initial.and_then(|fields| fields.get(name)) {
        Some(field) => transfer::write(run, array, field)?,
        None if array.role == Role::State => {
            let _ = writeln!(text, "{name} starts at zero (give it with --input {name}=FILE.npy)");
        }
        None => {
            let (kernel, option) = (source.kernel.name().to_owned(), "--input NAME=FILE.npy");
            return Err(BenchError::Unset { kernel, what: "the input", name: name.clone(), option });
        }
    }
    Ok(())
}

/// Writes the array of a file to one of the run.
fn read_into<T: ElementType, F: ReadableElement + Clone>(
    run: &mut Run,
    name: &str,
    path: &Path,
    cell: fn(F) -> T,
) -> Result<(), BenchError> {
    let field: ArrayD<F> =
        read_npy(path).map_err(|error| BenchError::BadArray { path: path.to_owned(), message: error.to_string() })?;
    Ok(run.write(name, field.mapv(cell).view())?)
}

fn hand_out(run: &Run, array: &Array, request: &RunRequest, text: &mut String) -> Result<(), BenchError> {
    let path = request.outputs.iter().find(|(given, _)| *given == array.name).map(|(_, path)| path.as_path());
    match array.element {
        Element::F64 => write_out::<f64, _>(run, &array.name, path, identity, text),
        Element::F32 => write_out::<f32, _>(run, &array.name, path, identity, text),
        Element::F16 => write_out(run, &array.name, path, f16::to_f32, text),
        Element::U8 => write_out::<u8, _>(run, &array.name, path, identity, text),
    }
}

fn write_out<T: ElementType + Into<f64>, F: WritableElement>(
    run: &Run,
    name: &str,
    path: Option<&Path>,
    cell: fn(T) -> F,
    text: &mut String,
) -> Result<(), BenchError> {
    let mut field: ArrayD<T> = ArrayD::default(run.shape(name)?);
    run.read(name, field.view_mut())?;
    let values: Vec<f64> = field.iter().map(|&value| value.into()).collect();
    let shape: Vec<String> = field.shape().iter().map(usize::to_string).collect();
    let _ = write!(text, "{name} [{}]: {}", shape.join(", "), summary(ArrayView1::from(&values)));
    if let Some(path) = path {
        write_npy(path, &field.mapv(cell))
            .map_err(|error| BenchError::BadArray { path: path.to_owned(), message: error.to_string() })?;
        let _ = write!(text, " -> {}", path.display());
    }
    text.push('\n');
    Ok(())
}

fn summary(values: ArrayView1<'_, f64>) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.mean().unwrap_or(f64::NAN);
    let bad = values.iter().filter(|value| !value.is_finite()).count();
    let bad = if bad > 0 { format!(", {bad} not finite") } else { String::new() };
    format!("min {least:.6e}, mean {mean:.6e}, max {most:.6e}{bad}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_kernels::find;

    fn request(assignments: &[&str]) -> RunRequest {
        RunRequest {
            kernel: "heat-1d".into(),
            schedule: None,
            assignments: assignments.iter().map(|text| text.parse().unwrap()).collect(),
            storage: StorageOptions::default(),
            mapping: String::new(),
            code: CodeVariant::default(),
            arithmetic: None,
            threads: Some(1),
            inputs: Vec::new(),
            outputs: Vec::new(),
            images: None,
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

    #[test]
    fn files_and_names_that_do_not_fit_are_errors() {
        let mut unknown = request(&["N=21"]);
        unknown.inputs = vec![("w".into(), "w.npy".into())];
        assert!(matches!(run(&unknown), Err(BenchError::UnknownName { .. })));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wrong.npy");
        write_npy(&path, &ArrayD::<f64>::zeros(vec![7])).unwrap();
        let mut wrong = request(&["N=21"]);
        wrong.inputs = vec![("u".into(), path.clone())];
        assert!(matches!(run(&wrong), Err(BenchError::Crease(_))));
        write_npy(&path, &ArrayD::<f32>::zeros(vec![21])).unwrap();
        assert!(matches!(run(&wrong), Err(BenchError::BadArray { .. })));
    }
}
