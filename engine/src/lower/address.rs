//! Folded addresses: from a reference and its piece to a stream of cells.
//!
//! In: index expressions, the piece's formula, values of the iterators as linear forms.   Out: a [`Stream`].
//!
//! A coordinate is a linear form modulo its modulus. What is bounded and never leaves one multiple of the modulus needs
//! no reduction at all (most coordinates: a box keeps its rows where they are). What moves with the step is reduced
//! once per step; the sum is wrapped by a comparison. If the strip itself may cross the wrap, the coordinate becomes
//! the stream's ring, which code generation cuts; it may not if the ring is made of whole rows, as rounding to cache
//! lines makes it, and the strip stays in one. No division is left inside a step.
//!
//! Arrays that a call passes are addressed by their coordinates as they are: the call knows their strides.

use crease_program::{Address, BufferId, Int, Stream, Var};
use num_integer::gcd;

use crate::kernel::affine::{Affine, Term};
use crate::kernel::graph::ParamId;
use crate::lower::error::LowerError;
use crate::lower::linear::{Atom, Linear, to_int};
use crate::lower::scope::Scopes;
use crate::plan::layout::BufferLayout;
use crate::storage::Piece;

/// Values of a statement's iterators where a reference is evaluated.
pub(crate) struct Iteration<'a> {
    /// Per iterator, its value over loop variables and arguments.
    pub(crate) iters: &'a [Linear],
    /// Per iterator, its bounds; none for the step.
    pub(crate) bounds: &'a [Option<(i64, i64)>],
    /// Linear form of a parameter that is not bound.
    pub(crate) param: &'a dyn Fn(ParamId) -> Linear,
    /// The strip's variable and its first value; none outside strips.
    pub(crate) strip: Option<(Var, Linear)>,
}

impl Iteration<'_> {
    /// Whether a form changes within the strip.
    fn moves(&self, form: &Linear) -> bool {
        self.strip.as_ref().is_some_and(|(var, _)| form.coefficient(&Atom::Var(*var)) != 0)
    }

    /// The first value of a form in the strip, and its change per iteration; none on overflow.
    fn progression(&self, form: Linear) -> Option<(Linear, i64)> {
        let Some((var, first)) = &self.strip else { return Some((form, 0)) };
        let var = Atom::Var(*var);
        let stride = form.coefficient(&var);
        Some((form.substitute(&var, first)?, stride))
    }
}

/// A reference as code sees it, and where it stays in the buffer.
pub(crate) struct Reference {
    /// Its cells.
    pub(crate) stream: Stream,
    /// Per coordinate of a block of ours, its values before reduction; none if they leave 64 bits.
    pub(crate) progressions: Vec<Option<Progression>>,
}

/// The values that a coordinate takes within a strip, before reduction.
pub(crate) struct Progression {
    /// The first one.
    pub(crate) start: Linear,
    /// How far below and above the first one they lie at most.
    pub(crate) reach: (i64, i64),
    /// Change per iteration.
    pub(crate) stride: i64,
}

/// A coordinate before reduction: a bounded part with its range and an unbounded part.
struct Coordinate {
    bounded: Linear,
    low: i64,
    high: i64,
    /// Coefficients and forms that grow with the step.
    unbounded: Vec<(i64, Linear)>,
    /// How far the strip moves it at most.
    extent: i64,
}

impl Coordinate {
    fn progression(&self, iteration: &Iteration<'_>) -> Option<Progression> {
        let mut parts = self.unbounded.iter();
        let value = parts.try_fold(self.bounded.clone(), |sum, (c, form)| sum.plus(form, *c))?;
        let (start, stride) = iteration.progression(value)?;
        let reach = match stride.signum() {
            0 => (0, 0),
            1 => (0, self.extent),
            _ => (self.extent, 0),
        };
        Some(Progression { start, reach, stride })
    }
}

/// A reduced coordinate.
struct Reduced {
    /// Its value at the start of the strip, in cells of the coordinate.
    start: Int,
    /// Change per iteration of the strip.
    stride: i64,
    /// Whether the strip may cross the modulus.
    wraps: bool,
}

