//! Into which parts a statement is split, so that in each of them it is known which indices leave their boxes.
//!
//! In: a domain, and what the indices reach.   Out: the parts, with disjoint domains that together are the domain, and
//! what the sizes must fulfil for that.
//!
//! Along an iterator whose indices reach `a` cells beyond the lower end of a box and `b` beyond the upper end, a domain
//! has its `a` first and its `b` last positions, and the inside. The parts are all combinations.

use std::collections::BTreeSet;

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::formula::Formula;
use crate::kernel::normal;
use crate::kernel::parse::split::{Reach, is_of_params};

/// What a domain says of one iterator alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Extent {
    /// The least and the greatest value, of sizes and numbers; none if no condition or several ones say so.
    pub(super) lower: Option<Affine>,
    pub(super) upper: Option<Affine>,
    /// The only value.
    pub(super) value: Option<Affine>,
    /// Which conditions say so.
    says: Vec<usize>,
}

/// A part of a statement.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// What its name has behind that of the statement, such as `_Y0_XN`.
    pub(super) suffix: String,
    pub(super) domain: Formula,
    /// Per iterator the one value that it has here, if so.
    pub(super) values: Vec<Option<Affine>>,
}

/// Along one iterator, how many positions at both ends are parts of their own.
pub(super) type Cut = (i64, i64);

/// Why a statement cannot be split.
#[derive(Debug)]
pub(super) enum SplitError {
    Overflow,
    /// The domain does not say how far this index reaches.
    Unknown(Reach),
    /// The numbers of the domain and of the box do not allow it.
    TooSmall(usize),
    /// There are too many parts.
    TooMany,
}

impl From<AffineOverflow> for SplitError {
    fn from(_: AffineOverflow) -> SplitError {
        SplitError::Overflow
    }
}

/// Parts of one statement: more are a slip of the pen.
pub(super) const PART_LIMIT: usize = 4096;

/// What a domain says of each iterator.
pub(super) fn extents(domain: &Formula, iters: usize) -> Vec<Extent> {
    let mut extents = vec![Extent::default(); iters];
    for (at, part) in conjuncts(domain).iter().enumerate() {
        let (Formula::NonNegative(e) | Formula::Zero(e)) = part else { continue };
        let Some((iter, sign, rest)) = of_one_iterator(e) else { continue };
        let Some(extent) = extents.get_mut(iter) else { continue };
        let slot = match part {
            Formula::Zero(_) => &mut extent.value,
            _ if sign > 0 => &mut extent.lower,
            _ => &mut extent.upper,
        };
        // Of several bounds none is known to be the tighter one.
        let is_first = slot.is_none() && !extent.says.contains(&at);
        *slot = Some(rest).filter(|_| is_first);
        extent.says.push(at);
    }
    extents
}

fn conjuncts(domain: &Formula) -> &[Formula] {
    match domain {
        Formula::And(parts) => parts,
        other => std::slice::from_ref(other),
    }
}

/// The iterator of `e`, its sign, and what it is where `e` is 0.
fn of_one_iterator(e: &Affine) -> Option<(usize, i64, Affine)> {
    let mut iters = e.terms().filter_map(|(term, factor)| match term {
        Term::Iter(i) => Some((*i as usize, factor)),
        _ => None,
    });
    let (Some((iter, sign @ (1 | -1))), None) = (iters.next(), iters.next()) else { return None };
    let rest = e.sub(&Affine::iter(iter).scale(sign).ok()?).ok()?.scale(-sign).ok()?;
    is_of_params(&rest).then_some((iter, sign, rest))
}

/// How many positions are parts of their own, per iterator.
pub(super) fn cuts(extents: &[Extent], reaches: &BTreeSet<Reach>) -> Result<Vec<Cut>, SplitError> {
    let mut cuts = vec![(0, 0); extents.len()];
    for reach in reaches {
        let extent = &extents[reach.iter];
        if extent.value.is_some() {
            continue;
        }
        let beyond = |end: &Option<Affine>, limit: &Affine, sign: i64| -> Result<Option<i64>, AffineOverflow> {
            let Some(end) = end else { return Ok(None) };
            let reached = end.add(&Affine::constant(reach.offset))?;
            Ok(reached.sub(limit)?.scale(sign)?.as_constant())
        };
        let known = |count: Option<i64>, cut: &mut i64, leaves: bool| match count {
            Some(count) => {
                *cut = (*cut).max(count);
                Ok(())
            }
            None if leaves || reach.ends.is_strict => Err(SplitError::Unknown(reach.clone())),
            None => Ok(()),
        };
        let (below, above) = &mut cuts[reach.iter];
        if reach.ends.below {
            known(beyond(&extent.lower, &reach.lower, -1)?, below, reach.offset < 0)?;
        }
        if reach.ends.above {
            known(beyond(&extent.upper, &reach.upper, 1)?, above, reach.offset > 0)?;
        }
    }
    Ok(cuts)
}

