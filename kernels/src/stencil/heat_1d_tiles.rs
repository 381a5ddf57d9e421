//! Explicit diffusion on a line in diamond tiles, each with an array of its own: the papers' tile-local buffers.
//!
//! Tile `(a, b)` of half-width `B` has the points `t = B (a + b) + s`, `x = B (a - b) + r` with
//! `0 <= t + x - 2 B a < 2 B` and `0 <= t - x - 2 B b < 2 B`, that is `|r| <= min(s, 2 B - 1 - s)`. All that it needs
//! of others lies in tiles `(a - 1, b)`, `(a, b - 1)` and `(a - 1, b - 1)`: tiles of one wave `a + b` are tasks that
//! run at once.
//!
//! A tile fills the border of its `local` array, two points deep, from what the tiles below left in `left` and `right`,
//! computes, and leaves two points along each of its own upper sides. `local` lives inside one task: however many tiles
//! there are, a thread has one buffer. By `rows`, borders are copied together with their row, so that little more than
//! a row is alive: 2B + 2 cells. By `tiles` they are copied before and after all rows, as in the paper, and stay alive
//! meanwhile: 4B + 2 cells. An array for all points of a tile and its border would have (2B + 1)^2. The paper's
//! hyperplane `t - 3 x` needs 6B + 2 cells here; its table counts no border below, a tile with one row less, and 6B -
//! 5.
//!
//! Where ranges of addresses cannot follow rows that depend on `a`, `b` and `s` at once, planning walks the loops to
//! check them (`jit/program/src/dry_run.rs`), and so does the first call: this takes longer than the updates, and a
//! million points by a thousand steps are refused. Hence no sizes to measure.
//!
//! Arithmetic and result are those of `heat-1d`. `B` is a number, as `B a` with both free is not affine.
//!
//! Source: S. G. Bhaskaracharya, U. Bondhugula, A. Cohen (2016), Table I, `diamond-tile`; tiles of V. Bandishti, I.
//! Pananilath, U. Bondhugula: Tiling Stencil Computations to Maximize Parallelism (2012).

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::{Domain, Index, KernelBuilder, ScheduleRef, StmtRef};
use crease::kernel::graph::Element;

use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Fields, KernelDataError};
use crate::stencil::heat_1d;

/// Tiles for lines that are worth several threads.
pub const ENTRY: Entry = Entry {
    name: "heat-1d-tiles",
    summary: "diffusion on a line in diamond tiles of 256 by 256 with arrays of their own",
    definition: definition::<128>,
    default: Preset { sizes: &[("N", 20_000), ("T", 1000)], steps: 0 },
    tests: &[Preset { sizes: &[("N", 21), ("T", 5)], steps: 0 }],
    benches: &[],
    published: &[paper("local[a, b, s, r] -> [(s - 3r) mod 770]")],
    ..SMALL
};

/// Tiles small enough that small lines have many.
pub const SMALL: Entry = Entry {
    name: "heat-1d-small-tiles",
    summary: "diffusion on a line in diamond tiles of 8 by 8 with arrays of their own",
    source: "Automatic Storage Optimization for Arrays (2016), Table I",
    definition: definition::<4>,
    scalars: &[("k", 0.23)],
    default: Preset { sizes: &[("N", 1000), ("T", 100)], steps: 0 },
    tests: &[
        Preset { sizes: &[("N", 11), ("T", 6)], steps: 0 },
        Preset { sizes: &[("N", 21), ("T", 13)], steps: 0 },
        Preset { sizes: &[("N", 3), ("T", 4)], steps: 0 },
    ],
    benches: &[],
    sites: |case| Ok((case.extent("N", 3)? as u64).saturating_mul(case.extent("T", 0)? as u64)),
    initial: |case| Ok(Fields::from([("before".to_owned(), heat_1d::bump(case.extent("N", 3)?)?)])),
    naive,
    published: &[paper("local[a, b, s, r] -> [(s - 3r) mod 26]")],
};

const fn paper(mapping: &'static str) -> Published {
    let source = "Automatic Storage Optimization for Arrays (2016), Table I";
    Published { name: "paper", schedule: "tiles", mapping, source }
}

