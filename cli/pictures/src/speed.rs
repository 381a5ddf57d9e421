//! The chart of speeds: updates per second of each layout on each number of threads, with what bandwidth allows.
//!
//! In: a record.   Out: a chart. Each panel has its own scale from 0; bars reach to the median, whiskers from the
//! slowest to the fastest round. The limit is the rate at which one read and one write of every state value would take
//! all of the bandwidth that was measured beside this comparison; data that stay in caches may go beyond it.

use crease_bench::record::Record;
use crease_bench::row::{Comparisons, Row};

use crate::axis::{Scale, plain};
use crate::bars::{Bar, Chart, Group, Limit, Panel};
use crate::colour::{self, WHITE};
use crate::comparisons::{Comparison, comparisons, source_line};

/// A limit further out than this many times the fastest bar is told in words.
const LIMIT_ON_AXIS: f64 = 2.2;

/// The chart of every kernel in the record that was timed; `None` if there is none.
pub(crate) fn chart(record: &Record<Comparisons>, data: &str) -> Option<Chart> {
    let timed = |comparison: &Comparison<'_>| comparison.rows.iter().any(|row| row.updates_per_second.is_some());
    let panels: Vec<Panel> = comparisons(record).iter().filter(|c| timed(c)).map(panel).collect();
    (!panels.is_empty()).then(|| Chart {
        title: "Speed".into(),
        subtitle: "site updates per second, median and range of all rounds; pale bars: fewer threads".into(),
        source: source_line(record, data),
        panels,
    })
}

fn panel(comparison: &Comparison<'_>) -> Panel {
    let fastest = comparison.rows.iter().filter_map(|row| Some((row.updates_per_second?, range(row)?.1)));
    let fastest = fastest.fold(0.0, |most: f64, (median, best)| most.max(median).max(best));
    let (near, far): (Vec<Limit>, Vec<Limit>) =
        limits(comparison).into_iter().partition(|limit| limit.value <= LIMIT_ON_AXIS * fastest);
    let most = near.iter().map(|limit| limit.value).fold(fastest, f64::max) * 1.02;
    let far: Vec<String> = far.iter().map(|limit| format!("{}: {}/s", limit.name, rate(limit.value))).collect();
    Panel {
        title: comparison.title(),
        scale: Scale::Linear { most },
        tick: rate,
        groups: groups(comparison),
        limits: near,
        remark: if far.is_empty() { String::new() } else { format!("beyond the axis: {}", far.join("; ")) },
    }
}

/// One group per schedule and layout; bars in it by number of threads.
fn groups(comparison: &Comparison<'_>) -> Vec<Group> {
    let counts = comparison.thread_counts();
    let mut groups: Vec<(Option<&str>, &str, Group)> = Vec::new();
    for &row in &comparison.rows {
        let key = (row.schedule.as_deref(), row.layout.as_str());
        let bar = bar(comparison, row, &counts);
        match groups.iter_mut().find(|(schedule, layout, _)| (*schedule, *layout) == key) {
            Some((_, _, group)) => group.bars.push(bar),
            None => groups.push((key.0, key.1, Group { name: comparison.name(row), bars: vec![bar] })),
        }
    }
    groups.into_iter().map(|(_, _, group)| group).collect()
}

fn bar(comparison: &Comparison<'_>, row: &Row, counts: &[usize]) -> Bar {
    let rank = counts.iter().position(|&count| count == row.threads).unwrap_or(0);
    let pale = 0.55 * (counts.len() - 1 - rank) as f64 / counts.len().saturating_sub(1).max(1) as f64;
    let threads = if counts.len() > 1 { format!(", {}", threads(row.threads)) } else { String::new() };
    let label = match (row.updates_per_second, &row.note) {
        (Some(speed), _) => format!("{}{threads}", rate(speed)),
        (None, Some(note)) => note.chars().take(28).collect(),
        (None, None) => "not timed".into(),
    };
    Bar {
        value: row.updates_per_second,
        range: range(row),
        colour: colour::layout(&row.layout).towards(WHITE, pale),
        tip: format!("{}{threads}: {label}", comparison.name(row)),
        label,
    }
}

/// Rates of the slowest and the fastest round.
fn range(row: &Row) -> Option<(f64, f64)> {
    let (speed, seconds) = row.updates_per_second.zip(row.seconds)?;
    let at = |time: f64| speed * seconds.median / time;
    Some((at(seconds.max), at(seconds.min)))
}

/// The bandwidth limit per number of threads.
fn limits(comparison: &Comparison<'_>) -> Vec<Limit> {
    let limit = |&count: &usize| {
        let of_count = comparison.rows.iter().filter(|row| row.threads == count);
        let (speed, share) = of_count
            .filter_map(|row| row.updates_per_second.zip(row.bandwidth_share))
            .find(|&(_, share)| share > 0.0)?;
        Some(Limit { value: speed / share, name: format!("bandwidth limit, {}", threads(count)) })
    };
    comparison.thread_counts().iter().filter_map(limit).collect()
}

fn threads(count: usize) -> String {
    if count == 1 { "1 thread".into() } else { format!("{count} threads") }
}

/// Updates per second for people: `145 M`, `4.06 G`.
fn rate(speed: f64) -> String {
    match speed {
        0.0 => "0".into(),
        ..1e6 => format!("{} k", plain(speed * 1e-3)),
        ..1e9 => format!("{} M", plain((speed * 1e-5).round() * 0.1)),
        _ => format!("{} G", plain(speed * 1e-9)),
    }
}