/// All parts, the inside first; the position of the first iterator changes fastest.
pub(super) fn parts(
    domain: &Formula,
    extents: &[Extent],
    cuts: &[Cut],
    iters: &[String],
) -> Result<Vec<Part>, SplitError> {
    let count = cuts
        .iter()
        .try_fold(1_i64, |count, (below, above)| count.checked_mul(below.checked_add(*above)?.checked_add(1)?));
    let len = count.and_then(|count| usize::try_from(count).ok()).filter(|len| *len <= PART_LIMIT);
    let len = len.ok_or(SplitError::TooMany)?;
    let names = upper_case(iters);
    (0..len).map(|number| part(domain, (extents, cuts, &names), number)).collect()
}

fn part(
    domain: &Formula,
    (extents, cuts, names): (&[Extent], &[Cut], &[String]),
    mut number: usize,
) -> Result<Part, SplitError> {
    let mut conditions: Vec<Option<Vec<Formula>>> = conjuncts(domain).iter().map(|c| Some(vec![c.clone()])).collect();
    let mut values: Vec<Option<Affine>> = extents.iter().map(|extent| extent.value.clone()).collect();
    let mut sides = Vec::new();
    for (iter, (extent, cut)) in extents.iter().zip(cuts).enumerate().filter(|(_, (_, cut))| **cut != (0, 0)) {
        let positions = (cut.0 + cut.1 + 1) as usize;
        let place = Place::of(number % positions, *cut);
        number /= positions;
        sides.extend(place.name(&names[iter]));
        let (condition, value) = place.condition(iter, extent, *cut)?;
        values[iter] = value;
        // The new conditions stand where the first of the old ones stood.
        for (k, said) in extent.says.iter().enumerate() {
            conditions[*said] = (k == 0).then(|| condition.clone());
        }
    }
    let suffix = sides.iter().map(|side| format!("_{side}")).collect();
    let conditions = conditions.into_iter().flatten().flatten().collect();
    Ok(Part { suffix, domain: normal::and(conditions), values })
}

/// Where a part lies along an iterator.
#[derive(Clone, Copy)]
enum Place {
    Inside,
    /// This many positions from the first one.
    Low(i64),
    /// This many positions from the last one.
    High(i64),
}

impl Place {
    /// The inside, then positions from both ends in turn.
    fn of(number: usize, (below, above): Cut) -> Place {
        let mut all = vec![Place::Inside];
        for at in 0..below.max(above) {
            all.extend((at < below).then_some(Place::Low(at)));
            all.extend((at < above).then_some(Place::High(at)));
        }
        all[number]
    }

    /// `X0` is the first position, `X1` the next one; `XN` the last one, `XN1` the one before.
    fn name(self, iterator: &str) -> Option<String> {
        match self {
            Place::Inside => None,
            Place::Low(at) => Some(format!("{iterator}{at}")),
            Place::High(0) => Some(format!("{iterator}N")),
            Place::High(at) => Some(format!("{iterator}N{at}")),
        }
    }

    /// Its conditions on the iterator, and the one value that the iterator has.
    fn condition(
        self,
        iter: usize,
        extent: &Extent,
        (below, above): Cut,
    ) -> Result<(Vec<Formula>, Option<Affine>), AffineOverflow> {
        let x = Affine::iter(iter);
        let from = |end: &Option<Affine>, distance: i64| -> Result<Option<Affine>, AffineOverflow> {
            end.as_ref().map(|end| end.add(&Affine::constant(distance))).transpose()
        };
        let value = match self {
            Place::Inside => {
                let (lower, upper) = (from(&extent.lower, below)?, from(&extent.upper, -above)?);
                let lower = lower.map(|lower| Formula::le(&lower, &x)).transpose()?;
                let upper = upper.map(|upper| Formula::le(&x, &upper)).transpose()?;
                return Ok((lower.into_iter().chain(upper).collect(), None));
            }
            Place::Low(at) => from(&extent.lower, at)?,
            Place::High(at) => from(&extent.upper, -at)?,
        };
        let condition = value.as_ref().map(|value| Formula::eq(&x, value)).transpose()?;
        Ok((condition.into_iter().collect(), value))
    }
}

