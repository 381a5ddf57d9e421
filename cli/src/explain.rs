//! `crease explain`: what a plan decides for a kernel, and why.
//!
//! For a person: domains, schedule, mappings as formulas, at the sizes of the plan and at others, sizes against the
//! lower bound, lifetimes, conflicts, time per stage. As JSON: the engine's reports. Or any one intermediate form as
//! text.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crease::check::Proof;
use crease::parametric::report::{ParametricReport, Source};
use crease::plan::report::{Reason, Report, Weighed};
use crease::plan::search::ScheduleSearch;
use crease::storage::Sharing;
use crease::{Kept, Kernel, Plan, Stage};
use crease_bench::code_variant::describe_tuning;
use crease_bench::columns::bytes;
use crease_bench::roofline;
use crease_pictures::{ForcedModuli, PictureError, kernel_pictures};

use crate::beyond::{Beyond, look_beyond};
use crate::error::CommandError;
use crate::memory::{Held, predict};
use crate::request::{KernelRequest, Resolved, threads};
use crate::settings::Assignment;
use crate::waiting::while_waiting;

/// What to explain.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainOptions {
    /// The kernel and its plan; as number of steps what full storage holds.
    pub request: KernelRequest,
    /// What to print.
    pub form: Form,
    /// Where to draw pictures of a small run, if anywhere.
    pub plot: Option<PathBuf>,
    /// Buffers and moduli to draw them with instead of the proved ones.
    pub forced_moduli: Vec<ForcedModuli>,
    /// Whether to wait for what takes longer than a second beyond the plan: formulas of all sizes above all.
    pub all_sizes: bool,
}

/// How long `explain` looks for more than the plan says, unless it is asked to wait.
const WAIT: Duration = Duration::from_millis(800);

/// What storage may take of its estimate before that is worth saying: margins of tiles and rows of whole lines do.
const MORE_THAN_ESTIMATED: f64 = 1.1;

/// Steps of the run that pictures show, unless `--set` gives another number.
const DRAWN_STEPS: i64 = 4;

/// What `explain` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for a person.
    Text,
    /// The engine's report.
    Json,
    /// One intermediate form.
    Dump(Stage),
    /// Machine code, strip by strip, as JSON or text, with or without the machine's limits, which take seconds to
    /// measure.
    Listing {
        /// As JSON.
        json: bool,
        /// With measured limits.
        probe: bool,
    },
}

/// Lines of lifetimes and conflicts in the text; `--dump` has them all.
const RELATION_LINES: usize = 4;
/// Characters of such a line.
const RELATION_WIDTH: usize = 160;
/// Formulas of mappings in the text.
const FORMULA_LINES: usize = 40;

/// Plans the kernel and says what `options` ask for.
///
/// # Errors
/// [`CommandError`] if the kernel or a name is unknown or nothing could be proved.
pub fn explain(options: &ExplainOptions) -> Result<String, CommandError> {
    let request = &options.request;
    let Resolved { source, settings } = request.resolve()?;
    let builder = request.plan(&source, &settings);
    let plan = while_waiting(&format!("planning {}", request.kernel), || request.code.build(builder))?;
    if let Some(directory) = &options.plot {
        return plot(&plan, options, directory).or_else(|error| plot_smaller(options, error));
    }
    match options.form {
        Form::Text => {
            let made = source.made_arrays();
            Ok(render(&plan, &beyond(&plan, options.all_sizes)?, Some(&made))
                + &request.code.compile_tuned(&plan)?.as_ref().map(describe_tuning).unwrap_or_default())
        }
        Form::Json => json(&plan, &beyond(&plan, options.all_sizes)?),
        Form::Dump(stage) => {
            let found = request.code.found_options(&plan)?;
            Ok(while_waiting(stage.name(), || plan.dump_with(stage, &found))?)
        }
        Form::Listing { json, probe } => {
            let listing = plan.listing(&request.code.found_options(&plan)?)?;
            let roofline = probe.then(|| roofline::measure(request.code.isa)).transpose()?;
            match json {
                true => Ok(roofline::json(&listing, roofline.as_ref())?),
                false => Ok(roofline::render(&listing, roofline.as_ref())),
            }
        }
    }
}

