//! Shared buffers: several arrays of one element type in one row of cells.
//!
//! In: the conflicts within each array and between every two.   Out: one proposal, in which at least two arrays share.
//! Sources: Lefebvre and Feautrier (1998), section 5, for arrays that are never alive together; Bhaskaracharya,
//! Bondhugula and Cohen (2016), "SMO: an integrated approach to intra-array and inter-array storage optimization", for
//! those that are.
//!
//! Two ways to share are tried, one after the other:
//! - arrays that are alive together, if they have as many indices and the same fast one: one hyperplane for all of
//!   them, and an offset for each (`joint`). Say one sweep writes `A` from `B` and the next `B` from `A`: what the
//!   sweep has passed of one dies as the other is written, so both fit into one grid and a little, not two;
//! - rows of cells, each for one array or several, whose values are never alive together (`colouring`): the larger one
//!   holds both.
//!
//! The arrays whose conflict sets are unbounded or too complicated keep a buffer of their own, by successive modulo.

mod colouring;
mod differences;
mod joint;

use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Element};
use crate::storage::knobs::shared::MOST_ALIVE_TOGETHER;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::strategies::successive_modulo::SuccessiveModulo;
use crate::storage::{ArrayMapping, MappingError, Piece, Sharing, StorageMapping};

use colouring::{coloured, may_be_apart};
use differences::Differences;
use joint::best_row;

/// Several arrays in one buffer.
pub(crate) struct Shared;

/// A row of cells: member `a` keeps cell `i` at `(gamma_a . i + offset_a) mod modulus`.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) members: Vec<Member>,
    pub(super) modulus: i64,
    /// Distances that conflicting cells have in the row, in ascending order: no multiple of the modulus may be among
    /// them.
    pub(super) distances: Vec<(i64, i64)>,
}

/// An array in a row.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) array: ArrayId,
    pub(super) gamma: Vec<i64>,
    pub(super) offset: i64,
}

impl Strategy for Shared {
    fn id(&self) -> StrategyId {
        StrategyId::Shared
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let differences = Differences::new(problem);
        let mut proposal = StorageMapping::default();
        let mut rows: Vec<Row> = Vec::new();
        for kind in kinds(problem, arrays) {
            let mut of_kind = Vec::new();
            for &array in &kind {
                match best_row(&differences, &[array])? {
                    Some(row) => of_kind.push(row),
                    None => SuccessiveModulo.propose(problem, &[array])?.into_iter().for_each(|p| proposal.append(p)),
                }
            }
            let together = kind.len() <= MOST_ALIVE_TOGETHER;
            rows.extend(if together { merged_while_smaller(&differences, of_kind)? } else { of_kind });
        }
        let rows = coloured(problem, rows)?;
        if rows.iter().all(|row| row.members.len() == 1) {
            let names = arrays.iter().map(|&id| format!("`{}`", problem.model.kernel.array(id).name));
            let names = names.collect::<Vec<_>>().join(", ");
            let reason = match arrays.len() {
                1 => format!("{names} has no other array to share with"),
                _ => format!("no two of {names} take fewer cells in one buffer than in two"),
            };
            return Err(MappingError::NotApplicable { strategy: self.id().name(), reason });
        }
        for row in rows {
            proposal.append(self.keep(problem, &row)?);
        }
        Ok(vec![proposal])
    }
}

/// Whether any two of the arrays could come into one buffer: there are few enough of their kind to be alive in it together,
/// or they may never be alive together. It tells without conflicts.
pub(crate) fn may_share(problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<bool, MappingError> {
    if kinds(problem, arrays).iter().any(|kind| (2..=MOST_ALIVE_TOGETHER).contains(&kind.len())) {
        return Ok(true);
    }
    for (at, &a) in arrays.iter().enumerate() {
        for &b in &arrays[at + 1..] {
            if may_be_apart(problem, a, b)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

impl Shared {
    /// The buffer of a row, named after its first array, and the places of its arrays in it.
    fn keep(&self, problem: &Problem<'_, '_, '_>, row: &Row) -> Result<StorageMapping, MappingError> {
        let mut arrays = Vec::new();
        // Moves the lower corner of the first array's index space to cell 0, where it has one.
        let shift = corner(problem, &row.members[0])?.rem_euclid(i128::from(row.modulus));
        for member in &row.members {
            let offset = (i128::from(member.offset) - shift).rem_euclid(i128::from(row.modulus)) as i64;
            let (matrix, offset) = (vec![member.gamma.clone()], vec![offset]);
            let piece = Piece { when: Formula::everything(), buffer: 0, matrix, offset };
            arrays.push(ArrayMapping { array: member.array, pieces: vec![piece] });
        }
        let buffer = problem.buffer_for(row.members[0].array, vec![row.modulus], self.id());
        Ok(StorageMapping { buffers: vec![buffer], arrays })
    }
}

/// What may share a buffer: element type and sharing among threads; to be alive together, number of indices and fast
/// one.
fn kinds(problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Vec<Vec<ArrayId>> {
    type Kind = (Element, Sharing, usize, usize);
    let mut kinds: Vec<(Kind, Vec<ArrayId>)> = Vec::new();
    for &array in arrays {
        let body = problem.model.kernel.array(array);
        let kind = (body.element, problem.sharing(array), body.index.len(), problem.fast_dimension(array));
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, members)) => members.push(array),
            None => kinds.push((kind, vec![array])),
        }
    }
    kinds.into_iter().map(|(_, members)| members).collect()
}

/// Takes the rows one after the other and puts each to the first of those before with which it takes fewer cells than
/// alone.
fn merged_while_smaller(differences: &Differences<'_, '_, '_, '_>, rows: Vec<Row>) -> Result<Vec<Row>, MappingError> {
    let mut merged: Vec<Row> = Vec::new();
    'rows: for row in rows {
        for known in &mut merged {
            let members: Vec<ArrayId> = known.members.iter().chain(&row.members).map(|member| member.array).collect();
            let apart = known.modulus.saturating_add(row.modulus);
            if let Some(both) = best_row(differences, &members)?.filter(|both| both.modulus < apart) {
                *known = both;
                continue 'rows;
            }
        }
        merged.push(row);
    }
    Ok(merged)
}

/// `gamma . i + offset` at the lower corner of the indices that have bounds.
fn corner(problem: &Problem<'_, '_, '_>, member: &Member) -> Result<i128, MappingError> {
    let spans = problem.spans(member.array)?;
    let bounded = member.gamma.iter().zip(&spans).filter_map(|(&g, span)| Some((g, span.ends()?.0)));
    let corner: i128 = bounded.map(|(g, min)| i128::from(g) * i128::from(min)).sum();
    Ok(corner + i128::from(member.offset))
}
