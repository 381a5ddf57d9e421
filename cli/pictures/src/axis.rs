//! Axes: values to positions, and the round numbers between.

/// How values become lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// From 0 to `most`.
    Linear { most: f64 },
    /// From `least` to `most`, of any sign.
    Between { least: f64, most: f64 },
    /// From `least` to `most`, both positive.
    Logarithmic { least: f64, most: f64 },
}

impl Scale {
    /// The share of the axis up to `value`, from 0 to 1; values outside are moved to its ends.
    pub(crate) fn share(self, value: f64) -> f64 {
        let share = match self {
            Scale::Linear { most } => value / most,
            Scale::Between { least, most } => (value - least) / (most - least),
            Scale::Logarithmic { least, most } => (value / least).ln() / (most / least).ln(),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Round values on the axis, ascending.
    pub(crate) fn ticks(self) -> Vec<f64> {
        match self {
            Scale::Linear { most } => {
                let step = round_step(most / 4.0);
                (0..=8).map(|k| f64::from(k) * step).filter(|&tick| tick <= most * 1.000_001).collect()
            }
            Scale::Between { least, most } => {
                let step = round_step((most - least) / 5.0);
                let first = (least / step - 1e-6).ceil();
                let ticks = (0..=12).map(|k| (first + f64::from(k)) * step);
                ticks
                    .map(|tick| if tick == 0.0 { 0.0 } else { tick })
                    .filter(|&tick| tick <= most + 1e-6 * step)
                    .collect()
            }
            Scale::Logarithmic { least, most } => {
                let decades = (least.log10().floor() as i32)..=(most.log10().ceil() as i32);
                let many = most / least > 1000.0;
                let steps: &[f64] = if many { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let ticks = decades.flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)));
                ticks.filter(|&tick| tick >= least * 0.999_999 && tick <= most * 1.000_001).collect()
            }
        }
    }
}

/// The nearest of 1, 2, 5 times a power of ten that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    if !(rough > 0.0 && rough.is_finite()) {
        return 1.0;
    }
    let decade = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * decade >= rough * 0.999_999);
    factor.unwrap_or(10.0) * decade
}

/// A number with the digits that matter: `0.5`, `20`, `1.25`.
pub(crate) fn plain(value: f64) -> String {
    let text = if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Scale::Linear { most: 393.0 }.ticks(), [0.0, 100.0, 200.0, 300.0]);
        assert_eq!(Scale::Between { least: -0.3, most: 0.8 }.ticks(), [0.0, 0.5]);
        assert_eq!(Scale::Between { least: -2.0, most: 3.0 }.ticks(), [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(Scale::Logarithmic { least: 0.5, most: 22.0 }.ticks(), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
    }

    #[test]
    fn shares_are_of_logarithms_and_stay_on_the_axis() {
        let scale = Scale::Logarithmic { least: 1.0, most: 100.0 };
        assert_eq!([0.1, 1.0, 10.0, 100.0, 1e9].map(|v| scale.share(v)), [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(Scale::Linear { most: 0.0 }.share(0.0), 0.0);
    }

    #[test]
    fn numbers_drop_idle_zeros() {
        assert_eq!([0.5, 20.0, 1.25, 1500.0, 0.0].map(plain), ["0.5", "20", "1.25", "1500", "0"]);
    }
}
