//! Mappings that the analysis gives with sizes as symbols.
//!
//! In: the differences of conflicting cells, with size parameters.   Out: [`Formulas`] with constant coefficients and
//! moduli that are affine in the sizes. Sources: Bhaskaracharya, Bondhugula and Cohen (2016), whose hyperplanes are
//! parametric; Lefebvre and Feautrier (1998).
//!
//! The largest difference along a dimension is piecewise affine in the sizes. What is given here is the narrowest
//! affine bound of it, found as that of a hyperplane is: for one dimension there is one hyperplane.

use std::sync::Arc;

use crease_isl::Set;

use crate::kernel::formula::Formula;
use crate::kernel::graph::{ArrayId, Kernel, Role};
use crate::parametric::Polynomial;
use crate::parametric::formulas::{FormulaArray, FormulaBuffer, FormulaPiece, Formulas};
use crate::storage::strategies::baseline::hyperplane::{Bounded, SearchError, find_hyperplanes};
use crate::storage::strategies::successive_modulo::USUAL_STEPS;
use crate::storage::{Sharing, StrategyId};

/// An array and the differences of its conflicting cells; their parameters are `params`.
pub(super) struct Differences<'a, 'c> {
    pub(super) kernel: &'a Kernel,
    pub(super) array: ArrayId,
    pub(super) sharing: Sharing,
    pub(super) set: Set<'c>,
    pub(super) params: &'a Arc<[String]>,
}

/// A row `gamma . i mod modulus`.
type Row = (Vec<i64>, Polynomial);

impl Differences<'_, '_> {
    /// Storage hyperplanes.
    pub(super) fn hyperplanes(&self) -> Result<Formulas, SearchError> {
        let rows = find_hyperplanes(&self.set)?;
        let mut rows = rows.iter().map(|row| self.row(row)).collect::<Result<Vec<Row>, SearchError>>()?;
        if rows.is_empty() {
            rows.push((vec![0; self.n_dims()], Polynomial::constant(self.params, 1)));
        }
        Ok(self.formulas(rows, StrategyId::Hyperplane))
    }

    /// One modulus per index, in the order of the indices.
    pub(super) fn successive_modulo(&self) -> Result<Formulas, SearchError> {
        let mut set = self.set.reset_tuple_id()?;
        let mut rows = Vec::new();
        for dim in 0..self.n_dims() {
            let along = set.project_out(dim + 1, self.n_dims() - dim - 1)?.project_out(0, dim)?;
            let largest = match along.is_empty()? {
                true => None,
                // Differences of 0 along this dimension are left to the next ones.
                false => find_hyperplanes(&along)?.first().map(|row| self.row(row)).transpose()?,
            };
            let one = Polynomial::constant(self.params, 1);
            let mut modulus = largest.map_or(one, |(_, modulus)| modulus);
            let is_step = dim == 0 && self.kernel.array(self.array).role == Role::State;
            if is_step && modulus.as_constant().is_some_and(|m| m < USUAL_STEPS.into()) {
                modulus = Polynomial::constant(self.params, USUAL_STEPS.into());
            }
            rows.push(((0..self.n_dims()).map(|k| i64::from(k == dim)).collect(), modulus));
            set = set.fix_dim(dim, 0)?;
        }
        Ok(self.formulas(rows, StrategyId::SuccessiveModulo))
    }

    fn n_dims(&self) -> usize {
        self.kernel.array(self.array).index.len()
    }

    /// A hyperplane with its largest difference plus 1 as the modulus.
    fn row(&self, row: &Bounded) -> Result<Row, SearchError> {
        let names = self.set.param_names()?;
        let slope_of = |param: &String| names.iter().position(|n| n == param).map_or(0, |k| row.slope[k]);
        let slope: Vec<i64> = self.params.iter().map(slope_of).collect();
        let constant = row.constant.checked_add(1).ok_or(SearchError::TooHard("a modulus leaves 63 bits"))?;
        Ok((row.gamma.clone(), Polynomial::affine(self.params, &slope, constant)))
    }

    fn formulas(&self, rows: Vec<Row>, strategy: StrategyId) -> Formulas {
        let constant = |&c: &i64| Polynomial::constant(self.params, c.into());
        let offset = rows.iter().map(|_| Polynomial::constant(self.params, 0)).collect();
        let (gammas, moduli): (Vec<Vec<i64>>, Vec<Polynomial>) = rows.into_iter().unzip();
        let matrix = gammas.iter().map(|gamma| gamma.iter().map(constant).collect()).collect();
        let piece = FormulaPiece { when: Formula::everything(), buffer: 0, place: Some((matrix, offset)) };
        let name = self.kernel.array(self.array).name.clone();
        let buffer = FormulaBuffer { name, strategy, sharing: self.sharing, moduli: Some(moduli) };
        Formulas { buffers: vec![buffer], arrays: vec![FormulaArray { array: self.array, pieces: vec![piece] }] }
    }
}
