//! The table a person reads: one block per kernel and number of threads.

use std::fmt::Write;

use crate::bandwidth::Bandwidth;
use crate::columns::{Columns, bytes, plural};
use crate::record::Header;
use crate::row::Row;

/// One comparison: what it is about, its rows, and what the comparison says.
pub struct Block {
    /// Kernel, sizes, threads, bandwidth.
    pub title: Vec<String>,
    /// Its rows.
    pub columns: Columns,
    /// One sentence each.
    pub remarks: Vec<String>,
}

/// Half-spreads of an otherwise idle machine stay below this.
const CALM_SPREAD: f64 = 0.15;

/// More than the last-level cache of one socket usually has for one program.
const BEYOND_CACHES_BYTES: u64 = 64 << 20;

/// The table of one group; empty without rows.
pub fn render(group: &[Row]) -> String {
    let Some(block) = block(group) else { return String::new() };
    let mut text = format!("\n{}\n{}", block.title.join("   "), block.columns.render());
    for line in &block.remarks {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// The machine, in a line, with what bandwidth it had.
pub fn machine(header: &Header) -> String {
    let machine = &header.machine;
    let mut text = format!("\n{}, {} cores, {}", machine.cpu, machine.cores, machine.isa.join(" "));
    for (threads, gb_per_s) in &machine.update_in_place_gb_per_s {
        let _ = write!(text, "; update in place {gb_per_s:.0} GB/s on {}", plural(threads, "thread"));
    }
    text + "\n"
}

/// The block of one group; none of an empty one.
pub fn block(rows: &[Row]) -> Option<Block> {
    let first = rows.first()?;
    let params: Vec<String> = first.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let threads = plural(&first.threads.to_string(), "thread");
    let mut title = vec![first.kernel.clone(), params.join(", "), threads];
    if let Some(cores) = first.cores.filter(|_| first.threads > 1) {
        title.push(format!("{cores:.1} cores"));
    }
    if let Some(nanoseconds) = first.round_trip_ns {
        title.push(format!("round trip {nanoseconds:.0} ns"));
    }
    if let Some(Bandwidth { update_in_place, triad }) = first.gb_per_s {
        title.push(format!("update in place {update_in_place:.0} GB/s, triad {triad:.0} GB/s"));
    }
    let remarks = verdicts(rows).into_iter().chain(c_quality(rows)).chain(unrest(rows)).collect();
    Some(Block { title, columns: columns(rows), remarks })
}

fn columns(rows: &[Row]) -> Columns {
    let rate = if rows.iter().any(|row| row.runs.is_some()) { "M pixels/s" } else { "M updates/s" };
    let header = [
        "schedule",
        "layout",
        "isa",
        "memory",
        "/ bound",
        "/ succ.mod.",
        rate,
        "spread",
        "/ succ.mod.",
        "/ best C",
        "of limit",
        "max diff",
    ];
    let mut table = Columns::new(3, &header);
    for row in rows {
        let baseline = successive_modulo(rows, row);
        let ratio = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| format!("{:.2}", a / b));
        let cells = [
            Some(row.schedule.clone().unwrap_or_else(|| "-".into())),
            Some(row.layout.clone()),
            row.isa.clone(),
            row.temp_bytes.map(bytes),
            memory_ratio(row.temp_bytes, row.lower_bound_bytes),
            memory_ratio(row.temp_bytes, baseline.and_then(|b| b.temp_bytes)),
            row.updates_per_second.map(|u| format!("{:.1}", u * 1e-6)),
            row.seconds.map(|s| format!("{:.0} %", s.spread() * 100.0)),
            ratio(row.updates_per_second, baseline.and_then(|b| b.updates_per_second)),
            ratio(row.updates_per_second, best_c(rows).and_then(|b| b.updates_per_second)),
            row.bandwidth_share.map(|share| format!("{:.0} %", share * 100.0)),
            row.max_abs_diff.map(|d| if d == 0.0 { "0".into() } else { format!("{d:.0e}") }),
        ];
        let mut cells: Vec<String> = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".into())).collect();
        if let Some(note) = &row.note {
            cells.push(note.clone());
        }
        table.push(cells);
    }
    table
}

/// The successive-modulo row of the same schedule and instruction set, or for a C loop the first one.
pub fn successive_modulo<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    let fits = |other: &&Row| row.schedule.is_none() || (&other.schedule, &other.isa) == (&row.schedule, &row.isa);
    rows.iter().filter(fits).find(|other| other.layout == "successive-modulo")
}

/// How many times as much storage, in words; none of nothing.
pub fn memory_ratio(bytes: Option<u64>, other: Option<u64>) -> Option<String> {
    let (bytes, other) = (bytes?, other.filter(|&other| other > 0)?);
    Some(format!("{:.2}", bytes as f64 / other as f64))
}

/// The fastest C loop.
pub fn best_c(rows: &[Row]) -> Option<&Row> {
    let timed = rows.iter().filter(|row| row.layout.starts_with("c-") && row.updates_per_second.is_some());
    timed.max_by(|a, b| a.updates_per_second.unwrap_or(0.0).total_cmp(&b.updates_per_second.unwrap_or(0.0)))
}

/// One sentence for each schedule that has a folded layout.
fn verdicts(rows: &[Row]) -> Vec<String> {
    let folded = rows.iter().filter(|row| row.layout == "folded");
    folded.filter_map(|row| verdict(rows, row)).collect()
}

