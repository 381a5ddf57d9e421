//! Fronts: how far parallel tiles that follow each other need one another.
//!
//! In: the schedule and the layout.   Out: for a loop whose iterations each run one parallel loop, [`Needs`]: which
//! iterations of the last few of these, the **fronts**, may have touched a cell that an iteration of the next one
//! writes, or have written one that it touches. So no barrier is needed between them.
//!
//! What two instances of statements have in common is a system of inequalities over the differences of their iterators
//! and floors: the loops around the fronts are at the same iteration, the later front is one to a few behind the earlier
//! one, the tile is too far below or above, and all coordinates of both cells are equal modulo their moduli. Where it
//! has no solution, the later tile need not wait for the earlier one. Cells are those of the folded storage, so that a
//! need may come from storage that is used again as well as from a value. Statements whose times and cells differ by
//! constants alone are looked at as one, the constants as ranges; where there are others, or several strides for one
//! buffer, nothing is found.
//!
//! Source: Dathathri, Mullapudi and Bondhugula, Compiling affine loop nests for a dynamic scheduling runtime on shared
//! and distributed memory (ACM TOPC 3, 2016), for tiles that begin when those that they need are done; systems over
//! differences are those of array dependence analysis (Pugh, The Omega test, 1991).

mod congruence;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};

use crease_polyhedra::elimination::Row;
use crease_program::{Interval, Needs};

use crate::analysis::model::Model;
use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::{Array, ArrayId};
use crate::lower::fronts::congruence::{Coordinate, bounded, may_meet};
use crate::lower::split::Version;
use crate::plan::layout::Layout;
use crate::sets::boxes::boxes_of;
use crate::storage::Sharing;

/// Fronts that are open at a time. With more, what a tile takes over from its neighbours is in no near cache any more. On
/// two threads with AVX2, two fronts in a cube of 300^3 cells took 0.92 of the time that barriers took, three 1.00 and
/// four 0.97, and in another run 0.96, 1.04 and 0.97 (medians of 15 and 11 in turn of builds with these numbers, of
/// `run heat-3d-7pt --schedule auto --set N=300 --set T=32 --threads 2`, on a machine that others used).
const OPEN_FRONTS: u32 = 2;
/// How far tiles may need each other, as far as that is looked for: neighbours mostly do.
const FARTHEST: u32 = 2;
/// Systems that are looked at for one kernel, at most; some ten are enough for one array. Shows in the stage `lower` of
/// `explain`.
const MOST_SYSTEMS: u32 = 200;
/// Numbers of kernels and layouts that are taken in, at most, so that their products and sums stay in 127 bits.
const LARGEST_FACTOR: i64 = 1 << 40;

/// The loops of a front, as time dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FrontLoops {
    /// Around the fronts.
    pub(super) outer: Vec<usize>,
    /// Over the fronts.
    pub(super) fronts: usize,
    /// The parallel one.
    pub(super) parallel: usize,
}

/// Where two fronts are to each other.
struct Place<'l> {
    loops: &'l FrontLoops,
    /// By how much the iteration of the later front is ahead at least, or behind if that is negative.
    beyond: i128,
}

/// What fronts of a kernel touch.
pub(super) struct Fronts {
    /// None if it is not of the kind that is looked at.
    kind: OnceCell<Option<Kind>>,
    /// Systems that may still be looked at.
    left: Cell<u32>,
}

impl Fronts {
    pub(super) fn new() -> Fronts {
        Fronts { kind: OnceCell::new(), left: Cell::new(MOST_SYSTEMS) }
    }

    /// What iterations of these loops need of each other; none where that is all, or not known.
    pub(super) fn needs(
        &self,
        (model, layout): (&Model<'_, '_>, &Layout),
        versions: &[Version<'_>],
        loops: &FrontLoops,
    ) -> Option<Needs> {
        let kind = self.kind.get_or_init(|| Kind::of(model, layout, versions)).as_ref()?;
        let is_free = |sign: i128, distance: u32| {
            let place = Place { loops, beyond: sign * (i128::from(distance) + 1) };
            kind.pairs.iter().all(|(shape, between)| self.are_apart(kind, &place, shape, between))
        };
        // Mostly that does not hold at all, or for the nearest.
        let least = |sign: i128| {
            let is_some = is_free(sign, FARTHEST);
            (0..=FARTHEST).filter(|_| is_some).find(|distance| is_free(sign, *distance))
        };
        let needs = Needs { open: OPEN_FRONTS, behind: least(1), ahead: least(-1) };
        (needs.behind.is_some() || needs.ahead.is_some()).then_some(needs)
    }

    /// Whether cells of one kind are never the same in two fronts.
    fn are_apart(&self, kind: &Kind, place: &Place<'_>, shape: &Shape, between: &Constants) -> bool {
        let system = kind.system(place, shape, between);
        system.is_some_and(|(rows, coordinates)| !may_meet(&rows, &coordinates, &self.left))
    }
}

/// Where cells of a buffer are, but for constants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    /// The index in the array, without constants.
    index: Vec<Affine>,
    /// Per coordinate, a factor for each index, and the modulus.
    rows: Vec<(Vec<i64>, i64)>,
}

