//! The strategy: storage hyperplanes at the sizes of a plan.
//!
//! In: the difference set of each array.   Out: one proposal, a coordinate `gamma . i mod (largest difference + 1)` per
//! hyperplane.   Source: Bhaskaracharya, Bondhugula and Cohen (2016), section 3.

use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::storage::options::StrategyId;
use crate::storage::problem::{Problem, Strategy};
use crate::storage::strategies::baseline::hyperplane::narrowest::Bounded;
use crate::storage::strategies::baseline::hyperplane::search::{SearchError, find_hyperplanes};
use crate::storage::{ArrayMapping, MappingError, Piece, StorageMapping};

/// Storage hyperplanes.
pub(crate) struct Hyperplane;

impl Strategy for Hyperplane {
    fn id(&self) -> StrategyId {
        StrategyId::Hyperplane
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<StorageMapping>, MappingError> {
        let mut proposal = StorageMapping::default();
        for &array in arrays {
            let rows = find_hyperplanes(&problem.conflicts.differences(array)?)
                .map_err(|error| mapping_error(problem, array, error))?;
            let (piece, moduli) = self.place(problem, array, &rows, proposal.buffers.len())?;
            proposal.buffers.push(problem.buffer_for(array, moduli, self.id()));
            proposal.arrays.push(ArrayMapping { array, pieces: vec![piece] });
        }
        Ok(vec![proposal])
    }
}

impl Hyperplane {
    /// Rows as a piece, with one modulus each; a single cell if there are none.
    fn place(
        &self,
        problem: &Problem<'_, '_, '_>,
        array: ArrayId,
        rows: &[Bounded],
        buffer: usize,
    ) -> Result<(Piece, Vec<i64>), MappingError> {
        let spans = problem.spans(array)?;
        let mut piece = Piece { when: Formula::everything(), buffer, matrix: Vec::new(), offset: Vec::new() };
        let mut moduli = Vec::new();
        for row in rows {
            let overflow = || self.not_applicable(problem, array, "a modulus leaves 63 bits");
            let modulus = row.constant.checked_add(1).ok_or_else(overflow)?;
            // Moves the corner of the bounded indices to cell 0.
            let corner: i128 = row
                .gamma
                .iter()
                .zip(&spans)
                .filter_map(|(&g, span)| Some(i128::from(g) * i128::from(span.ends()?.0)))
                .sum();
            piece.matrix.push(row.gamma.clone());
            piece.offset.push((-corner).rem_euclid(i128::from(modulus)) as i64);
            moduli.push(modulus);
        }
        if rows.is_empty() {
            piece.matrix.push(vec![0; spans.len()]);
            piece.offset.push(0);
            moduli.push(1);
        }
        Ok((piece, moduli))
    }

    fn not_applicable(&self, problem: &Problem<'_, '_, '_>, array: ArrayId, reason: &str) -> MappingError {
        let name = &problem.model.kernel.array(array).name;
        MappingError::NotApplicable { strategy: self.id().name(), reason: format!("`{name}`: {reason}") }
    }
}

fn mapping_error(problem: &Problem<'_, '_, '_>, array: ArrayId, error: SearchError) -> MappingError {
    let body = problem.model.kernel.array(array);
    match error {
        SearchError::Unbounded(dim) => {
            MappingError::UnboundedModulus { array: body.name.clone(), dim, index: body.index[dim].clone() }
        }
        SearchError::TooHard(reason) => Hyperplane.not_applicable(problem, array, reason),
        SearchError::Isl(error) => error.into(),
    }
}
