//! Fitting: the largest sizes at which a run keeps to a limit of memory.
//!
//! In: a request whose storage exceeds a limit, and what counts as its size.   Out: sizes, all scaled alike, that fit.
//!
//! Not every size is planned to find them: extents of buffers are taken for affine in the sizes, through those of two
//! plans, the one that was too large and one that should be near the limit. What comes out is planned once more, to
//! know that it fits. Where that leaves memory unused, as rows of cells that grow with the square of a size are no
//! affine functions, bytes are taken for a power of the sizes, between what fits and what does not, and planned again.
//! So a refusal costs the analyses of a few plans (`MOST_CLOSER` beyond two), all of smaller sizes; these do not choose
//! code.
//!
//! A choice of storage that changes with the sizes makes the estimate worse: it is called one, if its plan turns out
//! not to fit.

use std::fmt;

use crate::pipeline;
use crate::plan::footprint::{Footprint, Storage};
use crate::plan::layout::BufferLayout;
use crate::plan::request::Request;

/// Sizes that keep to a limit; shows as `N = 812, M = 4`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// Each size parameter and its value.
    pub sizes: Vec<(String, i64)>,
    /// Whether these sizes were planned and fit. Otherwise they are estimated from plans at other sizes.
    pub planned: bool,
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        f.write_str(&sizes.join(", "))
    }
}

/// Appended to a refusal: `; N = 812 would fit`, or nothing if no sizes are known to.
pub(crate) fn hint(fit: Option<&Fit>) -> String {
    match fit {
        Some(fit) if fit.planned => format!("; {fit} would fit"),
        Some(fit) => format!("; about {fit} would fit, by an estimate"),
        None => String::new(),
    }
}

/// What counts: a size in bytes of a run with this footprint.
pub(crate) type Measure<'m> = &'m dyn Fn(&Footprint) -> u64;

/// The largest sizes, in proportion to those of the request, at which `measure` is at most `limit_bytes`; none if no
/// sizes are. `whole` is the request's own storage, for this many threads.
pub(crate) fn largest_fitting(
    request: &Request,
    whole: &Storage,
    threads: usize,
    measure: Measure<'_>,
    limit_bytes: u64,
) -> Option<Fit> {
    let bytes = |storage: &Storage| measure(&Footprint::new(request.kernel(), storage, threads));
    let largest = request.bound.sizes().map(|(_, size)| size).max().filter(|&size| size > 1)?;
    let (whole_at, nothing_at) = ((largest, whole), (0, &empty_like(whole)));
    let fits = |line: (At<'_>, At<'_>), size: i64| on_line(line, size).is_some_and(|s| bytes(&s) <= limit_bytes);
    let largest_on = |line: (At<'_>, At<'_>)| last_that(|size| fits(line, size), largest - 1);
    let fit = |size: i64, planned: bool| {
        let names = request.sizes().into_iter().map(|(name, _)| name);
        Some(Fit { sizes: names.zip(scaled(request, size, largest)).collect(), planned })
    };
    let line = largest_on((whole_at, nothing_at));
    let guess = least_admitted(request, line.unwrap_or(1), largest)?;
    let near = storage_at(request, guess, largest)?;
    let near_fits = bytes(&near) <= limit_bytes;
    if line.is_none() && !near_fits {
        return None;
    }
    let better = if has_shape_of(&near, whole) { largest_on((whole_at, (guess, &near))) } else { None };
    // The largest size of which a plan is known to fit, and one that is known not to, with their bytes.
    let mut known = near_fits.then(|| (guess, bytes(&near)));
    let mut above = (largest, bytes(whole));
    if let Some(better) = better.filter(|better| *better != guess) {
        match storage_at(request, better, largest).map(|storage| bytes(&storage)) {
            Some(found) if found <= limit_bytes => known = Some((better, found)),
            Some(found) => above = (better, found),
            None if known.is_none() => return fit(better, false),
            None => {}
        }
    }
    // What was planned and is too much is no estimate.
    let mut known = known?;
    for _ in 0..MOST_CLOSER {
        let Some(size) = closer(known, above, limit_bytes) else { break };
        match storage_at(request, size, largest).map(|storage| bytes(&storage)) {
            Some(found) if found <= limit_bytes => known = (size, found),
            Some(found) => above = (size, found),
            None => break,
        }
    }
    fit(known.0, true)
}

/// Plans beyond two that may be made to get closer to the limit. Each comes from the one before; of rows of cells that
/// grow with the square or the cube of a size, one or two are enough.
const MOST_CLOSER: usize = 4;
/// What is unused of the limit may be one part in this many: nothing closer is sought.
const UNUSED_PARTS: u64 = 64;

/// A size between one that fits and one that does not, of so many bytes each, which should be near the limit, if bytes
/// grow with a power of the size; none if the first one is near it, or nothing is between them.
fn closer((low, few): (i64, u64), (high, many): (i64, u64), limit_bytes: u64) -> Option<i64> {
    if high - low < 2 || limit_bytes - few <= limit_bytes / UNUSED_PARTS || few == 0 || many <= few {
        return None;
    }
    let log = |a: u64, b: u64| (a as f64 / b as f64).ln();
    let power = log(many, few) / log(high.unsigned_abs(), low.unsigned_abs());
    // Rather a little below.
    let size = low as f64 * (log(limit_bytes, few) / power).exp() * (1.0 - 0.25 / UNUSED_PARTS as f64);
    Some((size as i64).clamp(low + 1, high - 1))
}

