//! The stencil of an array: which statements depend on which, at what distances, and the vectors that are universal for
//! it.
//!
//! In: a kernel and an array.   Out: vectors `v`, shortest paths first.
//!
//! Statements with as many iterators as the array has indices, that write at their own iterators plus constants, are
//! points of one grid. Those that write an array in common, as for its inside and its border, are one *part*
//! of the stencil. Along an index that has one value in a statement, as at a border, a read of a fixed cell nearby is one
//! at a constant distance, too. If a part reads what another has written a distance `d` before, a path leads from the
//! latter to the former that is `d` long. `v` is universal if from each reader of the array, at distance `d`, a path of
//! length `v - d` leads back to the part that writes it. Lengths of paths are found by their number of steps, from none
//! to a few.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Assign, Kernel, Stmt};
use crate::sets::boxes::{IntBox, boxes_of, offset_from};
use crate::storage::knobs::occupancy::{FARTHEST_FIXED, MOST_LENGTHS, MOST_STEPS};

type Vector = Vec<i64>;

/// Largest constant of an index: far from the ends of the numbers, so that sums of a few need no check.
const LARGEST_OFFSET: u64 = 1 << 32;

/// The dependences of the parts around one array.
pub(super) struct Stencil {
    name: String,
    n: usize,
    /// The part that writes the array.
    home: usize,
    /// Parts that read it, and how far they lie from the one that wrote the cell.
    readers: BTreeSet<(usize, Vector)>,
    /// Per part, the parts that read what it writes, and how far away.
    steps: Vec<BTreeSet<(usize, Vector)>>,
}

/// A statement as a point of the grid.
struct Point<'k> {
    stmt: &'k Stmt,
    writes: Vec<(ArrayId, Vector)>,
    part: usize,
    /// Where it lies in its part.
    shift: Vector,
    /// What its domain is the union of, as far as it is made of boxes.
    boxes: Vec<IntBox>,
}

impl Stencil {
    /// Reads the stencil off the statements; else, why there is none.
    pub(super) fn new(kernel: &Kernel, array: ArrayId) -> Result<Stencil, String> {
        let (name, n) = (kernel.array(array).name.clone(), kernel.array(array).index.len());
        let mut points: Vec<Point<'_>> = kernel.stmts().iter().filter_map(|stmt| Point::new(stmt, n)).collect();
        let places = parts(&mut points).map_err(|other| {
            format!("`{}` is not written at one distance from what else is", kernel.array(other).name)
        })?;
        let Some(&(home, _)) = places.get(&array) else {
            return Err(format!("`{name}` is not written at the iterators of a statement plus constants"));
        };
        let n_parts = points.iter().map(|point| point.part + 1).max().unwrap_or(0);
        let mut stencil = Stencil { name, n, home, readers: BTreeSet::new(), steps: vec![BTreeSet::new(); n_parts] };
        for point in &points {
            for (read, index) in point.stmt.reads() {
                let Some((part, place)) = places.get(&read) else { continue };
                let Some(offsets) = point.offsets_of(index) else {
                    if read != array {
                        continue;
                    }
                    return Err(format!(
                        "`{}` does not read `{}` at a constant distance",
                        point.stmt.name, stencil.name
                    ));
                };
                for offset in offsets {
                    // The cell is `place` from its writer, and `offset - shift` from its reader.
                    let distance = (0..n).map(|k| point.shift[k].checked_add(place[k])?.checked_sub(offset[k]));
                    let Some(distance) = distance.collect::<Option<Vector>>() else { continue };
                    stencil.steps[*part].insert((point.part, distance.clone()));
                    if read == array {
                        stencil.readers.insert((point.part, distance));
                    }
                }
            }
        }
        Ok(stencil)
    }

    /// Vectors that are universal, those of the fewest steps and of one more; at least one. Else, why there is none.
    pub(super) fn universal_vectors(&self) -> Result<Vec<Vector>, String> {
        if self.readers.is_empty() {
            return Err(format!("no statement reads `{}` at a constant distance", self.name));
        }
        let sources: BTreeSet<usize> = self.readers.iter().map(|(part, _)| *part).collect();
        let mut paths: BTreeMap<usize, Paths> = sources.iter().map(|&part| (part, Paths::from(part, self.n))).collect();
        let mut found = BTreeSet::new();
        for _ in 0..=MOST_STEPS {
            let known = !found.is_empty();
            found.extend(self.common(&paths));
            let lengths: usize = paths.values().map(|paths| paths.all.len()).sum();
            if known || lengths > MOST_LENGTHS {
                break;
            }
            paths.values_mut().for_each(|paths| paths.extend(&self.steps));
        }
        if found.is_empty() {
            return Err(format!("no later value of `{}` depends on all that read an earlier one", self.name));
        }
        let mut found: Vec<Vector> = found.into_iter().collect();
        found.sort_by_cached_key(|v| (v.iter().map(|c| c.unsigned_abs()).sum::<u64>(), v.clone()));
        Ok(found)
    }

