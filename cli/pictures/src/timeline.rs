//! The picture of tiles over threads and time: a line for each thread, a block for each run of iterations.
//!
//! In: what the threads of a run did.   Out: a picture of some parallel loops in the middle of it, and a row of the table
//! for every run of iterations that was kept.
//!
//! Blocks of one colour belong to one loop, which ends with a barrier; white is time without iterations: waiting for
//! others, or what one thread does between two loops. A loop is drawn as a whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crease::{Load, TileRun};

use crate::axis::{Scale, plain};
use crate::canvas::{Anchor, Area, Block, Canvas, Face, Stroke, wrapped};
use crate::colour::{self, EMPTY, GRID, WHITE};
use crate::error::PictureError;
use crate::tables;

/// Blocks of a picture, at most: more cannot be told from each other.
const MOST_BLOCKS: usize = 300;
const MARGIN: f64 = 24.0;
const WIDTH: f64 = 1000.0;
const NAMES: f64 = 70.0;
const LINE: f64 = 26.0;
const GAP: f64 = 6.0;

/// Draws `timeline.svg` into a directory, with its data in `timeline.csv`, and says where the picture is; none if no
/// parallel loop ran.
///
/// # Errors
/// [`PictureError::File`] if something cannot be written.
pub fn draw(load: &Load, title: &str, directory: &Path) -> Result<Option<PathBuf>, PictureError> {
    let (svg, csv) = (directory.join("timeline.svg"), directory.join("timeline.csv"));
    fs::create_dir_all(directory).map_err(|source| PictureError::File { path: directory.to_owned(), source })?;
    save_table(load, &csv)?;
    let shown = middle(load);
    if shown.is_empty() {
        return Ok(None);
    }
    picture(load, title, &shown).save(&svg)?;
    Ok(Some(svg))
}

fn save_table(load: &Load, csv: &Path) -> Result<(), PictureError> {
    let nanoseconds = |time: std::time::Duration| time.as_nanos().to_string();
    let row = |tile: &TileRun| {
        let (first, end) = tile.iterations;
        let numbers = [tile.worker.to_string(), tile.loop_number.to_string(), first.to_string(), end.to_string()];
        numbers.into_iter().chain([nanoseconds(tile.begin), nanoseconds(tile.end)]).collect()
    };
    tables::save(csv, &["thread", "loop", "first", "end", "begin_ns", "end_ns"], load.tiles.iter().map(row))
}

/// What is drawn: whole loops, as many as fit, from the middle of those whose runs were all kept.
fn middle(load: &Load) -> Vec<TileRun> {
    let mut loops: BTreeMap<u64, Vec<TileRun>> = BTreeMap::new();
    for tile in &load.tiles {
        loops.entry(tile.loop_number).or_default().push(*tile);
    }
    let loops: Vec<Vec<TileRun>> = loops.into_values().collect();
    // Each worker keeps its first runs: once one of them keeps no more, later loops are not whole.
    let kept = if load.more_tiles == 0 { loops.len() } else { loops.len() / 2 };
    let mut shown = Vec::new();
    for tiles in loops[..kept].iter().skip(kept / 2) {
        if !shown.is_empty() && shown.len() + tiles.len() > MOST_BLOCKS {
            break;
        }
        shown.extend_from_slice(tiles);
    }
    shown
}

