//! The tile graph: what a run of a program does in pieces that could be shared out, and which piece needs which.
//!
//! In: a program, arguments.   Out: a [`TileGraph`]: an iteration of an outermost parallel loop is a **tile**, and so is
//! all that runs between two such loops; with the iterations of its strips, the bytes it takes from memory, and the
//! tiles before it that have to be done.
//!
//! A tile needs those that last wrote what it touches, and what it writes it may write when those that read it are
//! done: cells are those of the folded storage, so that an edge may come from storage that is used again as well as
//! from a value. Cells are looked at in grains of 128 bytes; two tiles that touch one grain, one of them writing, have
//! an edge even where they touch different cells of it. So the graph may have more edges than there are, never fewer.
//! Tiles of one loop need nothing of each other, which is what parallel means.
//!
//! Bytes come from memory if more was touched since the grain was touched last than the cache holds, in the program's
//! order; a grain counts once a tile.

use rustc_hash::FxHashMap;

use super::environment::{Env, Trap};
use super::trips::{strip_length, trips};
use super::types::*;

/// Bytes of a grain: two lines of a cache, which are fetched together.
const GRAIN_BYTES: u64 = 128;

/// Pieces of a run, in the program's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileGraph {
    /// All of them, those of one loop next to each other.
    pub tiles: Vec<GraphTile>,
    /// Each parallel loop, and each stretch between two of them.
    pub loops: Vec<LoopTiles>,
}

/// What one thread does without asking another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphTile {
    /// Iterations of strips.
    pub sites: u64,
    /// Bytes that come from memory, and go back if they are written.
    pub memory_bytes: u64,
    /// Earlier tiles that have to be done, each once, by number.
    pub needs: Vec<u32>,
}

/// Tiles that a parallel loop runs, or the one between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopTiles {
    /// The first one.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// Whether it is a parallel loop, which a barrier follows.
    pub is_parallel: bool,
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TileGraphError {
    /// A wrong number of arguments.
    #[error("{found} arguments given, the program has {expected}")]
    Count {
        /// How many were given.
        found: usize,
        /// How many the program declares.
        expected: usize,
    },
    /// The run leaves 64 bits.
    #[error("the run cannot be looked at: {0}")]
    Trapped(#[from] Trap),
    /// The budget is spent.
    #[error("the run has more than {budget} strips to look at")]
    Budget {
        /// Strips allowed.
        budget: u64,
    },
}

impl Program {
    /// The tile graph of a run with these arguments on caches of so many bytes, of at most `budget` runs of strips.
    ///
    /// # Errors
    /// [`TileGraphError`].
    pub fn tile_graph(&self, args: &[i64], cache_bytes: u64, budget: u64) -> Result<TileGraph, TileGraphError> {
        if args.len() != self.args.len() {
            return Err(TileGraphError::Count { found: args.len(), expected: self.args.len() });
        }
        let env = Env { args, vars: vec![0; self.variables()] };
        let (graph, grains) = (TileGraph::default(), FxHashMap::default());
        let mut walk = Walk {
            program: self,
            env,
            graph,
            grains,
            marks: Vec::new(),
            cache_bytes,
            touched: 0,
            budget,
            left: budget,
            inside: false,
        };
        walk.block(&self.body)?;
        Ok(walk.graph)
    }
}

type Walked = Result<(), TileGraphError>;

/// A run in progress.
struct Walk<'a> {
    program: &'a Program,
    env: Env<'a>,
    graph: TileGraph,
    grains: FxHashMap<(BufferId, i64), Grain>,
    /// Per tile, the last one that was found to need it.
    marks: Vec<u32>,
    cache_bytes: u64,
    /// Bytes of grains touched so far, each counted once a tile.
    touched: u64,
    budget: u64,
    left: u64,
    /// Whether a parallel loop runs.
    inside: bool,
}

/// Who touched the cells of a grain.
struct Grain {
    writer: Option<u32>,
    /// Since then.
    readers: Vec<u32>,
    /// The last one of both, and the bytes touched before it.
    last: (u32, u64),
}