/// The coordinate that runs around within a strip.
struct Ring {
    /// Where it starts, in cells of the buffer, with the coordinates inside it.
    pos: Int,
    /// Its length, in cells of the buffer.
    cells: u64,
    /// Change per iteration, in cells of the buffer.
    stride: i64,
    /// Cells of the buffer from one place of the coordinate to the next.
    pitch: i64,
}

/// A reference's stream; none if its strip cannot be expressed (more than one ring moves), in which case the caller
/// takes one iteration at a time.
pub(crate) fn reference(
    scopes: &mut Scopes,
    iteration: &Iteration<'_>,
    index: &[Affine],
    piece: &Piece,
    layout: &BufferLayout,
) -> Result<Option<Reference>, LowerError> {
    if layout.is_borrowed() {
        let stream = borrowed_stream(scopes, iteration, index, piece, layout)?;
        return Ok(stream.map(|stream| Reference { stream, progressions: Vec::new() }));
    }
    debug_assert_eq!(piece.matrix.len(), layout.moduli.len(), "a piece has a row for each coordinate of its buffer");
    debug_assert!(piece.matrix.iter().all(|row| row.len() == index.len()), "a row has a coefficient per index");
    let overflow = || LowerError::Address { array: layout.name.clone() };
    let mut base = Int::Const(0);
    let mut plain = Int::Const(0);
    let mut plain_stride = 0_i64;
    let mut ring: Option<Ring> = None;
    let mut progressions = Vec::with_capacity(piece.matrix.len());
    for k in 0..piece.matrix.len() {
        let Some(coordinate) = evaluate(scopes, iteration, &coordinate_form(index, piece, k)?)? else {
            return Ok(None);
        };
        progressions.push(coordinate.progression(iteration));
        let modulus = layout.moduli[k];
        let pitch = i64::try_from(layout.strides[k]).map_err(|_| overflow())?;
        let reduced = reduce(scopes, iteration, coordinate, modulus).ok_or_else(overflow)?;
        let scaled = scale(reduced.start, pitch);
        let stride = reduced.stride.checked_mul(pitch).ok_or_else(overflow)?;
        match (reduced.wraps, reduced.stride) {
            (true, _) if ring.is_some() || reduced.stride.abs() > modulus => return Ok(None),
            (true, _) => {
                let cells = (modulus as u64).checked_mul(pitch as u64).ok_or_else(overflow)?;
                ring = Some(Ring { pos: scaled, cells, stride, pitch });
            }
            // A place within what the ring is made of goes around with it: as a base it would move the ring's end out
            // of the buffer.
            (false, 0) if let Some(ring) = ring.as_mut().filter(|ring| pitch < ring.pitch) => {
                ring.pos = add(std::mem::replace(&mut ring.pos, Int::Const(0)), scaled);
            }
            (false, 0) => base = add(base, scaled),
            (false, _) => {
                plain = add(plain, scaled);
                plain_stride = plain_stride.checked_add(stride).ok_or_else(overflow)?;
            }
        }
    }
    let base = hoist_sum(scopes, base);
    let address = match ring {
        Some(_) if plain_stride != 0 => return Ok(None),
        Some(Ring { pos, cells, stride, .. }) => {
            Address::Block { base: add(base, plain), pos, ring: Some(cells), stride }
        }
        None => Address::Block { base, pos: plain, ring: None, stride: plain_stride },
    };
    Ok(Some(Reference { stream: Stream::new(BufferId(layout.id), address), progressions }))
}

/// The stream of a reference to an array that the call passes; none if a floor moves inside the strip. Coordinates
/// count from the array's first cell.
fn borrowed_stream(
    scopes: &mut Scopes,
    iteration: &Iteration<'_>,
    index: &[Affine],
    piece: &Piece,
    layout: &BufferLayout,
) -> Result<Option<Stream>, LowerError> {
    let overflow = || LowerError::Address { array: layout.name.clone() };
    let mut coordinates = Vec::with_capacity(index.len());
    for k in 0..piece.matrix.len() {
        let Some(coordinate) = evaluate(scopes, iteration, &coordinate_form(index, piece, k)?)? else {
            return Ok(None);
        };
        let Coordinate { mut bounded, unbounded, .. } = coordinate;
        for (c, form) in &unbounded {
            bounded = bounded.plus(form, *c).ok_or_else(overflow)?;
        }
        let (start, step) = iteration.progression(bounded).ok_or_else(overflow)?;
        coordinates.push(crease_program::Coordinate { start: to_int(&start), step });
    }
    Ok(Some(Stream::new(BufferId(layout.id), Address::Array(coordinates))))
}

