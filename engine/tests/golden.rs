//! Golden facts: conflicts and sizes of the papers' kernels, computed elsewhere by an independent reference.
//!
//! `golden/*.json` hold the facts, `golden/import.rs` makes kernels of them. Conflicts are compared as sets. Sizes of
//! mappings are compared, never their coefficients: those are not unique. Without `CREASE_THOROUGH`, each kernel is
//! looked at at one size.

pub(crate) mod import;

use std::collections::BTreeSet;

use crease::kernel::graph::Kernel;
use crease::plan::report::BufferReport;
use crease::{Plan, Rounding, Stage, StrategyChoice};
use crease_isl::{Context, IslError, Map};
use serde_json::Value;

use crate::is_thorough;

const SMO_TABLE_1: &str = include_str!("golden/smo_table1.json");
const SIMD_ORDER: &str = include_str!("golden/simd_order.json");
const BEE_FIGURE_3: &str = include_str!("golden/bee_figure3.json");
/// isl operations for the comparison of one entry.
const QUOTA: u64 = 1 << 30;

type Sizes = Vec<(String, i64)>;

/// Entries of a file with the kernels made of them.
fn entries(file: &str) -> Vec<(Value, Kernel)> {
    let file: Value = serde_json::from_str(file).expect("golden files are JSON");
    let mut entries = file["kernels"].as_array().expect("a list of kernels").clone();
    for entry in entries.iter_mut().filter(|e| e["name"] == "mot_detect_kern_ODelta") {
        // As written, `S3[4, 4]` reads cell -1 and cell 841 is never written: all indices of S3 are one too small.
        for (field, from, to) in [("reads", "j-121", "j-120"), ("writes", "j-120", "j-119")] {
            entry[field] = entry[field].as_str().expect("a relation").replace(from, to).into();
        }
    }
    let kernel = |entry: &Value| {
        let context = Context::new(QUOTA).unwrap();
        let text = import::Entry::new(entry, &context).kernel_text().unwrap();
        Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
    };
    entries
        .into_iter()
        .map(|entry| {
            let kernel = kernel(&entry);
            (entry, kernel)
        })
        .collect()
}

/// The folded arrays of an entry with their facts.
fn arrays(entry: &Value) -> impl Iterator<Item = (&String, &Value)> {
    entry["arrays"].as_object().expect("facts by array").iter()
}

/// Sizes at which an entry is looked at.
fn sizes(entry: &Value) -> Vec<Sizes> {
    let params: Vec<&str> = entry["params"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
    let values: &[i64] = match (params.is_empty(), is_large(entry)) {
        (true, _) => &[0],
        (_, true) => &[4],
        _ if is_thorough() => &[7, 8, 13],
        _ => &[8],
    };
    // Parameters of one entry get different values.
    let at = |&n: &i64| params.iter().enumerate().map(|(k, p)| (p.to_string(), n + k as i64)).collect();
    values.iter().map(at).collect()
}

/// 27 regions and 19 or 27 reads: these take seconds, and are looked at once.
fn is_large(entry: &Value) -> bool {
    entry["name"].as_str().expect("a name").starts_with("LBM-D3")
}

fn size_pairs(size: &Value) -> Sizes {
    let values = size.as_object().expect("values by parameter").iter();
    values.map(|(name, value)| (name.clone(), value.as_i64().expect("an integer"))).collect()
}

fn plan(kernel: &Kernel, sizes: &Sizes, strategy: StrategyChoice) -> Result<Plan, crease::Error> {
    let builder = kernel.plan().strategy(strategy);
    sizes.iter().fold(builder, |builder, (name, value)| builder.size(name, *value)).build()
}

/// Conflicts within one array, as the engine prints them.
fn found_conflicts<'c>(context: &'c Context, dump: &str, array: &str) -> Option<Map<'c>> {
    let maps = context.union_map(&format!("{{ {} }}", inner(dump))).unwrap().maps().unwrap();
    maps.into_iter().find(|map| map.domain_name().unwrap().as_deref() == Some(array))
}

/// The rules of all lines `{ .. }` together.
fn inner(dump: &str) -> String {
    let rules = dump.lines().filter_map(|line| Some(line.split_once('{')?.1.rsplit_once('}')?.0.trim()));
    rules.filter(|rule| !rule.is_empty()).collect::<Vec<_>>().join("; ")
}