impl Walk<'_> {
    fn block(&mut self, nodes: &[Node]) -> Walked {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Walked {
        match node {
            Node::Let { var, value } => {
                self.env.vars[var.index()] = self.env.int(value)?;
                Ok(())
            }
            Node::For { var, lo, hi, step, kind, body } => {
                let (lo, hi) = (self.env.int(lo)?, self.env.int(hi)?);
                let count = trips(lo, hi, *step)?;
                let is_parallel = *kind == LoopKind::Parallel && !self.inside;
                if is_parallel && count > 0 {
                    let first = self.graph.tiles.len() as u32;
                    self.graph.loops.push(LoopTiles { first, count: 0, is_parallel: true });
                    self.inside = true;
                }
                for value in (0..count).map(|at| lo + at * step) {
                    if is_parallel {
                        self.begin_tile();
                    }
                    self.env.vars[var.index()] = value;
                    self.block(body)?;
                }
                self.inside &= !is_parallel;
                Ok(())
            }
            Node::If { cond, then, otherwise } => {
                if self.env.cond(cond)? {
                    self.block(then)
                } else {
                    self.block(otherwise)
                }
            }
            Node::Strip(strip) => self.strip(strip),
        }
    }

    /// Another tile of the loop at hand.
    fn begin_tile(&mut self) {
        self.graph.tiles.push(GraphTile::default());
        self.marks.push(u32::MAX);
        self.graph.loops.last_mut().expect("a loop has begun").count += 1;
    }

    fn strip(&mut self, strip: &Strip) -> Walked {
        self.left = self.left.checked_sub(1).ok_or(TileGraphError::Budget { budget: self.budget })?;
        let (lo, hi) = (self.env.int(&strip.lo)?, self.env.int(&strip.hi)?);
        let length = strip_length(lo, hi)?;
        if length <= 0 {
            return Ok(());
        }
        if !self.inside && self.graph.loops.last().is_none_or(|last| last.is_parallel) {
            let first = self.graph.tiles.len() as u32;
            self.graph.loops.push(LoopTiles { first, count: 0, is_parallel: false });
            self.begin_tile();
        }
        let tile = self.graph.tiles.last_mut().expect("it has begun");
        tile.sites = tile.sites.saturating_add(length.unsigned_abs());
        for op in &strip.ops {
            match *op {
                Op::Load { stream, .. } => self.access(&strip.streams[stream.index()], length, false)?,
                Op::Store { stream, .. } => self.access(&strip.streams[stream.index()], length, true)?,
                // Nothing writes what lookups read, and no tile waits for it.
                _ => {}
            }
        }
        Ok(())
    }

    /// All that a stream touches in a strip of this length.
    fn access(&mut self, stream: &Stream, length: i64, is_store: bool) -> Walked {
        let buffer = &self.program.buffers[stream.buffer.index()];
        if buffer.copies != Copies::One {
            return Ok(());
        }
        let grain_cells = (GRAIN_BYTES / buffer.element.bytes()).max(1) as i64;
        let bytes = buffer.element.bytes() * grain_cells as u64;
        for (first, last) in self.cells(buffer, &stream.address, length)?.into_iter().flatten() {
            for grain in first.div_euclid(grain_cells)..=last.div_euclid(grain_cells) {
                self.touch((stream.buffer, grain), bytes, is_store);
            }
        }
        Ok(())
    }

    /// First and last cell that an address has in a strip of this length, in up to two parts.
    fn cells(&self, buffer: &BufferDecl, address: &Address, length: i64) -> Result<[Option<(i64, i64)>; 2], Trap> {
        let after = |start: i64, step: i64| step.checked_mul(length - 1).and_then(|reach| start.checked_add(reach));
        match address {
            Address::Block { base, pos, ring, stride } => {
                let (base, pos) = (self.env.int(base)?, self.env.int(pos)?);
                let end = after(pos, *stride).ok_or(Trap::Overflow)?;
                let at = |pos: i64| base.checked_add(pos).ok_or(Trap::Overflow);
                let (low, high) = (pos.min(end), pos.max(end));
                let ring = ring.map_or(i64::MAX, |ring| i64::try_from(ring).unwrap_or(i64::MAX));
                if low >= 0 && high < ring {
                    return Ok([Some((at(low)?, at(high)?)), None]);
                }
                let travel = high.checked_sub(low).ok_or(Trap::Overflow)?;
                let (low, high) = (low.rem_euclid(ring), high.rem_euclid(ring));
                if travel >= ring || low > high {
                    // It runs around the end, or through all of it.
                    let from = if travel >= ring { 0 } else { low };
                    let to = if travel >= ring { ring - 1 } else { high };
                    return Ok([Some((at(from)?, at(ring - 1)?)), Some((base, at(to)?))]);
                }
                Ok([Some((at(low)?, at(high)?)), None])
            }
            Address::Array(coordinates) => {
                let (mut low, mut high) = (0_i64, 0_i64);
                for (coordinate, extent) in coordinates.iter().zip(buffer.extents.as_deref().unwrap_or_default()) {
                    let start = self.env.int(&coordinate.start)?;
                    let end = after(start, coordinate.step).ok_or(Trap::Overflow)?;
                    let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
                    let along = |cell: i64, at: i64| cell.checked_mul(extent).and_then(|cell| cell.checked_add(at));
                    low = along(low, start.min(end)).ok_or(Trap::Overflow)?;
                    high = along(high, start.max(end)).ok_or(Trap::Overflow)?;
                }
                Ok([Some((low, high)), None])
            }
        }
    }

    fn touch(&mut self, at: (BufferId, i64), bytes: u64, is_store: bool) {
        let tile = (self.graph.tiles.len() - 1) as u32;
        let first_of_loop = self.graph.loops.last().map_or(0, |last| last.first);
        let is_new = !self.grains.contains_key(&at);
        let touched = self.touched;
        let grain =
            self.grains.entry(at).or_insert_with(|| Grain { writer: None, readers: Vec::new(), last: (tile, touched) });
        let needs = &mut self.graph.tiles[tile as usize].needs;
        let marks = &mut self.marks;
        let mut need = |other: u32| {
            if other < first_of_loop && marks[other as usize] != tile {
                marks[other as usize] = tile;
                needs.push(other);
            }
        };
        grain.writer.into_iter().for_each(&mut need);
        if is_store {
            grain.readers.drain(..).for_each(need);
            grain.writer = Some(tile);
        } else if grain.writer != Some(tile) && grain.readers.last() != Some(&tile) {
            grain.readers.push(tile);
        }
        let (last, before) = grain.last;
        if is_new || last != tile {
            if is_new || self.touched - before > self.cache_bytes {
                self.graph.tiles[tile as usize].memory_bytes += bytes;
            }
            self.touched += bytes;
        }
        grain.last = (tile, self.touched);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 64 cells; each of a step reads its neighbours of the step before, in one of two levels.
    fn heat() -> Program {
        Program::parse(
            "program heat(_from, T) {
               buffer u: f64[2048] write
               for v0 in $_from + 1 .. $T + 1 {
                 let v1 = mod(v0, 2)
                 parallel for v2 in 1 .. 15 {
                   strip v3 in 0 .. 64 lanes 8 {
                     m0 = u[pos ((1 - v1) * 1024 + (v2 - 1) * 64), stride 1]
                     m1 = u[pos ((1 - v1) * 1024 + (v2 + 1) * 64), stride 1]
                     m2 = u[pos (v1 * 1024 + v2 * 64), stride 1]
                     %0 = load m0: f64
                     %1 = load m1: f64
                     %2 = add %0, %1
                     %3: store m2, %2
                     alias %0, %3: disjoint
                     alias %1, %3: disjoint
                   }
                 }
               }
             }",
        )
        .unwrap()
    }

    #[test]
    fn a_tile_needs_its_neighbours_of_the_loop_before() {
        let graph = heat().tile_graph(&[0, 3], u64::MAX, 1000).unwrap();
        let is_row = |found: &LoopTiles| found.is_parallel && found.count == 14;
        assert!(graph.loops.len() == 3 && graph.loops.iter().all(is_row));
        assert!(graph.tiles.iter().all(|tile| tile.sites == 64));
        assert!(graph.tiles[..14].iter().all(|tile| tile.needs.is_empty()));
        let needs = |at: usize| {
            let mut needs = graph.tiles[at].needs.clone();
            needs.sort_unstable();
            needs
        };
        // Row 4 of the second step reads rows 3 and 5 of the first, which read rows 2 and 4, 4 and 6 before.
        assert_eq!(needs(14 + 3), [2, 4]);
        // In the third step it overwrites what it wrote in the first one, and rows 3 and 5 have read in the second.
        assert_eq!(needs(28 + 3), [3, 14 + 2, 14 + 4]);
        // The first step finds nothing in a cache, then everything is there.
        let bytes = |tiles: &[GraphTile]| tiles.iter().map(|tile| tile.memory_bytes).sum::<u64>();
        assert_eq!((bytes(&graph.tiles[..14]), bytes(&graph.tiles[28..])), ((16 + 14) * 512, 0));
    }

    #[test]
    fn without_a_cache_every_tile_moves_what_it_touches() {
        let graph = heat().tile_graph(&[0, 2], 0, 1000).unwrap();
        assert!(graph.tiles[14..].iter().all(|tile| tile.memory_bytes == 3 * 512));
    }

    #[test]
    fn rings_and_what_runs_between_loops_are_seen() {
        let program = Program::parse(
            "program ring(T) {
               buffer u: f64[64] write
               strip v0 in 0 .. 40 lanes 1 {
                 m0 = u[pos 50, ring 64, stride 1]
                 %0 = f64 1.0
                 %1: store m0, %0
               }
               parallel for v1 in 0 .. 2 {
                 strip v2 in 0 .. 16 lanes 1 {
                   m0 = u[pos (v1 * 32), stride 1]
                   %0 = load m0: f64
                   %1: store m0, %0
                 }
               }
             }",
        )
        .unwrap();
        let graph = program.tile_graph(&[1], 0, 1000).unwrap();
        let kinds: Vec<(u32, bool)> = graph.loops.iter().map(|l| (l.count, l.is_parallel)).collect();
        assert_eq!(kinds, [(1, false), (2, true)]);
        // Cells 50 to 63 and 0 to 25: both tiles touch some of them, with 16 cells a grain.
        let needs: Vec<&[u32]> = graph.tiles.iter().map(|tile| tile.needs.as_slice()).collect();
        assert_eq!(needs, [&[][..], &[0], &[]]);
        assert_eq!(graph.tiles[0].memory_bytes, 3 * 128);
    }

    #[test]
    fn what_cannot_be_looked_at_is_an_error() {
        assert_eq!(heat().tile_graph(&[0], 0, 10), Err(TileGraphError::Count { found: 1, expected: 2 }));
        assert_eq!(heat().tile_graph(&[0, 3], 0, 10), Err(TileGraphError::Budget { budget: 10 }));
        let overflow = heat().tile_graph(&[i64::MAX - 2, i64::MAX], 0, 10);
        assert!(matches!(overflow, Err(TileGraphError::Trapped(Trap::Overflow))), "{overflow:?}");
    }
}
