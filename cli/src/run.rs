//! `crease run`: a kernel on arrays in files.
//!
//! Inputs and the state at step 0 come from `.npy` files, are filled with a number, or else are the catalogue's initial
//! data; all must be given. Outputs, and the state after the last step, go to `.npy` files; a summary is printed. Files
//! of `f16` arrays hold `f32`, as the library for files has no half precision.

use std::convert::identity;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crease::kernel::graph::{Array, Element, Role};
use crease::{ElementType, Plan, Run, f16};
use crease_bench::BenchError;
use crease_bench::code_variant::describe_tuning;
use crease_bench::columns::bytes;
use crease_kernels::{Fields, transfer};
use crease_pictures::fields::{self, FieldImage};
use ndarray::ArrayD;
use ndarray_npy::{ReadableElement, WritableElement, read_npy, write_npy};

use crate::error::CommandError;
use crate::kernel_source::{KernelSource, starts};
use crate::memory::{self, Held, Prediction};
use crate::request::{KernelRequest, Resolved, threads};
use crate::settings::{Assignment, Settings};

/// What to run and on what.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The kernel and its plan.
    pub request: KernelRequest,
    /// Whether opaque functions run, as hashes of their arguments.
    pub opaque: bool,
    /// Array, or `ARRAY@BACK` for an older level, and `.npy` file to read it from.
    pub inputs: Vec<(String, PathBuf)>,
    /// Array and the number that its cells start as.
    pub fills: Vec<Assignment>,
    /// Array, or `ARRAY@BACK` for an older level, and `.npy` file to write it to.
    pub outputs: Vec<(String, PathBuf)>,
    /// Directory for images of what the last step leaves, if anywhere.
    pub images: Option<PathBuf>,
}

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
    let plan = request.request.plan(&source, &settings).run_opaque_functions(request.opaque).build()?;
    let made: Vec<String> = source.made_arrays().into_iter().filter(|name| !is_given(request, name)).collect();
    let (writes_files, draws_images) = (!request.outputs.is_empty(), request.images.is_some());
    let held = Held { made: &made, writes_files, draws_images };
    memory::verify(&plan, held)?;
    let (code, tuned) = request.request.code.compile(&plan)?;
    let predicted = memory::predict(&plan, held);
    let mut run = code.instantiate()?;
    for (name, value) in &settings.scalars {
        run.set(name, *value)?;
    }
    start(&mut run, &source, &settings, request)?;
    let mut text = tuned.as_ref().map(describe_tuning).unwrap_or_default();
    let started = Instant::now();
    match settings.steps {
        Some(steps) => run.advance(steps)?,
        None => run.run_once()?,
    }
    let seconds = started.elapsed().as_secs_f64();
    let steps = settings.steps.map(|steps| format!("{steps} steps, ")).unwrap_or_default();
    let _ = writeln!(text, "{}: {steps}{seconds:.6} s, threads {}", source.kernel.name(), threads(plan.report()));
    for id in source.kernel.array_ids() {
        let array = source.kernel.array(id);
        if matches!(array.role, Role::Output | Role::State) {
            for back in 0..source.kernel.state_depth(id).max(1) {
                hand_out(&run, array, back, request, &mut text)?;
            }
        }
    }
    if let Some(directory) = &request.images {
        for FieldImage { file, range: (least, most), title, .. } in fields::draw(&run, &source.kernel, directory)? {
            let _ = writeln!(text, "{title}: {least:.6e} to {most:.6e} -> {}", file.display());
        }
    }
    describe_memory(&plan, predicted, &mut text);
    Ok(text)
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

/// Whether the command line says how an array starts.
fn is_given(request: &RunRequest, name: &str) -> bool {
    request.inputs.iter().any(|(given, _)| given == name) || request.fills.iter().any(|fill| fill.name == name)
}