fn definition<const B: i64>() -> Result<Kernel, KernelError> {
    let builder = Kernel::builder("heat_1d_tiles");
    let (n, steps) = (builder.size("N"), builder.size("T"));
    builder.context(n.ge(3) & steps.ge(0));
    let [a, b, s, r, d, q, x] = builder.iters(["a", "b", "s", "r", "d", "q", "x"]);
    let tiling = Tiling { half: B, n, steps, a, b, s, r, d, q, x };
    let stmts = tiling.statements(&builder);
    tiling.order(builder.schedule("rows"), stmts, |row, [_, phase]| [row, phase]);
    tiling.order(builder.schedule("tiles"), stmts, |row, [phase, _]| [phase, row]);
    builder.build()
}

/// Sizes and iterators, as named above; `half` is `B`.
struct Tiling<'k> {
    half: i64,
    n: Index<'k>,
    steps: Index<'k>,
    a: Index<'k>,
    b: Index<'k>,
    s: Index<'k>,
    r: Index<'k>,
    d: Index<'k>,
    q: Index<'k>,
    x: Index<'k>,
}

impl<'k> Tiling<'k> {
    fn time(&self, s: impl Into<Index<'k>>) -> Index<'k> {
        self.half * self.a + self.half * self.b + s
    }

    fn site(&self, r: impl Into<Index<'k>>) -> Index<'k> {
        self.half * self.a - self.half * self.b + r
    }

    /// The place in a tile of the cell `x`: statements that touch the caller's arrays run along it.
    fn along(&self) -> Index<'k> {
        self.x - self.half * self.a + self.half * self.b
    }

    /// Tiles with a point or a border on the line; the rest of each domain implies it, for isl.
    fn tiles(&self) -> Domain<'k> {
        let (width, n) = (2 * self.half, self.n);
        let (a, b) = (width * self.a, width * self.b);
        self.a.ge(0) & a.le(n + self.steps + 1) & (b + n + width).ge(0) & b.le(self.steps + 2)
    }

    /// Points of a tile.
    fn own(&self, r: Index<'k>) -> Domain<'k> {
        let (width, s) = (2 * self.half, self.s);
        self.tiles() & r.between(-s, s) & r.gt(s - width) & r.lt(width - s)
    }

    /// Point `q` of layer `d` along a side, counted from the middle of the tile that has it, if its row and place are
    /// on the line. From the tile above it is the same row, `B` lower, and the same place, `B` to the other side.
    fn side(&self, row: Index<'k>, place: Index<'k>) -> Domain<'k> {
        self.tiles() & self.d.between(0, 1) & self.q.within(0, self.half) & self.is_known(row, place)
    }

