//! Every colour of every picture.
//!
//! Quantities get perceptually uniform maps (viridis) or, where they have a sign, a diverging one; layouts a few fixed
//! hues. Red is kept for what is wrong.

use std::fmt;

/// A colour, 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

pub(crate) const WHITE: Rgb = Rgb(255, 255, 255);
/// Text.
pub(crate) const INK: Rgb = Rgb(31, 41, 51);
/// Secondary text.
pub(crate) const MUTED: Rgb = Rgb(96, 108, 120);
/// Grid lines and frames.
pub(crate) const GRID: Rgb = Rgb(222, 227, 233);
/// Empty cells and obstacles.
pub(crate) const EMPTY: Rgb = Rgb(238, 240, 243);
pub(crate) const OBSTACLE: Rgb = Rgb(128, 128, 128);
/// What is wrong, and nothing else.
pub(crate) const WRONG: Rgb = Rgb(214, 31, 31);

const FULL: Rgb = Rgb(158, 170, 183);
const BASELINE: Rgb = Rgb(94, 140, 194);
const FOLDED: Rgb = Rgb(11, 122, 117);
const GIVEN: Rgb = Rgb(122, 94, 168);
const C_LOOP: Rgb = Rgb(217, 138, 45);

impl Rgb {
    /// `share` of the way to `other`.
    pub(crate) fn towards(self, other: Rgb, share: f64) -> Rgb {
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
        Rgb(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// Text on this ground: dark on light, light on dark.
    pub(crate) fn contrasting(self) -> Rgb {
        // Luma of ITU-R BT.601.
        let luma = 0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2);
        if luma > 140.0 { INK } else { WHITE }
    }
}

impl From<colorous::Color> for Rgb {
    fn from(colour: colorous::Color) -> Rgb {
        Rgb(colour.r, colour.g, colour.b)
    }
}

/// Viridis at `share`, from 0 to 1.
pub(crate) fn sequential(share: f64) -> Rgb {
    colorous::VIRIDIS.eval_continuous(share.clamp(0.0, 1.0)).into()
}

/// Blue below, white at and red above 0, for `share` from -1 to 1.
pub(crate) fn diverging(share: f64) -> Rgb {
    colorous::RED_BLUE.eval_continuous(0.5 - 0.5 * share.clamp(-1.0, 1.0)).into()
}

/// Item `number` of `count` in viridis, both ends a little inside of it.
pub(crate) fn ranked(number: usize, count: usize) -> Rgb {
    let last = count.saturating_sub(1).max(1) as f64;
    sequential(0.05 + 0.92 * number as f64 / last)
}

/// A place in a plane, both shares from 0 to 1: viridis along the second, paler along the first.
pub(crate) fn planar(first: f64, second: f64) -> Rgb {
    sequential(0.08 + 0.87 * second).towards(WHITE, 0.62 * first)
}

/// A layout's hue: one for C loops, one for each kind of our own storage.
pub(crate) fn layout(name: &str) -> Rgb {
    match name {
        "full" => FULL,
        "successive-modulo" => BASELINE,
        "folded" => FOLDED,
        _ if name.starts_with("c-") => C_LOOP,
        _ => GIVEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_their_known_ends() {
        assert_eq!(sequential(0.0), Rgb(68, 1, 84));
        assert_eq!(sequential(1.0), Rgb(253, 231, 37));
        let (below, zero, above) = (diverging(-1.0), diverging(0.0), diverging(1.0));
        assert!(below.2 > below.0 && above.0 > above.2 && zero.0.min(zero.1).min(zero.2) > 235);
        assert_eq!(sequential(f64::NAN.max(0.0)), sequential(0.0));
    }

    #[test]
    fn text_stands_out_from_its_ground() {
        assert_eq!((sequential(0.0).contrasting(), sequential(1.0).contrasting()), (WHITE, INK));
    }
}
