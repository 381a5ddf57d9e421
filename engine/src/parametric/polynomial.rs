//! Polynomials of size parameters with integer coefficients: what coefficients and moduli of parametric mappings are.
//!
//! They print in the notation of given mappings, `N*N + 2N - 1`, so that a formula reads back.
//! All arithmetic is checked; where it would overflow, there is no result.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A polynomial of named parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polynomial {
    params: Arc<[String]>,
    /// Per monomial, given by the exponents of all parameters, a coefficient that is not zero.
    terms: BTreeMap<Vec<u32>, i128>,
}

impl Polynomial {
    /// A constant.
    pub(crate) fn constant(params: &Arc<[String]>, value: i128) -> Polynomial {
        let zero = Polynomial { params: Arc::clone(params), terms: BTreeMap::new() };
        zero.with_term(vec![0; params.len()], value)
    }

    /// A parameter.
    pub(crate) fn param(params: &Arc<[String]>, position: usize) -> Polynomial {
        let exponents = (0..params.len()).map(|k| u32::from(k == position)).collect();
        Polynomial { params: Arc::clone(params), terms: BTreeMap::from([(exponents, 1)]) }
    }

    /// `slope . params + constant`.
    pub(crate) fn affine(params: &Arc<[String]>, slope: &[i64], constant: i64) -> Polynomial {
        let linear = slope.iter().enumerate().map(|(k, &c)| {
            ((0..params.len()).map(|position| u32::from(position == k)).collect::<Vec<_>>(), i128::from(c))
        });
        let all = linear.chain([(vec![0; params.len()], i128::from(constant))]);
        let terms = all.filter(|(_, c)| *c != 0).collect();
        Polynomial { params: Arc::clone(params), terms }
    }

    fn with_term(mut self, exponents: Vec<u32>, value: i128) -> Polynomial {
        match value {
            0 => self.terms.remove(&exponents),
            _ => self.terms.insert(exponents, value),
        };
        self
    }

    /// The names of the parameters.
    pub(crate) fn params(&self) -> &Arc<[String]> {
        &self.params
    }

