//! The picture of tiles and wavefronts: every instance, coloured by the wavefront that it belongs to.
//!
//! In: a small run.   Out: a picture, and a row of the table per instance.
//!
//! A **wavefront** is what has to be complete before more can start: the components of a time vector before the first
//! parallel dimension. A **tile** is what one task owns: the components up to the last one that is parallel or written
//! with a floor. Without parallel dimensions tiles run one after the other and each is a wavefront of its own; without
//! tiles the first component stands for both. Two iterators span the picture, those of the tiled components; others are
//! held at the middle of their range.

use std::collections::BTreeMap;
use std::path::Path;

use crease::kernel::affine::{Affine, Term};
use crease::kernel::graph::{DimKind, StmtId};
use crease_oracle::TracedInstance;

use crate::canvas::{Anchor, Area, Block, Canvas, Face, Stroke, wrapped};
use crate::colour::{self, INK, WHITE};
use crate::error::PictureError;
use crate::small_run::{MOST_ACROSS, SmallRun};
use crate::tables::{self, spaced};

const MARGIN: f64 = 24.0;
const WIDTH: f64 = 1000.0;
/// The title fits.
const NARROWEST: f64 = 740.0;
const ROWS_ROOM: f64 = 40.0;
const COLUMNS_ROOM: f64 = 34.0;
const SQUARE: std::ops::RangeInclusive<f64> = 4.0..=24.0;

/// Wavefronts and tiles, numbered in the order of their time vectors.
struct Groups {
    /// Leading components that name the wavefront, and their values with a number each.
    wavefront: (usize, BTreeMap<Vec<i64>, usize>),
    /// The same for tiles.
    tile: (usize, BTreeMap<Vec<i64>, usize>),
}

/// Statements that are drawn together: they have the same iterators.
struct Panel {
    names: Vec<String>,
    stmts: Vec<StmtId>,
    /// Positions of the vertical and the horizontal iterator; a line of instances has no vertical one.
    axes: (Option<usize>, usize),
    /// Values of the other iterators, by position.
    held: Vec<(usize, i64)>,
    rows: (i64, i64),
    columns: (i64, i64),
}

/// Draws the picture, and writes its table.
pub(crate) fn draw(run: &SmallRun<'_>, svg: &Path, csv: &Path) -> Result<(), PictureError> {
    let groups = Groups::new(run);
    save_table(run, &groups, csv)?;
    let (panels, sparse): (Vec<Panel>, Vec<Panel>) = panels(run).into_iter().partition(Panel::fits);
    let square = panels.iter().map(|panel| (WIDTH - ROWS_ROOM) / extent(panel.columns)).fold(*SQUARE.end(), f64::min);
    let square = square.max(*SQUARE.start());
    let drawn = panels.iter().map(|panel| ROWS_ROOM + extent(panel.columns) * square).fold(0.0, f64::max);
    let width = drawn.max(NARROWEST);
    let heading = wrapped(&subtitle(run, &groups, &sparse), width, Face::NOTE.sized(12.0));
    let top = 36.0 + 17.0 * heading.len() as f64 + 12.0;
    let height = |panel: &Panel| 22.0 + extent(panel.rows) * square + COLUMNS_ROOM + 10.0;
    let total: f64 = panels.iter().map(height).sum();
    let title = match run.schedule().dims.contains(&DimKind::Parallel) {
        true => "Wavefronts: tiles of one colour may run at once, colours follow each other",
        false => "Order of tiles: none runs at the same time as another",
    };
    let mut canvas = Canvas::new(width + 2.0 * MARGIN, top + total + 8.0, title);
    canvas.text((MARGIN, 30.0), Anchor::Start, Face::TITLE, title);
    for (number, line) in heading.iter().enumerate() {
        canvas.text((MARGIN, 50.0 + 17.0 * number as f64), Anchor::Start, Face::NOTE.sized(12.0), line);
    }
    let mut y = top;
    for panel in &panels {
        draw_panel(&mut canvas, run, panel, &groups, (MARGIN + ROWS_ROOM, y + 22.0), square);
        y += height(panel);
    }
    canvas.save(svg)
}

