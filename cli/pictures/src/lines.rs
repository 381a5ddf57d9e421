//! Charts of lines: what was measured at points of a scale, one line for each of what is compared.
//!
//! In: series of points, two scales, lines that limit.   Out: a [`Canvas`]. Each line has its name at its end, so that
//! no colours have to be matched; every point has its numbers in its tip.

use crate::axis::Scale;
use crate::canvas::{Anchor, Area, Block, Canvas, Face, Stroke};
use crate::colour::{GRID, INK, MUTED, Rgb};

/// A chart with one plot.
#[derive(Clone, Debug)]
pub(crate) struct LineChart {
    pub(crate) title: String,
    /// What is drawn over what, in which units.
    pub(crate) subtitle: String,
    /// Where the numbers come from.
    pub(crate) source: String,
    pub(crate) plots: Vec<Plot>,
}

/// Lines that share scales.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) across: Scale,
    pub(crate) up: Scale,
    /// Names of ticks, along and up.
    pub(crate) ticks: [fn(f64) -> String; 2],
    pub(crate) series: Vec<Series>,
    /// Lines that nothing goes beyond.
    pub(crate) limits: Vec<Series>,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) colour: Rgb,
    pub(crate) points: Vec<(f64, f64)>,
}

const MARGIN: f64 = 24.0;
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 280.0;
const TICKS: f64 = 60.0;
const NAMES: f64 = 170.0;
const HEAD: f64 = 74.0;
/// Half of a point's side.
const POINT: f64 = 3.0;
/// Names at the ends of lines are no nearer.
const NAME_LINE: f64 = 13.0;

/// Draws the plots side by side.
pub(crate) fn draw(chart: &LineChart) -> Canvas {
    let each = TICKS + WIDTH + NAMES;
    let width = 2.0 * MARGIN + each * chart.plots.len() as f64;
    let mut canvas = Canvas::new(width, HEAD + HEIGHT + 80.0, &chart.title);
    canvas.text((MARGIN, 30.0), Anchor::Start, Face::TITLE, &chart.title);
    canvas.text((MARGIN, 50.0), Anchor::Start, Face::NOTE.sized(12.0), &chart.subtitle);
    for (number, plot) in chart.plots.iter().enumerate() {
        let x = MARGIN + TICKS + each * number as f64;
        draw_plot(&mut canvas, plot, Area { x, y: HEAD + 22.0, width: WIDTH, height: HEIGHT });
    }
    canvas.text((MARGIN, HEAD + HEIGHT + 66.0), Anchor::Start, Face::NOTE, &chart.source);
    canvas
}

fn draw_plot(canvas: &mut Canvas, plot: &Plot, area: Area) {
    canvas.text((area.x - TICKS, area.y - 12.0), Anchor::Start, Face::HEADING, &plot.title);
    for tick in plot.across.ticks() {
        let x = area.x + plot.across.share(tick) * area.width;
        canvas.line((x, area.y), (x, area.bottom()), Stroke::solid(GRID, 1.0));
        canvas.text((x, area.bottom() + 14.0), Anchor::Middle, Face::NOTE, &plot.ticks[0](tick));
    }
    for tick in plot.up.ticks() {
        let y = area.bottom() - plot.up.share(tick) * area.height;
        canvas.line((area.x, y), (area.right(), y), Stroke::solid(GRID, 1.0));
        canvas.text((area.x - 6.0, y + 4.0), Anchor::End, Face::NOTE, &plot.ticks[1](tick));
    }
    let place = |&(x, y): &(f64, f64)| {
        (area.x + plot.across.share(x) * area.width, area.bottom() - plot.up.share(y) * area.height)
    };
    let mut ends = Vec::new();
    for series in &plot.limits {
        let points: Vec<(f64, f64)> = series.points.iter().map(place).collect();
        canvas.polyline(&points, Stroke::dashed(INK, 1.2));
        ends.extend(points.last().map(|&(_, y)| (y, series.name.clone(), MUTED)));
    }
    for series in &plot.series {
        let points: Vec<(f64, f64)> = series.points.iter().map(place).collect();
        canvas.polyline(&points, Stroke::solid(series.colour, 1.8));
        for (&(x, y), &(across, up)) in points.iter().zip(&series.points) {
            let point = Area { x: x - POINT, y: y - POINT, width: 2.0 * POINT, height: 2.0 * POINT };
            let tip = format!("{}: {}, {}", series.name, plot.ticks[0](across), plot.ticks[1](up));
            canvas.block(&Block::new(point, series.colour).tip(tip).data("value", up));
        }
        ends.extend(points.last().map(|&(_, y)| (y, series.name.clone(), series.colour)));
    }
    names(canvas, ends, area);
}

/// Names at the ends of lines, moved down where they would meet.
fn names(canvas: &mut Canvas, mut ends: Vec<(f64, String, Rgb)>, area: Area) {
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut next = f64::NEG_INFINITY;
    for (y, name, colour) in ends {
        let y = y.max(next);
        next = y + NAME_LINE;
        canvas.text((area.right() + 8.0, y + 4.0), Anchor::Start, Face::LABEL.coloured(colour), &name);
    }
}
