//! Random rewritings of the schedule `base`, as text: by numbers, as statements need have no iterator in common.
//! Whether they are possible, and legal, is left to chance.

use crease::kernel::graph::Kernel;
use fastrand::Rng;

/// The kernel with one more schedule, `rewritten`, and the text of that; none if the rewriting is impossible.
pub(crate) fn with_rewriting(kernel: &Kernel, params: &[i64], seed: u64) -> Option<(Kernel, String)> {
    let is_stepping = kernel.step_param().is_some();
    let mut random = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9));
    let base = kernel.schedule("base")?;
    let (dims, steps) = (base.dims.len(), usize::from(is_stepping));
    let mut text = "base".to_string();
    // Positions, if there are any, are the dimension before those of space.
    let has_positions = base.times.iter().all(|time| time[steps].as_constant().is_some());
    let first = steps + usize::from(has_positions);
    if is_stepping && random.u8(0..100) < 60 {
        text.push_str(&tiles(&mut random, first..dims));
        if kernel.has_state() && random.u8(0..100) < 40 {
            text.push_str(" restart(t)");
        }
    }
    for _ in 0..random.usize(1..=2) {
        text.push_str(&step(&mut random, kernel, first..dims));
    }
    if random.u8(0..4) == 0 {
        text.push_str(&format!(" overlapped({} {})", random.usize(first..dims), random.i64(1..=4)));
    }
    let rewritten = kernel.with_schedule_text(&text).ok()?;
    Some((rewritten.with_overlapped_tiles("rewritten", params).ok()?, text))
}

/// Tiles of time and space.
fn tiles(random: &mut Rng, spaces: std::ops::Range<usize>) -> String {
    let (height, space) = (random.i64(2..=4), random.usize(spaces.clone()));
    let (width, other) = (random.i64(1..=4), random.usize(spaces));
    match random.u8(0..8) {
        0 => format!(" skewed(0 {height}, {space} {width})"),
        1 if other != space => format!(" diagonals(0 {height}, {space} {width}, {other} 3)"),
        2 => format!(" parallelogram(0 {height}, {space} {width})"),
        3 => format!(" pipelined(0 {height}, {space} {width})"),
        4 if other != space => format!(" diamond(0, {space} {width}, {other} 3)"),
        5 | 6 => format!(" hexagonal(0 {}, {space} {width})", 2 * (height / 2)),
        _ => format!(" diamond(0, {space} {width})"),
    }
}

/// One of the other steps.
fn step(random: &mut Rng, kernel: &Kernel, spaces: std::ops::Range<usize>) -> String {
    let (a, b) = (random.usize(0..spaces.end), random.usize(spaces.clone()));
    let size = random.i64(1..=3);
    match random.u8(0..10) {
        0 => format!(" interchange({a}, {b})"),
        1 => {
            let stmt = &kernel.stmts()[random.usize(0..kernel.stmts().len())].name;
            format!(" shift({b} by {size} for {stmt})")
        }
        2 => format!(" fuse({})", spaces.start),
        3 => format!(" skew({b} by {size} * {a})"),
        4 | 5 => format!(" split({b} {size})"),
        6 => format!(" tile({b} {size}, {a} 2)"),
        7 => format!(" parallel({b})"),
        8 => format!(" vector({} 4)", spaces.end - 1),
        _ => format!(" wavefront({a}, {})", a + 1),
    }
}