/// The constants of an index, and of the coordinates of its cell.
#[derive(Clone, Debug)]
struct Constants {
    index: Vec<Interval>,
    offset: Vec<Interval>,
    /// Where the whole index lies in any case.
    inside: Vec<Interval>,
}

impl Constants {
    /// Widens ranges by others.
    fn join(&mut self, more: &Constants) {
        join(&mut self.index, &more.index);
        join(&mut self.offset, &more.offset);
        join(&mut self.inside, &more.inside);
    }

    /// Of a cell less another one of a later front, or the other way round.
    fn between(&self, other: &Constants) -> Constants {
        let of = |own: &[Interval], other: &[Interval]| {
            own.iter().zip(other).map(|(own, other)| (*own - *other).hull(*other - *own)).collect()
        };
        let (index, offset) = (of(&self.index, &other.index), of(&self.offset, &other.offset));
        Constants { index, offset, inside: of(&self.inside, &other.inside) }
    }
}

/// Statements whose times differ by constants, and the cells that they touch.
struct Kind {
    iters: usize,
    /// The time vector, without constants.
    times: Vec<Affine>,
    /// The differences of its constants, per dimension.
    time_differences: Vec<Interval>,
    /// Floors, without the constants in them, with their divisors.
    floors: Vec<(Affine, i64)>,
    /// The differences of the constants in them.
    floor_differences: Vec<Interval>,
    /// Per iterator, the difference of two of its values at most; none without a bound.
    extents: Vec<Option<i128>>,
    /// The differences of the constants of two cells of a buffer, of which one is written.
    pairs: BTreeMap<Shape, Constants>,
}

