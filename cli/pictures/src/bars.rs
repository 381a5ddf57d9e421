//! Charts of horizontal bars, in panels.
//!
//! In: panels with groups of bars, limits to draw as lines, a scale.   Out: a [`Canvas`]. Every bar has its name to the
//! left and its value to the right, so that no colours have to be matched; bars of one group (threads, say) stand
//! together.

use crate::axis::Scale;
use crate::canvas::{Anchor, Area, Block, Canvas, Face, Stroke};
use crate::colour::{GRID, INK, MUTED, Rgb};

/// A whole chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// What the bars are and in which unit.
    pub(crate) subtitle: String,
    /// Where the numbers come from.
    pub(crate) source: String,
    pub(crate) panels: Vec<Panel>,
}

/// Bars that are compared with each other.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) scale: Scale,
    /// Names a tick of the scale.
    pub(crate) tick: fn(f64) -> String,
    pub(crate) groups: Vec<Group>,
    pub(crate) limits: Vec<Limit>,
    /// A remark below the axis; may be empty.
    pub(crate) remark: String,
}

/// Bars under one name.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) bars: Vec<Bar>,
}

/// One number.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// `None` draws nothing but the label.
    pub(crate) value: Option<f64>,
    /// Least and greatest of what was measured.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) colour: Rgb,
    pub(crate) label: String,
    pub(crate) tip: String,
}

/// A value to draw as a line across the panel.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) value: f64,
    pub(crate) name: String,
}

const PANEL_WIDTH: f64 = 540.0;
const MARGIN: f64 = 24.0;
const GUTTER: f64 = 36.0;
const NAMES_AT_MOST: f64 = 170.0;
const VALUES: f64 = 118.0;
const BAR: f64 = 11.0;
const GROUP_GAP: f64 = 6.0;
const LIMIT_LINE: f64 = 14.0;

impl Panel {
    fn bars_height(&self) -> f64 {
        self.groups.iter().map(|group| group.bars.len() as f64 * BAR + GROUP_GAP).sum()
    }

    fn height(&self) -> f64 {
        let remark = if self.remark.is_empty() { 0.0 } else { 14.0 };
        22.0 + self.limits.len() as f64 * LIMIT_LINE + self.bars_height() + 26.0 + remark
    }
}

/// Draws the panels in one column, or in two if there are several.
pub(crate) fn draw(chart: &Chart) -> Canvas {
    let columns = chart.panels.len().clamp(1, 2);
    let rows: Vec<&[Panel]> = chart.panels.chunks(columns).collect();
    let heights: Vec<f64> = rows.iter().map(|row| row.iter().map(Panel::height).fold(0.0, f64::max) + 20.0).collect();
    let width = 2.0 * MARGIN + columns as f64 * PANEL_WIDTH + (columns as f64 - 1.0) * GUTTER;
    let head = 74.0;
    let mut canvas = Canvas::new(width, head + heights.iter().sum::<f64>() + 24.0, &chart.title);
    canvas.text((MARGIN, 30.0), Anchor::Start, Face::TITLE, &chart.title);
    canvas.text((MARGIN, 50.0), Anchor::Start, Face::NOTE.sized(12.0), &chart.subtitle);
    let mut top = head;
    for (row, height) in rows.iter().zip(&heights) {
        for (column, panel) in row.iter().enumerate() {
            draw_panel(&mut canvas, panel, (MARGIN + column as f64 * (PANEL_WIDTH + GUTTER), top));
        }
        top += height;
    }
    canvas.text((MARGIN, top + 6.0), Anchor::Start, Face::NOTE, &chart.source);
    canvas
}

