//! What is timed: programs of the publications in their orders, with the storage that each of them compares.
//!
//! Table II has nine programs. Where a publication's mapping needs an order that runs on one thread, it stands beside
//! the same order with parallel rows. Where it is made for tiles that no schedule here has, there is no such row, and
//! the subject says why.

use crate::layouts::{AUTOMATIC, Layout};
use crate::paper::published::{Execution, execution};

/// How rows with a published mapping are called.
pub(crate) const PAPER_FOLD: Layout = Layout::Given("paper-fold");

/// One program at one size.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// Its name in the publication.
    pub(crate) name: &'static str,
    /// The kernel that computes it.
    pub(crate) kernel: &'static str,
    /// Size parameters.
    pub(crate) sizes: Vec<(&'static str, i64)>,
    /// Steps of the publication, which seconds are told for; none for a kernel that runs once.
    pub(crate) steps: Option<u64>,
    /// Steps of each call that is timed, if those of the publication take too long.
    pub(crate) timed_steps: Option<u64>,
    /// Steps that are compared with the naive loops.
    pub(crate) check_steps: i64,
    /// What is compared: schedule, layout, rules of its storage.
    pub(crate) ways: Vec<(&'static str, Layout, String)>,
    /// Steps that full storage holds.
    pub(crate) full_steps: u64,
    /// C loops that are left out: what does not fit beside the others, or is of no interest.
    pub(crate) left_out: &'static [&'static str],
    /// Another kernel for the same work, which its automatic schedule and further C loops are of: it takes as many
    /// steps as the size `T` says, or runs once as well.
    pub(crate) beside: Option<&'static str>,
    /// Only on one thread.
    pub(crate) single: bool,
    /// What the publication measured.
    pub(crate) published: Option<Execution>,
    /// What differs from the publication.
    pub(crate) remark: &'static str,
}