/// Names of iterators in upper case, where that tells them apart.
fn upper_case(iters: &[String]) -> Vec<String> {
    let upper = |name: &String| name.to_uppercase();
    let is_unique = |name: &String| iters.iter().filter(|other| upper(other) == upper(name)).count() == 1;
    iters.iter().map(|name| if is_unique(name) { upper(name) } else { name.clone() }).collect()
}

/// What must not be negative, so that the parts are disjoint and indices leave boxes where the parts say.
pub(super) fn conditions(
    extents: &[Extent],
    cuts: &[Cut],
    reaches: &BTreeSet<Reach>,
) -> Result<Vec<Affine>, SplitError> {
    let mut found = Vec::new();
    let mut add = |iter: usize, e: Affine| match e.as_constant() {
        Some(value) if value < 0 => Err(SplitError::TooSmall(iter)),
        Some(_) => Ok(()),
        None => {
            found.push(e);
            Ok(())
        }
    };
    for (iter, (extent, (below, above))) in extents.iter().zip(cuts).enumerate() {
        if let (Some(lower), Some(upper), true) = (&extent.lower, &extent.upper, below + above > 0) {
            add(iter, upper.sub(lower)?.add(&Affine::constant(1 - below - above))?)?;
        }
    }
    for reach in reaches {
        if let Some(value) = &extents[reach.iter].value {
            if reach.ends.is_strict {
                conditions_at(reach, value, &mut |e| add(reach.iter, e))?;
            }
            continue;
        }
        conditions_along(reach, &extents[reach.iter], cuts[reach.iter], &mut |e| add(reach.iter, e))?;
    }
    Ok(found)
}

/// At the ends of the domain an index must be on that side of the box on which it is taken to be.
fn conditions_along(reach: &Reach, extent: &Extent, (below, above): Cut, add: Add<'_>) -> Result<(), SplitError> {
    let at = |end: &Affine, distance: i64| -> Result<Affine, SplitError> {
        let distance = distance.checked_add(reach.offset).ok_or(SplitError::Overflow)?;
        Ok(end.add(&Affine::constant(distance))?)
    };
    let cells = reach.upper.sub(&reach.lower)?.add(&Affine::constant(1))?;
    if let (Some(lower), true) = (&extent.lower, below > 0) {
        unless_known(reach.upper.sub(&at(lower, below - 1)?)?, add)?;
        outside(reach, &cells, &reach.lower.sub(&at(lower, 0)?)?, add)?;
    }
    if let (Some(upper), true) = (&extent.upper, above > 0) {
        unless_known(at(upper, 1 - above)?.sub(&reach.lower)?, add)?;
        outside(reach, &cells, &at(upper, 0)?.sub(&reach.upper)?, add)?;
    }
    Ok(())
}

/// Where an iterator has one value in the whole domain, an index that wraps around does so once, or not at all.
fn conditions_at(reach: &Reach, value: &Affine, add: Add<'_>) -> Result<(), SplitError> {
    let e = value.add(&Affine::constant(reach.offset))?;
    let cells = reach.upper.sub(&reach.lower)?.add(&Affine::constant(1))?;
    let (from_lower, to_upper) = (e.sub(&reach.lower)?, reach.upper.sub(&e)?);
    let is_negative = |e: &Affine| e.as_constant().is_some_and(|c| c < 0);
    if is_negative(&from_lower) {
        return add(from_lower.add(&cells)?);
    }
    if is_negative(&to_upper) {
        return add(to_upper.add(&cells)?);
    }
    add(from_lower)?;
    add(to_upper)
}

type Add<'a> = &'a mut dyn FnMut(Affine) -> Result<(), SplitError>;

/// On which side of a box an index with numbers alone lies, is seen where it is read.
fn unless_known(e: Affine, add: Add<'_>) -> Result<(), SplitError> {
    if e.as_constant().is_some() { Ok(()) } else { add(e) }
}

/// A box must have as many cells as an index lies outside of it, where the index is mapped into it.
fn outside(reach: &Reach, cells: &Affine, beyond: &Affine, add: Add<'_>) -> Result<(), SplitError> {
    match (reach.ends.spare, beyond.as_constant()) {
        (Some(spare), Some(beyond)) if beyond > 0 => {
            let needed = beyond.checked_add(spare).and_then(i64::checked_neg).ok_or(SplitError::Overflow)?;
            add(cells.add(&Affine::constant(needed))?)
        }
        _ => Ok(()),
    }
}