/// Both forms of what is known of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Text for a person.
    pub text: String,
    /// The engine's report, with formulas of other sizes.
    pub json: String,
}

/// Says of a plan that a program made what the command says of its own, but for the memory of `crease run`.
/// `all_sizes` waits for what takes longer than a second beyond the plan.
///
/// # Errors
/// [`CommandError`] if the integer set library fails for want of memory.
pub fn of_plan(plan: &Plan, all_sizes: bool) -> Result<Explained, CommandError> {
    let beyond = beyond(plan, all_sizes)?;
    Ok(Explained { text: render(plan, &beyond, None), json: json(plan, &beyond)? })
}

/// What is known beyond the plan.
fn beyond(plan: &Plan, all_sizes: bool) -> Result<Beyond, CommandError> {
    look_beyond(plan, (!all_sizes).then_some(WAIT))
}

/// Draws a small run of the plan and says which files hold it, and which schedule runs where none was written: smaller
/// sizes have others.
fn plot(plan: &Plan, options: &ExplainOptions, directory: &Path) -> Result<String, CommandError> {
    let step = plan.kernel().step_param().map(|id| &plan.kernel().params()[id.index()].name);
    let given = options.request.assignments.iter().rev().find(|assignment| Some(&assignment.name) == step);
    let steps = given.map_or(Ok(DRAWN_STEPS), Assignment::integer)?;
    let drawn = kernel_pictures::draw(plan, steps, &options.forced_moduli, directory)?;
    let search = plan.report().schedule_search.as_ref();
    let found = search.map(|search| format!("schedule, found for these sizes: {}", search.taken().shape));
    let files = drawn.files.iter().map(|path| format!("drawn to {}", path.display()));
    Ok(found.into_iter().chain(files).chain(drawn.verdict).map(|line| line + "\n").collect())
}

/// Draws the sizes that fit into pictures, where those that do not were not asked for.
fn plot_smaller(options: &ExplainOptions, error: CommandError) -> Result<String, CommandError> {
    match error {
        CommandError::Picture(PictureError::TooMuchToDraw { smaller, .. })
            if options.request.assignments.is_empty() && !smaller.is_empty() =>
        {
            let sizes: Vec<String> = smaller.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let assign = |(name, value): (String, i64)| Assignment { name, value: value.to_string() };
            let assignments = smaller.into_iter().map(assign).collect();
            let request = KernelRequest { assignments, ..options.request.clone() };
            let drawn = explain(&ExplainOptions { request, ..options.clone() })?;
            Ok(format!("at {}, which is what pictures can show\n{drawn}", sizes.join(", ")))
        }
        error => Err(error),
    }
}

/// With `made`, the arrays that `crease run` makes, also the memory that the command takes.
fn render(plan: &Plan, beyond: &Beyond, made: Option<&[String]>) -> String {
    let report = beyond.report.as_ref().unwrap_or(plan.report());
    let params: Vec<String> = report.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let mut text = format!("{}   schedule {}   {}\n", report.kernel, report.schedule, params.join(", "));
    render_domains(plan.kernel(), &mut text);
    if let Some(search) = &report.schedule_search {
        render_search(search, &mut text);
    }
    render_mappings(report, &mut text);
    if let Some(parametric) = &beyond.parametric {
        render_parametric(parametric, &mut text);
    }
    render_buffers(report, &mut text);
    render_choices(report, &mut text);
    render_run(plan, made, &mut text);
    for (name, found) in [("lifetimes", &beyond.lifetimes), ("conflicts", &beyond.conflicts)] {
        if let Some(found) = found {
            let _ = writeln!(text, "\n{name}");
            push_cut(found, name, &mut text);
        }
    }
    if !beyond.missing.is_empty() {
        let _ =
            writeln!(text, "\nnot found within a second: {} (--all-sizes waits for them)", beyond.missing.join(", "));
    }
    if !report.losses.is_empty() {
        let _ = writeln!(text, "\nlosses");
        report.losses.iter().for_each(|loss| {
            let _ = writeln!(text, "  {}", loss.text);
        });
    }
    if !report.notes.is_empty() {
        let _ = writeln!(text, "\nnotes");
        report.notes.iter().for_each(|note| {
            let _ = writeln!(text, "  {note}");
        });
    }
    render_stages(report, plan.kept(), &mut text);
    text
}