/// Gives the run everything that it starts from. Initial data are gone when it returns.
fn start(run: &mut Run, source: &KernelSource, settings: &Settings, request: &RunRequest) -> Result<(), CommandError> {
    let starts = source.starting_arrays();
    let is_made = starts.iter().any(|name| !is_given(request, name));
    let initial = if is_made { initial_data(source, settings)? } else { None };
    for array in source.kernel.arrays().iter().filter(|array| starts.contains(&array.name)) {
        give(run, source, array, request, initial.as_ref())?;
    }
    Ok(())
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

/// How the command line calls a level of an array: `u` the newest one, `u@1` the one before.
fn level(array: &Array, back: u32) -> String {
    if back == 0 { array.name.clone() } else { format!("{}@{back}", array.name) }
}

fn initial_data(source: &KernelSource, settings: &Settings) -> Result<Option<Fields>, CommandError> {
    let Some(entry) = source.entry else { return Ok(None) };
    let mut case = entry.case(&entry.default);
    case.sizes.clone_from(&settings.sizes);
    case.scalars.clone_from(&settings.scalars);
    Ok(Some((entry.initial)(&case)?))
}

/// Gives one array to the run, all of its levels.
fn give(
    run: &mut Run,
    source: &KernelSource,
    array: &Array,
    request: &RunRequest,
    initial: Option<&Fields>,
) -> Result<(), CommandError> {
    let name = &array.name;
    if let Some(fill) = request.fills.iter().rev().find(|fill| fill.name == *name) {
        return fill_with(run, array, fill);
    }
    let id = source.kernel.array_id(name).expect("the array is the kernel's");
    for back in 0..source.kernel.state_depth(id).max(1) {
        let level = level(array, back);
        if let Some((_, path)) = request.inputs.iter().find(|(given, _)| *given == level) {
            read_level(run, array, back, path)?;
            continue;
        }
        match initial.and_then(|fields| fields.get(&level)) {
            Some(field) => transfer::write(run, array, field)?,
            None => {
                let kernel = source.kernel.name().to_owned();
                let what = match array.role {
                    Role::State => "the state",
                    Role::Output => "the live-in output",
                    _ => "the input",
                };
                let option = "--input NAME=FILE.npy or --fill NAME=NUMBER";
                return Err(CommandError::Unset { kernel, what, name: level, option });
            }
        }
    }
    Ok(())
}

fn fill_with(run: &mut Run, array: &Array, fill: &Assignment) -> Result<(), CommandError> {
    let (name, value) = (&array.name, fill.number()?);
    match array.element {
        Element::F64 => run.fill(name, value)?,
        Element::F32 => run.fill(name, value as f32)?,
        Element::F16 => run.fill(name, f16::from_f32(value as f32))?,
        Element::U8 => {
            let whole = fill.value.parse::<u8>().map_err(|_| fill.bad("ARRAY=NUMBER, whole and from 0 to 255"))?;
            run.fill(name, whole)?;
        }
    }
    Ok(())
}

fn read_level(run: &mut Run, array: &Array, back: u32, path: &Path) -> Result<(), CommandError> {
    let name = &array.name;
    match array.element {
        Element::F64 => read_into::<f64, _>(run, name, back, path, identity),
        Element::F32 => read_into::<f32, _>(run, name, back, path, identity),
        Element::F16 => read_into(run, name, back, path, f16::from_f32),
        Element::U8 => read_into::<u8, _>(run, name, back, path, identity),
    }
}

/// Writes the array of a file to one level of the run's.
fn read_into<T: ElementType, F: ReadableElement + Clone + 'static>(
    run: &mut Run,
    name: &str,
    back: u32,
    path: &Path,
    cell: fn(F) -> T,
) -> Result<(), CommandError> {
    let field: ArrayD<F> =
        read_npy(path).map_err(|error| CommandError::BadArray { path: path.to_owned(), message: error.to_string() })?;
    Ok(run.write_back(name, back, field.mapv_into_any(cell).view())?)
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
    }
}

fn write_out<T: ElementType + Into<f64>, F: WritableElement + 'static>(
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
    let _ = write!(text, "{name} [{}]: {}", shape.join(", "), summary(field.iter().map(|&value| value.into())));
    if let Some(path) = path {
        write_npy(path, &field.mapv_into_any(cell))
            .map_err(|error| CommandError::BadArray { path: path.to_owned(), message: error.to_string() })?;
        let _ = write!(text, " -> {}", path.display());
    }
    text.push('\n');
    Ok(())
}

/// Least, mean and most, of a first pass over all values, and how many are no numbers.
fn summary(values: impl Iterator<Item = f64>) -> String {
    let (mut least, mut most, mut sum, mut count, mut bad) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0_u64, 0_u64);
    for value in values {
        (least, most) = (least.min(value), most.max(value));
        (sum, count) = (sum + value, count + 1);
        bad += u64::from(!value.is_finite());
    }
    let mean = sum / count as f64;
    let bad = if bad > 0 { format!(", {bad} not finite") } else { String::new() };
    format!("min {least:.6e}, mean {mean:.6e}, max {most:.6e}{bad}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::StorageOptions;
    use crease_kernels::find;

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
        assert!(refused(&["u=0"], &[], &[]).contains("the live-in output"));
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
        assert!(matches!(run(&wrong), Err(CommandError::Crease(_))));
        write_npy(&path, &ArrayD::<f32>::zeros(vec![21])).unwrap();
        assert!(matches!(run(&wrong), Err(CommandError::BadArray { .. })));
    }
}
