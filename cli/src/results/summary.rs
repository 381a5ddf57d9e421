//! The few lines of the README: folded storage beside successive modulo and the best C loop.

use crease_bench::columns::{Columns, bytes};
use crease_bench::row::Row;
use crease_bench::table::{best_c, memory_ratio, successive_modulo};

use crate::results::document::shell;
use crate::results::newest::{Content, Found, Newest};

/// A table and a picture of the newest record of the suite `quick`.
pub(super) fn summary(newest: &Newest) -> String {
    match newest.found.get("quick") {
        Some(Found { name, charts, content: Content::Comparisons(record) }) => {
            let machine = &record.header.machine;
            let mut columns = Columns::new(
                3,
                &[
                    "kernel",
                    "size",
                    "schedule",
                    "threads",
                    "memory",
                    "of successive modulo's",
                    "M updates/s",
                    "times successive modulo",
                    "times the best C loop",
                ],
            );
            for group in record.found.groups() {
                group.iter().filter(|row| row.layout == "folded").for_each(|row| columns.push(cells(group, row)));
            }
            let mut text = format!(
                "{}, on {} with {} cores, wrote\n[bench-results/{name}](bench-results/{name}), which says of folded storage:\n\n{}",
                shell(&record.header.command),
                machine.cpu,
                machine.cores,
                columns.markdown()
            );
            for (_, file) in charts.iter().filter(|(chart, _)| chart == "speed") {
                text += &format!("\n![speed of all layouts](bench-results/{file})\n");
            }
            text
        }
        _ => "There is no record of the suite `quick`.\n".to_owned(),
    }
}

fn cells(group: &[Row], row: &Row) -> Vec<String> {
    let baseline = successive_modulo(group, row);
    let times = |other: &Row| Some(row.updates_per_second? / other.updates_per_second?);
    let sizes = row.params.iter().filter(|(name, _)| *name != "T").map(|(name, value)| format!("{name} = {value}"));
    let cells = [
        Some(row.kernel.clone()),
        Some(sizes.collect::<Vec<_>>().join(", ")),
        row.schedule.clone(),
        Some(row.threads.to_string()),
        row.temp_bytes.map(bytes),
        memory_ratio(row.temp_bytes, baseline.and_then(|baseline| baseline.temp_bytes)),
        row.updates_per_second.map(|rate| format!("{:.0}", rate * 1e-6)),
        baseline.and_then(times).map(|times| format!("{times:.2}")),
        best_c(group).and_then(|best| Some(format!("{:.2} (`{}`)", times(best)?, best.layout))),
    ];
    cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".into())).collect()
}