fn subtitle(run: &SmallRun<'_>, groups: &Groups, sparse: &[Panel]) -> String {
    let (tiles, wavefronts) = (groups.n_tiles(), groups.n_wavefronts());
    let dims = run.schedule().dims.iter().enumerate().map(|(dim, kind)| {
        let name = run.time_name(dim).unwrap_or_else(|| "..".into());
        match kind {
            DimKind::Sequential => name,
            DimKind::Parallel => format!("{name} parallel"),
            DimKind::Vector(width) => format!("{name} vector({width})"),
            other => format!("{name} {other:?}"),
        }
    });
    let dims = dims.collect::<Vec<_>>().join(", ");
    let names = sparse.iter().flat_map(|panel| &panel.stmts).map(|&id| run.kernel().stmt(id).name.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    let left_out = if names.is_empty() { names } else { format!(". In the table only, for wide iterators: {names}") };
    let n = run.trace.n_instances();
    let groups = if tiles == wavefronts {
        format!("{tiles} tiles")
    } else {
        format!("{tiles} tiles in {wavefronts} wavefronts")
    };
    format!("{}: [{dims}]. {n} instances, {groups}{left_out}", run.setting())
}

impl Groups {
    fn new(run: &SmallRun<'_>) -> Groups {
        let (dims, tile) = (&run.schedule().dims, tile_components(run));
        let wavefront = dims.iter().position(|kind| *kind == DimKind::Parallel).unwrap_or(tile);
        Groups { wavefront: (wavefront, numbers(run, wavefront)), tile: (tile, numbers(run, tile)) }
    }

    fn n_wavefronts(&self) -> usize {
        self.wavefront.1.len()
    }

    fn n_tiles(&self) -> usize {
        self.tile.1.len()
    }

    fn wavefront_of(&self, traced: TracedInstance<'_>) -> usize {
        self.wavefront.1[&prefix(traced, self.wavefront.0)]
    }

    fn tile_of(&self, traced: TracedInstance<'_>) -> usize {
        self.tile.1[&prefix(traced, self.tile.0)]
    }
}

/// Leading components that name a tile: up to the last one that is parallel or has a floor.
fn tile_components(run: &SmallRun<'_>) -> usize {
    let schedule = run.schedule();
    let floored = |dim: usize| schedule.times.iter().any(|time| time.get(dim).is_some_and(Affine::has_floor));
    let counts = |dim: &usize| schedule.dims[*dim] == DimKind::Parallel || floored(*dim);
    (0..schedule.dims.len()).rev().find(counts).map_or(1, |dim| dim + 1)
}

/// The distinct values of the first `length` components, numbered in order.
fn numbers(run: &SmallRun<'_>, length: usize) -> BTreeMap<Vec<i64>, usize> {
    let mut found: BTreeMap<Vec<i64>, usize> =
        run.trace.instances().map(|traced| (prefix(traced, length), 0)).collect();
    found.values_mut().enumerate().for_each(|(number, slot)| *slot = number);
    found
}

fn prefix(traced: TracedInstance<'_>, length: usize) -> Vec<i64> {
    traced.time[..length.min(traced.time.len())].to_vec()
}

fn extent((low, high): (i64, i64)) -> f64 {
    high as f64 - low as f64 + 1.0
}

/// One panel per list of iterators.
fn panels(run: &SmallRun<'_>) -> Vec<Panel> {
    let mut groups: Vec<(Vec<String>, Vec<StmtId>)> = Vec::new();
    for id in run.kernel().stmt_ids() {
        let iters = &run.kernel().stmt(id).iters;
        match groups.iter_mut().find(|(names, _)| names == iters) {
            Some((_, stmts)) => stmts.push(id),
            None => groups.push((iters.clone(), vec![id])),
        }
    }
    groups.into_iter().filter_map(|(names, stmts)| panel(run, names, stmts)).collect()
}

fn panel(run: &SmallRun<'_>, names: Vec<String>, stmts: Vec<StmtId>) -> Option<Panel> {
    let instances = run.trace.instances().map(|traced| traced.instance).filter(|i| stmts.contains(&i.stmt));
    let points: Vec<&[i64]> = instances.map(|instance| instance.point.as_slice()).collect();
    let span = |k: usize| {
        let values = points.iter().map(|point| point[k]);
        Some((values.clone().min()?, values.max()?))
    };
    let axes = axes(run, stmts[0], names.len())?;
    let shown = [axes.0, Some(axes.1)];
    let others = (0..names.len()).filter(|k| !shown.contains(&Some(*k)));
    let held = others.map(|k| span(k).map(|(low, high)| (k, low + (high - low) / 2))).collect::<Option<_>>()?;
    let rows = axes.0.map_or(Some((0, 0)), span)?;
    Some(Panel { names, stmts, axes, held, rows, columns: span(axes.1)? })
}

/// The two iterators that the tiled components name, filled up by the others in order.
fn axes(run: &SmallRun<'_>, stmt: StmtId, n_iters: usize) -> Option<(Option<usize>, usize)> {
    let times: Vec<&Affine> = run.schedule().times[stmt.index()].iter().take(tile_components(run)).collect();
    let mut chosen: Vec<usize> = (0..n_iters).filter(|&k| times.iter().any(|time| names_iter(time, k))).collect();
    let rest: Vec<usize> = (0..n_iters).filter(|k| !chosen.contains(k)).collect();
    chosen.extend(rest);
    chosen.truncate(2);
    chosen.sort_unstable();
    match chosen[..] {
        [] => None,
        [only] => Some((None, only)),
        [first, second, ..] => Some((Some(first), second)),
    }
}

fn names_iter(affine: &Affine, iter: usize) -> bool {
    affine.terms().any(|(term, _)| match term {
        Term::Iter(position) => *position as usize == iter,
        Term::Param(_) => false,
        Term::Floor { 0: inner, .. } => names_iter(inner, iter),
    })
}

fn draw_panel(
    canvas: &mut Canvas,
    run: &SmallRun<'_>,
    panel: &Panel,
    groups: &Groups,
    (left, top): (f64, f64),
    square: f64,
) {
    let mut tile_at: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    let mut wavefront_of: BTreeMap<usize, usize> = BTreeMap::new();
    let corner = |(row, column): (i64, i64)| {
        (left + (column - panel.columns.0) as f64 * square, top + (panel.rows.1 - row) as f64 * square)
    };
    for traced in run.trace.instances().filter(|traced| panel.shows(traced)) {
        let position = panel.position(&traced.instance.point);
        let (wavefront, tile) = (groups.wavefront_of(traced), groups.tile_of(traced));
        tile_at.insert(position, tile);
        wavefront_of.insert(tile, wavefront);
        let (x, y) = corner(position);
        let name = format!("{}{:?}", run.kernel().stmt(traced.instance.stmt).name, traced.instance.point);
        let tip = format!("{name} at {:?}: wavefront {wavefront}, tile {tile}", traced.time);
        let area = Area { x, y, width: square, height: square };
        let block =
            Block::new(area, colour::ranked(wavefront, groups.n_wavefronts())).border(Stroke::solid(WHITE, 0.4));
        canvas.block(&block.tip(tip).data("wavefront", wavefront).data("tile", tile));
    }
    outline(canvas, &tile_at, &corner, square);
    label_tiles(canvas, &tile_at, (&wavefront_of, groups.n_wavefronts()), &corner, square);
    let held: Vec<String> = panel.held.iter().map(|&(k, value)| format!("{} = {value}", panel.names[k])).collect();
    let stmts: Vec<&str> = panel.stmts.iter().map(|&id| run.kernel().stmt(id).name.as_str()).collect();
    let at = if held.is_empty() { String::new() } else { format!(" at {}", held.join(", ")) };
    canvas.text((left, top - 8.0), Anchor::Start, Face::HEADING, &format!("{}{at}", stmts.join(", ")));
    draw_ticks(canvas, panel, (left, top), square);
}

impl Panel {
    fn fits(&self) -> bool {
        extent(self.rows) <= MOST_ACROSS && extent(self.columns) <= MOST_ACROSS
    }

    fn shows(&self, traced: &TracedInstance<'_>) -> bool {
        let instance = traced.instance;
        self.stmts.contains(&instance.stmt) && self.held.iter().all(|&(k, value)| instance.point[k] == value)
    }

    fn position(&self, point: &[i64]) -> (i64, i64) {
        (self.axes.0.map_or(0, |k| point[k]), point[self.axes.1])
    }
}

/// Lines between instances of different tiles, and around everything.
fn outline(
    canvas: &mut Canvas,
    tile_at: &BTreeMap<(i64, i64), usize>,
    corner: &dyn Fn((i64, i64)) -> (f64, f64),
    square: f64,
) {
    let stroke = Stroke::solid(INK, 1.3);
    for (&(row, column), tile) in tile_at {
        let (x, y) = corner((row, column));
        let differs = |neighbour: (i64, i64)| tile_at.get(&neighbour) != Some(tile);
        let absent = |neighbour: (i64, i64)| !tile_at.contains_key(&neighbour);
        if differs((row, column + 1)) {
            canvas.line((x + square, y), (x + square, y + square), stroke);
        }
        if differs((row + 1, column)) {
            canvas.line((x, y), (x + square, y), stroke);
        }
        if absent((row, column - 1)) {
            canvas.line((x, y), (x, y + square), stroke);
        }
        if absent((row - 1, column)) {
            canvas.line((x, y + square), (x + square, y + square), stroke);
        }
    }
}

/// The number of its wavefront in the middle of each tile that has room for it.
fn label_tiles(
    canvas: &mut Canvas,
    tile_at: &BTreeMap<(i64, i64), usize>,
    (wavefront_of, count): (&BTreeMap<usize, usize>, usize),
    corner: &dyn Fn((i64, i64)) -> (f64, f64),
    square: f64,
) {
    let mut centres: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for (&position, &tile) in tile_at {
        let (x, y) = corner(position);
        let sum = centres.entry(tile).or_default();
        *sum = (sum.0 + x + square / 2.0, sum.1 + y + square / 2.0, sum.2 + 1.0);
    }
    for (tile, (x, y, n)) in centres {
        let wavefront = wavefront_of[&tile];
        let label = wavefront.to_string();
        let face = Face::LABEL.sized(11.0).coloured(colour::ranked(wavefront, count).contrasting()).bold();
        // Room for the number in a square of as many instances.
        if n.sqrt() * square >= face.width_of(&label) + 4.0 && n >= 1.0 {
            canvas.text((x / n, y / n + 4.0), Anchor::Middle, face, &label);
        }
    }
}

fn draw_ticks(canvas: &mut Canvas, panel: &Panel, (left, top): (f64, f64), square: f64) {
    let (face, bottom) = (Face::NOTE.sized(9.5), top + extent(panel.rows) * square);
    let every = |room: f64| (room / square).ceil().max(1.0) as usize;
    for value in (panel.columns.0..=panel.columns.1).step_by(every(22.0)) {
        let x = left + ((value - panel.columns.0) as f64 + 0.5) * square;
        canvas.text((x, bottom + 13.0), Anchor::Middle, face, &value.to_string());
    }
    let middle = left + extent(panel.columns) * square / 2.0;
    canvas.text((middle, bottom + 27.0), Anchor::Middle, Face::LABEL, &panel.names[panel.axes.1]);
    let Some(vertical) = panel.axes.0 else { return };
    for value in (panel.rows.0..=panel.rows.1).step_by(every(13.0)) {
        let y = top + ((panel.rows.1 - value) as f64 + 0.5) * square;
        canvas.text((left - 6.0, y + 3.5), Anchor::End, face, &value.to_string());
    }
    let middle = top + extent(panel.rows) * square / 2.0;
    canvas.text((left - 28.0, middle + 4.0), Anchor::End, Face::LABEL, &panel.names[vertical]);
}

fn save_table(run: &SmallRun<'_>, groups: &Groups, csv: &Path) -> Result<(), PictureError> {
    let row = |traced: TracedInstance<'_>| {
        vec![
            run.kernel().stmt(traced.instance.stmt).name.clone(),
            spaced(&traced.instance.point),
            spaced(traced.time),
            groups.wavefront_of(traced).to_string(),
            groups.tile_of(traced).to_string(),
        ]
    };
    tables::save(csv, &["statement", "point", "time", "wavefront", "tile"], run.trace.instances().map(row))
}