/// Coordinate `k` of a cell in its buffer, before reduction.
fn coordinate_form(index: &[Affine], piece: &Piece, k: usize) -> Result<Affine, LowerError> {
    // Most rows have one entry, which is 1.
    let mut entries = piece.matrix[k].iter().zip(index).filter(|(m, _)| **m != 0);
    let start = match entries.next() {
        Some((1, e)) => e.clone(),
        Some((&m, e)) => e.scale(m)?,
        None => Affine::constant(0),
    };
    let sum = entries.try_fold(start, |form, (&m, e)| form.add(&e.scale(m)?))?;
    Ok(sum.add(&Affine::constant(piece.offset[k]))?)
}

/// Splits an affine form into its bounded and unbounded parts; none if a floor moves inside the strip.
fn evaluate(scopes: &mut Scopes, iteration: &Iteration<'_>, form: &Affine) -> Result<Option<Coordinate>, LowerError> {
    let constant = form.constant_part();
    let mut sum = Coordinate {
        bounded: Linear::constant(constant),
        low: constant,
        high: constant,
        unbounded: Vec::new(),
        extent: 0,
    };
    for (term, c) in form.terms() {
        let (value, bounds) = match term {
            Term::Iter(i) => (iteration.iters[*i as usize].clone(), iteration.bounds[*i as usize]),
            Term::Param(p) => ((iteration.param)(*p), None),
            Term::Floor(inner, divisor) => {
                let Some(inner) = evaluate(scopes, iteration, inner)? else {
                    return Ok(None);
                };
                let Some((value, bounds)) = floor(scopes, iteration, inner, *divisor) else {
                    return Ok(None);
                };
                (value, bounds)
            }
        };
        let moves = iteration.moves(&value);
        match bounds {
            Some((low, high)) => {
                let (a, b) = (low.saturating_mul(c), high.saturating_mul(c));
                if moves {
                    sum.extent = sum.extent.saturating_add(a.max(b).saturating_sub(a.min(b)));
                }
                sum.bounded = sum.bounded.plus(&value, c).ok_or(crate::kernel::affine::AffineOverflow)?;
                sum.low = sum.low.saturating_add(a.min(b));
                sum.high = sum.high.saturating_add(a.max(b));
            }
            // What grows with the step is reduced outside strips.
            None if moves => return Ok(None),
            None => sum.unbounded.push((c, value)),
        }
    }
    Ok(Some(sum))
}

/// The floor of a coordinate as a variable, with its bounds if it has any.
#[allow(clippy::type_complexity)]
fn floor(
    scopes: &mut Scopes,
    iteration: &Iteration<'_>,
    inner: Coordinate,
    divisor: i64,
) -> Option<(Linear, Option<(i64, i64)>)> {
    let mut all = inner.bounded;
    for (c, form) in &inner.unbounded {
        all = all.plus(form, *c)?;
    }
    if iteration.moves(&all) {
        return None;
    }
    let value = scopes.hoist(Int::FloorDiv(Box::new(to_int(&all)), divisor));
    let bounds = (inner.low.div_euclid(divisor), inner.high.div_euclid(divisor));
    let form = match value {
        Int::Var(var) => Linear::term(Atom::Var(var)),
        Int::Const(c) => Linear::constant(c),
        _ => return None,
    };
    Some((form, inner.unbounded.is_empty().then_some(bounds)))
}

