//! The unsharp mask in the tiles of the publication: the first blur across lines, the second along them, so that the
//! window of five lies along the contiguous index, and a tile leaves four columns to the next one.
//!
//! It is the mask of the catalogue with both axes exchanged; so are its data and its naive loops.
//!
//! Source: S. G. Bhaskaracharya, U. Bondhugula, A. Cohen (2016), Tables I and II, `unsharp-mask-tiled`.

use crease::Kernel;
use crease_kernels::image::unsharp_mask::F32;
use crease_kernels::{Entry, Fields, Preset};

/// Tiles of 512 by 512; those of one column of tiles are a task, one after the other.
const TEXT: &str = "kernel unsharp_mask_tiled(size N) for N >= 1 {
    scalar threshold: f32   scalar weight: f32
    input image[c, x, y]: f32 for 0 <= c <= 2 and 0 <= x, y < N + 4
    temp blurx[c, x, y]: f32 for 0 <= c <= 2 and 0 <= x < N and 0 <= y < N + 4
    output out[c, x, y]: f32 for 0 <= c <= 2 and 0 <= x, y < N
    P[c, x, y] for 0 <= c <= 2 and 0 <= x < N and 0 <= y < N + 4 {
      blurx[c, x, y] = fma(0.0625, image[c, x, y] + image[c, x+4, y],
        fma(0.25, image[c, x+1, y] + image[c, x+3, y], 0.375 * image[c, x+2, y])) }
    Q[c, x, y] for 0 <= c <= 2 and 0 <= x < N and 4 <= y < N + 4 {
      let blurred = fma(0.0625, blurx[c, x, y-4] + blurx[c, x, y],
        fma(0.25, blurx[c, x, y-3] + blurx[c, x, y-1], 0.375 * blurx[c, x, y-2]))
      let detail = image[c, x+2, y-2] - blurred
      out[c, x, y-4] = select(abs(detail) < threshold, image[c, x+2, y-2], fma(weight, detail, image[c, x+2, y-2])) }
    schedule tiles {
      P -> [c, floor(x/512) parallel, floor(y/512), x, 0, y vector(16)]
      Q -> [c, floor(x/512) parallel, floor(y/512), x, 1, y vector(16)] } }";

/// The entry, after the manner of the catalogue.
static ENTRY: Entry = Entry {
    name: "unsharp-mask-tiled-f32",
    summary: "unsharp mask of three colour planes in tiles of 512 by 512, f32",
    definition: || Kernel::parse(TEXT),
    tests: &[Preset { sizes: &[("N", 19)], steps: 0 }],
    benches: &[],
    initial: |case| Ok(exchanged((F32.initial)(case)?)),
    naive: |case, initial| Ok(exchanged((F32.naive)(case, &exchanged(initial.clone()))?)),
    ..F32
};

/// The entry of that name.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    (name == ENTRY.name).then_some(&ENTRY)
}

/// Planes with lines as rows.
fn exchanged(fields: Fields) -> Fields {
    let exchange = |field: crease_kernels::Field| field.permuted_axes(vec![0, 2, 1]).as_standard_layout().to_owned();
    fields.into_iter().map(|(name, field)| (name, exchange(field))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanging_twice_gives_the_same_image() {
        let case = ENTRY.case(&ENTRY.tests[0]);
        let image = (ENTRY.initial)(&case).unwrap();
        assert_eq!(exchanged(image.clone()), (F32.initial)(&case).unwrap());
        assert!((ENTRY.naive)(&case, &image).unwrap()["out"].shape() == [3, 19, 19]);
    }
}
