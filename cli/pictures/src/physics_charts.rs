//! Figures of the physics suite, beside its record, which is their data.
//!
//! In: a record with figures, and where it is.   Out: `NAME.FIGURE.svg` for each, for a record `NAME.json`: curves over
//! axes with their units, or maps side by side, with a legend and where what is known comes from.
//!
//! What is computed has colours, what is known is black: lines dashed, points open.

use std::fs;
use std::path::{Path, PathBuf};

use crease_bench::physics::Physics;
use crease_bench::record::Record;
use crease_kernels::physics::figure::{Axis, Curve, Figure, Map, Origin};

use crate::axis::Scale;
use crate::canvas::{Anchor, Area, Block, Canvas, Face, Stroke, wrapped};
use crate::colour::{EMPTY, GRID, INK, Rgb, ranked};
use crate::error::PictureError;

const MARGIN: f64 = 24.0;
const TICKS: f64 = 58.0;
const HEAD: f64 = 66.0;
const FOOT: f64 = 70.0;
const PLOT: [f64; 2] = [520.0, 320.0];
const LEGEND: f64 = 270.0;
const ENTRY: f64 = 20.0;
const SWATCH: f64 = 26.0;
/// Half of a point's side.
const POINT: f64 = 2.4;
/// The same of open ones, around those.
const OPEN_POINT: f64 = 4.2;
/// Side of a map.
const MAP: f64 = 240.0;

/// Draws a record's figures into `directory`, or beside the record. Returns the files written.
///
/// # Errors
/// [`PictureError::File`] if a file cannot be written.
pub fn draw(record: &Record<Physics>, json: &Path, directory: Option<&Path>) -> Result<Vec<PathBuf>, PictureError> {
    let directory = directory.unwrap_or(json.parent().unwrap_or(Path::new("")));
    if !directory.as_os_str().is_empty() {
        fs::create_dir_all(directory).map_err(|source| PictureError::File { path: directory.to_owned(), source })?;
    }
    let stem = json.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let data = json.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut written = Vec::new();
    for figure in &record.found.figures {
        let path = directory.join(format!("{stem}.{}.svg", figure.name));
        let canvas = if figure.maps.is_empty() { curves(figure, &data) } else { maps(figure, &data) };
        canvas.save(&path)?;
        written.push(path);
    }
    Ok(written)
}

fn headed(figure: &Figure, data: &str, width: f64, height: f64) -> Canvas {
    let mut canvas = Canvas::new(width, height, &figure.title);
    canvas.text((MARGIN, 30.0), Anchor::Start, Face::TITLE, &figure.title);
    canvas.text((MARGIN, 50.0), Anchor::Start, Face::NOTE.sized(12.0), &format!("known: {}", figure.source));
    canvas.text((MARGIN, height - 14.0), Anchor::Start, Face::NOTE, &format!("data: {data}"));
    canvas
}

fn curves(figure: &Figure, data: &str) -> Canvas {
    let names: Vec<Vec<String>> =
        figure.curves.iter().map(|curve| wrapped(&curve.name, LEGEND - SWATCH - 10.0, Face::LABEL)).collect();
    let lines: usize = names.iter().map(Vec::len).sum();
    let height = (HEAD + PLOT[1] + FOOT).max(HEAD + 20.0 + ENTRY * lines as f64 + FOOT);
    let mut canvas = headed(figure, data, 2.0 * MARGIN + TICKS + PLOT[0] + LEGEND, height);
    let area = Area { x: MARGIN + TICKS, y: HEAD + 8.0, width: PLOT[0], height: PLOT[1] };
    let [across, up] = [scale(&figure.across, figure, 0), scale(&figure.up, figure, 1)];
    axes(&mut canvas, figure, [across, up], area);
    let computed = figure.curves.iter().filter(|curve| curve.origin == Origin::Computed).count();
    let mut number = 0;
    let coloured: Vec<(&Curve, Rgb)> = figure
        .curves
        .iter()
        .map(|curve| {
            if curve.origin == Origin::Known {
                return (curve, INK);
            }
            number += 1;
            // The palest end of the map does not stand out from white.
            (curve, ranked(number - 1, computed.max(2)).towards(INK, 0.15))
        })
        .collect();
    let place = |&[x, y]: &[f64; 2]| (area.x + across.share(x) * area.width, area.bottom() - up.share(y) * area.height);
    // What is computed lies above what is known, so that both are seen where they agree.
    for origin in [Origin::Known, Origin::Computed] {
        for (curve, colour) in coloured.iter().filter(|(curve, _)| curve.origin == origin) {
            mark(&mut canvas, curve, *colour, &curve.points.iter().map(place).collect::<Vec<_>>());
        }
    }
    let (x, mut y) = (area.right() + 16.0, area.y + 6.0);
    for ((curve, colour), name) in coloured.into_iter().zip(names) {
        mark(&mut canvas, curve, colour, &[(x, y), (x + SWATCH - 8.0, y)]);
        for line in name {
            canvas.text((x + SWATCH, y + 4.0), Anchor::Start, Face::LABEL, &line);
            y += ENTRY * 0.75;
        }
        y += ENTRY * 0.25;
    }
    canvas
}