/// The plan's report, and under `parametric` what is known of other sizes; null, and `missing` says so, if that takes
/// too long.
fn json(plan: &Plan, beyond: &Beyond) -> Result<String, CommandError> {
    let mut report = serde_json::to_value(beyond.report.as_ref().unwrap_or(plan.report()))?;
    report["parametric"] = serde_json::to_value(&beyond.parametric)?;
    report["missing"] = serde_json::to_value(&beyond.missing)?;
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// The schedule that was found, to be pasted into a kernel's text, and what else there was.
fn render_search(search: &ScheduleSearch, text: &mut String) {
    let taken = search.taken();
    let _ = writeln!(text, "\nschedule, found by Crease: {}\n{}", taken.shape, taken.text.trim_end());
    if let Some(sizes) = &taken.only_for {
        let _ = writeln!(text, "  with numbers that come from {sizes}: at other sizes it may be illegal");
    }
    let _ = writeln!(text, "  candidates: estimated time, of that one, and memory");
    for (at, candidate) in search.candidates.iter().enumerate() {
        let ratio = candidate.estimated_ns / taken.estimated_ns;
        let measured = candidate.measured_seconds.map(|seconds| format!("   {seconds:.3e} s measured"));
        let fate = match &candidate.refused {
            Some(why) => format!("   {why}"),
            None if at == search.chosen => {
                let more =
                    candidate.found_bytes.filter(|found| *found > MORE_THAN_ESTIMATED * candidate.estimated_bytes);
                let storage = more.map(|found| format!(", in storage of {}", bytes(found as u64)));
                format!("   taken{}", storage.unwrap_or_default())
            }
            None => String::new(),
        };
        let fate = measured.unwrap_or_default() + &fate;
        let memory = bytes(candidate.estimated_bytes as u64);
        let _ = writeln!(text, "  {ratio:7.2}  {memory:>9}  {}{fate}", candidate.shape);
    }
}

fn render_domains(kernel: &Kernel, text: &mut String) {
    let params: Vec<String> = kernel.params().iter().map(|param| param.name.clone()).collect();
    let _ = writeln!(text, "\ndomains");
    for stmt in kernel.stmts() {
        let domain = stmt.domain.display(&stmt.iters, &params);
        let _ = writeln!(text, "  {}[{}]: {domain}", stmt.name, stmt.iters.join(", "));
    }
}

fn render_mappings(report: &Report, text: &mut String) {
    let _ = writeln!(text, "\nmappings");
    let pieces: Vec<_> = report.arrays.iter().flat_map(|array| array.pieces.iter().map(move |p| (array, p))).collect();
    for (array, piece) in pieces.iter().take(FORMULA_LINES) {
        let conditional = piece.when != "true" && !piece.when.is_empty();
        let when = if conditional { format!("   if {}", piece.when) } else { String::new() };
        let private = report.buffers.iter().any(|b| b.name == piece.buffer && b.sharing == Sharing::Private);
        let private = if private { "   private, one copy per thread" } else { "" };
        let register = if array.in_a_register { "   in a register" } else { "" };
        let _ = writeln!(text, "  {}{when}{private}{register}", piece.formula);
    }
    if pieces.len() > FORMULA_LINES {
        let _ = writeln!(text, "  .. {} more (--dump mapping)", pieces.len() - FORMULA_LINES);
    }
}

/// What is known of the mappings at other sizes; arrays of which the same is said share the words.
fn render_parametric(report: &ParametricReport, text: &mut String) {
    if report.params.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nmappings at other sizes");
    let mut sections: Vec<(String, Vec<&str>)> = Vec::new();
    for source in [Source::Plan, Source::Symbols] {
        for mapping in report.arrays.iter().flat_map(|array| &array.mappings).filter(|m| m.source == source) {
            let heading = match source {
                Source::Plan => format!("{}, {}", mapping.strategy, mapping.standing()),
                Source::Symbols => format!("{} of symbolic sizes, {}", mapping.strategy, mapping.standing()),
            };
            let formulas = mapping.pieces.iter().map(|piece| piece.formula.as_str());
            match sections.iter_mut().find(|(known, _)| *known == heading) {
                Some((_, lines)) => lines.extend(formulas),
                None => sections.push((heading, formulas.collect())),
            }
        }
    }
    let mut lines = Vec::new();
    for (heading, formulas) in sections {
        lines.push(format!("  {heading}"));
        lines.extend(formulas.iter().map(|formula| format!("    {formula}")));
    }
    for array in &report.arrays {
        lines.extend(array.notes.iter().map(|note| format!("  {}: {note}", array.name)));
    }
    for line in lines.iter().take(FORMULA_LINES) {
        let _ = writeln!(text, "{line}");
    }
    if lines.len() > FORMULA_LINES {
        let _ = writeln!(text, "  .. {} more lines (--json)", lines.len() - FORMULA_LINES);
    }
}

fn render_buffers(report: &Report, text: &mut String) {
    let bound = |cells: Option<u64>| cells.map_or("unknown".to_owned(), |cells| cells.to_string());
    let _ = writeln!(text, "\nbuffers");
    for buffer in &report.buffers {
        let ratio = buffer.lower_bound_cells.filter(|&cells| cells > 0);
        let ratio = ratio.map(|cells| format!(" ({:.3})", buffer.cells as f64 / cells as f64)).unwrap_or_default();
        let copies = match buffer.sharing {
            Sharing::Shared => String::new(),
            Sharing::Private => format!(" for each of {} threads, {} in all", buffer.copies, bytes(buffer.bytes)),
        };
        let proof = match buffer.proof {
            Proof::Certificate => "proved by a verified certificate",
            _ => "proved by integer sets",
        };
        let _ = writeln!(
            text,
            "  {}: {} cells, {} with padding{copies}; lower bound {} cells{ratio}; {}, {proof}",
            buffer.name,
            buffer.cells,
            bytes(buffer.copy_bytes),
            bound(buffer.lower_bound_cells),
            buffer.strategy
        );
    }
    let total = report.bytes();
    let against = report.lower_bound_bytes().filter(|&bound| bound > 0);
    let against = against.map(|bound| format!(", {:.3} times the lower bound", total as f64 / bound as f64));
    let _ = writeln!(text, "  all: {}{}", bytes(total), against.unwrap_or_default());
}

/// Where something smaller was left for speed, or may have been missed.
fn render_choices(report: &Report, text: &mut String) {
    for choice in &report.choices {
        let (arrays, Weighed { strategy, bytes, access, .. }) = (choice.arrays.join(", "), &choice.smallest);
        let why = match choice.reason {
            Reason::Smallest => String::new(),
            Reason::NearSmallest => format!("; the smallest, {strategy}, has {bytes} bytes, at most 5 % less"),
            Reason::Uncut => {
                format!("; the smallest, {strategy}, has {bytes} bytes for each thread and a ring that cuts rows")
            }
            _ => format!("; the smallest, {strategy}, has {bytes} bytes but {access:.2} an access"),
        };
        let gave_up = match choice.gave_up.as_slice() {
            [] => String::new(),
            names => format!("; not searched to the end, as it took too much: {}", names.join(", ")),
        };
        if !why.is_empty() || !gave_up.is_empty() {
            let Weighed { strategy, bytes, access, .. } = &choice.chosen;
            let _ = writeln!(text, "  {arrays}: {strategy}, {bytes} bytes, {access:.2} an access{why}{gave_up}");
        }
    }
}

/// Threads of a run, and what it keeps in memory.
fn render_run(plan: &Plan, made: Option<&[String]>, text: &mut String) {
    let (report, footprint) = (plan.report(), plan.footprint());
    let _ = writeln!(text, "\na run");
    let _ = writeln!(text, "  threads: {}", threads(report));
    let copies = match (footprint.copied_bytes, footprint.always_copies) {
        (0, _) => String::new(),
        (copied, true) => format!(" and {} in copies of inputs and outputs", bytes(copied)),
        (copied, false) => format!(" and, unless calls pass them, {} in copies of inputs and outputs", bytes(copied)),
    };
    let _ = writeln!(text, "  memory: {} folded{copies}", bytes(footprint.folded_bytes));
    let Some(made) = made else { return };
    let predicted = predict(plan, Held { made, ..Held::default() });
    let beside = predicted.initial_bytes.max(predicted.result_bytes);
    let _ = writeln!(
        text,
        "  by `crease run`: {} in all, with {} of initial data or results; this process then has {}",
        bytes(predicted.run_bytes.saturating_add(beside)),
        bytes(beside),
        bytes(predicted.peak_bytes)
    );
}

/// The beginning of a long text, and how to see the rest.
fn push_cut(full: &str, name: &str, text: &mut String) {
    let lines: Vec<&str> = full.lines().collect();
    let mut cut = lines.len() > RELATION_LINES;
    for line in lines.iter().take(RELATION_LINES) {
        let shown: String = line.chars().take(RELATION_WIDTH).collect();
        let long = shown.len() < line.len();
        cut |= long;
        let _ = writeln!(text, "  {shown}{}", if long { " .." } else { "" });
    }
    if cut {
        let _ = writeln!(text, "  .. {} characters in all (--dump {name})", full.chars().count());
    }
}

fn render_stages(report: &Report, kept: &Kept, text: &mut String) {
    let _ = writeln!(text, "\nstages");
    for stage in &report.stages {
        let _ = writeln!(text, "  {:<12} {:>9.4} s", stage.name, stage.seconds);
    }
    let total: f64 = report.stages.iter().map(|stage| stage.seconds).sum();
    let _ = writeln!(text, "  {:<12} {total:>9.4} s", "all");
    if *kept != Kept::Off {
        let _ = writeln!(text, "  this plan was {kept}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(kernel: &str, form: Form) -> ExplainOptions {
        let request = KernelRequest { assignments: vec!["N=16".parse().unwrap()], ..KernelRequest::of(kernel) };
        ExplainOptions { request, form, plot: None, forced_moduli: Vec::new(), all_sizes: true }
    }

    #[test]
    fn the_text_has_every_section_and_the_sizes() {
        let text = explain(&options("heat-1d", Form::Text)).unwrap();
        for wanted in [
            "domains",
            "mappings",
            "buffers",
            "lifetimes",
            "conflicts",
            "stages",
            "lower bound",
            "a run",
            "threads: 1",
            "by `crease run`",
            "proved",
            "sizes with",
        ] {
            assert!(text.contains(wanted), "no {wanted} in\n{text}");
        }
    }

    #[test]
    fn the_json_has_the_promised_fields() {
        let json: serde_json::Value = serde_json::from_str(&explain(&options("heat-1d", Form::Json)).unwrap()).unwrap();
        for field in ["kernel", "schedule", "params", "buffers", "arrays", "stages", "parametric"] {
            assert!(json.get(field).is_some(), "no {field} in {json}");
        }
        assert_eq!(json["params"]["N"], 16);
    }

    #[test]
    fn strips_are_listed_with_what_they_compute() {
        let form = Form::Listing { json: false, probe: false };
        let text = explain(&options("heat-1d", form)).unwrap();
        let source = "u[t, x] = fma(1.0 - 2.0 * k, u[t - 1, x], k * (u[t - 1, x - 1] + u[t - 1, x + 1]))";
        for wanted in [source, "24 bytes loaded, 8 stored, 4 flops; 16 bytes of memory at least, 0.250 flops a byte"] {
            assert!(text.contains(wanted), "no {wanted} in\n{text}");
        }
        let form = Form::Listing { json: true, probe: false };
        let json: serde_json::Value = serde_json::from_str(&explain(&options("heat-1d", form)).unwrap()).unwrap();
        let strips = json["strips"].as_array().unwrap();
        let strip = strips.iter().find(|strip| strip["flops"] == 4).unwrap();
        assert_eq!((&strip["memory_bytes"], &strip["flops_per_byte"]), (&16.into(), &0.25.into()));
        assert!(json["roofline"].is_null() && strip["position"].is_null());
    }

    #[test]
    fn every_stage_can_be_dumped() {
        for stage in Stage::ALL {
            let text = explain(&options("heat-1d", Form::Dump(stage))).unwrap();
            assert!(!text.trim().is_empty(), "{stage} is empty");
        }
    }
}
