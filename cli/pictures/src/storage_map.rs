//! The storage map: which stored cell every cell of a folded array has, in colour.
//!
//! In: a small run.   Out: a picture, and a row of the table per cell.
//!
//! One square per cell of the array; the last two indices span a panel (the step and `x` of a line, `y` and `x` of a
//! plane), what comes before them numbers panels. Squares of one colour share a stored cell; below, the storage itself.
//! Where moduli were forced and values meet, their cells are red, and the first pair is joined by a line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crease::kernel::graph::ArrayId;
use crease::plan::Place;
use crease_oracle::Cell;

use crate::canvas::{Anchor, Area, Block, Canvas, Face, Stroke, wrapped};
use crate::colour::{self, INK, Rgb, WHITE, WRONG};
use crate::error::PictureError;
use crate::small_run::{MOST_ACROSS, SmallRun};
use crate::tables::{self, spaced};

const MARGIN: f64 = 24.0;
const WIDTH: f64 = 1000.0;
const GAP: f64 = 22.0;
/// Room left of a panel for the values of its vertical index, below for those of the horizontal one.
const ROWS_ROOM: f64 = 30.0;
const COLUMNS_ROOM: f64 = 30.0;
const HEADING: f64 = 20.0;
/// Room for the words that say how many panels are left out.
const MORE_ROOM: f64 = 150.0;
/// The title fits.
const NARROWEST: f64 = 560.0;
const SMALLEST_SQUARE: f64 = 5.0;
const LARGEST_SQUARE: f64 = 28.0;
/// The largest square if there are many arrays.
const LARGEST_OF_MANY: f64 = 14.0;
const SMALLEST_LABEL: f64 = 6.0;
const MANY_ARRAYS: usize = 4;
/// Stored cells that are drawn one by one.
const MOST_STORED: u64 = 1500;
/// Panels of one array that are drawn; the table has them all.
const MOST_PANELS: usize = 6;

/// Cells of one array that agree in all indices but the last two.
struct Panel<'a> {
    array: ArrayId,
    fixed: Vec<i64>,
    cells: Vec<&'a Cell>,
    /// First and last value of the vertical and of the horizontal index.
    rows: (i64, i64),
    columns: (i64, i64),
}

/// An array's panels side by side, and where the first one begins.
struct ArrayBlock<'a> {
    panels: Vec<Panel<'a>>,
    corner: (f64, f64),
}

impl Panel<'_> {
    fn fits(&self) -> bool {
        extent(self.rows) <= MOST_ACROSS && extent(self.columns) <= MOST_ACROSS
    }
}

