//! Storage hyperplanes of Table I of "Automatic Storage Optimization for Arrays": sizes and validity.
//!
//! `golden/smo_table1.json` holds what is published, `golden/import.rs` makes kernels of it. Sizes are compared, never
//! coefficients: those are not unique. Every plan is proved by the checker.
//!
//! Without `CREASE_THOROUGH`, lattices in three dimensions, which take long, are left out of what is found for all
//! sizes.

use std::time::Instant;

use crease::StrategyChoice;
use crease::kernel::graph::Kernel;
use crease::parametric::Polynomial;
use crease::parametric::report::{Evidence, ParametricMapping, ParametricReport, Source};
use crease_isl::Context;
use serde_json::Value;

use crate::golden::import;
use crate::is_thorough;

const SMO_TABLE_1: &str = include_str!("golden/smo_table1.json");
/// isl operations for making a kernel of an entry.
const QUOTA: u64 = 1 << 30;

/// Rows of the table with the kernels made of them.
fn rows() -> Vec<(Value, Kernel)> {
    let file: Value = serde_json::from_str(SMO_TABLE_1).expect("golden files are JSON");
    let kernel = |row: &Value| {
        let context = Context::new(QUOTA).unwrap();
        Kernel::parse(&import::Entry::new(row, &context).kernel_text().unwrap()).unwrap()
    };
    let rows = file["kernels"].as_array().expect("a list of kernels");
    rows.iter().map(|row| (row.clone(), kernel(row))).collect()
}

/// The array of a row that is folded, and its facts.
fn folded(row: &Value) -> (&String, &Value) {
    row["arrays"].as_object().expect("facts by array").iter().next().expect("an array")
}

/// At given sizes a hyperplane may have coefficients that grow with them, so it may need less than the published one.
#[test]
fn hyperplanes_at_given_sizes_take_what_is_published_or_less() {
    for (row, kernel) in rows() {
        let (array, facts) = folded(&row);
        for at in facts["computed"]["at_sizes"].as_array().expect("a list of sizes") {
            let sizes = at["size"].as_object().expect("values by parameter");
            let builder = kernel.plan().strategy(StrategyChoice::Hyperplane);
            let builder = sizes.iter().fold(builder, |b, (name, value)| b.size(name, value.as_i64().unwrap()));
            let start = Instant::now();
            let plan = builder.build().unwrap_or_else(|error| panic!("{} at {sizes:?}: {error}", kernel.name()));
            let buffer = plan.report().buffers.iter().find(|b| b.name == *array).expect("a buffer");
            let published = at["mappings"]["paper_smo"]["size"].as_u64().expect("a size");
            let name = format!("{} at {sizes:?}", kernel.name());
            println!("{name}: {} cells, {published} published, {:.1?}", buffer.cells, start.elapsed());
            assert!(buffer.cells <= published, "{name}: {} cells, but {published} suffice", buffer.cells);
            assert!(buffer.cells >= at["max_live"].as_u64().expect("a bound"), "{name}: {} cells", buffer.cells);
        }
    }
}

/// The mapping of a report that the analysis with symbolic sizes gives.
fn symbolic<'r>(report: &'r ParametricReport, strategy: &str) -> &'r ParametricMapping {
    let mappings = &report.arrays.first().expect("an array").mappings;
    let wanted = |m: &&ParametricMapping| m.source == Source::Symbols && m.strategy == strategy;
    mappings.iter().find(wanted).unwrap_or_else(|| panic!("no {strategy} in {report:?}"))
}

/// A golden set of one value at given sizes.
fn value(set: &Value, sizes: &[(&str, i64)]) -> i128 {
    let context = Context::new(QUOTA).unwrap();
    let set = context.set(set.as_str().expect("a set")).unwrap();
    let fixed = sizes.iter().fold(set, |set, (name, value)| set.fix_param(name, *value).unwrap());
    i128::from(fixed.sample().unwrap().expect("a value")[0])
}

/// Table I gives mappings as formulas: ours are the same, proved for all sizes, and the checker accepts them at another
/// size.
#[test]
fn parametric_hyperplanes_are_those_of_the_table() {
    let is_wanted = |row: &Value| is_thorough() || !row["name"].as_str().expect("a name").starts_with("LBM-D3");
    for (row, kernel) in rows().into_iter().filter(|(row, _)| is_wanted(row)) {
        let (_, facts) = folded(&row);
        let at_sizes = facts["computed"]["at_sizes"].as_array().expect("a list of sizes");
        let (first, last) = (&at_sizes[0]["size"], &at_sizes[at_sizes.len() - 1]["size"]);
        let sizes = |size: &Value| -> Vec<(String, i64)> {
            let size = size.as_object().expect("values by parameter").iter();
            size.map(|(name, value)| (name.clone(), value.as_i64().expect("an integer"))).collect()
        };
        let plan_at = |size: &Value, mapping: &str| {
            let builder = kernel.plan().strategy(StrategyChoice::Hyperplane).mapping(mapping);
            sizes(size).iter().fold(builder, |b, (name, value)| b.size(name, *value)).build().unwrap()
        };
        let plan = plan_at(first, "");
        let start = Instant::now();
        let report = plan.parametric().unwrap();
        let hyperplane = symbolic(&report, "hyperplane");
        println!("{} {:.1?}, {}", hyperplane.pieces[0].formula, start.elapsed(), hyperplane.standing());
        let moduli: Vec<String> = hyperplane.pieces[0].moduli.iter().map(|m| m.to_string().replace(' ', "")).collect();
        for published in [&facts["paper"]["e"], &facts["computed"]["parametric"]["smo"]["e"]] {
            assert_eq!(Value::from(moduli.clone()), *published, "{}", kernel.name());
        }
        for mapping in &report.arrays[0].mappings {
            assert_eq!(mapping.evidence, Evidence::ProvedForAllSizes, "{}: {mapping:?}", kernel.name());
        }
        for at in at_sizes {
            let values: Vec<i64> = sizes(&at["size"]).iter().map(|(_, value)| *value).collect();
            assert_eq!(hyperplane.cells(&values), at["mappings"]["paper_smo"]["size"].as_i64().map(i128::from));
        }
        compare_successive_modulo(&symbolic(&report, "successive-modulo").pieces[0].moduli, facts);
        let given = plan_at(last, &hyperplane.pieces[0].formula);
        assert_eq!(given.report().buffers[0].strategy, "given");
    }
}

/// Moduli are one more than the largest difference along each index.
fn compare_successive_modulo(moduli: &[Polynomial], facts: &Value) {
    let largest = facts["computed"]["parametric"]["successive_modulo_max_difference"].as_array().expect("a list");
    for at in facts["computed"]["at_sizes"].as_array().expect("a list of sizes") {
        let sizes = at["size"].as_object().expect("values by parameter").iter();
        let sizes: Vec<(&str, i64)> = sizes.map(|(n, v)| (n.as_str(), v.as_i64().expect("an integer"))).collect();
        let values: Vec<i64> = sizes.iter().map(|(_, value)| *value).collect();
        for (modulus, largest) in moduli.iter().zip(largest) {
            assert_eq!(modulus.value(&values), Some(value(largest, &sizes) + 1), "{modulus} at {sizes:?}");
        }
    }
}
