//! The collision with many relaxation times of D3Q19, in the arithmetic of its text.
//!
//! In: what arrives at a cell.   Out: what leaves it.
//!
//! Opposite populations enter even moments by their sum and odd ones by their difference; of these, those along axes
//! and those in planes are combined first, and moments go back the same way. `mrt` compares with the product of
//! matrices.

use crate::real::Real;

/// Rates of relaxation.
pub(super) struct SpaceRates<R> {
    pub(super) omega: R,
    pub(super) energy: R,
    pub(super) square: R,
    pub(super) flux: R,
    pub(super) product: R,
    pub(super) third: R,
}

impl<R: Real> SpaceRates<R> {
    /// The populations that leave.
    pub(super) fn leaving(&self, g: &[R]) -> Vec<R> {
        let number = R::of;
        let fused = |factor: f64, a: R, b: R| number(factor).fma(a, b);
        let s: [R; 9] = std::array::from_fn(|p| g[2 * p + 1] + g[2 * p + 2]);
        let d: [R; 9] = std::array::from_fn(|p| g[2 * p + 1] - g[2 * p + 2]);
        let axes = s[0] + s[1] + s[2];
        let [yx, zx, zy] = [s[4] + s[3], s[7] + s[6], s[8] + s[5]];
        let planes = yx + zx + zy;
        let [x_in, y_in, z_in] = [[d[4] - d[3], d[7] - d[6]], [d[8] - d[5], d[4] + d[3]], [d[7] + d[6], d[8] + d[5]]];
        let momentum = |axis: usize, pair: [R; 2]| d[axis] + (pair[0] + pair[1]);
        let (jx, jy, jz) = (momentum(0, x_in), momentum(1, y_in), momentum(2, z_in));
        let rho = g[0] + axes + planes;
        let inverse = number(1.0) / rho;
        let [ux, uy, uz] = [jx, jy, jz].map(|j| j * inverse);
        let (xx, yy) = (jx * ux, jy * uy);
        let square = jz.fma(uz, xx + yy);
        let (stretch, turn) = (fused(3.0, xx, -square), (-jz).fma(uz, yy));

        let share = |rate: R, norm: f64| rate / number(norm);
        let energy = share(self.energy, 126.0) * (g[0] + square - planes);
        let out_of_square = fused(-5.5, square, fused(-9.0, g[0], fused(2.0, planes, number(7.0) * axes)));
        let fourth = share(self.square, 252.0) * out_of_square;
        let flux = |d: R, j: R| share(self.flux, 8.0) * number(-1.0 / 3.0).fma(j, d);
        let (flux_x, flux_y, flux_z) = (flux(d[0], jx), flux(d[1], jy), flux(d[2], jz));
        let (long, wide) = (fused(3.0, s[0], -axes), fused(-3.0, zy, planes));
        let stretch_2 = share(self.omega, 36.0) * (stretch - (long + wide));
        let stretch_4 = share(self.product, 72.0) * fused(-0.5, stretch, fused(2.0, long, -wide));
        let (across, between) = (s[1] - s[2], yx - zx);
        let turn_2 = share(self.omega, 12.0) * (turn - (across + between));
        let turn_4 = share(self.product, 24.0) * fused(-0.5, turn, fused(2.0, across, -between));
        let shear = [jy.fma(ux, -(s[4] - s[3])), jz.fma(uy, -(s[8] - s[5])), jz.fma(ux, -(s[7] - s[6]))];

        let on_axes = fused(-11.0, energy, number(-4.0) * fourth);
        let in_planes = fused(8.0, energy, fourth);
        let (axis, turned) = (fused(-2.0, stretch_4, stretch_2), fused(-2.0, turn_4, turn_2));
        let (in_stretch, in_turn) = (stretch_2 + stretch_4, turn_2 + turn_4);
        let plane = in_planes + in_stretch;
        let (plane_yx, plane_zx, plane_zy) = (plane + in_turn, plane - in_turn, fused(-2.0, in_stretch, in_planes));
        let rate = share(self.omega, 4.0);
        let sheared = |plane: R, shear: R| [(-rate).fma(shear, plane), rate.fma(shear, plane)];
        let (even_yx, even_zy, even_zx) =
            (sheared(plane_yx, shear[0]), sheared(plane_zy, shear[1]), sheared(plane_zx, shear[2]));
        let third = share(self.third, 8.0);
        let split = |flux: R, pair: [R; 2]| [third.fma(pair[1] - pair[0], flux), (-third).fma(pair[1] - pair[0], flux)];
        let ([x_yx, x_zx], [y_zy, y_yx], [z_zx, z_zy]) =
            (split(flux_x, x_in), split(flux_y, y_in), split(flux_z, z_in));

        let even_axes = [fused(2.0, axis, on_axes), on_axes - axis + turned, on_axes - axis - turned];
        let mut leaving = vec![g[0] + fused(-30.0, energy, number(12.0) * fourth)];
        for (p, (even, flux)) in even_axes.into_iter().zip([flux_x, flux_y, flux_z]).enumerate() {
            leaving.extend([g[2 * p + 1] + fused(-4.0, flux, even), g[2 * p + 2] + fused(4.0, flux, even)]);
        }
        let in_planes = [
            (even_yx[0], y_yx - x_yx),
            (even_yx[1], y_yx + x_yx),
            (even_zy[0], z_zy - y_zy),
            (even_zx[0], z_zx - x_zx),
            (even_zx[1], z_zx + x_zx),
            (even_zy[1], z_zy + y_zy),
        ];
        for (p, (even, odd)) in in_planes.into_iter().enumerate() {
            leaving.extend([g[2 * p + 7] + (even + odd), g[2 * p + 8] + (even - odd)]);
        }
        leaving
    }
}