/// Draws the map, and writes its table.
pub(crate) fn draw(run: &SmallRun<'_>, svg: &Path, csv: &Path) -> Result<(), PictureError> {
    save_table(run, csv)?;
    let by_array = run.cells_by_array().into_iter().map(|(id, cells)| panels(id, &cells));
    let (by_array, sparse): (Vec<Vec<Panel<'_>>>, Vec<_>) = by_array.partition(|panels| panels.iter().all(Panel::fits));
    let square = square_size(run, &by_array);
    let (blocks, width, bottom) = arrange(by_array, square);
    let width = width.max(storage_width(run, square)).max(NARROWEST);
    let head = wrapped(&subtitle(run, &sparse), width, Face::NOTE.sized(12.0));
    let verdict = run.verdict().map(|text| wrapped(&text, width, Face::LABEL.bold())).unwrap_or_default();
    let top = 36.0 + 17.0 * (head.len() + verdict.len()) as f64 + 14.0;
    let height = top + bottom + storage_height(run, square) + 16.0;
    let mut canvas = Canvas::new(width + 2.0 * MARGIN, height, "Storage map");
    canvas.text(
        (MARGIN, 30.0),
        Anchor::Start,
        Face::TITLE,
        "Storage map: every cell and the stored cell that holds it",
    );
    let mut baseline = 50.0;
    for (lines, face) in [(&head, Face::NOTE.sized(12.0)), (&verdict, Face::LABEL.coloured(WRONG).bold())] {
        for line in lines {
            canvas.text((MARGIN, baseline), Anchor::Start, face, line);
            baseline += 17.0;
        }
    }
    let mut centres = BTreeMap::new();
    for block in &blocks {
        draw_array(&mut canvas, run, block, top, square, &mut centres);
    }
    draw_storage(&mut canvas, run, (MARGIN, top + bottom), square);
    join_first_clash(&mut canvas, run, &centres, square);
    canvas.save(svg)
}

/// Arrays from left to right and then downwards, from the origin; with the width and the height that they take.
fn arrange(by_array: Vec<Vec<Panel<'_>>>, square: f64) -> (Vec<ArrayBlock<'_>>, f64, f64) {
    let (mut x, mut y, mut line, mut widest) = (0.0, 0.0, 0.0_f64, 0.0_f64);
    let mut blocks = Vec::new();
    for panels in by_array {
        let width = block_width(&panels, square);
        if x > 0.0 && x + width > WIDTH {
            (x, y, line) = (0.0, y + line, 0.0);
        }
        line = line.max(block_height(&panels, square));
        widest = widest.max(x + width);
        blocks.push(ArrayBlock { panels, corner: (x, y) });
        x += width + GAP;
    }
    (blocks, widest, y + line)
}

fn draw_array(
    canvas: &mut Canvas,
    run: &SmallRun<'_>,
    block: &ArrayBlock<'_>,
    top: f64,
    square: f64,
    centres: &mut BTreeMap<Cell, (f64, f64)>,
) {
    let (mut x, y) = (MARGIN + block.corner.0, top + block.corner.1);
    for panel in block.panels.iter().take(MOST_PANELS) {
        draw_panel(canvas, run, panel, (x, y), square, centres);
        x += panel_width(panel, square) + GAP;
    }
    if block.panels.len() > MOST_PANELS {
        let more = format!(".. {} more in the table", block.panels.len() - MOST_PANELS);
        canvas.text((x, y + HEADING + 12.0), Anchor::Start, Face::NOTE, &more);
    }
}

fn subtitle(run: &SmallRun<'_>, sparse: &[Vec<Panel<'_>>]) -> String {
    let report = run.plan.report();
    let formulas: Vec<&str> = report.arrays.iter().flat_map(|a| &a.pieces).map(|p| p.formula.as_str()).collect();
    let shown = formulas.iter().take(2).copied().collect::<Vec<_>>().join("; ");
    let more = if formulas.len() > 2 { format!("; .. {} formulas in all", formulas.len()) } else { String::new() };
    let names = sparse.iter().flatten().map(|panel| run.kernel().array(panel.array).name.as_str());
    let names: BTreeSet<&str> = names.collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let left_out = if names.is_empty() { names } else { format!(". In the table only, for its wide indices: {names}") };
    format!("{}. {shown}{more}{left_out}", run.setting())
}

fn panels<'a>(array: ArrayId, cells: &[&'a Cell]) -> Vec<Panel<'a>> {
    let mut by_prefix: BTreeMap<Vec<i64>, Vec<&Cell>> = BTreeMap::new();
    for &cell in cells {
        let fixed = cell.index[..cell.index.len().saturating_sub(2)].to_vec();
        by_prefix.entry(fixed).or_default().push(cell);
    }
    let span = |of: fn(&Cell) -> i64| {
        let values = cells.iter().map(|cell| of(cell));
        (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
    };
    let (rows, columns) = (span(row), span(column));
    by_prefix.into_iter().map(|(fixed, cells)| Panel { array, fixed, cells, rows, columns }).collect()
}

/// The vertical index: the last but one, 0 for a line of cells.
fn row(cell: &Cell) -> i64 {
    cell.index.len().checked_sub(2).map_or(0, |k| cell.index[k])
}

/// The horizontal index: the last one.
fn column(cell: &Cell) -> i64 {
    cell.index.last().copied().unwrap_or(0)
}