fn golden_conflicts<'c>(context: &'c Context, facts: &Value, sizes: &Sizes) -> Option<Map<'c>> {
    let ordered = facts["conflicts"]["ordered"].as_str()?;
    let bind = |map: Map<'c>, (name, value): &(String, i64)| map.fix_param(name, *value).unwrap();
    let ordered = sizes.iter().fold(context.map(ordered).unwrap(), bind).project_out_params().unwrap();
    Some(ordered.union(&ordered.reverse().unwrap()).unwrap())
}

/// Pairs of cells that are both live-in. They are alive together at the start; the golden relation holds only pairs of
/// which one is written by an instance.
fn live_in_pairs<'c>(
    context: &'c Context,
    entry: &Value,
    array: &str,
    sizes: &Sizes,
) -> Result<Option<Map<'c>>, IslError> {
    let all = context.union_set(entry["live_in"].as_str().expect("a set"))?.sets()?;
    let Some(cells) = all.into_iter().find(|set| set.tuple_name().is_ok_and(|n| n.as_deref() == Some(array))) else {
        return Ok(None);
    };
    let cells = sizes.iter().try_fold(cells, |cells, (name, value)| cells.fix_param(name, *value))?;
    let cells = cells.project_out_params()?;
    Ok(Some(cells.pairs_with(&cells)?.subtract(&cells.identity()?)?))
}

fn compare_conflicts(file: &str) {
    for (entry, kernel) in entries(file) {
        for sizes in sizes(&entry) {
            let plan = plan(&kernel, &sizes, StrategyChoice::SuccessiveModulo).unwrap();
            let dump = plan.dump(Stage::Conflicts).unwrap();
            let context = Context::new(QUOTA).unwrap();
            for (array, facts) in arrays(&entry) {
                let found = found_conflicts(&context, &dump, array);
                let expected = golden_conflicts(&context, facts, &sizes);
                let same = match (&found, &expected) {
                    (Some(found), Some(expected)) => {
                        let both_live_in = live_in_pairs(&context, &entry, array, &sizes).unwrap();
                        found.is_equal(&both_live_in.map_or(expected.clone(), |p| p.union(expected).unwrap())).unwrap()
                    }
                    (found, expected) => found.is_none() && expected.is_none(),
                };
                assert!(same, "{} at {sizes:?}, array {array}: found {found:?}, golden {expected:?}", kernel.name());
            }
        }
    }
}

#[test]
fn conflicts_of_table_1_of_smo() {
    compare_conflicts(SMO_TABLE_1);
}

#[test]
fn conflicts_of_figure_3_of_bee() {
    compare_conflicts(BEE_FIGURE_3);
}

/// The folded buffer of an array.
fn buffer<'p>(plan: &'p Plan, array: &str) -> &'p BufferReport {
    let name = buffer_name(plan, array);
    plan.report_with_bounds().unwrap().buffers.iter().find(|b| b.name == name).expect("every folded array has a buffer")
}

/// Cells of all buffers that an array is kept in, and their bound.
fn all_buffers(plan: &Plan, array: &str) -> (u64, Option<u64>) {
    let mapping = plan.report().arrays.iter().find(|a| a.name == array).expect("every folded array is reported");
    let names: BTreeSet<&str> = mapping.pieces.iter().map(|piece| piece.buffer.as_str()).collect();
    let buffers = plan.report_with_bounds().unwrap().buffers.iter().filter(|b| names.contains(b.name.as_str()));
    buffers
        .fold((0, Some(0)), |(cells, bound), b| (cells + b.cells, bound.zip(b.lower_bound_cells).map(|(a, b)| a + b)))
}

fn buffer_name<'p>(plan: &'p Plan, array: &str) -> &'p str {
    let report = plan.report().arrays.iter().find(|a| a.name == array).expect("every folded array is reported");
    &report.pieces[0].buffer
}

/// How many arrays are kept in the array's buffer.
fn residents(plan: &Plan, array: &str) -> usize {
    let name = buffer_name(plan, array);
    plan.report().arrays.iter().filter(|other| other.pieces.iter().any(|piece| piece.buffer == name)).count()
}