    fn is_known(&self, s: impl Into<Index<'k>>, r: impl Into<Index<'k>>) -> Domain<'k> {
        self.time(s).within(0, self.steps) & self.site(r).within(0, self.n)
    }

    /// Rows of the sides, in their own tile and in the tile above.
    fn side_rows(&self) -> (Index<'k>, Index<'k>) {
        (2 * self.half - 1 - self.d - self.q, self.half - 1 - self.d - self.q)
    }

    /// What fills a tile: from the line, from both sides and from below; its inside and its ends; what leaves it: to
    /// both sides and to the line.
    fn statements(&self, builder: &'k KernelBuilder) -> [StmtRef<'k>; 9] {
        let &Tiling { half, n, steps, a, b, s, r, d, q, x } = self;
        let (side, (upper, lower), line) = ([a, b, d, q], self.side_rows(), x.within(0, n));
        let k = builder.scalar("k", Element::F64);
        let before = builder.input("before", [x], Element::F64, line.clone());
        let points = s.within(-1, 2 * half) & r.between(-half, half);
        let points = points & self.time(s).between(0, steps) & self.site(r).within(0, n);
        let local = builder.temp("local", [a, b, s, r], Element::F64, self.tiles() & points);
        let left = builder.temp("left", side, Element::F64, self.side(upper, -q));
        let right = builder.temp("right", side, Element::F64, self.side(upper, q));
        let after = builder.output("after", [x], Element::F64, line.clone());

        let first = builder.stmt("I", [a, b, s, x], self.time(s).equals(0) & &line & self.own(self.along()));
        first.store(local, [a, b, s, self.along()], before.at([x]));
        let from_left = builder.stmt("L", side, self.side(lower, half - q));
        from_left.store(local, [a, b, lower, half - q], left.at([a, b - 1, d, q]));
        let from_right = builder.stmt("R", side, self.side(lower, q - half));
        from_right.store(local, [a, b, lower, q - half], right.at([a - 1, b, d, q]));
        let below = builder.stmt("B", [a, b], self.tiles() & self.is_known(-1, 0));
        below.store(local, [a, b, (-1).into(), 0.into()], right.at([a - 1, b - 1, 0.into(), 0.into()]));
        let old = |away: i64| local.at([a, b, s - 1, r + away]);
        let (during, at) = (self.time(s).between(1, steps), self.site(r));
        let inside = builder.stmt("S", [a, b, s, r], &during & at.within(1, n - 1) & self.own(r));
        inside.store(local, [a, b, s, r], (1.0 - 2.0 * k).fma(old(0), k * (old(-1) + old(1))));
        let ends = builder.stmt("E", [a, b, s, r], during & (at.equals(0) | at.equals(n - 1)) & self.own(r));
        ends.store(local, [a, b, s, r], old(0));
        let to_left = builder.stmt("F", side, self.side(upper, -q)).store(left, side, local.at([a, b, upper, -q]));
        let to_right = builder.stmt("G", side, self.side(upper, q)).store(right, side, local.at([a, b, upper, q]));
        let last = builder.stmt("O", [a, b, s, x], self.time(s).equals(steps) & line & self.own(self.along()));
        last.store(after, [x], local.at([a, b, s, self.along()]));
        [first, from_left, from_right, below, inside, ends, to_left, to_right, last]
    }

    /// Waves of tiles. In a tile, `nest` orders rows and phases: it is given a statement's row, and its phase where
    /// borders come before all rows and where they come with their own.
    fn order(
        &self,
        schedule: ScheduleRef<'k>,
        [first, from_left, from_right, below, inside, ends, to_left, to_right, last]: [StmtRef<'k>; 9],
        nest: fn(Index<'k>, [Index<'k>; 2]) -> [Index<'k>; 2],
    ) {
        let (s, q, half, (upper, lower)) = (self.s, self.q, self.half, self.side_rows());
        let tile = |row: Index<'k>, phases: [i64; 2], along: Index<'k>| {
            let [outer, inner] = nest(row, phases.map(Index::from));
            (self.a + self.b, (self.a - self.b).parallel(), outer, inner, along.vector(8))
        };
        schedule.order([first], tile(s, [0, 1], self.x));
        schedule.order([from_left], tile(lower, [0, 1], half - q));
        schedule.order([from_right], tile(lower, [0, 1], q - half));
        schedule.order([below], tile((-1).into(), [0, 1], 0.into()));
        schedule.order([inside, ends], tile(s, [1, 0], self.r));
        schedule.order([to_left], tile(upper, [2, 2], -q));
        schedule.order([to_right], tile(upper, [3, 3], q));
        schedule.order([last], tile(s, [4, 4], self.x));
    }
}

/// Row after row of the whole line.
fn naive(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let after = heat_1d::steps(initial, "before", case.extent("N", 3)?, case.extent("T", 0)?, case.scalar("k")?)?;
    Ok(Fields::from([("after".to_owned(), after)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_is_that_of_the_kernel_without_tiles() {
        let (tiles, line) = (SMALL.case(&SMALL.tests[0]), heat_1d::ENTRY);
        let case = line.case(&Preset { sizes: &[("N", 11)], steps: 6 });
        let (initial, start) = ((SMALL.initial)(&tiles).unwrap(), (line.initial)(&case).unwrap());
        assert_eq!(initial["before"], start["u"]);
        assert_eq!(naive(&tiles, &initial).unwrap()["after"], (line.naive)(&case, &start).unwrap()["u"]);
    }
}
