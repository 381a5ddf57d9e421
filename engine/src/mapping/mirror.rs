//! Mirrored rings: one-dimensional buffers that are mapped twice, back to back, so that no strip is cut where they
//! wrap.
//!
//! In: a proved choice of storage.   Out: the same with the moduli of rings rounded up to whole pages, proved again.
//!
//! Memory is mapped in pages, so a ring can only be mirrored if it fills whole ones: 512 doubles where pages have 4
//! KiB. A larger modulus is not always a valid one, as some strided hyperplanes keep just between the differences of
//! conflicting cells; the checker decides, and what it refuses is tried with the next page. Rings that could not be
//! enlarged are cut as they are, and so are private buffers, whose copies would need pages each. Buffers of several
//! coordinates have rings within rows, which are no memory of their own. What mirroring costs in cells, the report's
//! notes say.

use crease_program::{Interval, Mapped};

use crate::kernel::graph::DimKind;
use crate::mapping::check::{under_own_quota, verify_mapping};
use crate::mapping::decision::Choice;
use crate::mapping::full::Full;
use crate::mapping::options::{Objective, Rings, StrategyChoice};
use crate::mapping::scalar::Scalar;
use crate::mapping::strided_hyperplane::fast_dimension;
use crate::mapping::{Problem, Proposal, Span, Strategy, given};
use crate::storage::{ArrayMapping, MappingError, Piece, Sharing, StorageMapping};

/// Numbers of pages that are tried for a ring.
const MOST_TRIED: u64 = 4;
/// Cells that the balanced choice gives for a ring without cuts. A row of heat-1d that is cut takes as long as one of
/// some 250 cells more: `run heat-1d --set N=1000 --set T=200000 --threads 1 --rounding exact` with `--rings cut`, and
/// with `mirrored`.
const MOST_ADDED: i64 = 128;
/// The largest ring that gains: 4000 doubles did, 6000 did not, with T=50000 and T=30000 in the same command. Rings of
/// many rows, as those of heat-2d-5pt, gained at no size.
const LARGEST_BYTES: u64 = 32 << 10;

/// A ring that may be mirrored.
#[derive(Clone, Copy)]
struct Ring {
    buffer: usize,
    /// Its modulus in whole pages.
    modulus: i64,
}

/// Rounds rings to whole pages and has them mapped twice, where the problem asks for that.
pub(crate) fn mirror_rings(
    problem: &Problem<'_, '_, '_>,
    (choice, objective): (StrategyChoice, Objective),
    chosen: &mut Choice,
) -> Result<(), MappingError> {
    let is_asked_for = problem.rings == Rings::Mirrored;
    if problem.rings == Rings::Cut || !is_asked_for && choice != StrategyChoice::Auto {
        return Ok(());
    }
    let Some(page_bytes) = problem.machine.mirror_bytes else {
        if is_asked_for {
            chosen.notes.push("rings are cut: this system maps no memory twice".to_string());
        }
        return Ok(());
    };
    let before = chosen.mapping.clone();
    let mut rings = rings_of(problem, &before, page_bytes)?;
    if !is_asked_for {
        for ring in &mut rings {
            ring.truncate(1);
            if !ring.first().is_some_and(|ring| gains(problem, &before, *ring, objective)) {
                ring.clear();
            }
        }
    }
    // Mostly any larger modulus is valid, and then all are proved at once.
    let first: Vec<Ring> = rings.iter().filter_map(|ring| ring.first().copied()).collect();
    if first.is_empty() {
        return Ok(());
    }
    if let Some(mirrored) = proved(problem, &chosen.mapping, &first)? {
        chosen.mapping = mirrored;
    } else {
        for ring in rings.iter().flat_map(|tried| tried.iter()) {
            if chosen.mapping.buffers[ring.buffer].mapped == Mapped::Once
                && let Some(mirrored) = proved(problem, &chosen.mapping, &[*ring])?
            {
                chosen.mapping = mirrored;
            }
        }
    }
    for Ring { buffer, .. } in first {
        let (old, new) = (&before.buffers[buffer], &chosen.mapping.buffers[buffer]);
        let (name, cells) = (&new.name, old.moduli[0]);
        chosen.notes.push(match new.mapped {
            Mapped::Twice => format!("`{name}` is mirrored: {} cells in whole pages, {cells} without", new.moduli[0]),
            Mapped::Once if !is_asked_for => continue,
            Mapped::Once => format!("`{name}` is cut where it wraps: no modulus near {cells} in whole pages is valid"),
        });
    }
    Ok(())
}