/// Brings a coordinate into `0..modulus`.
fn reduce(scopes: &mut Scopes, iteration: &Iteration<'_>, coordinate: Coordinate, modulus: i64) -> Option<Reduced> {
    let Coordinate { bounded, low, high, unbounded, extent } = coordinate;
    // There is one place.
    if modulus == 1 {
        return Some(Reduced { start: Int::Const(0), stride: 0, wraps: false });
    }
    let whole = low.div_euclid(modulus).checked_mul(modulus)?;
    let bounded = bounded.plus_constant(whole.checked_neg()?)?;
    let (low, high) = (low.checked_sub(whole)?, high.checked_sub(whole)?);
    let (start, stride) = iteration.progression(bounded)?;
    if unbounded.is_empty() && high < modulus {
        return Some(Reduced { start: to_int(&start), stride, wraps: false });
    }
    let column = if stride > 0 { kept_column(&start, &unbounded, extent, modulus) } else { None };
    let start = start.plus_constant(column.unwrap_or(0).checked_neg()?)?;
    let high = high.checked_sub(column.unwrap_or(0))?;
    let inside = |start: Linear| {
        let start = to_int(&start);
        if high < modulus { start } else { into_ring(start, high, modulus) }
    };
    let wrapped = if unbounded.is_empty() {
        inside(start)
    } else {
        let drift = drift(scopes, &unbounded, modulus);
        if low == 0 && high == 0 {
            return Some(Reduced { start: drift, stride: 0, wraps: false });
        }
        Int::Wrap(Box::new(add(drift, inside(start))), modulus)
    };
    Some(match column {
        Some(column) => Reduced { start: add(wrapped, Int::Const(column)), stride, wraps: false },
        None => Reduced { start: settle(scopes, wrapped, stride), stride, wraps: stride != 0 },
    })
}

/// Where in its row a strip starts, if the ring is made of whole rows and the strip stays in one. A row is as long as
/// all that is added to the column, and the modulus, are multiples of.
fn kept_column(start: &Linear, unbounded: &[(i64, Linear)], extent: i64, modulus: i64) -> Option<i64> {
    let terms = start.terms().iter().map(|(_, c)| *c).chain(unbounded.iter().map(|(c, _)| *c));
    let row = terms.fold(modulus, |row, c| gcd(row, c.rem_euclid(modulus)));
    let column = start.constant.rem_euclid(row);
    column.checked_add(extent).is_some_and(|last| last < row).then_some(column)
}

/// A start that does not belong to a strip is computed once per block; a strip's own start stays with the strip,
/// because it is only in range if the strip is not empty.
fn settle(scopes: &mut Scopes, start: Int, stride: i64) -> Int {
    if stride == 0 { scopes.hoist(start) } else { start }
}

/// What the step adds, in `0..modulus`, computed once per step.
fn drift(scopes: &mut Scopes, unbounded: &[(i64, Linear)], modulus: i64) -> Int {
    let mut total: Option<Int> = None;
    for (c, form) in unbounded {
        let part = scopes.hoist(Int::MulMod(c.rem_euclid(modulus), Box::new(to_int(form)), modulus));
        total = Some(match total {
            None => part,
            Some(sum) => scopes.hoist(Int::Wrap(Box::new(add(sum, part)), modulus)),
        });
    }
    total.unwrap_or(Int::Const(0))
}

/// `value` in `0..=high` reduced modulo `modulus`.
fn into_ring(value: Int, high: i64, modulus: i64) -> Int {
    let fits = modulus.checked_mul(2).is_none_or(|twice| high < twice);
    if fits { Int::Wrap(Box::new(value), modulus) } else { Int::Mod(Box::new(value), modulus) }
}

/// Sums with a product in them are worth a variable.
fn hoist_sum(scopes: &mut Scopes, sum: Int) -> Int {
    match sum {
        Int::Add(..) | Int::Mul(..) => scopes.hoist(sum),
        other => other,
    }
}

fn add(a: Int, b: Int) -> Int {
    match (a, b) {
        (Int::Const(0), other) | (other, Int::Const(0)) => other,
        (Int::Const(a), Int::Const(b)) if a.checked_add(b).is_some() => Int::Const(a + b),
        (a, b) => Int::Add(Box::new(a), Box::new(b)),
    }
}

fn scale(value: Int, factor: i64) -> Int {
    match (value, factor) {
        (value, 1) => value,
        (Int::Const(v), f) if v.checked_mul(f).is_some() => Int::Const(v * f),
        (value, f) => Int::Mul(Box::new(Int::Const(f)), Box::new(value)),
    }
}