impl Kind {
    fn of(model: &Model<'_, '_>, layout: &Layout, versions: &[Version<'_>]) -> Option<Kind> {
        let first = versions.first()?;
        let iters = model.kernel.stmt(first.stmt).iters.len();
        let mut floors = Floors::default();
        let mut times: Option<(Vec<Affine>, Vec<Interval>)> = None;
        let mut domain: Option<Vec<Option<Interval>>> = None;
        let written: BTreeSet<ArrayId> =
            model.kernel.stmts().iter().flat_map(|stmt| stmt.assigns.iter().map(|assign| assign.array)).collect();
        // Per buffer and shape: the constants of its cells, and of those that are written.
        let mut cells: BTreeMap<(usize, Shape), (Constants, Option<Constants>)> = BTreeMap::new();
        for version in versions {
            let stmt = model.kernel.stmt(version.stmt);
            if stmt.iters.len() != iters {
                return None;
            }
            floors.begin_statement();
            let (own, constants) = floors.without_constants(&model.schedule.times[version.stmt.index()])?;
            match &mut times {
                None => times = Some((own, constants)),
                Some((known, all)) if *known == own => join(all, &constants),
                Some(_) => return None,
            }
            let bounds =
                version.bounds.iter().map(|bounds| bounds.map(|(lo, hi)| Interval { min: lo.into(), max: hi.into() }));
            match &mut domain {
                None => domain = Some(bounds.collect()),
                Some(all) => {
                    all.iter_mut().zip(bounds).for_each(|(all, own)| *all = all.zip(own).map(|(a, b)| a.hull(b)))
                }
            }
            let reads = stmt.reads().map(|(array, index)| (array, index, false));
            let writes = stmt.assigns.iter().map(|assign| (assign.array, assign.index.as_slice(), true));
            for (array, index, is_write) in reads.chain(writes).filter(|(array, ..)| written.contains(array)) {
                for piece in &layout.array(array)?.pieces {
                    let buffer = &layout.buffers[piece.buffer];
                    if buffer.sharing == Sharing::Private {
                        continue;
                    }
                    let (index, constants) = floors.without_constants(index)?;
                    let rows = piece.matrix.iter().cloned().zip(buffer.moduli.iter().copied()).collect();
                    let shape = Shape { index, rows };
                    let offset = piece
                        .offset
                        .iter()
                        .map(|offset| small(*offset).map(|_| Interval::point(*offset)))
                        .collect::<Option<_>>()?;
                    let inside = index_range(model.kernel.array(array));
                    let constants = Constants { index: constants, offset, inside };
                    let (all, stored) = cells.entry((piece.buffer, shape)).or_insert_with(|| (constants.clone(), None));
                    all.join(&constants);
                    if is_write {
                        stored.get_or_insert_with(|| constants.clone()).join(&constants);
                    }
                }
            }
        }
        let (times, time_constants) = times?;
        let mut pairs: BTreeMap<Shape, Constants> = BTreeMap::new();
        let mut buffers = BTreeSet::new();
        for ((buffer, shape), (all, stored)) in cells {
            if !buffers.insert(buffer) {
                // Two strides for one buffer.
                return None;
            }
            let Some(stored) = stored else { continue };
            let between = all.between(&stored);
            pairs.entry(shape).and_modify(|known| known.join(&between)).or_insert(between);
        }
        let extent =
            |bounds: Interval| Some(bounds.max - bounds.min).filter(|extent| *extent <= i128::from(LARGEST_FACTOR));
        let extents = domain?.into_iter().map(|bounds| bounds.and_then(extent)).collect();
        let of_two = |range: &Interval| Interval { min: range.min - range.max, max: range.max - range.min };
        let differences = |constants: &[Interval]| constants.iter().map(of_two).collect();
        let time_differences = differences(&time_constants);
        let floor_differences = differences(&floors.constants);
        let floors = floors.found;
        Some(Kind { iters, times, time_differences, floors, floor_differences, extents, pairs })
    }

    fn columns(&self) -> usize {
        self.iters + self.floors.len()
    }

    /// The difference of two values of an expression without constants.
    fn form(&self, e: &Affine, columns: usize) -> Option<Row> {
        let mut coefficients = vec![0_i128; columns];
        for (term, coefficient) in e.terms() {
            let column = match term {
                Term::Iter(iter) => *iter as usize,
                // The same in both.
                Term::Param(_) => continue,
                Term::Floor(inner, divisor) => {
                    self.iters + self.floors.iter().position(|(e, d)| *e == **inner && d == divisor)?
                }
            };
            *coefficients.get_mut(column)? += small(coefficient)?;
        }
        Some(Row { is_equality: false, coefficients, constant: 0 })
    }

    /// What holds of two cells of one kind, and their coordinates; none if numbers are too large.
    fn system(&self, place: &Place<'_>, shape: &Shape, between: &Constants) -> Option<(Vec<Row>, Vec<Coordinate>)> {
        // Behind iterators and floors, columns for what the constants of the index differ by.
        let columns = self.columns() + shape.index.len();
        let mut rows = self.rows(place, columns)?;
        let mut indices = Vec::new();
        for (at, e) in shape.index.iter().enumerate() {
            let mut form = zero(columns);
            form.coefficients[self.columns() + at] = 1;
            let constant = between.index[at];
            rows.extend(bounded(&form, Interval::point(0), constant.min, Some(constant.max)));
            add(&mut form, &self.form(e, columns)?, 1);
            let inside = between.inside[at];
            if inside.is_bounded() {
                rows.extend(bounded(&form, Interval::point(0), inside.min, Some(inside.max)));
            }
            indices.push(form);
        }
        let mut coordinates = Vec::new();
        for ((factors, modulus), offset) in shape.rows.iter().zip(&between.offset) {
            let mut form = zero(columns);
            for (factor, index) in factors.iter().zip(&indices) {
                add(&mut form, index, small(*factor)?);
            }
            coordinates.push(Coordinate { form, between: *offset, modulus: Some(small(*modulus)?) });
        }
        Some((rows, coordinates))
    }

    /// What holds of two instances in the loops, the later one in a later front and beyond a distance.
    fn rows(&self, &Place { loops, beyond }: &Place<'_>, columns: usize) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        for (position, ((inner, divisor), differences)) in self.floors.iter().zip(&self.floor_differences).enumerate() {
            // The argument less the divisor times the floor is a remainder: of two, the difference is less.
            let mut form = self.form(inner, columns)?;
            let divisor = small(*divisor)?;
            form.coefficients[self.iters + position] -= divisor;
            let most = divisor - 1;
            rows.extend(bounded(&form, *differences, -most, Some(most)));
        }
        let time = |dim: usize| Some((self.form(self.times.get(dim)?, columns)?, *self.time_differences.get(dim)?));
        for dim in &loops.outer {
            let (form, differences) = time(*dim)?;
            rows.extend(bounded(&form, differences, 0, Some(0)));
        }
        let (form, differences) = time(loops.fronts)?;
        rows.extend(bounded(&form, differences, 1, Some(i128::from(OPEN_FRONTS) - 1)));
        let (mut form, mut differences) = time(loops.parallel)?;
        if beyond < 0 {
            form.coefficients.iter_mut().for_each(|c| *c = -*c);
            differences = Interval { min: -differences.max, max: -differences.min };
        }
        rows.extend(bounded(&form, differences, beyond.abs(), None));
        for (iter, extent) in self.extents.iter().enumerate() {
            let Some(extent) = *extent else { continue };
            let mut form = zero(columns);
            form.coefficients[iter] = 1;
            rows.extend(bounded(&form, Interval::point(0), -extent, Some(extent)));
        }
        Some(rows)
    }
}

