//! What publications found, array by array.

use crease::Kernel;
use crease::kernel::KernelError;

use super::stencils;
use crate::bee;

/// A kernel of a publication.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its name there.
    pub name: &'static str,
    /// The publication.
    pub source: &'static str,
    /// Its definition.
    pub definition: Definition,
    /// Its size parameters.
    pub params: &'static [&'static str],
    /// Sizes worth looking at, small and large, in the order of the parameters.
    pub sizes: &'static [&'static [i64]],
    /// Its folded arrays.
    pub arrays: &'static [FoldedArray],
}

/// An array of an [`Example`]; numbers of cells are functions of the size parameters.
#[derive(Clone, Copy, Debug)]
pub struct FoldedArray {
    /// Its name in the kernel.
    pub name: &'static str,
    /// Cells of the published mapping.
    pub published: Cells,
    /// Seconds the publication reports, on the machine of its time.
    pub published_seconds: Option<f64>,
    /// Cells of the smallest mapping known, found by exhaustive search at small sizes and tested at larger ones
    /// (`engine/tests/golden/`).
    pub best: Cells,
}

/// What makes a kernel.
pub type Definition = fn() -> Result<Kernel, KernelError>;

/// Numbers of cells at values of the size parameters.
pub type Cells = fn(&[i64]) -> i64;

/// Seconds are those for lifetimes and optimum together, the sum of the columns DS and OPT.
const BEE: &str = "Alias, Baray and Darte (2007), Figure 3";
const SMO: &str = "Bhaskaracharya, Bondhugula and Cohen (2016), Table I";

/// Lines and tiles: sizes where everything can be counted, and sizes in use.
const FLAT: &[&[i64]] = &[&[8], &[64], &[512]];
const PLANE: &[&[i64]] = &[&[8], &[64], &[512]];
const SPACE: &[&[i64]] = &[&[8], &[64], &[200]];

/// Every example, in the order of the publications.
pub fn examples() -> &'static [Example] {
    EXAMPLES
}

const fn smo(
    name: &'static str,
    definition: Definition,
    params: &'static [&'static str],
    sizes: &'static [&'static [i64]],
    arrays: &'static [FoldedArray],
) -> Example {
    Example { name, source: SMO, definition, params, sizes, arrays }
}

const fn bee(
    name: &'static str,
    definition: Definition,
    params: &'static [&'static str],
    sizes: &'static [&'static [i64]],
    arrays: &'static [FoldedArray],
) -> Example {
    Example { name, source: BEE, definition, params, sizes, arrays }
}

/// An array of which one value is alive at a time.
const fn scalar(name: &'static str, seconds: f64) -> FoldedArray {
    array(name, |_| 1, seconds, |_| 1)
}

const fn array(name: &'static str, published: Cells, seconds: f64, best: Cells) -> FoldedArray {
    FoldedArray { name, published, published_seconds: Some(seconds), best }
}