/// One array at one size: what the strategies give, next to what the reference computed.
fn compare_sizes(kernel: &Kernel, sizes: &Sizes, facts: &[(&String, &Value)]) {
    let [modulo, strided, auto] =
        [StrategyChoice::SuccessiveModulo, StrategyChoice::StridedHyperplane, StrategyChoice::Auto]
            .map(|strategy| plan(kernel, sizes, strategy));
    let (modulo, auto) = (modulo.unwrap(), auto.unwrap());
    for (array, facts) in facts {
        let name = format!("{} at {sizes:?}, array {array}", kernel.name());
        let max_live = facts["max_live"].as_u64().expect("a bound");
        let expected = facts["successive_modulo"]["size"].as_u64().unwrap_or(1);
        // The reference takes dimensions in the order of the indices; others may give less.
        let modulo = buffer(&modulo, array).cells;
        assert!(
            (max_live..=expected).contains(&modulo),
            "{name}: successive modulo takes {modulo} cells, not {expected}"
        );
        let (cells, bound) = all_buffers(&auto, array);
        assert!((max_live..=expected).contains(&cells), "{name}: auto takes {cells} cells");
        // The bound of a buffer that arrays share is that of all of them.
        if let Some(bound) = bound.filter(|_| residents(&auto, array) == 1) {
            assert_eq!(bound, max_live, "{name}: lower bound");
        }
        match &strided {
            Ok(strided) => compare_unit_stride(&name, buffer(strided, array).cells, max_live, facts),
            Err(error) => println!("{name}: no strided hyperplane: {error}"),
        }
    }
}

/// A strided hyperplane takes as few cells as any with unit stride, where the reference searched for that.
fn compare_unit_stride(name: &str, cells: u64, max_live: u64, facts: &Value) {
    assert!(cells >= max_live, "{name}: {cells} cells cannot hold {max_live} live values");
    if let Some(best) = facts["best_unit_stride_1d"]["m"].as_u64() {
        assert_eq!(cells, best, "{name}: the best unit stride");
    }
}

fn compare_all_sizes(file: &str) {
    for (entry, kernel) in entries(file) {
        let (_, first) = arrays(&entry).next().expect("an array");
        let count = first["computed"]["at_sizes"].as_array().expect("a list").len();
        for position in 0..if is_large(&entry) || !is_thorough() { 1 } else { count } {
            let facts: Vec<(&String, &Value)> =
                arrays(&entry).map(|(name, facts)| (name, &facts["computed"]["at_sizes"][position])).collect();
            let size = &facts[0].1["size"];
            assert!(facts.iter().all(|(_, f)| f["size"] == *size), "all arrays at one size");
            compare_sizes(&kernel, &size_pairs(size), &facts);
        }
    }
}

#[test]
fn sizes_of_table_1_of_smo() {
    compare_all_sizes(SMO_TABLE_1);
}

/// At sizes beyond those where brute force counts, the search for the point of peak liveness finds the exact number.
#[test]
fn lower_bounds_of_table_1_of_smo() {
    for (entry, kernel) in entries(SMO_TABLE_1).into_iter().filter(|(entry, _)| !is_large(entry)) {
        for (array, facts) in arrays(&entry) {
            let verified =
                facts["computed"]["unit_stride_closed_form"]["max_live_verified"].as_array().expect("a list");
            for row in &verified[verified.len().saturating_sub(2)..] {
                let sizes = size_pairs(&row["size"]);
                let plan = plan(&kernel, &sizes, StrategyChoice::Auto).unwrap();
                let bound = buffer(&plan, array).lower_bound_cells;
                assert_eq!(bound, row["max_live"].as_u64(), "{} at {sizes:?}, array {array}", kernel.name());
            }
        }
    }
}

#[test]
fn sizes_of_figure_3_of_bee() {
    compare_all_sizes(BEE_FIGURE_3);
}