/// Floors that occur in expressions without their constants.
#[derive(Default)]
struct Floors {
    found: Vec<(Affine, i64)>,
    /// Of each the constants in it.
    constants: Vec<Interval>,
    /// In the present statement.
    own: BTreeMap<usize, i64>,
}

impl Floors {
    fn begin_statement(&mut self) {
        self.own.clear();
    }

    /// Expressions without constants, in floors neither, and the constants outside of floors; none if floors nest, or
    /// one statement has a floor with two constants.
    fn without_constants(&mut self, es: &[Affine]) -> Option<(Vec<Affine>, Vec<Interval>)> {
        let mut forms = Vec::new();
        let mut constants = Vec::new();
        for e in es {
            small(e.constant_part())?;
            constants.push(Interval::point(e.constant_part()));
            let mut form = Affine::default();
            for (term, coefficient) in e.terms() {
                let term = match term {
                    Term::Floor(inner, divisor) => self.floor(inner, *divisor)?,
                    term => term.clone(),
                };
                form = form.add(&Affine::term(term).scale(coefficient).ok()?).ok()?;
            }
            forms.push(form);
        }
        Some((forms, constants))
    }

    fn floor(&mut self, inner: &Affine, divisor: i64) -> Option<Term> {
        if inner.has_floor() {
            return None;
        }
        let constant = inner.constant_part();
        small(constant)?;
        let form = inner.sub(&Affine::constant(constant)).ok()?;
        let known = self.found.iter().position(|(e, d)| *e == form && *d == divisor);
        let position = known.unwrap_or(self.found.len());
        match known {
            Some(at) => self.constants[at] = self.constants[at].hull(Interval::point(constant)),
            None => {
                self.found.push((form.clone(), divisor));
                self.constants.push(Interval::point(constant));
            }
        }
        (*self.own.entry(position).or_insert(constant) == constant).then(|| Term::Floor(Box::new(form), divisor))
    }
}

/// The least box around the cells of an array, if it is one.
fn index_range(array: &Array) -> Vec<Interval> {
    let n = array.index.len();
    let boxed = boxes_of(&array.domain, n);
    let ranges = boxed.and_then(|boxed| {
        boxed.boxes.into_iter().map(|one| one.ranges().to_vec()).reduce(|mut all, one| {
            join(&mut all, &one);
            all
        })
    });
    let is_small = |range: &Interval| range.ends().is_some_and(|(lo, hi)| small(lo).is_some() && small(hi).is_some());
    let known = |range: Interval| if is_small(&range) { range } else { Interval::UNBOUNDED };
    ranges.map_or_else(|| vec![Interval::UNBOUNDED; n], |ranges| ranges.into_iter().map(known).collect())
}

/// A number, unless it is too large.
fn small(value: i64) -> Option<i128> {
    (-LARGEST_FACTOR..=LARGEST_FACTOR).contains(&value).then(|| i128::from(value))
}

/// The form 0.
fn zero(columns: usize) -> Row {
    Row { is_equality: false, coefficients: vec![0; columns], constant: 0 }
}

/// Adds a multiple of another form.
fn add(form: &mut Row, other: &Row, factor: i128) {
    form.coefficients.iter_mut().zip(&other.coefficients).for_each(|(sum, c)| *sum += factor * c);
    form.constant += factor * other.constant;
}

/// Widens ranges by others.
fn join(all: &mut [Interval], more: &[Interval]) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all = all.hull(*more));
}
