//! Envelopes: a convex part of a difference set in the plane of one dimension and a linear form, layer by layer.
//!
//! In: corners in the plane.   Out: between which integers the form's values lie in each layer, where the dimension is
//! an integer. Edges are kept in 63 bits; where they do not fit there is no envelope.
//!
//! Cost: corners are sorted once; a layer costs two divisions, if corners are rational.

/// A polygon, by the edges below and above it.
pub(super) struct Envelope {
    /// Lower edges and upper edges, from left to right.
    lower: Vec<Edge>,
    upper: Vec<Edge>,
    /// The first and the last layer.
    first: i64,
    last: i64,
}

/// Values `(slope * layer + constant) / denominator`, up to and with layer `last`.
struct Edge {
    slope: i64,
    constant: i64,
    denominator: i64,
    last: i64,
}

/// A point of the plane, `(along / denominator, value / denominator)`.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    pub(super) along: i128,
    pub(super) value: i128,
    pub(super) denominator: i128,
}

impl Envelope {
    /// The smallest one that holds these corners; none if there are none, or if numbers grow too large.
    pub(super) fn new(mut corners: Vec<Corner>) -> Option<Envelope> {
        let lower = chain(&mut corners)?;
        corners.iter_mut().for_each(|corner| corner.value = -corner.value);
        let mut upper = chain(&mut corners)?;
        for edge in &mut upper {
            (edge.slope, edge.constant) = (edge.slope.checked_neg()?, edge.constant.checked_neg()?);
        }
        // Corners are in ascending order by now.
        let first = corners.first().map(|c| -(-c.along).div_euclid(c.denominator))?;
        let last = lower.last()?.last;
        Some(Envelope { lower, upper, first: i64::try_from(first).ok()?, last })
    }

    /// Hands over the integers of each layer, from the first to the last; stops where `visit` returns none.
    pub(super) fn layers(&self, visit: &mut dyn FnMut((i64, i64)) -> Option<()>) -> Option<()> {
        let (mut lower, mut upper) = (self.lower.iter(), self.upper.iter());
        let (mut low, mut high) = (lower.next()?, upper.next()?);
        for layer in self.first..=self.last {
            while low.last < layer {
                low = lower.next()?;
            }
            while high.last < layer {
                high = upper.next()?;
            }
            visit((low.ceil(layer), high.floor(layer)))?;
        }
        Some(())
    }

    /// The integers of one layer; none if it lies outside.
    pub(super) fn layer(&self, layer: i64) -> Option<(i64, i64)> {
        let low = self.lower.iter().find(|edge| layer <= edge.last)?;
        let high = self.upper.iter().find(|edge| layer <= edge.last)?;
        (self.first <= layer).then(|| (low.ceil(layer), high.floor(layer)))
    }
}

impl Edge {
    fn floor(&self, layer: i64) -> i64 {
        let numerator = self.slope * layer + self.constant;
        if self.denominator == 1 { numerator } else { numerator.div_euclid(self.denominator) }
    }

    fn ceil(&self, layer: i64) -> i64 {
        let numerator = self.slope * layer + self.constant;
        if self.denominator == 1 { numerator } else { -(-numerator).div_euclid(self.denominator) }
    }
}

/// Edges of the lower hull of corners, which are put in ascending order; none if there are no corners or numbers grow
/// too large.
fn chain(corners: &mut [Corner]) -> Option<Vec<Edge>> {
    let mut fits = true;
    let mut product = |a: i128, b: i128| {
        a.checked_mul(b).unwrap_or_else(|| {
            fits = false;
            0
        })
    };
    corners.sort_by(|a, b| {
        let along = product(a.along, b.denominator).cmp(&product(b.along, a.denominator));
        along.then_with(|| product(a.value, b.denominator).cmp(&product(b.value, a.denominator)))
    });
    let mut hull: Vec<Corner> = Vec::new();
    for &corner in corners.iter() {
        while let [.., a, b] = hull[..] {
            // The middle one stays if the three turn left.
            let turn = determinant([a, b, corner])?;
            if turn > 0 {
                break;
            }
            hull.pop();
        }
        let above = |last: &Corner| product(last.along, corner.denominator) == product(corner.along, last.denominator);
        if hull.len() == 1 && hull.last().is_some_and(above) {
            continue;
        }
        hull.push(corner);
    }
    if !fits {
        return None;
    }
    let last_layer = |c: &Corner| i64::try_from(c.along.div_euclid(c.denominator)).ok();
    if let [only] = hull[..] {
        let (constant, denominator) = (i64::try_from(only.value).ok()?, i64::try_from(only.denominator).ok()?);
        return Some(vec![Edge { slope: 0, constant, denominator, last: last_layer(&only)? }]);
    }
    hull.windows(2).map(|pair| Edge::between(pair[0], pair[1], last_layer(&pair[1])?)).collect()
}

/// Positive if three corners, the first two of them to the left of the third, turn left.
fn determinant([a, b, c]: [Corner; 3]) -> Option<i128> {
    let minor = |p: Corner, q: Corner| p.along.checked_mul(q.value)?.checked_sub(q.along.checked_mul(p.value)?);
    let terms = [(a.denominator, minor(b, c)?), (-b.denominator, minor(a, c)?), (c.denominator, minor(a, b)?)];
    terms.into_iter().try_fold(0_i128, |sum, (d, minor)| sum.checked_add(d.checked_mul(minor)?))
}

impl Edge {
    /// None if a value on it could leave 63 bits.
    fn between(a: Corner, b: Corner, last: i64) -> Option<Edge> {
        let cross = |p: i128, q: i128, r: i128, s: i128| p.checked_mul(q)?.checked_sub(r.checked_mul(s)?);
        let slope = cross(b.value, a.denominator, a.value, b.denominator)?;
        let constant = cross(a.value, b.along, b.value, a.along)?;
        let denominator = cross(b.along, a.denominator, a.along, b.denominator)?;
        let reach = a.along.checked_abs()?.max(b.along.checked_abs()?);
        let largest = slope.checked_abs()?.checked_mul(reach)?.checked_add(constant.checked_abs()?)?;
        let narrow = |value: i128| i64::try_from(value).ok();
        narrow(largest)?;
        Some(Edge { slope: narrow(slope)?, constant: narrow(constant)?, denominator: narrow(denominator)?, last })
    }
}
