//! The chart of footprints: bytes of each layout of each kernel, over the lower bound.
//!
//! In: a record.   Out: a chart. All panels share one scale, footprint over lower bound, so that the bound is one line
//! at 1; the scale is logarithmic where some layout takes more than four times the bound. Bars that no thread count
//! tells apart are drawn once.

use crease_bench::columns::bytes;
use crease_bench::record::Record;
use crease_bench::row::{Comparisons, Row};

use crate::axis::{Scale, plain};
use crate::bars::{Bar, Chart, Group, Limit, Panel};
use crate::colour;
use crate::comparisons::{Comparison, comparisons, source_line};

/// Ratios above this make the scale logarithmic.
const LINEAR_UP_TO: f64 = 4.0;

/// The chart of every kernel in the record whose storage and bound are known; `None` if there is none.
pub(crate) fn chart(record: &Record<Comparisons>, data: &str) -> Option<Chart> {
    let comparisons: Vec<Comparison<'_>> = comparisons(record).into_iter().filter(|c| !ratios(c).is_empty()).collect();
    let most = comparisons.iter().flat_map(ratios).map(|(_, ratio)| ratio).fold(1.0, f64::max);
    let scale = if most > LINEAR_UP_TO {
        Scale::Logarithmic { least: 0.5, most: most * 1.05 }
    } else {
        Scale::Linear { most: (most * 1.05).max(1.2) }
    };
    let logarithmic = if most > LINEAR_UP_TO { ", logarithmic scale" } else { "" };
    let panels: Vec<Panel> = comparisons.iter().map(|comparison| panel(comparison, scale)).collect();
    (!panels.is_empty()).then(|| Chart {
        title: "Footprint of state and temporaries".into(),
        subtitle: format!("bytes of storage, padding included, over the lower bound{logarithmic}"),
        source: source_line(record, data),
        panels,
    })
}

/// Rows with their footprint over the lower bound, each storage once.
fn ratios<'a>(comparison: &Comparison<'a>) -> Vec<(&'a Row, f64)> {
    let bound = comparison.rows.iter().filter_map(|row| row.lower_bound_bytes).find(|&bound| bound > 0);
    let mut known: Vec<(&Row, f64)> = Vec::new();
    for &row in &comparison.rows {
        let Some((taken, bound)) = row.temp_bytes.zip(row.lower_bound_bytes.filter(|&b| b > 0).or(bound)) else {
            continue;
        };
        let is_same = |other: &Row| {
            (&other.layout, &other.schedule, other.temp_bytes) == (&row.layout, &row.schedule, row.temp_bytes)
        };
        if !known.iter().any(|(other, _)| is_same(other)) {
            known.push((row, taken as f64 / bound as f64));
        }
    }
    known
}

fn panel(comparison: &Comparison<'_>, scale: Scale) -> Panel {
    let rows = ratios(comparison);
    let bound = rows.iter().find_map(|(row, _)| row.lower_bound_bytes).unwrap_or(0);
    let group = |&(row, ratio): &(&Row, f64)| {
        let taken = row.temp_bytes.map(bytes).unwrap_or_default();
        let name = comparison.name(row);
        let tip = format!("{name}: {taken}, {ratio:.3} times the lower bound; {}", row.made_by);
        let label = format!("{taken} \u{b7} {ratio:.2}\u{d7}");
        Group {
            name,
            bars: vec![Bar { value: Some(ratio), range: None, colour: colour::layout(&row.layout), label, tip }],
        }
    };
    Panel {
        title: comparison.title(),
        scale,
        tick: plain,
        groups: rows.iter().map(group).collect(),
        limits: vec![Limit { value: 1.0, name: format!("lower bound {}", bytes(bound)) }],
        remark: String::new(),
    }
}
