//! What users are told of a plan's storage at other sizes; serialises like the plan's report.
//!
//! `{"params":[..],"condition":..,"arrays":[{"name","mappings":[..],"notes":[..]}]}`; later versions only add fields.

use serde::Serialize;

use crate::parametric::Polynomial;

/// Storage of all folded arrays as formulas of the sizes.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct ParametricReport {
    /// Names of the size parameters; polynomials take their values in this order.
    pub params: Vec<String>,
    /// Folded arrays.
    pub arrays: Vec<ParametricArray>,
}

/// A folded array.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct ParametricArray {
    /// Its name.
    pub name: String,
    /// What is known of it, the plan's own mapping first if it follows a formula.
    pub mappings: Vec<ParametricMapping>,
    /// Why some mapping is missing.
    pub notes: Vec<String>,
}

/// A mapping at many sizes.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct ParametricMapping {
    /// The strategy it is an answer of.
    pub strategy: String,
    /// Where the formulas come from.
    pub source: Source,
    /// Where the array's cells are kept.
    pub pieces: Vec<ParametricPiece>,
    /// At which sizes the formulas hold, as far as is known.
    pub condition: String,
    /// How it is known.
    pub evidence: Evidence,
}

/// Where formulas come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The plan's mapping: formulas through it and the mappings of a few other sizes.
    Plan,
    /// The analysis with sizes as symbols. At given sizes there may be something smaller.
    Symbols,
}

/// How it is known that no two live values share a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Evidence {
    /// Proved at all sizes that meet the condition.
    ProvedForAllSizes,
    /// The formulas run through the mappings found at these sizes, each of which was proved at its size. Nothing is
    /// known of others.
    Fitted {
        /// The sizes, `N = 16`.
        sizes: Vec<String>,
        /// Why there is no proof for all.
        why: String,
    },
}

/// A part of an array: cell `i` is kept at `(matrix i + offset) mod moduli`, component-wise.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[non_exhaustive]
pub struct ParametricPiece {
    /// The condition on the indices.
    pub when: String,
    /// The buffer's name.
    pub buffer: String,
    /// One row per coordinate, one column per index.
    pub matrix: Vec<Vec<Polynomial>>,
    /// One entry per coordinate.
    pub offset: Vec<Polynomial>,
    /// One modulus per coordinate.
    pub moduli: Vec<Polynomial>,
    /// The same as a rule that reads back, `A[t, i] -> A[(-t + i) mod (2N - 1)]`.
    pub formula: String,
}

impl ParametricMapping {
    /// Cells of the buffer that holds the array at these sizes, in the order of [`ParametricReport::params`]; none if
    /// the number leaves 127 bits, or if the array has pieces in several buffers.
    pub fn cells(&self, sizes: &[i64]) -> Option<i128> {
        let first = self.pieces.first().filter(|first| self.pieces.iter().all(|piece| piece.buffer == first.buffer))?;
        first.moduli.iter().try_fold(1_i128, |product, modulus| product.checked_mul(modulus.value(sizes)?))
    }

    /// How it is known and where it holds, `proved for all sizes with N >= 3`.
    pub fn standing(&self) -> String {
        match &self.evidence {
            Evidence::ProvedForAllSizes if self.condition == "true" => "proved for all sizes".to_string(),
            Evidence::ProvedForAllSizes => format!("proved for all sizes with {}", self.condition),
            Evidence::Fitted { sizes, why } => {
                format!("fitted to {}, proved there only: {why}", sizes.join("; "))
            }
        }
    }
}

impl ParametricPiece {
    /// A piece with its formula written out.
    pub(crate) fn new(
        array: (&str, &[String]),
        when: (String, bool),
        buffer: &str,
        rows: (Vec<Vec<Polynomial>>, Vec<Polynomial>, Vec<Polynomial>),
    ) -> ParametricPiece {
        let ((name, index), (when, is_everything), (matrix, offset, moduli)) = (array, when, rows);
        let coordinate = |k: usize| {
            let sum = linear(&matrix[k], index, &offset[k]);
            let sum = if sum.contains([' ', '-']) { format!("({sum})") } else { sum };
            let modulus = bracketed(&moduli[k]);
            format!("{sum} mod {modulus}")
        };
        let coordinates = (0..moduli.len()).map(coordinate).collect::<Vec<_>>().join(", ");
        let condition = if is_everything { String::new() } else { format!("  if {when}") };
        let formula = format!("{name}[{}] -> {buffer}[{coordinates}]{condition}", index.join(", "));
        ParametricPiece { when, buffer: buffer.to_string(), matrix, offset, moduli, formula }
    }
}

fn bracketed(polynomial: &Polynomial) -> String {
    let text = polynomial.to_string();
    let is_plain = text.bytes().all(|b| b.is_ascii_digit()) || polynomial.params().contains(&text);
    if is_plain { text } else { format!("({text})") }
}

/// `-N*t + (N + 1)*y + 2 x + 2`.
fn linear(coefficients: &[Polynomial], names: &[String], offset: &Polynomial) -> String {
    let mut text = String::new();
    let mut push = |factor: &Polynomial, name: &str| {
        let is_negative = factor.terms().next().is_some_and(|(_, c)| c < 0) && factor.terms().count() == 1;
        let magnitude = if is_negative { factor.scaled(-1).unwrap_or_else(|| factor.clone()) } else { factor.clone() };
        let factor = match magnitude.as_constant() {
            Some(1) => String::new(),
            Some(number) => format!("{number} "),
            None if magnitude.is_sum() => format!("({magnitude})*"),
            None => format!("{magnitude}*"),
        };
        text.push_str(match (text.is_empty(), is_negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        });
        text.push_str(&factor);
        text.push_str(name);
    };
    coefficients.iter().zip(names).filter(|(c, _)| !c.is_zero()).for_each(|(c, name)| push(c, name));
    if !offset.is_zero() {
        let is_negative = offset.terms().all(|(_, c)| c < 0);
        let magnitude = if is_negative { offset.scaled(-1).unwrap_or_else(|| offset.clone()) } else { offset.clone() };
        text.push_str(match (text.is_empty(), is_negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        });
        text.push_str(&if is_negative && magnitude.is_sum() {
            format!("({magnitude})")
        } else {
            magnitude.to_string()
        });
    }
    if text.is_empty() { "0".to_string() } else { text }
}
