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
//! Where ranges of addresses cannot follow rows that depend on `a`, `b` and `s` at once, planning walks the loops to check
//! them (`jit/program/src/walk.rs`), and so does the first call: this takes longer than the updates, and a million points
//! by a thousand steps are refused. Hence no sizes to measure.
//!
//! Arithmetic and result are those of `heat-1d`. `B` is a number in the text, as `B a` with both free is not affine.
//!
//! Source: S. G. Bhaskaracharya, U. Bondhugula, A. Cohen (2016), Table I, `diamond-tile`; tiles of V. Bandishti, I.
//! Pananilath, U. Bondhugula: Tiling Stencil Computations to Maximize Parallelism (2012).

use crate::catalogue::{Case, Entry, Preset, Published};
use crate::fields::{Fields, KernelDataError};
use crate::stencil::heat_1d;

/// Tiles for lines that are worth several threads.
pub const ENTRY: Entry = Entry {
    name: "heat-1d-tiles",
    summary: "diffusion on a line in diamond tiles of 256 by 256 with arrays of their own",
    text: definition::<128>,
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
    text: definition::<4>,
    scalars: &[("k", 0.23)],
    default: Preset { sizes: &[("N", 1000), ("T", 100)], steps: 0 },
    tests: &[Preset { sizes: &[("N", 21), ("T", 13)], steps: 0 }, Preset { sizes: &[("N", 3), ("T", 4)], steps: 0 }],
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

fn definition<const B: usize>() -> String {
    let (width, last) = (2 * B, 2 * B - 1);
    let step = |s: &str| format!("{B}*a + {B}*b + {s}");
    let site = |r: &str| format!("{B}*a - {B}*b + {r}");
    let (t, x) = (step("s"), site("r"));
    // Tiles with a point or a border on the line; the rest of each domain implies it, for isl.
    let tiles = format!("0 <= a and {width}*a <= N + T + 1 and 0 <= {width}*b + N + {width} and {width}*b <= T + 2");
    let own_at = |r: &str| format!("{tiles} and -s <= {r} <= s and s-{width} < {r} < {width}-s");
    // Statements that touch the caller's arrays run along `x`.
    let r = format!("x - {B}*a + {B}*b");
    let (own, own_x) = (own_at("r"), own_at(&r));
    // Point `q` of layer `d` along a side, counted from the middle of the tile that has it; from the tile above it is
    // the same row, `B` lower, and the same place, `B` to the other side.
    let side = format!("{tiles} and 0 <= d <= 1 and 0 <= q < {B}");
    let known = |s: &str, r: &str| format!("0 <= {} < T and 0 <= {} < N", step(s), site(r));
    let (upper, lower) = (format!("{last} - d - q"), format!("{} - d - q", B - 1));
    let (in_left, in_right) = (known(&upper, "0 - q"), known(&upper, "q"));
    let (from_left, from_right) = (known(&lower, &format!("{B} - q")), known(&lower, &format!("q - {B}")));
    let bottom = format!("{tiles} and {}", known("-1", "0"));
    format!(
        "kernel heat_1d_tiles(size N, T) for N >= 3 and T >= 0 {{
  scalar k: f64
  input before[x]: f64 for 0 <= x < N
  temp local[a, b, s, r]: f64 for {tiles} and -1 <= s < {width} and -{B} <= r <= {B} and 0 <= {t} <= T and 0 <= {x} < N
  temp left[a, b, d, q]: f64 for {side} and {in_left}
  temp right[a, b, d, q]: f64 for {side} and {in_right}
  output after[x]: f64 for 0 <= x < N
  I[a, b, s, x] for {t} = 0 and 0 <= x < N and {own_x} {{ local[a,b,s,{r}] = before[x] }}
  L[a, b, d, q] for {side} and {from_left} {{ local[a,b,{lower},{B} - q] = left[a,b-1,d,q] }}
  R[a, b, d, q] for {side} and {from_right} {{ local[a,b,{lower},q - {B}] = right[a-1,b,d,q] }}
  B[a, b] for {bottom} {{ local[a,b,-1,0] = right[a-1,b-1,0,0] }}
  S[a, b, s, r] for 1 <= {t} <= T and 1 <= {x} < N-1 and {own} {{
    local[a,b,s,r] = fma(1 - 2*k, local[a,b,s-1,r], k * (local[a,b,s-1,r-1] + local[a,b,s-1,r+1]))
  }}
  E[a, b, s, r] for 1 <= {t} <= T and ({x} = 0 or {x} = N-1) and {own} {{ local[a,b,s,r] = local[a,b,s-1,r] }}
  F[a, b, d, q] for {side} and {in_left} {{ left[a,b,d,q] = local[a,b,{upper},-q] }}
  G[a, b, d, q] for {side} and {in_right} {{ right[a,b,d,q] = local[a,b,{upper},q] }}
  O[a, b, s, x] for {t} = T and 0 <= x < N and {own_x} {{ after[x] = local[a,b,s,{r}] }}
  schedule rows {{
    I -> [a+b, a-b parallel, s, 1, x vector(8)]
    L -> [a+b, a-b parallel, {lower}, 1, {B} - q vector(8)]; R -> [a+b, a-b parallel, {lower}, 1, q - {B} vector(8)]; B -> [a+b, a-b parallel, -1, 1, 0]
    S, E -> [a+b, a-b parallel, s, 0, r vector(8)]
    F -> [a+b, a-b parallel, {upper}, 2, -q vector(8)]; G -> [a+b, a-b parallel, {upper}, 3, q vector(8)]; O -> [a+b, a-b parallel, s, 4, x vector(8)]
  }}
  schedule tiles {{
    I -> [a+b, a-b parallel, 0, s, x vector(8)]
    L -> [a+b, a-b parallel, 0, {lower}, {B} - q vector(8)]; R -> [a+b, a-b parallel, 0, {lower}, q - {B} vector(8)]; B -> [a+b, a-b parallel, 0, -1, 0]
    S, E -> [a+b, a-b parallel, 1, s, r vector(8)]
    F -> [a+b, a-b parallel, 2, {upper}, -q vector(8)]; G -> [a+b, a-b parallel, 3, {upper}, q vector(8)]; O -> [a+b, a-b parallel, 4, s, x vector(8)]
  }}
}}
"
    )
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
        let case = line.case(&Preset { sizes: &[("N", 21)], steps: 13 });
        let (initial, start) = ((SMALL.initial)(&tiles).unwrap(), (line.initial)(&case).unwrap());
        assert_eq!(initial["before"], start["u"]);
        assert_eq!(naive(&tiles, &initial).unwrap()["after"], (line.naive)(&case, &start).unwrap()["u"]);
    }
}