    /// Vectors that lead from every reader back home by the paths known, but not the zero vector.
    fn common(&self, paths: &BTreeMap<usize, Paths>) -> BTreeSet<Vector> {
        let from = |(part, distance): &(usize, Vector)| -> BTreeSet<Vector> {
            let home = paths[part].all.iter().filter(|(part, _)| *part == self.home);
            home.filter_map(|(_, length)| sum(distance, length)).collect()
        };
        let mut readers = self.readers.iter();
        let first = readers.next().map(from).unwrap_or_default();
        let common = readers.fold(first, |common, reader| &common & &from(reader));
        common.into_iter().filter(|v| v.iter().any(|&c| c != 0)).collect()
    }
}

/// Where paths from one part lead, and how long they are.
struct Paths {
    all: BTreeSet<(usize, Vector)>,
    /// Those of the most steps.
    last: Vec<(usize, Vector)>,
}

impl Paths {
    /// The path of no steps.
    fn from(part: usize, n: usize) -> Paths {
        let start = (part, vec![0; n]);
        Paths { all: BTreeSet::from([start.clone()]), last: vec![start] }
    }

    /// Makes paths one step longer.
    fn extend(&mut self, steps: &[BTreeSet<(usize, Vector)>]) {
        let mut longer = Vec::new();
        for (part, length) in &self.last {
            for (next, distance) in &steps[*part] {
                let Some(length) = sum(length, distance) else { continue };
                if self.all.insert((*next, length.clone())) {
                    longer.push((*next, length));
                }
            }
        }
        self.last = longer;
    }
}

impl<'k> Point<'k> {
    /// None if the statement has another number of iterators, or writes elsewhere than at them plus constants.
    fn new(stmt: &'k Stmt, n: usize) -> Option<Point<'k>> {
        if stmt.iters.len() != n {
            return None;
        }
        let writes = stmt.assigns.iter().filter(|assign| assign.index.len() == n);
        let anywhere = IntBox::everything(n);
        let place = |assign: &Assign| Some((assign.array, offsets(&assign.index, &anywhere)?));
        let writes = writes.map(place).collect::<Option<Vec<_>>>()?;
        let boxes = boxes_of(&stmt.domain, n).map_or_else(|| vec![anywhere], |boxed| boxed.boxes);
        Some(Point { stmt, writes, part: usize::MAX, shift: vec![0; n], boxes })
    }

    /// The constants of an index, those of each box of the domain; none if they are no constants in one of them.
    fn offsets_of(&self, index: &[Affine]) -> Option<BTreeSet<Vector>> {
        self.boxes.iter().map(|part| offsets(index, part)).collect()
    }
}

/// Finds the parts. Per array, its part and how far its cells lie from the points that write them; an array that is
/// written at two distances is the error.
fn parts(points: &mut [Point<'_>]) -> Result<BTreeMap<ArrayId, (usize, Vector)>, ArrayId> {
    let mut places: BTreeMap<ArrayId, (usize, Vector)> = BTreeMap::new();
    let mut n_parts = 0;
    while let Some(first) = points.iter().position(|point| point.part == usize::MAX) {
        // The next point of the same part, as long as there is one; else the first of another.
        let shares = |point: &Point<'_>| point.writes.iter().any(|(array, _)| places.contains_key(array));
        let next = points.iter().position(|point| point.part == usize::MAX && shares(point));
        let point = &mut points[next.unwrap_or(first)];
        let known = point.writes.iter().find_map(|(array, offset)| Some((places.get(array)?, offset)));
        point.part = known.map_or(n_parts, |((part, _), _)| *part);
        if let Some(((_, place), offset)) = known {
            point.shift = offset.iter().zip(place).map(|(offset, place)| offset - place).collect();
        }
        n_parts = n_parts.max(point.part + 1);
        for (array, offset) in &point.writes {
            let place: Vector = offset.iter().zip(&point.shift).map(|(offset, shift)| offset - shift).collect();
            let known = places.entry(*array).or_insert_with(|| (point.part, place.clone()));
            if *known != (point.part, place) {
                return Err(*array);
            }
        }
    }
    Ok(places)
}

/// How far an index is from the iterators, in order; none if that is no constant in a box, or too large.
fn offsets(index: &[Affine], part: &IntBox) -> Option<Vector> {
    let of = |(k, e): (usize, &Affine)| {
        let farthest = if e.as_constant().is_some() { FARTHEST_FIXED } else { LARGEST_OFFSET };
        offset_from(e, k, part.ranges()[k]).filter(|offset| offset.unsigned_abs() <= farthest)
    };
    index.iter().enumerate().map(of).collect()
}

fn sum(a: &[i64], b: &[i64]) -> Option<Vector> {
    a.iter().zip(b).map(|(a, b)| a.checked_add(*b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(text: &str, array: &str) -> Result<Vec<Vector>, String> {
        let kernel = Kernel::parse(text).unwrap();
        let array = kernel.array_id(array).unwrap();
        Stencil::new(&kernel, array).and_then(|stencil| stencil.universal_vectors())
    }

    #[test]
    fn a_stencil_needs_two_steps_and_a_wavefront_the_sum_of_its_distances() {
        let line = "\
kernel line(size N; run T) {
  opaque f(3)
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = f(u[t-1,x-1], u[t-1,x], u[t-1,x+1]) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x] }
}";
        assert_eq!(vectors(line, "u").unwrap()[0], [2, 0]);
        let cube = "\
kernel cube(size N) {
  opaque f(3)
  temp a[z, y, x]: f64 for 0 <= z, y, x < N live in for z = 0 or y = 0 or x = 0
  output out[y, x]: f64 for 0 <= y, x < N
  S[z, y, x] for 1 <= z, y, x < N { a[z,y,x] = f(a[z-1,y,x], a[z,y-1,x], a[z,y,x-1]) }
  O[y, x] for 0 <= y, x < N { out[y,x] = a[N-1,y,x] }
  schedule rows { S -> [z, y, x]; O -> [N, y, x] }
}";
        assert_eq!(vectors(cube, "a").unwrap()[0], [1, 1, 1]);
    }