/// Points, or the line through them.
fn mark(canvas: &mut Canvas, curve: &Curve, colour: Rgb, places: &[(f64, f64)]) {
    let is_known = curve.origin == Origin::Known;
    if curve.joined {
        let stroke = if is_known { Stroke::dashed(colour, 1.4) } else { Stroke::solid(colour, 1.8) };
        canvas.polyline(places, stroke);
        return;
    }
    for &(x, y) in places {
        let half = if is_known { OPEN_POINT } else { POINT };
        let area = Area { x: x - half, y: y - half, width: 2.0 * half, height: 2.0 * half };
        let block = if is_known {
            Block::new(area, crate::colour::WHITE).border(Stroke::solid(colour, 1.2))
        } else {
            Block::new(area, colour)
        };
        canvas.block(&block);
    }
}

fn axes(canvas: &mut Canvas, figure: &Figure, [across, up]: [Scale; 2], area: Area) {
    let labelled = |scale: Scale| scale.ticks().into_iter().zip(labels(scale)).collect::<Vec<_>>();
    for (tick, label) in labelled(across) {
        let x = area.x + across.share(tick) * area.width;
        canvas.line((x, area.y), (x, area.bottom()), Stroke::solid(GRID, 1.0));
        canvas.text((x, area.bottom() + 15.0), Anchor::Middle, Face::NOTE, &label);
    }
    for (tick, label) in labelled(up) {
        let y = area.bottom() - up.share(tick) * area.height;
        canvas.line((area.x, y), (area.right(), y), Stroke::solid(GRID, 1.0));
        canvas.text((area.x - 6.0, y + 4.0), Anchor::End, Face::NOTE, &label);
    }
    canvas.text((area.centre().0, area.bottom() + 33.0), Anchor::Middle, Face::LABEL, &figure.across.name);
    canvas.text((area.x - TICKS, area.y - 8.0), Anchor::Start, Face::LABEL, &figure.up.name);
}

/// The scale that holds all points, with a little room where they are not logarithmic.
fn scale(axis: &Axis, figure: &Figure, of: usize) -> Scale {
    let values = || figure.curves.iter().flat_map(|curve| &curve.points).map(|point| point[of]);
    let positive = |value: &f64| !axis.logarithmic || *value > 0.0;
    let least = values().filter(positive).fold(f64::INFINITY, f64::min);
    let most = values().filter(positive).fold(f64::NEG_INFINITY, f64::max);
    let (least, most) = if least <= most { (least, most) } else { (0.0, 1.0) };
    if axis.logarithmic {
        return Scale::Logarithmic { least: least / 1.3, most: most * 1.3 };
    }
    let room = if most > least { 0.04 * (most - least) } else { 0.5 * most.abs().max(1.0) };
    // An axis that begins at its first value begins there, as a height or a time that cannot be less.
    let below = if least == 0.0 { 0.0 } else { least - room };
    Scale::Between { least: below, most: most + room }
}

/// Numbers at the ticks of an axis: with as many digits as tell each from its neighbours, and no more.
fn labels(scale: Scale) -> Vec<String> {
    const MOST_DIGITS: usize = 15;
    let ticks = scale.ticks();
    let widest = ticks.iter().map(|tick| tick.abs()).fold(0.0, f64::max);
    // Ticks of one distance are written alike.
    let size = |tick: f64| if matches!(scale, Scale::Logarithmic { .. }) { tick.abs() } else { widest };
    let apart = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let is_near = |tick: f64, label: &String| {
        let error = label.parse().map_or(f64::INFINITY, |said: f64| (said - tick).abs());
        error <= 0.01 * apart.min(size(tick))
    };
    let written = |digits: usize| ticks.iter().map(|&tick| written(tick, size(tick), digits)).collect::<Vec<_>>();
    let are_near = |labels: &Vec<String>| ticks.iter().zip(labels).all(|(tick, label)| is_near(*tick, label));
    (0..MOST_DIGITS).map(written).find(are_near).unwrap_or_else(|| written(MOST_DIGITS))
}

