//! Double-mapped rings: one-dimensional buffers that are mapped twice, back to back, so that no strip is cut where they
//! wrap.
//!
//! In: a proved choice of storage.   Out: the same with the moduli of rings rounded up to whole pages, proved again.
//!
//! Memory is mapped in pages, so a ring can only be mapped twice if it fills whole ones: 512 doubles where pages have 4
//! KiB. A larger modulus is not always a valid one, as some strided hyperplanes keep just between the differences of
//! conflicting cells; the checker decides, and what it refuses is tried with the next page. Rings that could not be
//! enlarged are cut as they are, and so are private buffers, whose copies would need pages each. Buffers of several
//! coordinates have rings within rows, which are no memory of their own. What mapping twice costs in cells, the
//! report's notes say.

use crease_program::Mapped;

use crate::kernel::graph::DimKind;
use crate::storage::choose::check::{under_own_quota, verify_mapping};
use crate::storage::choose::decision::Choice;
use crate::storage::knobs::placement::{LARGEST_DOUBLE_MAPPED_BYTES, MOST_ADDED, MOST_PAGES_TRIED};
use crate::storage::options::{Objective, Rings, StrategyChoice};
use crate::storage::problem::{Problem, range};
use crate::storage::strategies::registry::entry_of;
use crate::storage::{ArrayMapping, MappingError, Piece, Sharing, StorageMapping};

/// A ring that may be mapped twice.
#[derive(Clone, Copy)]
struct Ring {
    buffer: usize,
    /// Its modulus in whole pages.
    modulus: i64,
}

/// Rounds rings to whole pages and has them mapped twice, where the problem asks for that.
pub(crate) fn double_map_rings(
    problem: &Problem<'_, '_, '_>,
    (choice, objective): (StrategyChoice, Objective),
    chosen: &mut Choice,
) -> Result<(), MappingError> {
    let is_asked_for = problem.rings == Rings::DoubleMapped;
    if problem.rings == Rings::Cut || !is_asked_for && choice != StrategyChoice::Auto {
        return Ok(());
    }
    let Some(page_bytes) = problem.machine.double_map_bytes else {
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
    if let Some(double_mapped) = proved(problem, &chosen.mapping, &first)? {
        chosen.mapping = double_mapped;
    } else {
        for ring in rings.iter().flat_map(|tried| tried.iter()) {
            if chosen.mapping.buffers[ring.buffer].mapped == Mapped::Once
                && let Some(double_mapped) = proved(problem, &chosen.mapping, &[*ring])?
            {
                chosen.mapping = double_mapped;
            }
        }
    }
    for Ring { buffer, .. } in first {
        let (old, new) = (&before.buffers[buffer], &chosen.mapping.buffers[buffer]);
        let (name, cells) = (&new.name, old.moduli[0]);
        chosen.notes.push(match new.mapped {
            Mapped::Twice => {
                format!("`{name}` is mapped twice: {} cells in whole pages, {cells} without", new.moduli[0])
            }
            Mapped::Once if !is_asked_for => continue,
            Mapped::Once => format!("`{name}` is cut where it wraps: no modulus near {cells} in whole pages is valid"),
        });
    }
    Ok(())
}

/// Whether a ring is better mapped twice than cut.
fn gains(problem: &Problem<'_, '_, '_>, mapping: &StorageMapping, ring: Ring, objective: Objective) -> bool {
    let Ring { buffer, modulus } = ring;
    let body = &mapping.buffers[buffer];
    let added = modulus - body.moduli[0];
    let is_worth_it = match objective {
        Objective::Footprint => added == 0,
        Objective::Balanced => added <= MOST_ADDED,
        Objective::Speed => true,
    };
    let is_small = (modulus as u64).saturating_mul(body.element.bytes()) <= LARGEST_DOUBLE_MAPPED_BYTES;
    let has_lanes = problem.model.schedule.dims.iter().any(|kind| matches!(kind, DimKind::Vector(_)));
    let has_long_row = |array: &ArrayMapping, piece: &Piece| {
        let fast = problem.fast_dimension(array.array);
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

/// The mapping with these rings, at least one, double-mapped, if that is proved.
fn proved(
    problem: &Problem<'_, '_, '_>,
    mapping: &StorageMapping,
    rings: &[Ring],
) -> Result<Option<StorageMapping>, MappingError> {
    let mut double_mapped = mapping.clone();
    for &Ring { buffer, modulus } in rings {
        let body = &mut double_mapped.buffers[buffer];
        (body.moduli, body.mapped) = (vec![modulus], Mapped::Twice);
    }
    let strategy = mapping.buffers[rings[0].buffer].strategy.name();
    match under_own_quota(problem, strategy, &[], || verify_mapping(problem, &double_mapped)) {
        Ok(()) => Ok(Some(double_mapped)),
        Err(MappingError::Unproved { .. } | MappingError::GaveUp { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// For each ring that strips may run around, its moduli in whole pages, smallest first. One that the caller gives is
/// not changed.
fn rings_of(
    problem: &Problem<'_, '_, '_>,
    mapping: &StorageMapping,
    page_bytes: u64,
) -> Result<Vec<Vec<Ring>>, MappingError> {
    let mut rings = Vec::new();
    for (buffer, body) in mapping.buffers.iter().enumerate() {
        let &[modulus] = &body.moduli[..] else { continue };
        let entry = entry_of(body.strategy);
        if entry.is_some_and(|entry| !entry.makes_rings)
            || body.sharing == Sharing::Private
            || !is_run_around(problem, mapping, buffer, modulus)?
        {
            continue;
        }
        let page = page_bytes / body.element.bytes();
        let pages = (modulus as u64).div_ceil(page);
        let rounded = (pages..pages.saturating_add(MOST_PAGES_TRIED)).filter_map(|pages| pages.checked_mul(page));
        let moduli = rounded.filter_map(|modulus| i64::try_from(modulus).ok());
        let moduli = moduli.filter(|rounded| *rounded == modulus || entry.is_some());
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
            let range = range(&piece.matrix[0], piece.offset[0], &problem.spans(array.array)?);
            if range.is_none_or(|(low, high)| multiple(low) != multiple(high)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