/// A kernel at one size of all its parameters, without anything to compare.
fn subject(name: &'static str, kernel: &'static str, sizes: Vec<(&'static str, i64)>) -> Subject {
    Subject {
        name,
        kernel,
        sizes,
        steps: None,
        timed_steps: None,
        check_steps: 1,
        ways: Vec::new(),
        full_steps: 1,
        left_out: &[],
        beside: None,
        single: false,
        published: None,
        remark: "",
    }
}

impl Subject {
    /// Successive modulo and the fold that is chosen, under this schedule.
    fn both(mut self, schedule: &'static str) -> Subject {
        self.ways.push((schedule, Layout::SuccessiveModulo, String::new()));
        self.ways.push((schedule, Layout::Folded, String::new()));
        self
    }

    /// The published mapping under this schedule, in front of the fold.
    fn paper(mut self, schedule: &'static str, mapping: impl Into<String>) -> Subject {
        let before_folded = self.ways.len().saturating_sub(1);
        self.ways.insert(before_folded, (schedule, PAPER_FOLD, mapping.into()));
        self
    }

    /// The schedule and the storage that are found.
    fn found(mut self) -> Subject {
        self.ways.push((AUTOMATIC, Layout::Folded, String::new()));
        self
    }

    fn steps(self, steps: u64, check_steps: i64) -> Subject {
        Subject { steps: Some(steps), check_steps, ..self }
    }
}

/// The nine programs of Table II.
pub(crate) fn table_two(short: bool) -> Vec<Subject> {
    let at = |full: i64, brief: i64| vec![("N", if short { brief } else { full })];
    let image = |full: i64| at(full, 1024);
    let blur = subject("blur-interleaved", "blur-interleaved-f32", image(8192)).both("sequential");
    let blur = blur.paper("sequential", "blurx[y, x] -> [(2x - y) mod (2N + 1)]").both("rows").found();
    let tiled = subject("blur-tiled", "blur-tiled-f32", image(8192)).both("tiles");
    let tiled = tiled.paper("tiles", "blurx[x, y] -> [(y - 2x) mod (3 * 512)]").found();
    let unsharp = subject("unsharp-mask-tiled", "unsharp-mask-tiled-f32", image(4096)).both("tiles");
    let unsharp = unsharp.paper("tiles", "blurx[c, x, y] -> [(y - 4x) mod (5 * 512)]").found();
    let harris = subject("harris-corner-tiled", "harris-f32", image(8192)).both("rows overlapped(y 512)").found();
    let diamond = vec![("N", if short { 1024 } else { 8192 }), ("T", if short { 1024 } else { 8192 })];
    let diamond = subject("diamond-tile", "heat-1d-tiles", diamond).both("tiles");
    let diamond = diamond.paper("tiles", "local[a, b, s, r] -> [(s - 3r) mod 770]").both("rows");
    let line = subject("stencil-1d-pllgm-tile", "heat-1d", at(8192, 1024)).both("rows parallelogram(t 8, x 8)").found();
    // All steps of a cube take minutes with each storage.
    let cube_steps = (!short).then_some(16);
    vec![
        Subject { published: Some(execution(1.280, 1.815, 1.50)), ..blur },
        Subject {
            published: Some(execution(0.046, 0.033, 170.8)),
            remark: "the mapping counts the border that a tile leaves to the next one: 3B cells, not 3B - 2",
            ..tiled
        },
        Subject {
            published: Some(execution(0.674, 0.602, 102.6)),
            remark: "the mapping counts the border that a tile leaves to the next one: 5B cells, not 5B - 4",
            ..unsharp
        },
        Subject {
            published: Some(execution(0.716, 0.604, 21.56)),
            remark: "the publication does not print its program; this is Harris row by row in tiles of 512 rows at \
                     once, so that its mapping does not apply and successive modulo needs three rows",
            ..harris
        },
        lattice("LBM-D2Q9", "lbm-d2q9-cavity", 9, &["y", "x"], at(1024, 256), if short { 64 } else { 500 })
            .published(execution(14.93, 18.11, 2.0)),
        Subject {
            timed_steps: cube_steps,
            ..lattice("LBM-D3Q19", "lbm-d3q19-cavity", 19, &["z", "y", "x"], at(200, 48), if short { 32 } else { 100 })
                .published(execution(79.21, 83.62, 2.0))
        },
        Subject {
            timed_steps: cube_steps,
            // Two lattices in C do not fit beside all that competes.
            left_out: if short { &[] } else { &["c-two-lattices"] },
            ..lattice("LBM-D3Q27", "lbm-d3q27-cavity", 27, &["z", "y", "x"], at(200, 48), if short { 32 } else { 100 })
                .published(execution(113.8, 132.1, 2.0))
        },
        Subject {
            beside: Some("heat-1d"),
            left_out: &["c-parallelograms"],
            published: Some(execution(1.489, 1.506, 85.44)),
            remark: "tiles with arrays of their own; borders from below are copied into a tile and alive in it, so that \
                     the hyperplane needs 6B + 2 cells, with B = 128 half the width",
            ..diamond
        },
        Subject {
            published: Some(execution(1.584, 1.617, 2.91)),
            remark: "the line is one array here, in the same tiles; the tile's own array, of 22 cells, is in Table I",
            ..line.steps(if short { 1024 } else { 8192 }, 131)
        },
    ]
}

impl Subject {
    fn published(self, execution: Execution) -> Subject {
        Subject { published: Some(execution), ..self }
    }
}

/// A cavity: rows in parallel, and the published mapping of each population in the same order on one thread.
fn lattice(
    name: &'static str,
    kernel: &'static str,
    populations: usize,
    axes: &[&str],
    sizes: Vec<(&'static str, i64)>,
    steps: u64,
) -> Subject {
    let (index, outer, inner) = (axes.join(", "), axes[0], axes[1..].join(", "));
    let rule = |q| format!("f{q}[t, {index}] -> [({outer} - 2t) mod (N + 2), {inner}]");
    let rules: Vec<String> = (0..populations).map(rule).collect();
    let remark = "populations are arrays of their own, with the published mapping for each; its order has no parallel \
                  rows, which would overtake each other in it";
    let subject = subject(name, kernel, sizes).both("rows").paper("rows_sequential", rules.join("\n")).found();
    Subject { remark, ..subject.steps(steps, 3) }
}

/// Those of Table II that a part is about.
pub(crate) fn of_part(part: &str, short: bool) -> Vec<Subject> {
    let belongs = |name: &str| match part {
        "table-2-d2q9" => name == "LBM-D2Q9",
        "table-2-d3q19" => name == "LBM-D3Q19",
        "table-2-d3q27" => name == "LBM-D3Q27",
        "table-2-lines" => matches!(name, "diamond-tile" | "stencil-1d-pllgm-tile"),
        _ => !name.starts_with("LBM") && !matches!(name, "diamond-tile" | "stencil-1d-pllgm-tile"),
    };
    table_two(short).into_iter().filter(|subject| belongs(subject.name)).collect()
}

/// The five programs of Bee+Cl@k's Figure 4, with full and contracted storage.
pub(crate) fn figure_three(short: bool) -> Vec<Subject> {
    let program = |name: &'static str, kernel: &'static str, full: &[(&'static str, i64)]| {
        let entry = crease_kernels::find(kernel).expect("the catalogue has the five programs");
        let sizes = if short { entry.default.sizes.to_vec() } else { full.to_vec() };
        let mut program = subject(name, kernel, sizes);
        program.ways.push(("rows", Layout::Full, String::new()));
        let mut program = program.both("rows");
        for published in entry.published {
            program = program.paper(published.schedule, published.mapping);
        }
        Subject { single: true, ..program }
    };
    vec![
        program("durbin.c", "durbin", &[("N", 2000)]),
        program("reg_detect.c", "reg-detect", &[("N", 512), ("P", 64)]),
        program("dynprog.c", "dynprog", &[("N", 200)]),
        program("gauss.c", "gauss", &[("N", 1024), ("M", 1024)]),
        program("mot_detect_kern.c", "mot-detect", &[("M", 1000)]),
    ]
}

/// Domains from the first-level cache to main memory.
pub(crate) fn domain_sizes(short: bool) -> Vec<Subject> {
    let sides: &[i64] = if short { &[32, 128, 512] } else { &[32, 64, 128, 256, 512, 1024, 2048, 4096] };
    let at = |name: &'static str, kernel: &'static str| {
        sides.iter().map(move |&n| Subject {
            check_steps: 5,
            single: true,
            left_out: &["c-naive", "c-in-place", "c-diamond", "c-registers"],
            ..subject(name, kernel, vec![("N", n)]).both("rows").found()
        })
    };
    at("LBM-D2Q9", "lbm-d2q9-cavity").chain(at("heat-2d", "heat-2d-5pt")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue_entry;

    #[test]
    fn subjects_name_kernels_with_their_schedules_and_sizes() {
        for short in [false, true] {
            for subject in [table_two(short), figure_three(short), domain_sizes(short)].concat() {
                let kernel = catalogue_entry(subject.kernel).unwrap().kernel().unwrap();
                for (schedule, ..) in &subject.ways {
                    let first = schedule.split(' ').next().unwrap();
                    assert!(first == AUTOMATIC || kernel.schedule(first).is_some(), "{}: {schedule}", subject.name);
                }
                for (name, _) in &subject.sizes {
                    assert!(kernel.params().iter().any(|param| param.name == *name), "{}: {name}", subject.name);
                }
            }
        }
    }
}