fn draw_panel(canvas: &mut Canvas, panel: &Panel, (left, top): (f64, f64)) {
    let longest = panel.groups.iter().map(|group| Face::LABEL.width_of(&group.name)).fold(0.0, f64::max);
    let names = (longest + 8.0).min(NAMES_AT_MOST);
    let plot = Area {
        x: left + names,
        y: top + 22.0 + panel.limits.len() as f64 * LIMIT_LINE,
        width: PANEL_WIDTH - names - VALUES,
        height: panel.bars_height(),
    };
    canvas.text((left, top + 10.0), Anchor::Start, Face::HEADING, &panel.title);
    draw_axis(canvas, panel, plot);
    let mut y = plot.y + GROUP_GAP / 2.0;
    for group in &panel.groups {
        let height = group.bars.len() as f64 * BAR;
        let face = Face::LABEL.sized(fitting(&group.name, names - 8.0));
        canvas.text((plot.x - 8.0, y + height / 2.0 + 4.0), Anchor::End, face, &group.name);
        for bar in &group.bars {
            draw_bar(canvas, panel, bar, plot, y);
            y += BAR;
        }
        y += GROUP_GAP;
    }
    draw_limits(canvas, panel, plot, top);
    if !panel.remark.is_empty() {
        canvas.text((plot.x, plot.bottom() + 34.0), Anchor::Start, Face::NOTE, &panel.remark);
    }
}

/// The size at which a name fits.
fn fitting(name: &str, width: f64) -> f64 {
    let needed = Face::LABEL.width_of(name);
    if needed > width { Face::LABEL.size * width / needed } else { Face::LABEL.size }
}

fn draw_axis(canvas: &mut Canvas, panel: &Panel, plot: Area) {
    for tick in panel.scale.ticks() {
        let x = plot.x + panel.scale.share(tick) * plot.width;
        canvas.line((x, plot.y), (x, plot.bottom()), Stroke::solid(GRID, 1.0));
        canvas.text((x, plot.bottom() + 14.0), Anchor::Middle, Face::NOTE, &(panel.tick)(tick));
    }
}

fn draw_bar(canvas: &mut Canvas, panel: &Panel, bar: &Bar, plot: Area, y: f64) {
    if let Some(value) = bar.value {
        let width = panel.scale.share(value) * plot.width;
        let area = Area { x: plot.x, y: y + 0.5, width, height: BAR - 1.0 };
        canvas.block(&Block::new(area, bar.colour).tip(bar.tip.as_str()).data("value", value));
    }
    if let Some((least, most)) = bar.range {
        let at = |value| plot.x + panel.scale.share(value) * plot.width;
        let (from, to, middle) = (at(least), at(most), y + BAR / 2.0);
        let thin = Stroke::solid(INK, 1.0);
        canvas.line((from, middle), (to, middle), thin);
        canvas.line((from, middle - 2.0), (from, middle + 2.0), thin);
        canvas.line((to, middle - 2.0), (to, middle + 2.0), thin);
    }
    let face = if bar.value.is_some() { Face::LABEL } else { Face::NOTE };
    let x = if bar.value.is_some() { plot.right() } else { plot.x };
    canvas.text((x + 8.0, y + BAR - 2.0), Anchor::Start, face.sized(10.0), &bar.label);
}

/// Each limit has a line of its own above the bars for its name, so that names never meet.
fn draw_limits(canvas: &mut Canvas, panel: &Panel, plot: Area, top: f64) {
    for (number, limit) in panel.limits.iter().enumerate() {
        let x = plot.x + panel.scale.share(limit.value) * plot.width;
        let baseline = top + 22.0 + (number as f64 + 0.7) * LIMIT_LINE;
        canvas.line((x, baseline - 8.0), (x, plot.bottom()), Stroke::dashed(INK, 1.2));
        let room = Face::NOTE.width_of(&limit.name) + 6.0;
        let (anchor, shift) = if x + room > plot.right() + VALUES { (Anchor::End, -5.0) } else { (Anchor::Start, 5.0) };
        canvas.text((x + shift, baseline), anchor, Face::NOTE.coloured(MUTED), &limit.name);
    }
}
