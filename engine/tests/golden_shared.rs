//! Golden facts of several arrays in one buffer: sizes computed elsewhere by an independent reference,
//! `golden/inter_array.json`.
//!
//! Each row is planned by `shared`: one buffer for all arrays, no larger than the golden one, which also has unit
//! stride, nor than that of the original tool, and no smaller than the values of all arrays that are alive together.

use crease::StrategyChoice;
use crease::kernel::graph::Kernel;
use crease_isl::Context;
use serde_json::Value;

use crate::golden::import;

const INTER_ARRAY: &str = include_str!("golden/inter_array.json");
/// isl operations for the import of one entry.
const QUOTA: u64 = 1 << 30;

/// An entry of the file; facts by array are not there, only names.
fn kernel(entry: &Value) -> Kernel {
    let mut entry = entry.clone();
    let names = entry["arrays"].as_array().expect("a list of names").clone();
    entry["arrays"] = names.iter().map(|name| (name.as_str().expect("a name").to_owned(), Value::Null)).collect();
    let context = Context::new(QUOTA).unwrap();
    let text = import::Entry::new(&entry, &context).kernel_text().unwrap();
    Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn several_arrays_share_a_buffer_of_the_golden_size() {
    let file: Value = serde_json::from_str(INTER_ARRAY).expect("golden files are JSON");
    let mut n_rows = 0;
    for entry in file["kernels"].as_array().expect("a list of kernels") {
        let kernel = kernel(entry);
        for row in entry["computed"].as_array().expect("a list of sizes") {
            let sizes = row["size"].as_object().expect("values by parameter").iter();
            let builder = sizes.fold(kernel.plan().strategy(StrategyChoice::Shared), |builder, (name, value)| {
                builder.size(name, value.as_i64().expect("an integer"))
            });
            let name = format!("{} at {}", kernel.name(), row["size"]);
            let plan = builder.build().unwrap_or_else(|error| panic!("{name}: {error}"));
            let report = plan.report_with_bounds().unwrap();
            let buffer = report.buffers.iter().find(|buffer| buffer.strategy == "shared").expect("a shared buffer");
            let number = |value: &Value| value.as_u64().expect("a number of cells");
            println!("{name}: {} cells, {:?}", buffer.cells, report.arrays);
            assert!(buffer.cells <= number(&row["joint_unit_stride"]["m"]), "{name}: {} cells", buffer.cells);
            assert!(buffer.cells <= number(&row["original_tool_mapping"]["size"]), "{name}: {} cells", buffer.cells);
            assert!(buffer.cells >= number(&row["joint_max_live"]), "{name}: {} cells", buffer.cells);
            assert_eq!(buffer.lower_bound_cells, row["joint_max_live"].as_u64(), "{name}: the lower bound");
            n_rows += 1;
        }
    }
    assert_eq!(n_rows, 6, "two sizes of three kernels");
}