    #[test]
    fn two_arrays_in_turn_lead_back_to_the_first() {
        let sweeps = "\
kernel sweeps(size N; run T) {
  opaque f(1), f(2)
  state a[t, x]: f64 for 0 <= x < N
  state b[t, x]: f64 for 0 <= x < N
  P[t, x] for 1 <= t <= T and 0 <= x < N { a[t,x] = f(b[t-1,x]) }
  Q[t, i] for 1 <= t <= T and 1 <= i < N { b[t,i-1] = f(a[t,i], a[t,i-1]) }
  R[t, i] for 1 <= t <= T and i = N { b[t,i-1] = f(a[t,i-1]) }
  schedule rows { P -> [t, 0, x]; Q, R -> [t, 1, i] }
}";
        // `b[t, x]` is read by `a[t+1, x]` alone; `a[t, x]` by `b[t, x]` and `b[t, x-1]`, that only `b[t+1, x-1]`
        // follows.
        assert_eq!(vectors(sweeps, "b").unwrap()[0], [1, 0]);
        assert_eq!(vectors(sweeps, "a").unwrap()[0], [2, -1]);
    }

    #[test]
    fn what_a_border_reads_in_a_fixed_place_nearby_is_at_a_constant_distance() {
        let slopes = |outside: &str| {
            let text = "\
kernel slopes(run T) {
  opaque f(2), f(3)
  state u[t, x]: f64 for 0 <= x < 99 outside RULE
  temp s[t, x]: f64 for 1 <= t <= T and 0 <= x < 99 outside RULE
  A[t, x] for 1 <= t <= T and 0 <= x < 99 { s[t,x] = f(u[t-1,x-1], u[t-1,x+1]) }
  B[t, x] for 1 <= t <= T and 0 <= x < 99 { u[t,x] = f(u[t-1,x], s[t,x-1], s[t,x+1]) }
}";
            vectors(&text.replace("RULE", outside), "s")
        };
        // The two that read `s[t, x]` are what `s[t+1, x]` is made of.
        for outside in ["clamp", "reflect cell", "reflect face"] {
            assert_eq!(slopes(outside).unwrap()[0], [1, 0], "{outside}");
        }
        // The other end is far away.
        assert!(slopes("periodic").unwrap_err().contains("at a constant distance"));
    }

    #[test]
    fn a_pipeline_has_no_vector() {
        let pipeline = "\
kernel pipeline(size N) {
  opaque f(1)
  temp a[x]: f64 for 0 <= x < N
  output b[x]: f64 for 0 <= x < N
  S[x] for 0 <= x < N { a[x] = f(x) }
  T[x] for 1 <= x < N { b[x] = a[x] + a[x-1] }
  U[x] for x = 0 { b[x] = a[x] }
  schedule rows { S -> [x, 0]; T, U -> [x, 1] }
}";
        assert!(vectors(pipeline, "a").unwrap_err().contains("no later value of `a`"));
    }
}
