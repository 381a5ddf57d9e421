//! Storage hyperplanes of Table I of "Automatic Storage Optimization for Arrays": sizes and validity.
//!
//! `golden/smo_table1.json` holds what is published, `golden/import.rs` makes kernels of it. Sizes are compared, never
//! coefficients: those are not unique. Every plan is proved by the checker.

#[path = "golden/import.rs"]
#[expect(dead_code, reason = "golden.rs uses all of it")]
mod import;

use std::time::Instant;

use crease::StrategyChoice;
use crease::kernel::graph::Kernel;
use crease_isl::Context;
use serde_json::Value;

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

#[test]
fn parametric_probe() {
    for (row, kernel) in rows() {
        if std::env::var("K").is_ok_and(|k| !row["name"].as_str().unwrap().contains(&k)) { continue; }
        let (_, facts) = folded(&row);
        let at = facts["computed"]["at_sizes"].as_array().expect("a list of sizes").last().unwrap();
        let sizes = at["size"].as_object().expect("values by parameter");
        let builder = kernel.plan().strategy(StrategyChoice::Hyperplane);
        let builder = sizes.iter().fold(builder, |b, (name, value)| b.size(name, value.as_i64().unwrap()));
        let plan = builder.build().unwrap();
        let start = Instant::now();
        let report = plan.parametric().unwrap();
        println!("{} {:?} paper {} {}", kernel.name(), start.elapsed(), facts["paper"]["e"], facts["computed"]["parametric"]["smo"]["e"]);
        for array in &report.arrays {
            for m in &array.mappings {
                println!("   {:?} {} {}: {}", m.source, m.strategy, m.pieces[0].formula, m.standing());
            }
            for n in &array.notes { println!("    note {n}"); }
        }
    }
}
