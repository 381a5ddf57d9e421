//! The table a person reads: one block per kernel and number of threads.

use std::fmt::Write;

use crate::report::{Record, Row};

/// Columns of text, aligned; the first `left` columns to the left, the others to the right.
struct Columns {
    rows: Vec<Vec<String>>,
    left: usize,
}

/// Renders every group of a record, and what the comparison says.
pub fn render(record: &Record) -> String {
    let machine = &record.machine;
    let mut text = format!("{}, {} cores, {}", machine.cpu, machine.cores, machine.isa.join(" "));
    for (threads, gb_per_s) in &machine.update_in_place_gb_per_s {
        let _ = write!(text, "; update in place {gb_per_s:.0} GB/s on {}", plural(threads, "thread"));
    }
    text.push('\n');
    for group in record.groups() {
        text.push('\n');
        text.push_str(&render_group(group));
    }
    text
}

fn render_group(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let params: Vec<String> = first.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let threads = plural(&first.threads.to_string(), "thread");
    let mut text = format!("{}   {}   {threads}", first.kernel, params.join(", "));
    if let Some(gb_per_s) = first.update_in_place_gb_per_s {
        let _ = write!(text, "   probe {gb_per_s:.0} GB/s");
    }
    text.push('\n');
    text.push_str(&columns(rows).render());
    for line in verdicts(rows) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn columns(rows: &[Row]) -> Columns {
    let header = [
        "schedule",
        "layout",
        "memory",
        "/ bound",
        "/ succ.mod.",
        "M updates/s",
        "spread",
        "/ succ.mod.",
        "/ best C",
        "of limit",
        "max diff",
    ];
    let mut table = Columns { rows: vec![header.map(str::to_owned).to_vec()], left: 2 };
    for row in rows {
        let baseline = successive_modulo(rows, row);
        let ratio = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| format!("{:.2}", a / b));
        let cells = [
            Some(row.schedule.clone().unwrap_or_else(|| "-".into())),
            Some(row.layout.clone()),
            Some(bytes(row.temp_bytes)),
            ratio(Some(row.temp_bytes as f64), row.lower_bound_bytes.map(|b| b as f64)),
            ratio(Some(row.temp_bytes as f64), baseline.map(|b| b.temp_bytes as f64)),
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
        table.rows.push(cells);
    }
    table
}

/// The successive-modulo row of the same schedule, or for a C loop the first one.
fn successive_modulo<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    let fits = |other: &&Row| row.schedule.is_none() || other.schedule == row.schedule;
    rows.iter().filter(fits).find(|other| other.layout == "successive-modulo")
}

fn best_c(rows: &[Row]) -> Option<&Row> {
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
    let schedule = folded.schedule.as_deref().unwrap_or("-");
    let mut parts = Vec::new();
    if let Some(baseline) = successive_modulo(rows, folded) {
        let memory = folded.temp_bytes as f64 / baseline.temp_bytes as f64;
        let faster = baseline.updates_per_second.map(|b| format!(" and {:.2} times the speed", speed / b));
        parts.push(format!("{memory:.2} of the memory{} of successive modulo", faster.unwrap_or_default()));
    }
    if let Some(best) = best_c(rows) {
        let memory = folded.temp_bytes as f64 / best.temp_bytes as f64;
        let faster = speed / best.updates_per_second?;
        parts.push(format!("{memory:.2} of the memory and {faster:.2} times the speed of {}", best.layout));
    }
    if parts.is_empty() { None } else { Some(format!("folded, {schedule}: {}", parts.join("; "))) }
}

impl Columns {
    fn render(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max();
        let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from(" ");
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                // Notes, after the columns of the header, are prose.
                if column < self.left || column >= self.rows[0].len() {
                    let _ = write!(line, " {cell:<width$} ");
                } else {
                    let _ = write!(line, " {cell:>width$} ");
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Bytes for people: decimal units, four digits or fewer.
pub fn bytes(count: u64) -> String {
    let value = count as f64;
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{:.1} kB", value * 1e-3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", value * 1e-6),
        _ => format!("{:.1} GB", value * 1e-9),
    }
}

fn plural(count: &str, noun: &str) -> String {
    if count == "1" { format!("1 {noun}") } else { format!("{count} {noun}s") }
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
        row.temp_bytes = temp_bytes;
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
        let text = render_group(&rows);
        let expected = "folded, b: 0.50 of the memory and 2.00 times the speed of successive modulo; \
                        1.00 of the memory and 1.25 times the speed of c-fast";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn columns_line_up() {
        let text = render_group(&[row("successive-modulo", Some("rows"), 9000, 9.0), row("c-aa", None, 12_000, 1.0)]);
        let ends: Vec<usize> = text.lines().skip(1).take(3).map(|line| line.chars().count()).collect();
        assert_eq!(ends[1], ends[2], "{text}");
    }

    #[test]
    fn bytes_have_decimal_units() {
        assert_eq!((bytes(9_999), bytes(151_000_000)), ("9999 B".to_owned(), "151.0 MB".to_owned()));
    }
}