/// The size, or where the kernel takes none so small, twice, four times as much, and so on, below the largest.
fn least_admitted(request: &Request, size: i64, largest: i64) -> Option<i64> {
    let doubled = std::iter::successors(Some(size), |size| size.checked_mul(2));
    doubled.take_while(|size| *size < largest).find(|size| request.at(&scaled(request, *size, largest)).is_ok())
}

/// Storage at one value of the largest size.
type At<'s> = (i64, &'s Storage);

/// The last of `1..=most` for which a property holds that holds up to some value.
fn last_that(holds: impl Fn(i64) -> bool, most: i64) -> Option<i64> {
    let (mut low, mut high) = (0, most.checked_add(1)?);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    (low > 0).then_some(low)
}

/// All sizes in proportion, the largest of them as given.
fn scaled(request: &Request, size: i64, largest: i64) -> Vec<i64> {
    let scale = |value: i64| (i128::from(value) * i128::from(size) / i128::from(largest)) as i64;
    request.bound.sizes().map(|(_, value)| scale(value)).collect()
}

/// The storage of a plan at other sizes; none if there is no such plan.
fn storage_at(request: &Request, size: i64, largest: i64) -> Option<Storage> {
    pipeline::storage(&request.at(&scaled(request, size, largest)).ok()?).ok()
}

/// The same buffers with nothing in them.
fn empty_like(whole: &Storage) -> Storage {
    let mut empty = whole.clone();
    empty.buffers.iter_mut().for_each(|buffer| buffer.moduli.fill(0));
    empty.extents.iter_mut().for_each(|extents| extents.fill(0));
    empty
}

/// Whether both have the same buffers, but for their sizes.
fn has_shape_of(one: &Storage, other: &Storage) -> bool {
    let alike = |(a, b): (&BufferLayout, &BufferLayout)| {
        (a.owner, a.sharing, a.mapped, a.moduli.len()) == (b.owner, b.sharing, b.mapped, b.moduli.len())
    };
    one.buffers.len() == other.buffers.len() && one.buffers.iter().zip(&other.buffers).all(alike)
}

/// Storage whose extents lie on the lines through those of two others, rounded up; none if it leaves 64 bits.
fn on_line((a, b): (At<'_>, At<'_>), size: i64) -> Option<Storage> {
    let all = |a_extents: &[i64], b_extents: &[i64], least: i64| -> Option<Vec<i64>> {
        let pairs = a_extents.iter().zip(b_extents);
        pairs.map(|(&x, &y)| Some(extent_on_line((a.0, x), (b.0, y), size)?.max(least))).collect()
    };
    let mut storage = a.1.clone();
    for (buffer, other) in storage.buffers.iter_mut().zip(&b.1.buffers) {
        *buffer = buffer.resized(&all(&buffer.moduli, &other.moduli, 1)?)?;
    }
    for (extents, other) in storage.extents.iter_mut().zip(&b.1.extents) {
        *extents = all(extents, other, 0)?;
    }
    Some(storage)
}

/// The value at `size` of the line through two points of sizes and extents, rounded up.
fn extent_on_line((a, x): (i64, i64), (b, y): (i64, i64), size: i64) -> Option<i64> {
    let (run, rise) = (i128::from(a) - i128::from(b), i128::from(x) - i128::from(y));
    let above = i128::from(size) - i128::from(b);
    let value = i128::from(y) + num_integer::Integer::div_ceil(&rise.checked_mul(above)?, &run);
    i64::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_on_a_line_are_rounded_up() {
        assert_eq!(extent_on_line((100, 201), (0, 0), 50), Some(101));
        assert_eq!(extent_on_line((100, 101), (10, 11), 37), Some(38));
        assert_eq!(extent_on_line((100, 5), (10, 5), 37), Some(5));
        assert_eq!(extent_on_line((i64::MAX, i64::MAX), (0, 0), 12), Some(12));
    }

    #[test]
    fn sizes_get_closer_to_a_limit_by_the_power_with_which_bytes_grow() {
        let bytes = |size: i64| 8 * (size * (size + 2)) as u64;
        let (limit, high) = (1_000_000_000, 3_000_000);
        let size = closer((2005, bytes(2005)), (high, bytes(high)), limit).unwrap();
        assert!(bytes(size) <= limit && bytes(size) > limit - limit / UNUSED_PARTS, "{size}");
        assert_eq!(closer((size, bytes(size)), (high, bytes(high)), limit), None);
        // Nothing is between them.
        assert_eq!(closer((4, 100), (5, 1000), 900), None);
    }

    #[test]
    fn the_last_that_holds_is_found_or_none() {
        assert_eq!(last_that(|x| x <= 17, 1000), Some(17));
        assert_eq!(last_that(|_| true, 1000), Some(1000));
        assert_eq!(last_that(|_| false, 1000), None);
        assert_eq!(last_that(|_| true, i64::MAX), None);
    }
}