static EXAMPLES: &[Example] = &[
    smo(
        "produce-consume",
        stencils::produce_consume,
        &["N"],
        FLAT,
        &[array("A", |p| 2 * p[0] - 1, 0.17, |p| 2 * p[0] - 1)],
    ),
    smo(
        "blur-interleaved",
        stencils::blur_interleaved,
        &["N"],
        FLAT,
        &[array("blurx", |p| 2 * p[0] + 1, 0.14, |p| 2 * p[0] + 1)],
    ),
    smo(
        "blur-tiled",
        || stencils::window("blur_tiled", "A", 3),
        &["B"],
        FLAT,
        &[array("A", |p| 3 * p[0] - 2, 0.11, |p| 3 * p[0] - 2)],
    ),
    smo(
        "harris-corner-tiled",
        || stencils::window("harris_corner_tiled", "sobel", 3),
        &["B"],
        FLAT,
        &[array("sobel", |p| 3 * p[0] - 2, 0.12, |p| 3 * p[0] - 2)],
    ),
    smo(
        "unsharp-mask-tiled",
        || stencils::window("unsharp_mask_tiled", "A", 5),
        &["B"],
        &[&[16], &[64], &[512]],
        &[array("A", |p| 5 * p[0] - 4, 0.82, |p| 5 * p[0] - 4)],
    ),
    smo(
        "LBM-D2Q9",
        || stencils::nodes("lbm_d2q9_nodes", &["i", "j"], |_| true),
        &["N"],
        PLANE,
        &[array("A", |p| (p[0] + 2) * p[0], 0.61, |p| p[0] * p[0] + p[0] + 1)],
    ),
    smo(
        "LBM-D3Q19",
        || stencils::nodes("lbm_d3q19_nodes", &["i", "j", "k"], |link| link.contains(&0)),
        &["N"],
        SPACE,
        &[array("A", |p| (p[0] + 2) * p[0] * p[0], 3.32, |p| p[0] * p[0] * p[0] + p[0] * p[0] + p[0])],
    ),
    smo(
        "LBM-D3Q27",
        || stencils::nodes("lbm_d3q27_nodes", &["i", "j", "k"], |_| true),
        &["N"],
        SPACE,
        &[array("A", |p| (p[0] + 2) * p[0] * p[0], 3.33, |p| p[0] * p[0] * p[0] + p[0] * p[0] + p[0] + 1)],
    ),
    smo(
        "diamond-tile",
        || stencils::tile("diamond_tile", stencils::diamond),
        &["B"],
        FLAT,
        &[array("A", |p| 6 * p[0] - 5, 0.44, |p| 4 * p[0] - 4)],
    ),
    smo(
        "stencil-1d-pllgm-tile",
        || stencils::tile("stencil_1d_pllgm_tile", stencils::parallelogram),
        &["B"],
        FLAT,
        &[array("A", |p| 3 * p[0] - 2, 0.29, |p| 3 * p[0] - 2)],
    ),
    smo(
        "stencil-1d-hex-tile",
        || stencils::tile("stencil_1d_hex_tile", stencils::hexagon),
        &["B"],
        FLAT,
        &[array("A", |p| 9 * p[0] - 8, 1.15, |p| 6 * p[0] - 6)],
    ),
    bee(
        "durbin",
        bee::durbin::ENTRY.definition,
        &["N"],
        &[&[20], &[100]],
        &[
            scalar("alpha", 0.4),
            scalar("beta", 0.102),
            scalar("sum", 0.503),
            array("y", |p| 2 * p[0] - 3, 18.8, |p| 2 * p[0] - 3),
        ],
    ),
    bee(
        "reg-detect",
        bee::reg_detect::ENTRY.definition,
        &["N", "P"],
        &[&[6, 4], &[6, 64]],
        &[
            array("sum_t", |_| 27, 0.3, |_| 27),
            array("mean", |_| 27, 0.37, |_| 27),
            FoldedArray { published_seconds: None, ..array("diff", |p| 27 * p[1], 0.0, |p| 27 * p[1]) },
            scalar("sum_d", 0.704),
        ],
    ),
    bee(
        "dynprog",
        bee::dynprog::ENTRY.definition,
        &["N"],
        &[&[10]],
        &[array("c", |_| 61, 1.1, |_| 61), scalar("sum_c", 6.104)],
    ),
    bee(
        "gauss",
        bee::gauss::ENTRY.definition,
        &["N", "M"],
        &[&[8, 7], &[50, 50]],
        &[
            scalar("g_acc1", 0.71),
            scalar("g_acc2", 0.907),
            array("g_tmp", |p| (p[0] - 2) * p[1], 2760.0, |p| (p[0] - 2) * p[1]),
        ],
    ),
    bee(
        "mot-detect",
        bee::mot_detect::ENTRY.definition,
        &["M"],
        &[&[32]],
        &[array("Delta", |_| 10, 4.2, |_| 1), scalar("ODelta", 0.402)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crease::Objective;

    #[test]
    fn every_example_is_a_kernel_with_its_arrays() {
        for example in examples() {
            let kernel = (example.definition)().unwrap_or_else(|e| panic!("{}: {e}", example.name));
            for array in example.arrays {
                assert!(kernel.arrays().iter().any(|a| a.name == array.name), "{}", example.name);
                for sizes in example.sizes {
                    assert_eq!(sizes.len(), example.params.len());
                    assert!((array.best)(sizes) <= (array.published)(sizes), "{}", example.name);
                }
            }
        }
    }

    #[test]
    fn the_smallest_size_known_is_found() {
        for example in examples().iter().filter(|example| !example.name.contains("D3")) {
            let kernel = (example.definition)().unwrap();
            let sizes = example.params.iter().zip(example.sizes[0]);
            let few = kernel.plan().objective(Objective::Footprint);
            let plan = sizes.fold(few, |plan, (name, &size)| plan.size(name, size)).build().unwrap();
            // Arrays may share buffers.
            let cells: u64 = plan.report().buffers.iter().map(|buffer| buffer.cells).sum();
            let best: i64 = example.arrays.iter().map(|array| (array.best)(example.sizes[0])).sum();
            assert!(cells as i64 <= best, "{}: {cells} cells, {best} are known to do", example.name);
        }
    }
}
