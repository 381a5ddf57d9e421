//! Cones by double description: from constraints to generators, one constraint at a time.
//!
//! In: homogeneous constraints `a . x >= 0` or `= 0`.   Out: the lines and extreme rays that generate the cone.
//! Source: Fukuda and Prodon, Double description method revisited (1996).
//!
//! Farkas' lemma in this form needs no multipliers: an affine form is not negative on a polyhedron if it is not
//! negative on the generators of its homogeneous cone, which are its vertices and rays. What is left are inequalities
//! in the coefficients of the form alone, the same that eliminating the multipliers by rational projection gives.
//!
//! Numbers are integers of 127 bits without common factor; where they would overflow, there is no answer.

use crease_polyhedra::matrix::dot;
use num_integer::gcd;

/// A polyhedral cone, known by its generators.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    lines: Vec<Vec<i128>>,
    rays: Vec<Ray>,
    /// Number of constraints that cut something off.
    cuts: usize,
}

#[derive(Clone, Debug)]
struct Ray {
    vector: Vec<i128>,
    /// Which of the cuts hold with equality, a bit each.
    tight: Vec<u64>,
}

impl Cone {
    /// The whole space of `n` dimensions.
    pub(crate) fn everything(n: usize) -> Cone {
        let unit = |k| (0..n).map(|column| i128::from(column == k)).collect();
        Cone { lines: (0..n).map(unit).collect(), rays: Vec::new(), cuts: 0 }
    }

    /// The directions that belong to the cone in both senses.
    pub(crate) fn lines(&self) -> &[Vec<i128>] {
        &self.lines
    }

    /// The extreme rays, up to lines.
    pub(crate) fn rays(&self) -> impl Iterator<Item = &[i128]> {
        self.rays.iter().map(|ray| ray.vector.as_slice())
    }

