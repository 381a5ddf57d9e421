//! Pictures of the papers' suite, beside the records that are their data.
//!
//! In: the record of a part, and where it is.   Out: of timed programs `PART.footprint.svg` and `PART.speed.svg`, as of
//! any comparison; of domain sizes `sizes.sizes.svg`, speed over the side of the domain, and `sizes.roofline.svg`; of
//! memories `largest.largest.svg`, the largest domain in each.

use std::fs;
use std::path::{Path, PathBuf};

use crease_bench::columns::bytes;
use crease_bench::paper::Part;
use crease_bench::paper::record::{LargestRow, TimedRow};
use crease_bench::record::Record;
use crease_bench::row::{Comparisons, Row};

use crate::axis::{Scale, plain};
use crate::bars::{Bar, Chart, Group, Panel};
use crate::canvas::Canvas;
use crate::comparisons::source_line;
use crate::error::PictureError;
use crate::lines::{LineChart, Plot, Series};
use crate::{bars, colour, footprint, lines, speed};

/// Draws the pictures of a part; says which. A part without anything to draw has none.
///
/// # Errors
/// [`PictureError::File`] if a file cannot be written.
pub fn draw(record: &Record<Part>, directory: &Path) -> Result<Vec<PathBuf>, PictureError> {
    fs::create_dir_all(directory).map_err(|source| PictureError::File { path: directory.to_owned(), source })?;
    let part = record.found.part.as_str();
    let data = format!("{part}.json");
    let compared = comparisons(record);
    let source = source_line(&compared, &data);
    let bars = |chart: Option<Chart>| chart.map(|chart| bars::draw(&chart));
    let pictures: Vec<(&str, Option<Canvas>)> = match part {
        "sizes" => vec![
            ("sizes", (!record.found.timed.is_empty()).then(|| sizes(&record.found.timed, source.clone()))),
            ("roofline", roofline(record, source)),
        ],
        "largest" => {
            vec![("largest", (!record.found.largest.is_empty()).then(|| largest(&record.found.largest, source)))]
        }
        _ => vec![
            ("footprint", bars(footprint::chart(&compared, &data))),
            ("speed", bars(speed::chart(&compared, &data))),
        ],
    };
    let mut written = Vec::new();
    for (name, canvas) in pictures {
        let Some(canvas) = canvas else { continue };
        let path = directory.join(format!("{part}.{name}.svg"));
        canvas.save(&path)?;
        written.push(path);
    }
    Ok(written)
}

/// Timed programs under their published names, as any other comparison.
fn comparisons(record: &Record<Part>) -> Record<Comparisons> {
    let row =
        |timed: &TimedRow| Row { kernel: timed.name.clone(), layout: timed.label().to_owned(), ..timed.row.clone() };
    let rows = record.found.timed.iter().map(row).collect();
    Record { header: record.header.clone(), found: Comparisons { rows } }
}

/// Points of each program and row, by the side of its domain.
fn series(rows: &[&TimedRow], point: impl Fn(&TimedRow) -> Option<(f64, f64)>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let Some(at) = point(row) else { continue };
        match all.iter_mut().find(|series| series.name == row.label()) {
            Some(series) => series.points.push(at),
            None => {
                all.push(Series { name: row.label().to_owned(), colour: colour::layout(row.label()), points: vec![at] })
            }
        }
    }
    all
}

/// Names of programs, each once.
fn programs(rows: &[TimedRow]) -> Vec<&str> {
    let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    names.dedup();
    names
}

fn sizes(rows: &[TimedRow], source: String) -> Canvas {
    let side = |row: &TimedRow| row.row.params.get("N").map(|&n| n as f64);
    let sides: Vec<f64> = rows.iter().filter_map(side).collect();
    let (least, most) =
        (sides.iter().copied().fold(f64::INFINITY, f64::min), sides.iter().copied().fold(1.0, f64::max));
    let plot = |name: &str| {
        let own: Vec<&TimedRow> = rows.iter().filter(|row| row.name == name).collect();
        let fastest = own.iter().filter_map(|row| row.row.updates_per_second).fold(0.0, f64::max);
        Plot {
            title: name.to_owned(),
            across: Scale::Logarithmic { least, most: most.max(least * 2.0) },
            up: Scale::Linear { most: fastest * 1.05 },
            ticks: [plain, |rate| format!("{} M", plain(rate * 1e-6))],
            series: series(&own, |row| Some((side(row)?, row.row.updates_per_second?))),
            limits: Vec::new(),
        }
    };
    lines::draw(&LineChart {
        title: "Speed against domain size".into(),
        subtitle: "site updates per second over cells along a side, one thread".into(),
        source,
        plots: programs(rows).into_iter().map(plot).collect(),
    })
}

