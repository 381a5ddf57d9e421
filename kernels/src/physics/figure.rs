//! Figures of checks: what was computed beside what is known, as curves or as maps.
//!
//! In: points, or a field.   Out: a [`Figure`], which `crease bench --suite physics` draws and keeps in its record.
//!
//! Curves are thinned and numbers rounded, as a picture shows no more of them. Figures of the same name are one: each
//! check of a flow adds its points.

use serde::{Deserialize, Serialize};

use crate::fields::Field;

/// Points of a curve that are kept.
const MOST_POINTS: usize = 72;
/// Cells of a map along a side.
const MOST_CELLS: usize = 64;

/// What was computed beside what is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Part of the name of its file: lower-case words with hyphens.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Where what is known comes from.
    pub source: String,
    /// What stands along the horizontal axis.
    pub across: Axis,
    /// And along the vertical one.
    pub up: Axis,
    /// Curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// Maps, side by side; a figure with maps has no curves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<Map>,
}

/// A quantity along an axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name, and what it is measured in.
    pub name: String,
    /// Whether equal distances are equal ratios.
    #[serde(default)]
    pub logarithmic: bool,
}

/// Where a curve comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A run.
    Computed,
    /// A publication, or theory.
    Known,
}

/// Points, joined by lines or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether lines join its points.
    pub joined: bool,
    /// Its points, across and up; in a record they are text, pairs between commas.
    #[serde(with = "pairs")]
    pub points: Vec<[f64; 2]>,
}

/// Where something is, in a plane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Map {
    /// Its title.
    pub name: String,
    /// Rows from above, `#` where it is and `.` where it is not.
    pub rows: Vec<String>,
}

impl Axis {
    /// Equal distances are equal differences.
    pub fn linear(name: &str) -> Axis {
        Axis { name: name.to_owned(), logarithmic: false }
    }

    /// Equal distances are equal ratios.
    pub fn logarithmic(name: &str) -> Axis {
        Axis { name: name.to_owned(), logarithmic: true }
    }
}

impl Figure {
    /// A figure without curves yet.
    pub fn new(name: &str, title: &str, source: &str, across: Axis, up: Axis) -> Figure {
        let (name, title, source) = (name.to_owned(), title.to_owned(), source.to_owned());
        Figure { name, title, source, across, up, curves: Vec::new(), maps: Vec::new() }
    }

    /// With a curve of a run.
    #[must_use]
    pub fn line(self, name: impl Into<String>, points: impl IntoIterator<Item = [f64; 2]>) -> Figure {
        self.with(name.into(), Origin::Computed, true, points)
    }

    /// With points of runs.
    #[must_use]
    pub fn points(self, name: impl Into<String>, points: impl IntoIterator<Item = [f64; 2]>) -> Figure {
        self.with(name.into(), Origin::Computed, false, points)
    }

    /// With a curve that is known.
    #[must_use]
    pub fn known_line(self, name: impl Into<String>, points: impl IntoIterator<Item = [f64; 2]>) -> Figure {
        self.with(name.into(), Origin::Known, true, points)
    }

    /// With points that are known.
    #[must_use]
    pub fn known_points(self, name: impl Into<String>, points: impl IntoIterator<Item = [f64; 2]>) -> Figure {
        self.with(name.into(), Origin::Known, false, points)
    }

    /// With a map of where a field of a plane is larger than a bound.
    #[must_use]
    pub fn map(mut self, name: impl Into<String>, field: &Field, bound: f64) -> Figure {
        let [height, width] = [field.shape()[0], field.shape()[1]];
        let every = height.max(width).div_ceil(MOST_CELLS);
        let row = |y: usize| (0..width).step_by(every).map(|x| if field[[y, x]] > bound { '#' } else { '.' }).collect();
        let rows = (0..height).rev().step_by(every).map(row).collect();
        self.maps.push(Map { name: name.into(), rows });
        self
    }

    fn with(
        mut self,
        name: String,
        origin: Origin,
        joined: bool,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) -> Figure {
        self.curves.push(Curve { name, origin, joined, points: thinned(points) });
        self
    }

