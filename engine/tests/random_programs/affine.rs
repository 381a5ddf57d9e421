//! Affine expressions of the iterators and `N`, as text and with their bounds over the cube.

pub(crate) const ITERS: [&str; 3] = ["i", "j", "k"];

/// `coefficients . iterators + n * N + constant`.
#[derive(Clone)]
pub(crate) struct Affine {
    pub(crate) coefficients: Vec<i64>,
    pub(crate) n: i64,
    pub(crate) constant: i64,
}

/// A map from the cube, one expression per dimension.
pub(crate) type Map = Vec<Affine>;

impl Affine {
    pub(crate) fn new(dims: usize, n: i64, constant: i64) -> Affine {
        Affine { coefficients: vec![0; dims], n, constant }
    }

    pub(crate) fn plus(mut self, dim: usize, factor: i64) -> Affine {
        self.coefficients[dim] += factor;
        self
    }

    /// The expression with each iterator replaced.
    pub(crate) fn at(&self, point: &Map) -> Affine {
        let mut sum = Affine::new(self.coefficients.len(), self.n, self.constant);
        for (factor, inner) in self.coefficients.iter().zip(point) {
            sum.n += factor * inner.n;
            sum.constant += factor * inner.constant;
            for (total, c) in sum.coefficients.iter_mut().zip(&inner.coefficients) {
                *total += factor * c;
            }
        }
        sum
    }

    /// Smallest and largest value over the cube.
    pub(crate) fn bounds(&self) -> (Affine, Affine) {
        let end = |keep: fn(i64) -> i64| {
            let reach: i64 = self.coefficients.iter().map(|&c| keep(c)).sum();
            Affine::new(self.coefficients.len(), self.n + reach, self.constant - reach)
        };
        (end(|c| c.min(0)), end(|c| c.max(0)))
    }
}

impl std::fmt::Display for Affine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let terms = self.coefficients.iter().copied().zip(ITERS).chain([(self.n, "N")]).filter(|(c, _)| *c != 0);
        let mut text: String = terms.map(|(c, name)| format!(" {} {}*{name}", sign(c), c.abs())).collect();
        if self.constant != 0 || text.is_empty() {
            text.push_str(&format!(" {} {}", sign(self.constant), self.constant.abs()));
        }
        let text = text.replace(" 1*", " ");
        f.write_str(text.strip_prefix(" + ").map_or_else(|| text.replacen(" - ", "-", 1), str::to_string).as_str())
    }
}

fn sign(value: i64) -> &'static str {
    if value < 0 { "-" } else { "+" }
}

pub(crate) fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The text with an iterator replaced by an expression.
pub(crate) fn substitute(text: &str, iter: &str, by: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_name) {
        let end = rest[start..].find(|c| !is_name(c)).map_or(rest.len(), |length| start + length);
        result.push_str(&rest[..start]);
        result.push_str(if &rest[start..end] == iter { by } else { &rest[start..end] });
        rest = &rest[end..];
    }
    result + rest
}
