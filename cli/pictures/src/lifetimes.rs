//! The picture of lifetimes: one bar per value, one row per stored cell, and how many values are alive.
//!
//! In: a small run.   Out: a picture, a table of values, a table of program points.
//!
//! A bar reaches from the write of a value to its last read, in the order of ascending time vectors. Values that share
//! a stored cell stand in one row, so that folding shows as bars one after the other; where moduli were forced and
//! values meet, the overlap is red. The curve below counts the values alive against the cells there are.

use std::collections::BTreeMap;
use std::path::Path;

use crease::kernel::graph::{ArrayId, DimKind};
use crease_oracle::Lifetime;

use crate::axis::Scale;
use crate::canvas::{Anchor, Area, Block, Canvas, Face, Stroke, wrapped};
use crate::colour::{self, EMPTY, GRID, INK, Rgb, WHITE, WRONG};
use crate::error::PictureError;
use crate::small_run::SmallRun;
use crate::tables::{self, spaced};

const MARGIN: f64 = 24.0;
const WIDTH: f64 = 1000.0;
/// Room left of the plot for the names of stored cells, at least, and at most: longer names are cut.
const NAMES: f64 = 70.0;
const NAMES_AT_MOST: f64 = 300.0;
/// Room right of the plot for the names of lines.
const NOTES: f64 = 120.0;
/// What names of stored cells look like at most, and how far they are from the plot.
const NAME: Face = Face { size: 10.0, ..Face::NOTE };
const NAME_GAP: f64 = 8.0;
/// Rows of stored cells that are drawn; the table has them all.
const MOST_ROWS: usize = 140;
const COUNT_HEIGHT: f64 = 130.0;

/// A row of the upper plot: a stored cell and the values it holds, by number of the lifetime.
struct Row {
    buffer: usize,
    cell: u64,
    values: Vec<usize>,
}

/// First and last value of the first index of an array, over all its values.
type FirstIndex = BTreeMap<ArrayId, (i64, i64)>;

/// Draws lifetimes and counts, and writes both tables.
pub(crate) fn draw(run: &SmallRun<'_>, svg: &Path, values_csv: &Path, points_csv: &Path) -> Result<(), PictureError> {
    let lifetimes: Vec<Lifetime<'_>> = run.trace.lifetimes().collect();
    save_values(run, &lifetimes, values_csv)?;
    save_points(run, points_csv)?;
    let (shown, stored) = rows(run, &lifetimes);
    let firsts = first_indices(&lifetimes);
    let row = (640.0 / shown.len().max(1) as f64).clamp(4.0, 20.0);
    let verdict = run.verdict().map(|text| wrapped(&text, WIDTH, Face::LABEL)).unwrap_or_default();
    let top = 36.0 + 17.0 * (1 + verdict.len()) as f64 + 34.0;
    let names = names_width(run, &shown);
    let plot = Area { x: MARGIN + names, y: top, width: WIDTH - NAMES - NOTES, height: row * shown.len() as f64 };
    let counts = Area { y: plot.bottom() + 46.0, height: COUNT_HEIGHT, ..plot };
    let mut canvas = Canvas::new(WIDTH + names - NAMES + 2.0 * MARGIN, counts.bottom() + 40.0, "Lifetimes");
    canvas.text(
        (MARGIN, 30.0),
        Anchor::Start,
        Face::TITLE,
        "Lifetimes: the values that each stored cell holds, one after the other",
    );
    canvas.text((MARGIN, 50.0), Anchor::Start, Face::NOTE.sized(12.0), &run.setting());
    for (number, line) in verdict.iter().enumerate() {
        canvas.text((MARGIN, 67.0 + 17.0 * number as f64), Anchor::Start, Face::LABEL.coloured(WRONG).bold(), line);
    }
    draw_time(&mut canvas, run, plot, counts);
    for (number, cell) in shown.iter().enumerate() {
        let area = Area { y: plot.y + row * number as f64, height: row, ..plot };
        draw_row(&mut canvas, run, (&lifetimes, &firsts), cell, area);
    }
    if stored > shown.len() as u64 {
        let more = format!(".. {} stored cells more, all in the table", stored - shown.len() as u64);
        canvas.text((plot.x, plot.bottom() + 16.0), Anchor::Start, Face::NOTE, &more);
    }
    draw_counts(&mut canvas, run, counts);
    canvas.save(svg)
}

/// Stored cells of the folded buffers, used or not, as many as are drawn; and how many there are.
fn rows(run: &SmallRun<'_>, lifetimes: &[Lifetime<'_>]) -> (Vec<Row>, u64) {
    let mut values: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
    for (number, lifetime) in lifetimes.iter().enumerate() {
        if let Some(place) = run.place(lifetime.cell.array, &lifetime.cell.index) {
            values.entry((place.buffer, place.cell)).or_default().push(number);
        }
    }
    let buffers = run.folded_buffers();
    let cells = buffers.iter().flat_map(|&buffer| (0..run.cells(buffer)).map(move |cell| (buffer, cell)));
    let row = |(buffer, cell)| Row { buffer, cell, values: values.remove(&(buffer, cell)).unwrap_or_default() };
    (cells.take(MOST_ROWS).map(row).collect(), run.stored_cells())
}