/// Whether a ring is better mirrored than cut.
fn gains(problem: &Problem<'_, '_, '_>, mapping: &StorageMapping, ring: Ring, objective: Objective) -> bool {
    let Ring { buffer, modulus } = ring;
    let body = &mapping.buffers[buffer];
    let added = modulus - body.moduli[0];
    let is_worth_it = match objective {
        Objective::Footprint => added == 0,
        Objective::Balanced => added <= MOST_ADDED,
        Objective::Speed => true,
    };
    let is_small = (modulus as u64).saturating_mul(body.element.bytes()) <= LARGEST_BYTES;
    let has_lanes = problem.model.schedule.dims.iter().any(|kind| matches!(kind, DimKind::Vector(_)));
    let has_long_row = |array: &ArrayMapping, piece: &Piece| {
        let fast = fast_dimension(problem, array.array);
        let row = problem.spans(array.array).ok().and_then(|spans| spans.get(fast)?.extent());
        let moves = piece.matrix[0].get(fast).is_some_and(|step| step.abs() == 1);
        moves && row.is_some_and(|row| row >= body.moduli[0] / 2)
    };
    let mut pieces = mapping.arrays.iter().flat_map(|array| array.pieces.iter().map(move |piece| (array, piece)));
    is_worth_it
        && is_small
        && has_lanes
        && pieces.any(|(array, piece)| piece.buffer == buffer && has_long_row(array, piece))
}

/// The mapping with these rings, at least one, mirrored, if that is proved.
fn proved(
    problem: &Problem<'_, '_, '_>,
    mapping: &StorageMapping,
    rings: &[Ring],
) -> Result<Option<StorageMapping>, MappingError> {
    let StorageMapping { mut buffers, arrays } = mapping.clone();
    for &Ring { buffer, modulus } in rings {
        (buffers[buffer].moduli, buffers[buffer].mapped) = (vec![modulus], Mapped::Twice);
    }
    let proposal = Proposal { buffers, arrays };
    let strategy = proposal.buffers[rings[0].buffer].strategy;
    match under_own_quota(problem, strategy, &[], || verify_mapping(problem, &proposal)) {
        Ok(()) => Ok(Some(StorageMapping { buffers: proposal.buffers, arrays: proposal.arrays })),
        Err(MappingError::Unproved { .. } | MappingError::GaveUp { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// For each ring that strips may run around, its moduli in whole pages, smallest first. A given one is not changed.
fn rings_of(
    problem: &Problem<'_, '_, '_>,
    mapping: &StorageMapping,
    page_bytes: u64,
) -> Result<Vec<Vec<Ring>>, MappingError> {
    let mut rings = Vec::new();
    for (buffer, body) in mapping.buffers.iter().enumerate() {
        let &[modulus] = &body.moduli[..] else { continue };
        let is_folded = ![Full.name(), Scalar.name()].contains(&body.strategy);
        if !is_folded || body.sharing == Sharing::Private || !is_run_around(problem, mapping, buffer, modulus)? {
            continue;
        }
        let page = page_bytes / body.element.bytes();
        let pages = (modulus as u64).div_ceil(page);
        let rounded = (pages..pages.saturating_add(MOST_TRIED)).filter_map(|pages| pages.checked_mul(page));
        let moduli = rounded.filter_map(|modulus| i64::try_from(modulus).ok());
        let moduli = moduli.filter(|rounded| *rounded == modulus || body.strategy != given::NAME);
        rings.push(moduli.map(|modulus| Ring { buffer, modulus }).collect());
    }
    Ok(rings)
}

/// Whether cells of some array are not all in one multiple of the modulus.
fn is_run_around(
    problem: &Problem<'_, '_, '_>,
    mapping: &StorageMapping,
    buffer: usize,
    modulus: i64,
) -> Result<bool, MappingError> {
    for array in &mapping.arrays {
        for piece in array.pieces.iter().filter(|piece| piece.buffer == buffer) {
            let multiple = |value: i128| value.div_euclid(i128::from(modulus));
            let range = values(piece, &problem.spans(array.array)?);
            if range.is_none_or(|range| multiple(range.min) != multiple(range.max)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The least and the largest number that the formula of a piece has before it is reduced; `None` if unbounded.
fn values(piece: &Piece, spans: &[Span]) -> Option<Interval> {
    let terms = piece.matrix[0].iter().zip(spans).map(|(&factor, span)| span.scaled(factor));
    Some(terms.fold(Interval::point(piece.offset[0]), |sum, term| sum + term)).filter(|sum| sum.is_bounded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::formula::Formula;

    #[test]
    fn a_drifting_row_has_no_bounds_and_a_resting_one_has() {
        let piece = |matrix| Piece { when: Formula::everything(), buffer: 0, matrix: vec![matrix], offset: vec![3] };
        let spans = [Span::between(0, None), Span::between(-2, 9)];
        assert_eq!(values(&piece(vec![-1, 1]), &spans), None);
        assert_eq!(values(&piece(vec![0, -2]), &spans), Some(Interval::between(-15, 7)));
    }
}