    /// Whether some point of the cone has `a . x > 0`.
    pub(crate) fn reaches(&self, a: &[i128]) -> Option<bool> {
        for line in &self.lines {
            if dot(a, line)? != 0 {
                return Some(true);
            }
        }
        for ray in &self.rays {
            if dot(a, &ray.vector)? > 0 {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Keeps the part with `a . x >= 0`, or `= 0`. None on overflow.
    pub(crate) fn cut(&mut self, a: &[i128], is_equality: bool) -> Option<()> {
        let values = self.lines.iter().map(|line| dot(a, line)).collect::<Option<Vec<_>>>()?;
        if let Some(position) = values.iter().position(|&value| value != 0) {
            return self.cut_lines(a, is_equality, position, &values);
        }
        let values = self.rays.iter().map(|ray| dot(a, &ray.vector)).collect::<Option<Vec<_>>>()?;
        if values.iter().all(|&value| value == 0 || (value > 0 && !is_equality)) {
            return Some(());
        }
        let mut between = Vec::new();
        for (p, &above) in values.iter().enumerate().filter(|(_, value)| **value > 0) {
            for (m, &below) in values.iter().enumerate().filter(|(_, value)| **value < 0) {
                if self.are_adjacent(p, m) {
                    let vector = combine(&self.rays[m].vector, above, &self.rays[p].vector, below.checked_neg()?)?;
                    between.push(Ray { vector, tight: self.common(p, m) });
                }
            }
        }
        let mut kept: Vec<Ray> = Vec::new();
        for (ray, value) in std::mem::take(&mut self.rays).into_iter().zip(values) {
            if value == 0 || (value > 0 && !is_equality) {
                kept.push(ray);
                let last = kept.len() - 1;
                if value == 0 {
                    kept[last].mark(self.cuts);
                }
            }
        }
        for mut ray in between {
            ray.mark(self.cuts);
            kept.push(ray);
        }
        self.rays = kept;
        self.cuts += 1;
        Some(())
    }

    /// A cut that meets a line: everything is moved along it into the plane `a . x = 0`, and of the line a half is
    /// left.
    fn cut_lines(&mut self, a: &[i128], is_equality: bool, position: usize, values: &[i128]) -> Option<()> {
        let mut pivot = self.lines.remove(position);
        let mut height = values[position];
        if height < 0 {
            pivot = pivot.iter().map(|x| x.checked_neg()).collect::<Option<_>>()?;
            height = height.checked_neg()?;
        }
        for line in &mut self.lines {
            *line = combine(line, height, &pivot, dot(a, line)?.checked_neg()?)?;
        }
        for ray in &mut self.rays {
            ray.vector = combine(&ray.vector, height, &pivot, dot(a, &ray.vector)?.checked_neg()?)?;
            ray.mark(self.cuts);
        }
        if !is_equality {
            let mut ray = Ray { vector: pivot, tight: Vec::new() };
            (0..self.cuts).for_each(|cut| ray.mark(cut));
            self.rays.push(ray);
        }
        self.cuts += 1;
        Some(())
    }

    /// Whether two rays span a face: no third one is on all cuts that both are on.
    fn are_adjacent(&self, p: usize, m: usize) -> bool {
        let common = self.common(p, m);
        !self.rays.iter().enumerate().any(|(other, ray)| other != p && other != m && ray.is_tight_at(&common))
    }

    fn common(&self, p: usize, m: usize) -> Vec<u64> {
        self.rays[p].tight.iter().zip(&self.rays[m].tight).map(|(a, b)| a & b).collect()
    }
}

impl Ray {
    fn mark(&mut self, cut: usize) {
        if self.tight.len() <= cut / 64 {
            self.tight.resize(cut / 64 + 1, 0);
        }
        self.tight[cut / 64] |= 1 << (cut % 64);
    }

    fn is_tight_at(&self, cuts: &[u64]) -> bool {
        cuts.iter().enumerate().all(|(word, bits)| bits & !self.tight.get(word).copied().unwrap_or(0) == 0)
    }
}

/// `f x + g y` without common factor.
fn combine(x: &[i128], f: i128, y: &[i128], g: i128) -> Option<Vec<i128>> {
    let sum = |(x, y): (&i128, &i128)| x.checked_mul(f)?.checked_add(y.checked_mul(g)?);
    let sums = x.iter().zip(y).map(sum).collect::<Option<Vec<_>>>()?;
    let factor = sums.iter().fold(0, |g, &c| gcd(g, c.unsigned_abs()));
    let factor = i128::try_from(factor).ok()?.max(1);
    Some(sums.into_iter().map(|c| c / factor).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(cone: &Cone) -> Vec<Vec<i128>> {
        let mut rays: Vec<Vec<i128>> = cone.rays().map(<[i128]>::to_vec).collect();
        rays.sort();
        rays
    }

    #[test]
    fn a_square_has_four_corners() {
        // h >= 0, 0 <= x, y <= 3h
        let mut cone = Cone::everything(3);
        for a in [[1, 0, 0], [0, 1, 0], [0, 0, 1], [3, -1, 0], [3, 0, -1]] {
            cone.cut(&a, false).unwrap();
        }
        assert!(cone.lines().is_empty());
        assert_eq!(sorted(&cone), [vec![1, 0, 0], vec![1, 0, 3], vec![1, 3, 0], vec![1, 3, 3]]);
    }

    #[test]
    fn an_equality_leaves_the_section() {
        let mut cone = Cone::everything(3);
        for a in [[1, 0, 0], [0, 1, 0], [0, 0, 1], [3, -1, 0], [3, 0, -1]] {
            cone.cut(&a, false).unwrap();
        }
        cone.cut(&[0, 1, -1], true).unwrap();
        assert_eq!(sorted(&cone), [vec![1, 0, 0], vec![1, 3, 3]]);
    }

    #[test]
    fn opposite_cuts_leave_nothing_positive() {
        let mut cone = Cone::everything(2);
        cone.cut(&[1, 0], false).unwrap();
        assert_eq!(cone.reaches(&[1, 0]), Some(true));
        cone.cut(&[-1, 0], false).unwrap();
        assert_eq!(cone.reaches(&[1, 0]), Some(false));
        assert_eq!(cone.reaches(&[0, 1]), Some(true));
    }

    #[test]
    fn overflow_is_no_answer() {
        let mut cone = Cone::everything(2);
        cone.cut(&[i128::MAX, 1], false).unwrap();
        assert_eq!(cone.cut(&[1, i128::MAX], false), None);
    }
}