fn extent((low, high): (i64, i64)) -> f64 {
    high as f64 - low as f64 + 1.0
}

/// The largest square at which everything that stands side by side fits the page.
fn square_size(run: &SmallRun<'_>, by_array: &[Vec<Panel<'_>>]) -> f64 {
    let fits = by_array.iter().map(|panels| {
        let shown = panels.iter().take(MOST_PANELS);
        let columns: f64 = shown.clone().map(|panel| extent(panel.columns)).sum();
        (WIDTH - shown.count() as f64 * (ROWS_ROOM + GAP)) / columns
    });
    let storage = shown_buffer(run).map_or(1.0, |buffer| shape(run.moduli(buffer)).1 as f64);
    let largest = if by_array.len() < MANY_ARRAYS { LARGEST_SQUARE } else { LARGEST_OF_MANY };
    fits.fold((WIDTH - ROWS_ROOM) / storage, f64::min).clamp(SMALLEST_SQUARE, largest)
}

fn panel_width(panel: &Panel<'_>, square: f64) -> f64 {
    ROWS_ROOM + extent(panel.columns) * square
}

fn block_width(panels: &[Panel<'_>], square: f64) -> f64 {
    let shown = panels.iter().take(MOST_PANELS).map(|panel| panel_width(panel, square) + GAP).sum::<f64>() - GAP;
    if panels.len() > MOST_PANELS { shown + MORE_ROOM } else { shown }
}

fn block_height(panels: &[Panel<'_>], square: f64) -> f64 {
    let rows = panels.iter().map(|panel| extent(panel.rows)).fold(0.0, f64::max);
    HEADING + rows * square + COLUMNS_ROOM + 8.0
}

/// Colour and label of a stored cell: what coordinates with more than one value say.
fn look(run: &SmallRun<'_>, place: &Place) -> (Rgb, String) {
    let moduli = run.moduli(place.buffer);
    let varying: Vec<(i64, i64)> =
        place.coordinates.iter().zip(moduli).filter(|(_, m)| **m > 1).map(|(&c, &m)| (c, m)).collect();
    let share = |(c, m): (i64, i64)| c as f64 / (m - 1) as f64;
    let label = varying.iter().map(|(c, _)| c.to_string()).collect::<Vec<_>>().join(",");
    let fill = match varying[..] {
        [] => colour::sequential(0.5),
        [only] => colour::ranked(only.0.unsigned_abs() as usize, only.1.unsigned_abs() as usize),
        [.., before, last] => colour::planar(share(before), share(last)),
    };
    (fill, label)
}

fn draw_panel(
    canvas: &mut Canvas,
    run: &SmallRun<'_>,
    panel: &Panel<'_>,
    (x, y): (f64, f64),
    square: f64,
    centres: &mut BTreeMap<Cell, (f64, f64)>,
) {
    let (left, top) = (x + ROWS_ROOM, y + HEADING);
    let fates = fates(run);
    let mut buffers = BTreeSet::new();
    for &cell in &panel.cells {
        let corner = (column(cell) - panel.columns.0, panel.rows.1 - row(cell));
        let area = Area {
            x: left + corner.0 as f64 * square,
            y: top + corner.1 as f64 * square,
            width: square,
            height: square,
        };
        centres.insert(cell.clone(), area.centre());
        let Some(place) = run.place(cell.array, &cell.index) else { continue };
        buffers.insert(place.buffer);
        let tip = format!("{} in {}", run.cell_name(cell), run.place_name(&place));
        draw_square(canvas, run, area, &place, fates.get(cell).copied().unwrap_or(Fate::Fine), tip);
    }
    draw_ticks(canvas, run, panel, (left, top), square);
    let names: Vec<&str> = buffers.iter().map(|&buffer| run.buffer_name(buffer)).collect();
    canvas.text((left, y + 13.0), Anchor::Start, Face::HEADING, &heading(run, panel, &names.join(", ")));
}

/// Whether a cell keeps its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Fine,
    /// It meets another live value.
    Collides,
    /// It is one of the two that the verdict names.
    Named,
}

fn fates<'a>(run: &'a SmallRun<'_>) -> BTreeMap<&'a Cell, Fate> {
    let mut fates: BTreeMap<&Cell, Fate> =
        run.clashes.iter().flat_map(|(a, b)| [(a, Fate::Collides), (b, Fate::Collides)]).collect();
    if let Some((a, b)) = run.clashes.first() {
        fates.extend([(a, Fate::Named), (b, Fate::Named)]);
    }
    fates
}

fn draw_square(canvas: &mut Canvas, run: &SmallRun<'_>, area: Area, place: &Place, fate: Fate, tip: String) {
    let (fill, label) = look(run, place);
    let fill = match fate {
        Fate::Fine => fill,
        Fate::Collides => WRONG.towards(WHITE, 0.5),
        Fate::Named => WRONG,
    };
    let block = Block::new(area, fill).border(Stroke::solid(WHITE, 0.6)).tip(tip);
    canvas.block(&block.data("buffer", run.buffer_name(place.buffer)).data("cell", place.cell));
    let size = (area.width * 0.42).min(11.0).min(area.width * 0.82 / (0.6 * label.len().max(1) as f64));
    if size >= SMALLEST_LABEL {
        let (x, y) = area.centre();
        canvas.text((x, y + size * 0.36), Anchor::Middle, Face::LABEL.sized(size).coloured(fill.contrasting()), &label);
    }
}

/// `u`, or `f1, t = 2, kept in f2`.
fn heading(run: &SmallRun<'_>, panel: &Panel<'_>, buffers: &str) -> String {
    let array = run.kernel().array(panel.array);
    let fixed: Vec<String> = array.index.iter().zip(&panel.fixed).map(|(name, v)| format!("{name} = {v}")).collect();
    let kept = if buffers == array.name { String::new() } else { format!("in {buffers}") };
    let parts = [array.name.clone(), fixed.join(", "), kept];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Names and values of the two indices; values so sparse that they do not touch.
fn draw_ticks(canvas: &mut Canvas, run: &SmallRun<'_>, panel: &Panel<'_>, (left, top): (f64, f64), square: f64) {
    let names = &run.kernel().array(panel.array).index;
    let bottom = top + extent(panel.rows) * square;
    let face = Face::NOTE.sized(9.5);
    let every = |room: f64| (room / square).ceil().max(1.0) as usize;
    for value in (panel.columns.0..=panel.columns.1).step_by(every(16.0)) {
        let x = left + ((value - panel.columns.0) as f64 + 0.5) * square;
        canvas.text((x, bottom + 12.0), Anchor::Middle, face, &value.to_string());
    }
    if let Some(name) = names.last() {
        canvas.text(
            (left + extent(panel.columns) * square / 2.0, bottom + 24.0),
            Anchor::Middle,
            face.coloured(INK),
            name,
        );
    }
    if names.len() < 2 {
        return;
    }
    for value in (panel.rows.0..=panel.rows.1).step_by(every(12.0)) {
        let y = top + ((panel.rows.1 - value) as f64 + 0.5) * square;
        canvas.text((left - 5.0, y + 3.5), Anchor::End, face, &value.to_string());
    }
    let middle = top + extent(panel.rows) * square / 2.0;
    canvas.text((left - ROWS_ROOM + 8.0, middle + 3.0), Anchor::Middle, face.coloured(INK), &names[names.len() - 2]);
}

/// A buffer as rows and columns: its last coordinate runs along rows.
fn shape(moduli: &[i64]) -> (usize, usize) {
    let columns = moduli.last().map_or(1, |&m| m.unsigned_abs() as usize);
    let rows = moduli.iter().rev().skip(1).map(|&m| m.unsigned_abs() as usize).product();
    (rows, columns)
}

/// The largest buffer, if it is small enough to be drawn cell by cell.
fn shown_buffer(run: &SmallRun<'_>) -> Option<usize> {
    let largest = run.folded_buffers().into_iter().rev().max_by_key(|&buffer| run.cells(buffer));
    largest.filter(|&buffer| run.cells(buffer) <= MOST_STORED)
}

fn storage_width(run: &SmallRun<'_>, square: f64) -> f64 {
    shown_buffer(run).map_or(0.0, |buffer| ROWS_ROOM + shape(run.moduli(buffer)).1 as f64 * square)
}

fn storage_height(run: &SmallRun<'_>, square: f64) -> f64 {
    HEADING + shown_buffer(run).map_or(0.0, |buffer| shape(run.moduli(buffer)).0 as f64 * square) + 10.0
}

/// The storage itself: the largest buffer, cell by cell, and how many more there are.
fn draw_storage(canvas: &mut Canvas, run: &SmallRun<'_>, (x, y): (f64, f64), square: f64) {
    let count = run.folded_buffers().len();
    let all = if count > 1 { format!("{count} buffers, {} cells in all", run.stored_cells()) } else { String::new() };
    let Some(buffer) = shown_buffer(run) else {
        let title = format!("storage: {} cells", run.stored_cells());
        return canvas.text((x + ROWS_ROOM, y + 13.0), Anchor::Start, Face::HEADING, &title);
    };
    let more = if all.is_empty() { all } else { format!("; {all}") };
    let title = format!("storage of {}: {} cells{more}", run.buffer_name(buffer), run.cells(buffer));
    canvas.text((x + ROWS_ROOM, y + 13.0), Anchor::Start, Face::HEADING, &title);
    let moduli = run.moduli(buffer);
    let (rows, columns) = shape(moduli);
    let meeting = run.clashes.iter().filter_map(|(a, _)| run.place(a.array, &a.index)).collect::<BTreeSet<_>>();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let number = row * columns + column;
        let place = Place { buffer, cell: number as u64, coordinates: coordinates(number, moduli) };
        let corner = (x + ROWS_ROOM + column as f64 * square, y + HEADING + (rows - 1 - row) as f64 * square);
        let area = Area { x: corner.0, y: corner.1, width: square, height: square };
        let fate = if meeting.contains(&place) { Fate::Collides } else { Fate::Fine };
        draw_square(canvas, run, area, &place, fate, run.place_name(&place));
    }
}

/// Coordinates of a cell from its number.
fn coordinates(mut number: usize, moduli: &[i64]) -> Vec<i64> {
    let mut coordinates: Vec<i64> = Vec::new();
    for &modulus in moduli.iter().rev() {
        let modulus = modulus.unsigned_abs() as usize;
        coordinates.push((number % modulus) as i64);
        number /= modulus;
    }
    coordinates.reverse();
    coordinates
}

fn join_first_clash(canvas: &mut Canvas, run: &SmallRun<'_>, centres: &BTreeMap<Cell, (f64, f64)>, square: f64) {
    let Some((a, b)) = run.clashes.first() else { return };
    if let (Some(&from), Some(&to)) = (centres.get(a), centres.get(b)) {
        canvas.bow(from, to, square / 2.0, Stroke::solid(INK, 1.8));
    }
}

fn save_table(run: &SmallRun<'_>, csv: &Path) -> Result<(), PictureError> {
    let clashing: BTreeSet<&Cell> = run.clashes.iter().flat_map(|(a, b)| [a, b]).collect();
    let cells = run.cells_by_array().into_values().flatten();
    let rows = cells.filter_map(|cell| {
        let place = run.place(cell.array, &cell.index)?;
        Some(vec![
            run.kernel().array(cell.array).name.clone(),
            spaced(&cell.index),
            run.buffer_name(place.buffer).to_owned(),
            spaced(&place.coordinates),
            place.cell.to_string(),
            clashing.contains(cell).to_string(),
        ])
    });
    tables::save(csv, &["array", "index", "buffer", "coordinates", "cell", "collides"], rows)
}
