//! What the suite `strips` measures: kernels at sizes that lie in a cache or in memory, each beside the C loop that
//! does the same.

use std::collections::BTreeMap;

use crease_kernels::lbm::Lattice;
use serde::{Deserialize, Serialize};

use crate::layouts::Layout;

/// Where the data of a subject lie while it is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkingSet {
    /// At most 32 KiB.
    L1,
    /// At most 1 MiB.
    L2,
    /// Several times the largest last-level caches in use, or as much as one of them at least.
    Dram,
}

impl WorkingSet {
    /// As records call it.
    pub fn name(self) -> &'static str {
        match self {
            WorkingSet::L1 => "l1",
            WorkingSet::L2 => "l2",
            WorkingSet::Dram => "dram",
        }
    }
}

/// A kernel at a size, one of our layouts, and the C loop it competes with: the same algorithm, storage alike unless
/// the subject is what less storage gains.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) kernel: &'static str,
    pub(super) element: &'static str,
    /// Size parameters in the kernel's order.
    pub(super) sizes: &'static [i64],
    /// The same for a quick check of the answers: awkward, no multiple of a vector.
    pub(super) tiny: &'static [i64],
    pub(super) working_set: WorkingSet,
    pub(super) schedule: &'static str,
    pub(super) layout: Layout,
    pub(super) reference: &'static str,
    /// The lattice, if data as simple as a fluid at rest are wanted: others take minutes for large boxes.
    pub(super) lattice: Option<Lattice>,
    /// The rate that is aimed for, over that of the C loop.
    pub(super) ratio_aim: Option<f64>,
    /// The share of the bandwidth limit that is aimed for.
    pub(super) share_aim: Option<f64>,
}

impl Subject {
    /// Whether it competes with this C loop.
    pub(super) fn is_beside(&self, layout: &str) -> bool {
        layout == self.reference
    }

    /// Whether a quick check of both would do the same twice.
    pub(super) fn is_as_tiny(&self, other: &Subject) -> bool {
        let same = |s: &Subject| (s.kernel, s.tiny, s.layout, s.reference);
        same(self) == same(other)
    }

    /// The last of its sizes, which is that of a row.
    pub(super) fn row_length(&self, params: &BTreeMap<String, i64>) -> i64 {
        ["NX", "N"].into_iter().find_map(|name| params.get(name)).copied().unwrap_or_default()
    }
}

const fn cached(kernel: &'static str, working_set: WorkingSet, sizes: &'static [i64], tiny: &'static [i64]) -> Subject {
    Subject {
        kernel,
        element: "f64",
        sizes,
        tiny,
        working_set,
        schedule: "rows",
        layout: Layout::Folded,
        reference: "c-aa",
        lattice: None,
        ratio_aim: Some(1.0),
        share_aim: None,
    }
}

/// Both a grid in place and two grids: a square, or rows of a grid with few of them.
const fn heat(kernel: &'static str, working_set: WorkingSet, sizes: &'static [i64], ratio_aim: f64) -> [Subject; 2] {
    let tiny: &[i64] = if sizes.len() == 1 { &[21] } else { &[4, 21] };
    let folded = cached(kernel, working_set, sizes, tiny);
    let two = cached(kernel, working_set, sizes, tiny);
    let (ratio_aim, layout) = (Some(ratio_aim), Layout::SuccessiveModulo);
    [
        Subject { reference: "c-in-place", ratio_aim, ..folded },
        Subject { reference: "c-naive", layout, ratio_aim, ..two },
    ]
}

const fn plane(working_set: WorkingSet, sizes: &'static [i64], ratio_aim: f64) -> Subject {
    Subject { ratio_aim: Some(ratio_aim), ..cached("lbm-d2q9-box", working_set, sizes, &[4, 21]) }
}

const fn space(working_set: WorkingSet, sizes: &'static [i64], ratio_aim: f64) -> Subject {
    Subject { ratio_aim: Some(ratio_aim), ..cached("lbm-d3q27-box", working_set, sizes, &[3, 3, 21]) }
}

/// One lattice beside two, and beside the AA pattern written by hand.
const fn lattice(lattice: Lattice, kernel: &'static str, n: &'static [i64], share_aim: f64) -> [Subject; 2] {
    let (two, one) = (cached(kernel, WorkingSet::Dram, n, &[11]), cached(kernel, WorkingSet::Dram, n, &[11]));
    let (lattice, share_aim) = (Some(lattice), Some(share_aim));
    [
        Subject { reference: "c-two-lattices", ratio_aim: Some(1.6), lattice, share_aim, ..two },
        Subject { lattice, share_aim, ..one },
    ]
}

const fn image(kernel: &'static str, element: &'static str, n: &'static [i64]) -> Subject {
    Subject { element, reference: "c-rows", ..cached(kernel, WorkingSet::Dram, n, &[37]) }
}

/// In cache, rows of whole vectors, then rows of 253 sites. Of D3Q27 the first level holds nine rows of ten sites.
static CACHED: [Subject; 14] = {
    use WorkingSet::{L1, L2};
    let (square, rows) = ("heat-2d-5pt", "heat-2d-box");
    let [l1, l1_two] = heat(rows, L1, &[6, 258], 1.0);
    let [short, short_two] = heat(square, L1, &[58], 1.0);
    let [l2, l2_two] = heat(square, L2, &[250], 1.0);
    let [rest, rest_two] = heat(rows, L1, &[6, 253], 1.2);
    [
        l1,
        l1_two,
        short,
        short_two,
        l2,
        l2_two,
        rest,
        rest_two,
        plane(L1, &[3, 130], 1.0),
        plane(L2, &[6, 1026], 1.0),
        plane(L2, &[6, 253], 1.2),
        space(L1, &[3, 3, 10], 1.0),
        space(L2, &[3, 3, 258], 1.0),
        space(L2, &[3, 3, 253], 1.2),
    ]
};

static LATTICES: [[Subject; 2]; 3] = [
    lattice(Lattice::D2Q9, "lbm-d2q9-periodic", &[1024], 0.95),
    lattice(Lattice::D3Q19, "lbm-d3q19-periodic", &[200], 0.85),
    lattice(Lattice::D3Q27, "lbm-d3q27-periodic", &[200], 0.80),
];

static IMAGES: [Subject; 6] = [
    image("blur-interleaved-f32", "f32", &[8192]),
    image("blur-interleaved", "f64", &[8192]),
    image("unsharp-mask-f32", "f32", &[4096]),
    image("unsharp-mask", "f64", &[4096]),
    image("harris-f32", "f32", &[8192]),
    image("harris", "f64", &[8192]),
];

/// Every subject, those of a cache first.
pub(super) fn subjects() -> impl Iterator<Item = &'static Subject> {
    CACHED.iter().chain(LATTICES.iter().flatten()).chain(&IMAGES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue_entry;
    use crate::cloops::sources;

    #[test]
    fn subjects_name_kernels_schedules_and_loops_that_exist() {
        for subject in subjects() {
            let entry = catalogue_entry(subject.kernel).unwrap();
            assert!(entry.kernel().unwrap().schedule(subject.schedule).is_some(), "{subject:?}");
            let source = sources().iter().find(|source| source.kernel == subject.kernel).unwrap();
            assert!(source.layouts.contains(&subject.reference), "{subject:?}");
            assert_eq!([subject.sizes.len(), subject.tiny.len()], [entry.default.sizes.len(); 2], "{subject:?}");
        }
    }
}