    /// Monomials and their coefficients.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&[u32], i128)> {
        self.terms.iter().map(|(exponents, c)| (exponents.as_slice(), *c))
    }

    /// Whether it is zero for all parameters.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value, if it does not depend on the parameters.
    pub fn as_constant(&self) -> Option<i128> {
        match self.degree() {
            0 => Some(self.terms.values().next().copied().unwrap_or(0)),
            _ => None,
        }
    }

    /// The largest sum of exponents; 0 of a constant.
    pub fn degree(&self) -> u32 {
        self.terms.keys().map(|exponents| exponents.iter().sum()).max().unwrap_or(0)
    }

    /// Its value where the parameters are `values`, in the order of their names; none if it leaves 127 bits.
    pub fn value(&self, values: &[i64]) -> Option<i128> {
        self.terms.iter().try_fold(0_i128, |sum, (exponents, &c)| {
            let power = |product: i128, (&n, &e): (&i64, &u32)| product.checked_mul(i128::from(n).checked_pow(e)?);
            sum.checked_add(values.iter().zip(exponents).try_fold(c, power)?)
        })
    }

    /// The sum; none on overflow.
    pub(crate) fn plus(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (exponents, c) in &other.terms {
            let known = sum.terms.get(exponents).copied().unwrap_or(0);
            sum = sum.with_term(exponents.clone(), known.checked_add(*c)?);
        }
        Some(sum)
    }

    /// The product; none on overflow.
    pub(crate) fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::constant(&self.params, 0);
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let exponents: Vec<u32> = a.iter().zip(b).map(|(a, b)| a + b).collect();
                let known = product.terms.get(&exponents).copied().unwrap_or(0);
                product = product.with_term(exponents, known.checked_add(x.checked_mul(*y)?)?);
            }
        }
        Some(product)
    }

    /// Its multiple; none on overflow.
    pub(crate) fn scaled(&self, factor: i128) -> Option<Polynomial> {
        self.times(&Polynomial::constant(&self.params, factor))
    }

    /// All its coefficients divided by a number; none if one is no multiple of it.
    pub(crate) fn divided(&self, by: i128) -> Option<Polynomial> {
        let divide = |(exponents, c): (&Vec<u32>, &i128)| (c % by == 0).then(|| (exponents.clone(), c / by));
        let terms = self.terms.iter().map(divide).collect::<Option<_>>()?;
        Some(Polynomial { params: Arc::clone(&self.params), terms })
    }

    /// The quotient and the rest of a division by one parameter: no monomial of the rest has it.
    pub(crate) fn divided_by_param(&self, position: usize) -> (Polynomial, Polynomial) {
        let zero = Polynomial::constant(&self.params, 0);
        self.terms.iter().fold((zero.clone(), zero), |(quotient, rest), (exponents, &c)| {
            let mut lower = exponents.clone();
            match lower[position].checked_sub(1) {
                Some(exponent) => {
                    lower[position] = exponent;
                    (quotient.with_term(lower, c), rest)
                }
                None => (quotient, rest.with_term(lower, c)),
            }
        })
    }

    /// The same with each parameter replaced by itself plus a number; none on overflow.
    pub(crate) fn shifted(&self, by: &[i64]) -> Option<Polynomial> {
        let mut sum = Polynomial::constant(&self.params, 0);
        for (exponents, &c) in &self.terms {
            let mut product = Polynomial::constant(&self.params, c);
            for (position, &exponent) in exponents.iter().enumerate() {
                let offset = Polynomial::constant(&self.params, i128::from(by[position]));
                let factor = Polynomial::param(&self.params, position).plus(&offset)?;
                for _ in 0..exponent {
                    product = product.times(&factor)?;
                }
            }
            sum = sum.plus(&product)?;
        }
        Some(sum)
    }

    /// Whether it is positive at all parameters that are at least `from`. An answer of no may be wrong: it is known
    /// where no coefficient is negative when the parameters are counted from there.
    pub(crate) fn is_positive_from(&self, from: &[i64]) -> bool {
        let Some(moved) = self.shifted(from) else { return false };
        let constant = moved.terms.get(&vec![0; self.params.len()]).copied().unwrap_or(0);
        constant > 0 && moved.terms.values().all(|c| *c > 0)
    }

    /// Whether it prints as several terms, or with a sign: then it wants brackets.
    pub(crate) fn is_sum(&self) -> bool {
        self.terms.len() > 1 || self.terms.values().any(|c| *c < 0)
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        let mut terms: Vec<(&Vec<u32>, i128)> = self.terms.iter().map(|(e, c)| (e, *c)).collect();
        // Highest degree first; of one degree, the first parameter first.
        terms.sort_by_key(|(exponents, _)| std::cmp::Reverse((exponents.iter().sum::<u32>(), (*exponents).clone())));
        for (position, (exponents, c)) in terms.into_iter().enumerate() {
            let sign = match (position, c < 0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let factors = exponents.iter().zip(self.params.iter()).flat_map(|(&e, p)| (0..e).map(move |_| p.as_str()));
            let monomial = factors.collect::<Vec<_>>().join("*");
            match (c.unsigned_abs(), monomial.is_empty()) {
                (1, false) => write!(f, "{sign}{monomial}")?,
                (c, false) => write!(f, "{sign}{c}{monomial}")?,
                (c, true) => write!(f, "{sign}{c}")?,
            }
        }
        Ok(())
    }
}

/// As its text.
impl serde::Serialize for Polynomial {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_print_highest_degree_first() {
        let params: Arc<[String]> = Arc::from(["H".to_string(), "W".to_string()]);
        let (h, w) = (Polynomial::param(&params, 0), Polynomial::param(&params, 1));
        let sum = h.times(&w).unwrap().plus(&Polynomial::affine(&params, &[-2, 1], -1)).unwrap();
        assert_eq!(sum.to_string(), "H*W - 2H + W - 1");
        assert_eq!(sum.value(&[3, 5]), Some(13));
        assert_eq!(w.times(&w).unwrap().to_string(), "W*W");
        assert_eq!(Polynomial::constant(&params, 0).to_string(), "0");
    }

    #[test]
    fn division_by_a_parameter_leaves_a_rest_without_it() {
        let params: Arc<[String]> = Arc::from(["N".to_string()]);
        let n = Polynomial::param(&params, 0);
        let sum = n.times(&n).unwrap().plus(&Polynomial::affine(&params, &[3], 2)).unwrap();
        let (quotient, rest) = sum.divided_by_param(0);
        assert_eq!((quotient.to_string(), rest.to_string()), ("N + 3".to_string(), "2".to_string()));
    }

    #[test]
    fn positive_is_said_only_where_it_is_known() {
        let params: Arc<[String]> = Arc::from(["N".to_string()]);
        let two_n_less_two = Polynomial::affine(&params, &[2], -2);
        assert!(!two_n_less_two.is_positive_from(&[1]));
        assert!(two_n_less_two.is_positive_from(&[2]));
        assert!(!Polynomial::affine(&params, &[-1], 100).is_positive_from(&[2]));
    }
}