/// A number with so many digits behind the point, where they are no idle zeros; in powers of ten if the axis is that far
/// from 1.
fn written(value: f64, size: f64, digits: usize) -> String {
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&size) {
        return trimmed(&format!("{value:.digits$}"));
    }
    let text = format!("{value:.digits$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{exponent}", trimmed(digits))
}

fn maps(figure: &Figure, data: &str) -> Canvas {
    let count = figure.maps.len() as f64;
    let width = (2.0 * MARGIN + (MAP + MARGIN) * count - MARGIN).max(620.0);
    let mut canvas = headed(figure, data, width, HEAD + 24.0 + MAP + 40.0);
    for (number, map) in figure.maps.iter().enumerate() {
        let x = MARGIN + (MAP + MARGIN) * number as f64;
        canvas.text((x, HEAD + 14.0), Anchor::Start, Face::HEADING, &map.name);
        cells(&mut canvas, map, Area { x, y: HEAD + 24.0, width: MAP, height: MAP });
    }
    canvas
}

/// Runs of cells, row by row.
fn cells(canvas: &mut Canvas, map: &Map, area: Area) {
    canvas.block(&Block::new(area, EMPTY));
    let size = area.height / map.rows.len().max(1) as f64;
    for (y, row) in map.rows.iter().enumerate() {
        let mut x = 0;
        for run in row.as_bytes().chunk_by(|a, b| a == b) {
            if run[0] == b'#' {
                let (from, width) = (area.x + x as f64 * size, run.len() as f64 * size);
                let run = Area { x: from, y: area.y + y as f64 * size, width, height: size + 0.3 };
                canvas.block(&Block::new(run, ranked(1, 3)));
            }
            x += run.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease_bench::record::Header;
    use ndarray::Array;

    #[test]
    fn figures_are_drawn_with_legend_units_and_source() {
        let curves = Figure::new("flow", "A flow", "somebody 1990", Axis::linear("x / m"), Axis::logarithmic("speed"))
            .line("ours & theirs", [[-1.0, 0.1], [2.0, 10.0]])
            .known_points("published", [[0.5, 1.0], [1.0, 2.0]]);
        let map = Figure::new("map", "A map", "nobody", Axis::linear("x"), Axis::linear("y"));
        let map = map.map("half", &Array::from_shape_fn(vec![8, 8], |at| at[1] as f64), 3.5);
        let found = Physics { figures: vec![curves, map], ..Physics::default() };
        let record = Record { header: Header::new("crease", None), found };
        let directory = tempfile::tempdir().unwrap();
        let files = draw(&record, &directory.path().join("a-physics.json"), None).unwrap();
        let names: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a-physics.flow.svg", "a-physics.map.svg"]);
        let text = fs::read_to_string(&files[0]).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let texts: Vec<_> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        for wanted in ["x / m", "speed", "ours & theirs", "published", "known: somebody 1990", "data: a-physics.json"] {
            assert!(texts.contains(&wanted), "no {wanted} in {texts:?}");
        }
        // The axis has a zero inside, and the map's eight rows one run each, on one ground of its own and one of the
        // page.
        assert!(texts.contains(&"0") && texts.contains(&"-1"), "{texts:?}");
        let text = fs::read_to_string(&files[1]).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(document.descendants().filter(|node| node.has_tag_name("rect")).count(), 10);
    }

    #[test]
    fn ticks_are_short_and_told_apart() {
        let between = |least, most| labels(Scale::Between { least, most });
        assert_eq!(between(-2.0, 0.3), ["-2", "-1.5", "-1", "-0.5", "0"]);
        assert_eq!(between(0.0, 100.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(between(0.97999, 0.98003), ["0.97999", "0.98", "0.98001", "0.98002", "0.98003"]);
        assert_eq!(between(0.0, 1.1e-5), ["0", "5e-6", "1e-5"]);
        assert_eq!(between(-100_010.0, 100_010.0), ["-1e5", "-5e4", "0", "5e4", "1e5"]);
        assert_eq!(between(123_456.0, 123_457.0)[1], "1.234562e5");
        let decades = labels(Scale::Logarithmic { least: 1e-9, most: 1e6 });
        assert_eq!(decades[..4], ["1e-9", "1e-8", "1e-7", "1e-6"]);
        assert_eq!(decades[6..], ["0.001", "0.01", "0.1", "1", "10", "100", "1000", "10000", "1e5", "1e6"]);
    }
}