/// Where rows of known arithmetic stand under what memory and arithmetic of one core allow.
fn roofline(record: &Record<Part>, source: String) -> Option<Canvas> {
    let roof = record.found.roofline.as_ref()?;
    let (bandwidth, peak) = (roof.bandwidth_gb_per_s, roof.peak_gflop_per_s);
    let (least, most) = (0.05, 8.0);
    let corner = peak / bandwidth;
    let limit = Series {
        name: format!("{} GFLOP/s", plain(peak.round())),
        colour: colour::INK,
        points: vec![(least, least * bandwidth), (corner.clamp(least, most), peak), (most, peak)],
    };
    let points = |name: &str| -> Option<Vec<Series>> {
        let intensity = roof.programs.iter().find(|program| program.name == name)?;
        let own: Vec<&TimedRow> = record.found.timed.iter().filter(|row| row.name == name).collect();
        let flops = intensity.flops_per_site;
        let at = |row: &TimedRow| Some((flops / intensity.bytes_per_site, row.row.updates_per_second? * flops * 1e-9));
        let named = series(&own, at).into_iter();
        Some(named.map(|series| Series { name: format!("{name}, {}", series.name), ..series }).collect())
    };
    let series: Vec<Series> = programs(&record.found.timed).into_iter().filter_map(points).flatten().collect();
    let slowest = series.iter().flat_map(|series| &series.points).map(|point| point.1).fold(peak, f64::min);
    Some(lines::draw(&LineChart {
        title: "Roofline of one core".into(),
        subtitle: format!(
            "GFLOP/s over flops a byte of the least traffic, one point for each domain size; memory gives {bandwidth:.0} \
             GB/s, caches more"
        ),
        source,
        plots: vec![Plot {
            title: "f64".into(),
            across: Scale::Logarithmic { least, most },
            up: Scale::Logarithmic { least: slowest.min(least * bandwidth) * 0.8, most: peak * 1.5 },
            ticks: [plain, plain],
            series,
            limits: vec![limit],
        }],
    }))
}

fn largest(rows: &[LargestRow], source: String) -> Canvas {
    let mut panels: Vec<Panel> = Vec::new();
    for group in rows.chunk_by(|a, b| a.kernel == b.kernel) {
        let most = group.iter().map(|row| row.n as f64).fold(1.0, f64::max);
        let bar = |row: &LargestRow| {
            let label = format!("N = {} in {}", row.n, bytes(row.memory_bytes));
            let tip = format!("{}: {label}", row.layout);
            Bar { value: Some(row.n as f64), range: None, colour: colour::layout(&row.layout), label, tip }
        };
        let of = |rows: &[LargestRow]| Group { name: rows[0].layout.clone(), bars: rows.iter().map(bar).collect() };
        panels.push(Panel {
            title: group[0].kernel.clone(),
            scale: Scale::Linear { most },
            tick: plain,
            groups: group.chunk_by(|a, b| a.layout == b.layout).map(of).collect(),
            limits: Vec::new(),
            remark: String::new(),
        });
    }
    bars::draw(&Chart {
        title: "Largest domain in a given memory".into(),
        subtitle: "cells along a side of the largest square or cube that can be run".into(),
        source,
        panels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_bench::record::Header;

    fn timed(name: &str, layout: &str, n: i64) -> TimedRow {
        let mut row = Row::new("kernel", &[("N".to_owned(), n)], layout, 1);
        row.schedule = Some("rows".into());
        row.updates_per_second = Some(1e9 / n as f64);
        TimedRow { name: name.into(), published: None, steps: None, remark: String::new(), row }
    }

    #[test]
    fn parts_are_drawn_with_their_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let timed = [32, 64, 512].iter().flat_map(|&n| ["successive-modulo", "folded"].map(|l| timed("heat", l, n)));
        let largest = LargestRow {
            kernel: "heat".into(),
            layout: "folded".into(),
            memory_bytes: 1 << 30,
            n: 11_000,
            needed_bytes: 1 << 29,
        };
        for (name, wanted) in [("sizes", "sizes.sizes.svg"), ("largest", "largest.largest.svg")] {
            let found = Part {
                part: name.into(),
                timed: timed.clone().collect(),
                largest: vec![largest.clone()],
                ..Part::default()
            };
            let files = draw(&Record { header: Header::new("crease", None), found }, directory.path()).unwrap();
            assert_eq!(files, [directory.path().join(wanted)]);
            let text = fs::read_to_string(&files[0]).unwrap();
            let document = roxmltree::Document::parse(&text).unwrap();
            let values = document.descendants().filter(|node| node.attribute("data-value").is_some());
            assert_eq!(values.count(), if name == "sizes" { 6 } else { 1 });
        }
    }
}
