//! Successive modulo: one modulus per array dimension, the usual baseline (`t mod 2`: two lattices).
//!
//! In: the difference set.   Out: `A[i] -> [i_0 mod e_0, i_1 mod e_1, ..]`.   Source: Lefebvre and Feautrier (1998).
//!
//! `e_k` is one more than the largest difference along `k` of two conflicting cells that agree in the dimensions before
//! `k`: pairs that differ earlier are kept apart already.

use crate::kernel::formula::Formula;
use crate::kernel::graph::ArrayId;
use crate::mapping::full::identity;
use crate::mapping::{ArrayMapping, MappingError, Piece, Problem, Proposal, Strategy};

/// Lefebvre and Feautrier's mapping.
pub(crate) struct SuccessiveModulo;

impl Strategy for SuccessiveModulo {
    fn name(&self) -> &'static str {
        "successive-modulo"
    }

    fn propose(&self, problem: &Problem<'_, '_, '_>, arrays: &[ArrayId]) -> Result<Vec<Proposal>, MappingError> {
        let mut proposal = Proposal { buffers: Vec::new(), arrays: Vec::new() };
        for &array in arrays {
            let moduli = moduli(problem, array)?;
            let spans = problem.spans(array)?;
            // Move the lower corner of the index space to cell 0, so that dimensions kept whole need no wrap.
            let offset = spans.iter().map(|s| s.min.map_or(0, |min| -min)).collect();
            let piece = Piece {
                when: Formula::everything(),
                buffer: proposal.buffers.len(),
                matrix: identity(moduli.len()),
                offset,
            };
            proposal.buffers.push(problem.buffer_for(array, moduli, self.name()));
            proposal.arrays.push(ArrayMapping { array, pieces: vec![piece] });
        }
        Ok(vec![proposal])
    }
}

fn moduli(problem: &Problem<'_, '_, '_>, array: ArrayId) -> Result<Vec<i64>, MappingError> {
    let body = problem.model.kernel.array(array);
    let mut differences = problem.conflicts.differences(array)?.project_out_params()?;
    let mut moduli = Vec::new();
    for dim in 0..body.index.len() {
        if differences.is_empty()? {
            moduli.push(1);
            continue;
        }
        let largest = differences.dim_max(dim)?.ok_or_else(|| MappingError::UnboundedModulus {
            array: body.name.clone(),
            dim,
            index: body.index[dim].clone(),
        })?;
        moduli.push(largest + 1);
        differences = differences.fix_dim(dim, 0)?;
    }
    Ok(moduli)
}