fn first_indices(lifetimes: &[Lifetime<'_>]) -> FirstIndex {
    let mut found = FirstIndex::new();
    for lifetime in lifetimes {
        let own = lifetime.cell.index.first().copied().unwrap_or(0);
        let (low, high) = found.entry(lifetime.cell.array).or_insert((own, own));
        (*low, *high) = ((*low).min(own), (*high).max(own));
    }
    found
}

/// Room that the names of rows take, with what is between them and the plot.
fn names_width(run: &SmallRun<'_>, shown: &[Row]) -> f64 {
    let widths = shown.iter().map(|row| NAME.width_of(&row_name(run, row)) + NAME_GAP);
    widths.fold(NAMES, f64::max).min(NAMES_AT_MOST)
}

fn row_name(run: &SmallRun<'_>, row: &Row) -> String {
    format!("{} {}", run.buffer_name(row.buffer), row.cell)
}

/// The horizontal place of a program point.
fn at(run: &SmallRun<'_>, plot: Area, point: usize) -> f64 {
    plot.x + plot.width * point as f64 / run.trace.n_points() as f64
}

/// Vertical lines where the first component of the time vectors changes, with its value where there is room.
fn draw_time(canvas: &mut Canvas, run: &SmallRun<'_>, plot: Area, counts: Area) {
    let mut previous = None;
    let mut free_from = plot.x;
    let name = run.time_name(0).filter(|name| name.len() <= 12);
    for (position, traced) in run.trace.instances().enumerate() {
        let component = traced.time.first().copied().unwrap_or(0);
        if previous.replace(component) == Some(component) {
            continue;
        }
        let x = at(run, plot, position + 1);
        canvas.line((x, plot.y), (x, plot.bottom()), Stroke::solid(GRID, 1.0));
        canvas.line((x, counts.y), (x, counts.bottom()), Stroke::solid(GRID, 1.0));
        let label = name.as_ref().map_or(component.to_string(), |name| format!("{name} = {component}"));
        if x >= free_from {
            canvas.text((x + 2.0, plot.y - 6.0), Anchor::Start, Face::NOTE, &label);
            free_from = x + Face::NOTE.width_of(&label) + 8.0;
        }
    }
    canvas.text((plot.x - 8.0, plot.y - 6.0), Anchor::End, Face::NOTE, "stored cell");
    let above = run.time_name(0).map(|name| format!("; above, where {name} begins")).unwrap_or_default();
    let end = format!(
        "time: {} instances in schedule order{above}. Colour: first index of the value",
        run.trace.n_instances()
    );
    canvas.text((plot.right(), counts.bottom() + 20.0), Anchor::End, Face::NOTE, &end);
}

fn draw_row(
    canvas: &mut Canvas,
    run: &SmallRun<'_>,
    (lifetimes, firsts): (&[Lifetime<'_>], &FirstIndex),
    row: &Row,
    area: Area,
) {
    let name = row_name(run, row);
    let inner = Area { y: area.y + area.height * 0.08, height: area.height * 0.84, ..area };
    if row.values.is_empty() {
        canvas.block(&Block::new(inner, EMPTY).tip(format!("{name}: never used")));
    }
    for &number in &row.values {
        let lifetime = &lifetimes[number];
        let own = lifetime.cell.index.first().copied().unwrap_or(0);
        let (low, high) = firsts[&lifetime.cell.array];
        // Values of one step have one colour; of arrays without steps, those of one first index.
        let fill = colour::ranked((own - low).unsigned_abs() as usize, (high - low).unsigned_abs() as usize + 1);
        draw_value(canvas, run, lifetime, fill, inner);
    }
    for (position, &a) in row.values.iter().enumerate() {
        for &b in &row.values[..position] {
            draw_overlap(canvas, run, &lifetimes[a], &lifetimes[b], inner);
        }
    }
    let roomy = area.height >= 9.0;
    if roomy || row.cell == 0 {
        let size = if roomy { (area.height * 0.62).min(10.0) } else { 9.0 };
        let face = Face::NOTE.sized(size);
        let baseline = if roomy { area.y + area.height / 2.0 + size * 0.36 } else { area.y + size };
        canvas.text((area.x - NAME_GAP, baseline), Anchor::End, face, &cut(&name, face, NAMES_AT_MOST - NAME_GAP));
    }
}

/// A name that fits: of one that is too long its beginning, and its end, which says which cell it is.
fn cut(name: &str, face: Face, width: f64) -> String {
    if face.width_of(name) <= width {
        return name.to_owned();
    }
    let letters: Vec<char> = name.chars().collect();
    let kept = ((width / face.width_of("m")) as usize).saturating_sub(2);
    let end = kept / 2;
    let [begin, end] = [&letters[..kept - end], &letters[letters.len() - end..]];
    begin.iter().chain(['.', '.'].iter()).chain(end).collect()
}

fn draw_value(canvas: &mut Canvas, run: &SmallRun<'_>, lifetime: &Lifetime<'_>, fill: Rgb, row: Area) {
    let (from, to) = (at(run, row, lifetime.from), at(run, row, lifetime.until));
    let area = Area { x: from, width: to - from, ..row };
    let name = run.cell_name(lifetime.cell);
    let end = if lifetime.live_out { "kept".to_owned() } else { format!("read {} times", lifetime.read_by.len()) };
    let block = Block::new(area, fill).border(Stroke::solid(WHITE, 0.8)).tip(format!("{name}, {end}"));
    canvas.block(&block.data("value", &name).data("from", lifetime.from).data("until", lifetime.until));
    let label = lifetime.cell.index.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let face = Face::LABEL.sized((row.height * 0.62).min(10.0)).coloured(fill.contrasting());
    if face.size >= 6.0 && face.width_of(&label) + 4.0 <= area.width {
        let (x, y) = area.centre();
        canvas.text((x, y + face.size * 0.36), Anchor::Middle, face, &label);
    }
}

fn draw_overlap(canvas: &mut Canvas, run: &SmallRun<'_>, a: &Lifetime<'_>, b: &Lifetime<'_>, row: Area) {
    let (from, until) = (a.from.max(b.from), a.until.min(b.until));
    if from < until && a.cell != b.cell {
        let (x, end) = (at(run, row, from), at(run, row, until));
        let tip = format!("{} and {} are both alive", run.cell_name(a.cell), run.cell_name(b.cell));
        canvas.block(&Block::new(Area { x, width: end - x, ..row }, WRONG).tip(tip).data("collision", "true"));
    }
}

/// Values alive over time, the cells there are, and the most that are alive.
fn draw_counts(canvas: &mut Canvas, run: &SmallRun<'_>, plot: Area) {
    let alive = run.trace.alive();
    let cells = run.stored_cells();
    let most = alive.iter().copied().max().unwrap_or(0);
    let scale = Scale::Linear { most: cells.max(most) as f64 * 1.12 };
    let height = |count: f64| plot.bottom() - plot.height * scale.share(count);
    let at_once = run.schedule().dims.contains(&DimKind::Parallel);
    let heading = if at_once { "values alive, if parallel work is done in order" } else { "values alive" };
    canvas.text((plot.x, plot.y - 8.0), Anchor::Start, Face::HEADING, heading);
    for tick in scale.ticks() {
        let y = height(tick);
        canvas.line((plot.x, y), (plot.right(), y), Stroke::solid(GRID, 1.0));
        canvas.text((plot.x - 8.0, y + 3.5), Anchor::End, Face::NOTE, &format!("{tick}"));
    }
    let mut points = Vec::new();
    for (point, &count) in alive.iter().enumerate() {
        let y = height(count as f64);
        points.extend([(at(run, plot, point), y), (at(run, plot, point + 1), y)]);
    }
    canvas.polyline(&points, Stroke::solid(colour::layout("folded"), 1.8));
    let (upper, lower) = (height(cells.max(most) as f64), height(cells.min(most) as f64));
    let apart = (lower - upper).max(13.0);
    let stored = (height(cells as f64), format!("{cells} cells stored"), Stroke::solid(INK, 1.4));
    let alive_line = (height(most as f64), format!("{most} alive at most"), Stroke::dashed(INK, 1.2));
    let (first, second) = if cells >= most { (stored, alive_line) } else { (alive_line, stored) };
    for ((y, label, stroke), baseline) in [(first, upper - 1.0), (second, upper - 1.0 + apart)] {
        canvas.line((plot.x, y), (plot.right(), y), stroke);
        canvas.text((plot.right() + 6.0, baseline + 4.0), Anchor::Start, Face::NOTE, &label);
    }
}

fn save_values(run: &SmallRun<'_>, lifetimes: &[Lifetime<'_>], csv: &Path) -> Result<(), PictureError> {
    let row = |lifetime: &Lifetime<'_>| {
        let place = run.place(lifetime.cell.array, &lifetime.cell.index)?;
        Some(vec![
            run.kernel().array(lifetime.cell.array).name.clone(),
            spaced(&lifetime.cell.index),
            run.buffer_name(place.buffer).to_owned(),
            place.cell.to_string(),
            lifetime.from.to_string(),
            lifetime.until.to_string(),
            lifetime.read_by.len().to_string(),
            lifetime.live_out.to_string(),
        ])
    };
    let header = ["array", "index", "buffer", "cell", "from", "until", "readers", "live_out"];
    tables::save(csv, &header, lifetimes.iter().filter_map(row))
}

fn save_points(run: &SmallRun<'_>, csv: &Path) -> Result<(), PictureError> {
    let mut times = vec!["start".to_owned()];
    times.extend(run.trace.instances().map(|traced| spaced(traced.time)));
    times.push("end".to_owned());
    let rows = run.trace.alive().into_iter().zip(times).enumerate();
    let rows = rows.map(|(point, (alive, time))| vec![point.to_string(), time, alive.to_string()]);
    tables::save(csv, &["point", "time", "alive"], rows)
}
