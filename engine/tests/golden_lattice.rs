//! Golden sizes of the strategy `lattice`: the optima and heuristics that an independent reference computed.
//!
//! Every array of Figure 3 of Bee+Cl@k and of Table I of SMO, at every size on record, is planned with `lattice`. What
//! it takes must lie between the values alive at once and the smallest size on record: the optimum over all lattices,
//! where the reference searched for it, else the best of its heuristics and of successive modulo. What is carried over
//! to large sizes is looked at for one of them without `CREASE_THOROUGH`.

use crease::StrategyChoice;
use crease::kernel::graph::Kernel;
use crease_isl::Context;
use serde_json::Value;

use crate::golden::import;
use crate::is_thorough;

const SMO_TABLE_1: &str = include_str!("golden/smo_table1.json");
const BEE_FIGURE_3: &str = include_str!("golden/bee_figure3.json");
/// isl operations for the making of one kernel.
const QUOTA: u64 = 1 << 30;

fn kernels(file: &str) -> Vec<(Value, Kernel)> {
    let file: Value = serde_json::from_str(file).expect("golden files are JSON");
    let mut entries = file["kernels"].as_array().expect("a list of kernels").clone();
    for entry in entries.iter_mut().filter(|e| e["name"] == "mot_detect_kern_ODelta") {
        // As written, `S3[4, 4]` reads cell -1 and cell 841 is never written: all indices of S3 are one too small.
        for (field, from, to) in [("reads", "j-121", "j-120"), ("writes", "j-120", "j-119")] {
            entry[field] = entry[field].as_str().expect("a relation").replace(from, to).into();
        }
    }
    let kernel = |entry: Value| {
        let context = Context::new(QUOTA).unwrap();
        let text = import::Entry::new(&entry, &context).kernel_text().unwrap();
        let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        (entry, kernel)
    };
    entries.into_iter().map(kernel).collect()
}

/// The smallest size on record for one array at one size of the kernel.
fn smallest_on_record(facts: &Value) -> u64 {
    if let Some(optimum) = facts["optimal_lattice"]["size"].as_u64() {
        return optimum;
    }
    let heuristics = ["successive_modulo", "H1a", "H1", "H3_identity"].map(|name| facts[name]["size"].as_u64());
    heuristics.into_iter().flatten().min().expect("some size is on record")
}

fn compare(file: &str, is_wanted: impl Fn(&str) -> bool, most_sizes: usize) {
    for (entry, kernel) in kernels(file) {
        if !is_wanted(kernel.name()) {
            continue;
        }
        let arrays: Vec<(&String, &Value)> = entry["arrays"].as_object().expect("facts by array").iter().collect();
        let count = arrays[0].1["computed"]["at_sizes"].as_array().expect("a list").len();
        for position in 0..count.min(most_sizes) {
            let at = |facts: &'_ Value| facts["computed"]["at_sizes"][position].clone();
            let sizes = at(arrays[0].1)["size"].as_object().expect("values by parameter").clone();
            let plan = kernel.plan().strategy(StrategyChoice::Lattice);
            let plan = sizes.iter().fold(plan, |plan, (name, value)| plan.size(name, value.as_i64().unwrap()));
            let start = std::time::Instant::now();
            let plan = plan.build().unwrap_or_else(|error| panic!("{} at {sizes:?}: {error}", kernel.name()));
            println!("{} at {sizes:?}: {:.4} s", kernel.name(), start.elapsed().as_secs_f64());
            for (array, facts) in &arrays {
                let facts = at(facts);
                let buffer = plan.report().buffers.iter().find(|b| b.name == **array).expect("a buffer of its own");
                let (max_live, record) = (facts["max_live"].as_u64().unwrap(), smallest_on_record(&facts));
                println!("  {array}: {} cells, {max_live} alive, {record} on record", buffer.cells);
                let name = format!("{} at {sizes:?}, array {array}", kernel.name());
                assert!((max_live..=record).contains(&buffer.cells), "{name}: {} cells, not {record}", buffer.cells);
            }
        }
    }
}

#[test]
fn lattices_of_figure_3_of_bee() {
    compare(BEE_FIGURE_3, |_| true, usize::MAX);
}

#[test]
fn lattices_of_table_1_of_smo() {
    compare(SMO_TABLE_1, |name| !name.starts_with("LBM_D3"), usize::MAX);
}

/// One population array of four indices each.
#[test]
fn lattices_of_lbm_in_three_dimensions() {
    compare(SMO_TABLE_1, |name| name.starts_with("LBM_D3"), 1);
}

/// At sizes where no search ends, the pattern of small sizes goes on: triangular arrays take three quarters of the
/// square.
#[test]
fn lattices_of_small_sizes_are_carried_over_to_large_ones() {
    let (_, kernel) = kernels(BEE_FIGURE_3).into_iter().find(|(entry, _)| entry["name"] == "reg_detect").unwrap();
    let sizes = [(65, 3 * 32 * 32 + 3 * 32 + 1), (64, 3 * 32 * 32), (512, 3 * 256 * 256)];
    for (n, cells) in sizes.into_iter().take(if is_thorough() { 3 } else { 1 }) {
        let plan = kernel.plan().size("N", n).size("P", 64).strategy(StrategyChoice::Lattice).build().unwrap();
        let found = |array: &str| plan.report().buffers.iter().find(|b| b.name == array).unwrap().cells;
        assert_eq!(["sum_t", "mean", "diff"].map(found), [cells, cells, 64 * cells], "N = {n}");
    }
}