/// The rule of a mapping as the golden files give it: a matrix, and moduli that are formulas of the parameters.
fn published_rule(array: &str, paper: &Value) -> String {
    let rows = paper["M"].as_array().expect("a matrix").iter().zip(paper["e"].as_array().expect("moduli"));
    let coordinate = |(row, modulus): (&Value, &Value)| {
        let row = row.as_array().expect("a row").iter().enumerate();
        let sum: Vec<String> = row.map(|(k, c)| format!("{c}*i{k}")).collect();
        format!("({}) mod ({})", sum.join(" + "), modulus.as_str().expect("a formula"))
    };
    let coordinates: Vec<String> = rows.map(coordinate).collect();
    let n = paper["M"][0].as_array().expect("a row").len();
    let names: Vec<String> = (0..n).map(|k| format!("i{k}")).collect();
    format!("{array}[{}] -> [{}]", names.join(", "), coordinates.join(", "))
}

#[test]
fn published_mappings_of_table_1_of_smo_are_proved() {
    for (entry, kernel) in entries(SMO_TABLE_1) {
        let position = if is_large(&entry) { 0 } else { 1 };
        for (array, facts) in arrays(&entry) {
            let sizes = size_pairs(&facts["computed"]["at_sizes"][position]["size"]);
            let rule = published_rule(array, &facts["paper"]);
            let builder = sizes.iter().fold(kernel.plan().mapping(&rule), |b, (name, value)| b.size(name, *value));
            let plan = builder.build().unwrap_or_else(|error| panic!("{}, {rule}: {error}", kernel.name()));
            assert_eq!(buffer(&plan, array).strategy, "given");
        }
    }
}

/// With pitch and modulus in multiples of the lanes an aligned vector never wraps; powers of two are rounded further.
fn compare_rounded(name: &str, kernel: &Kernel, sizes: &Sizes, (lanes, row): (u64, &Value)) {
    let rounded = |rounding: Rounding| {
        let builder = kernel.plan().strategy(StrategyChoice::StridedHyperplane).rounding(rounding);
        sizes.iter().fold(builder, |builder, (name, value)| builder.size(name, *value)).build()
    };
    let plan = rounded(Rounding::Lanes).unwrap_or_else(|e| panic!("{name}, rounded: {e}"));
    let (report, golden) = (plan.report(), row["unit_stride_multiple_of_V"][0].as_u64().expect("a modulus"));
    let cells = report.buffers[0].cells;
    assert!(cells >= golden && cells.is_multiple_of(lanes), "{name}: {cells} cells rounded, golden {golden}");
    assert!(report.notes.iter().any(|note| note.contains("without")), "{name}: {:?}", report.notes);
    let powers = rounded(Rounding::PowerOfTwo).unwrap_or_else(|e| panic!("{name}, powers of two: {e}"));
    assert!(powers.report().buffers[0].cells.is_power_of_two(), "{name}");
}

/// Blocks of lanes: the golden ones start at multiples of their length, ours anywhere, so ours may need more cells.
#[test]
fn sizes_in_blocks_of_lanes() {
    let table: Value = serde_json::from_str(SMO_TABLE_1).expect("golden files are JSON");
    let entries = table["kernels"].as_array().expect("a list of kernels");
    let rows: Value = serde_json::from_str(SIMD_ORDER).expect("golden files are JSON");
    let every = if is_thorough() { 1 } else { 3 };
    for row in rows["rows"].as_array().expect("a list of rows").iter().step_by(every) {
        let entry = entries.iter().find(|e| e["name"] == row["kernel"]).expect("a row of the table");
        let lanes = row["V"].as_u64().expect("a number of lanes");
        let context = Context::new(QUOTA).unwrap();
        let text = import::Entry::new(entry, &context).in_blocks_of(lanes).kernel_text().unwrap();
        let kernel = Kernel::parse(&text).unwrap();
        let sizes = size_pairs(&row["size"]);
        let name = format!("{} at {sizes:?}, {lanes} lanes", kernel.name());
        let plan = plan(&kernel, &sizes, StrategyChoice::StridedHyperplane).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (cells, golden) = (plan.report().buffers[0].cells, row["unit_stride"][0].as_u64().expect("a modulus"));
        assert!(cells >= golden, "{name}: {cells} cells, but {golden} are needed in fewer orders");
        if cells > golden {
            println!("{name}: {cells} cells, {golden} if blocks start at multiples of their length");
        }
        compare_rounded(&name, &kernel, &sizes, (lanes, row));
    }
}