fn verdict(rows: &[Row], folded: &Row) -> Option<String> {
    let speed = folded.updates_per_second?;
    let mut name = folded.schedule.clone().unwrap_or_else(|| "-".into());
    if let Some(isa) = folded.isa.as_ref().filter(|isa| rows.iter().flat_map(|row| &row.isa).any(|other| other != *isa))
    {
        name += &format!(", {isa}");
    }
    let mut parts = Vec::new();
    let baseline = successive_modulo(rows, folded);
    let memory = baseline.and_then(|b| memory_ratio(folded.temp_bytes, b.temp_bytes));
    if let (Some(memory), Some(slower)) = (memory, baseline.and_then(|b| b.updates_per_second)) {
        let faster = speed / slower;
        parts.push(format!("{memory} of the memory and {faster:.2} times the speed of successive modulo"));
    }
    if let Some(best) = best_c(rows) {
        let memory = memory_ratio(folded.temp_bytes, best.temp_bytes)?;
        let faster = speed / best.updates_per_second?;
        parts.push(format!("{memory} of the memory and {faster:.2} times the speed of {}", best.layout));
    }
    if parts.is_empty() { None } else { Some(format!("folded, {name}: {}", parts.join("; "))) }
}

/// Whether the C loops are good C: what they reach of the bandwidth that their way of storing allows. Only for lattices
/// larger than caches, which are limited by nothing else.
fn c_quality(rows: &[Row]) -> Option<String> {
    let lattice = rows.iter().find(|row| row.layout == "c-aa")?;
    lattice.temp_bytes.filter(|&bytes| bytes > BEYOND_CACHES_BYTES)?;
    let share = |layout: &str| rows.iter().find(|row| row.layout == layout)?.bandwidth_share;
    let Bandwidth { update_in_place, triad } = rows.first()?.gb_per_s?;
    // Reading one lattice and writing another moves three values where updating in place moves two.
    let two = share("c-two-lattices")? * 1.5 * update_in_place / triad;
    let one = lattice.bandwidth_share?;
    Some(format!("C: c-aa has {:.0} % of update in place, c-two-lattices {:.0} % of triad", one * 100.0, two * 100.0))
}

/// A warning if the machine had other things to do: ratios of medians are then worth little, so that those of the
/// fastest rounds stand beside them.
fn unrest(rows: &[Row]) -> Option<String> {
    let spreads = rows.iter().filter_map(|row| row.seconds).map(|seconds| seconds.spread());
    let widest = spreads.fold(0.0, f64::max);
    if widest <= CALM_SPREAD {
        return None;
    }
    let shortest = |row: &Row| row.seconds.map(|seconds| seconds.min);
    let c_loops = rows.iter().filter(|row| row.layout.starts_with("c-"));
    let best = c_loops.filter_map(|row| shortest(row).map(|seconds| (row, seconds))).min_by(|a, b| a.1.total_cmp(&b.1));
    let mut text = format!("the machine was busy: times spread by up to {:.0} %", widest * 100.0);
    if let Some((best, of_best)) = best {
        let folded = rows.iter().filter(|row| row.layout == "folded");
        let each = folded.filter_map(|row| {
            let schedule = row.schedule.as_deref().unwrap_or("-");
            shortest(row).map(|seconds| format!("{:.2} ({schedule})", of_best / seconds))
        });
        let each: Vec<String> = each.collect();
        let _ = write!(text, "; by the fastest rounds, folded has {} of the speed of {}", each.join(", "), best.layout);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::Seconds;

    fn row(layout: &str, schedule: Option<&str>, temp_bytes: u64, median: f64) -> Row {
        let mut row = Row::new("k", &[("N".to_owned(), 8)], layout, 1);
        row.schedule = schedule.map(str::to_owned);
        row.seconds = Some(Seconds { median, min: median, max: median });
        row.updates_per_second = Some(1e6 / median);
        row.temp_bytes = Some(temp_bytes);
        row.lower_bound_bytes = Some(1000);
        row.max_abs_diff = Some(0.0);
        row
    }

    #[test]
    fn the_verdict_compares_with_the_same_schedule_and_the_fastest_c_loop() {
        let rows = [
            row("successive-modulo", Some("a"), 9000, 9.0),
            row("successive-modulo", Some("b"), 2000, 4.0),
            row("folded", Some("b"), 1000, 2.0),
            row("c-slow", None, 2000, 8.0),
            row("c-fast", None, 1000, 2.5),
        ];
        let text = render(&rows);
        let expected = "folded, b: 0.50 of the memory and 2.00 times the speed of successive modulo; \
                        1.00 of the memory and 1.25 times the speed of c-fast";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn where_times_spread_the_fastest_rounds_are_told() {
        let mut rows =
            [row("folded", Some("a"), 1000, 4.0), row("c-slow", None, 1000, 3.0), row("c-fast", None, 1000, 2.5)];
        assert!(!render(&rows).contains("busy"));
        rows[0].seconds = Some(Seconds { median: 4.0, min: 1.0, max: 5.0 });
        let text = render(&rows);
        let expected = "spread by up to 50 %; by the fastest rounds, folded has 2.50 (a) of the speed of c-fast";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn columns_line_up() {
        let rows = [row("successive-modulo", Some("rows"), 9000, 9.0), row("c-aa", None, 12_000, 1.0)];
        let text = render(&rows);
        let ends: Vec<usize> = text.lines().skip(2).take(3).map(|line| line.chars().count()).collect();
        assert_eq!(ends[1], ends[2], "{text}");
    }
}