    /// Figures of the same name as one, in the order in which they first come: of curves of the same name the points
    /// together, by what stands across.
    pub fn merged(figures: impl IntoIterator<Item = Figure>) -> Vec<Figure> {
        let mut all: Vec<Figure> = Vec::new();
        for figure in figures {
            let Some(same) = all.iter_mut().find(|same| same.name == figure.name) else {
                all.push(figure);
                continue;
            };
            same.maps.extend(figure.maps);
            for curve in figure.curves {
                match same.curves.iter_mut().find(|other| other.name == curve.name) {
                    Some(other) => {
                        other.points.extend(curve.points);
                        other.points.sort_by(|a, b| a[0].total_cmp(&b[0]));
                        other.points.dedup();
                    }
                    None => same.curves.push(curve),
                }
            }
        }
        all
    }
}

/// The first and the last point, and those between evenly by number; numbers that are none are left out.
fn thinned(points: impl IntoIterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let points: Vec<[f64; 2]> = points.into_iter().filter(|point| point.iter().all(|v| v.is_finite())).collect();
    let kept = points.len().min(MOST_POINTS);
    let place = |k: usize| if kept < 2 { 0 } else { k * (points.len() - 1) / (kept - 1) };
    (0..kept).map(|k| points[place(k)].map(rounded)).collect()
}

/// Five significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().expect("a number that was printed is read")
}

/// Points as text.
mod pairs {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(points: &[[f64; 2]], to: S) -> Result<S::Ok, S::Error> {
        let pairs: Vec<String> = points.iter().map(|[x, y]| format!("{x} {y}")).collect();
        to.serialize_str(&pairs.join(", "))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[f64; 2]>, D::Error> {
        let text = String::deserialize(from)?;
        let number = |word: Option<&str>| word.and_then(|word| word.parse::<f64>().ok());
        let pair = |pair: &str| {
            let mut words = pair.split_whitespace();
            let point = number(words.next()).zip(number(words.next())).map(|(x, y)| [x, y]);
            point.filter(|_| words.next().is_none()).ok_or_else(|| D::Error::custom(format!("`{pair}` is no point")))
        };
        text.split(',').filter(|pair| !pair.trim().is_empty()).map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        Figure::new("flow", "A flow", "somebody", Axis::linear("x"), Axis::logarithmic("y"))
    }

    #[test]
    fn figures_of_a_name_are_one() {
        let first = figure().points("runs", [[2.0, 1.0]]).known_line("theory", [[0.0, 1.0], [3.0, 1.0]]);
        let second = figure().points("runs", [[1.0, 0.5], [2.0, 1.0]]).line("other", [[0.0, f64::NAN], [1.0, 2.0]]);
        let other = Figure { name: "map".into(), ..figure() };
        let merged = Figure::merged([first, other, second]);
        assert_eq!(merged.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>(), ["flow", "map"]);
        let curves = &merged[0].curves;
        assert_eq!(curves.iter().map(|curve| curve.points.len()).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(curves[0].points, [[1.0, 0.5], [2.0, 1.0]]);
    }

    #[test]
    fn records_keep_few_digits_and_give_them_back() {
        let many = (0..1000).map(|i| [f64::from(i), (f64::from(i) / 7.0).exp()]);
        let figure = figure().line("many", many).map("cells", &Field::from_elem(vec![100, 50], 1.0), 0.5);
        let points = &figure.curves[0].points;
        assert_eq!((points.len(), points[0], points[71][0]), (MOST_POINTS, [0.0, 1.0], 999.0));
        assert_eq!((figure.maps[0].rows.len(), figure.maps[0].rows[0].len()), (50, 25));
        let text = serde_json::to_string(&figure).unwrap();
        assert!(text.len() < 5000, "{}", text.len());
        assert_eq!(serde_json::from_str::<Figure>(&text).unwrap(), figure);
        let broken = text.replace("\"points\":\"0 1,", "\"points\":\"0,");
        assert!(serde_json::from_str::<Figure>(&broken).is_err());
    }
}