fn picture(load: &Load, title: &str, shown: &[TileRun]) -> Canvas {
    let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
    let begin = shown.iter().map(|tile| micros(tile.begin)).fold(f64::INFINITY, f64::min);
    let length = shown.iter().map(|tile| micros(tile.end)).fold(0.0, f64::max) - begin;
    let scale = Scale::Linear { most: length.max(f64::MIN_POSITIVE) };
    let heading = "Tiles over threads and time: a colour for each parallel loop";
    let loops: Vec<u64> = shown.iter().map(|tile| tile.loop_number).collect();
    let (first, last) = (loops.iter().min().copied().unwrap_or(0), loops.iter().max().copied().unwrap_or(0));
    let about = format!("{title}: loops {first} to {last} of {}. {}", load.loops, shares(load));
    let about = wrapped(&about, WIDTH, Face::NOTE.sized(12.0));
    let top = 44.0 + 17.0 * about.len() as f64;
    let lines = load.workers.len() as f64 * (LINE + GAP);
    let mut canvas = Canvas::new(WIDTH + 2.0 * MARGIN, top + lines + 44.0, heading);
    canvas.text((MARGIN, 30.0), Anchor::Start, Face::TITLE, heading);
    for (number, line) in about.iter().enumerate() {
        canvas.text((MARGIN, 50.0 + 17.0 * number as f64), Anchor::Start, Face::NOTE.sized(12.0), line);
    }
    let (left, width) = (MARGIN + NAMES, WIDTH - NAMES);
    let line_of = |worker: usize| top + worker as f64 * (LINE + GAP);
    for worker in 0..load.workers.len() {
        let area = Area { x: left, y: line_of(worker), width, height: LINE };
        canvas.block(&Block::new(area, EMPTY));
        let at = (left - 8.0, line_of(worker) + LINE / 2.0 + 4.0);
        canvas.text(at, Anchor::End, Face::LABEL, &format!("thread {worker}"));
    }
    for tile in shown {
        let (from, to) = (scale.share(micros(tile.begin) - begin), scale.share(micros(tile.end) - begin));
        let area = Area { x: left + from * width, y: line_of(tile.worker), width: (to - from) * width, height: LINE };
        canvas.block(&block(tile, area, (first, last)));
    }
    for tick in scale.ticks() {
        let x = left + scale.share(tick) * width;
        canvas.line((x, top + lines), (x, top + lines + 4.0), Stroke::solid(GRID, 1.0));
        canvas.text((x, top + lines + 17.0), Anchor::Middle, Face::NOTE, &plain(tick));
    }
    canvas.text((left + width, top + lines + 33.0), Anchor::End, Face::NOTE, "microseconds");
    canvas
}

fn block(tile: &TileRun, area: Area, (first, last): (u64, u64)) -> Block {
    let (from, to) = tile.iterations;
    let taken = (tile.end - tile.begin).as_secs_f64() * 1e6;
    let tip = format!("loop {}, iterations {from} to below {to}: {taken:.2} microseconds", tile.loop_number);
    // Neighbours in a ranking of hundreds look alike: every eighth loop has the same colour.
    let fill = colour::ranked(((tile.loop_number - first) % 8) as usize, 8.min((last - first + 1) as usize));
    let block = Block::new(area, fill).border(Stroke::solid(WHITE, 0.4)).tip(tip);
    block.data("thread", tile.worker).data("loop", tile.loop_number)
}

/// What the threads' time went into, in per cent.
pub fn shares(load: &Load) -> String {
    let percent = |share: f64| share * 100.0;
    format!(
        "{} threads: {:.1} % busy, {:.1} % waiting in {} loops, {:.1} % without iterations in them, {:.1} % outside of \
         them; busiest thread {:.2} of the average",
        load.workers.len(),
        percent(load.share_busy()),
        percent(load.share_waiting()),
        load.loops,
        percent(load.share_too_few()),
        percent(load.share_outside()),
        load.imbalance(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease::prelude::*;

    fn load(steps: u64) -> Load {
        let kernel = Kernel::parse(
            "kernel decay(size N; run T) {
               state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
               S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { u[t,y,x] = 0.5 * u[t-1,y,x] }
               schedule rows { S -> [t, y parallel, x] }
             }",
        );
        let plan = kernel.unwrap().plan().size("N", 64).threads(2).build().unwrap();
        let options = RunOptions::default().threads(2).records_load(true);
        let mut run = plan.compile().unwrap().instantiate_with(options).unwrap();
        run.fill("u", 1.0).unwrap();
        run.advance(steps).unwrap();
        run.take_load().unwrap()
    }

    #[test]
    fn a_block_for_each_run_of_the_loops_that_are_shown() {
        let directory = tempfile::tempdir().unwrap();
        let load = load(400);
        let svg = draw(&load, "decay", directory.path()).unwrap().unwrap();
        let text = fs::read_to_string(&svg).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let shown = middle(&load);
        let blocks = document.descendants().filter(|node| node.attribute("data-loop").is_some()).count();
        assert!(blocks == shown.len() && blocks > 0 && blocks <= MOST_BLOCKS, "{blocks}");
        for loop_number in shown.iter().map(|tile| tile.loop_number) {
            let is_of_loop = |tile: &&TileRun| tile.loop_number == loop_number;
            let iterations = |tile: &TileRun| tile.iterations.1 - tile.iterations.0;
            assert_eq!(shown.iter().filter(is_of_loop).map(iterations).sum::<i64>(), 64, "a loop is whole");
        }
        let table = fs::read_to_string(directory.path().join("timeline.csv")).unwrap();
        assert_eq!(table.lines().count(), load.tiles.len() + 1);
    }

    #[test]
    fn without_loops_there_is_nothing_to_draw() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(draw(&load(0), "decay", directory.path()).unwrap(), None);
        assert!(!directory.path().join("timeline.svg").exists());
    }
}
