//! Suites: which kernels are measured, at which sizes, in which schedules.

/// A list of contests under one name.
#[derive(Debug)]
pub struct Suite {
    /// How the command line names it.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Seconds for all measurements together, on one and on all threads.
    pub seconds: f64,
    /// Measurements of each layout.
    pub rounds: u32,
    /// The contests.
    pub contests: &'static [Contest],
}

/// One kernel at one size: all its layouts and the C loops compete.
#[derive(Clone, Copy, Debug)]
pub struct Contest {
    /// Name in the catalogue.
    pub kernel: &'static str,
    /// Size parameters.
    pub sizes: &'static [(&'static str, i64)],
    /// Schedules, each with successive modulo and the folded mapping.
    pub schedules: &'static [&'static str],
    /// Steps that are compared with the naive loops before anything is timed; odd, so that every phase was live.
    pub check_steps: i64,
}

/// The sizes are those at which the peers' figures are known. One lattice of 1024^2 and one grid of 4096^2 leave every
/// last-level cache in use; the line of 1.6 million cells leaves the second level.
static QUICK: Suite = Suite {
    name: "quick",
    summary: "LBM and heat stencils at one size each, about a minute",
    seconds: 56.0,
    rounds: 7,
    contests: &[
        Contest { kernel: "lbm-d2q9-cavity", sizes: &[("N", 1024)], schedules: &["rows"], check_steps: 5 },
        Contest { kernel: "lbm-d2q9-periodic", sizes: &[("N", 1024)], schedules: &["rows"], check_steps: 5 },
        Contest { kernel: "heat-2d-5pt", sizes: &[("N", 4096)], schedules: &["rows"], check_steps: 5 },
        Contest { kernel: "heat-1d", sizes: &[("N", 1_600_000)], schedules: &["rows"], check_steps: 9 },
    ],
};

/// Awkward sizes too: nothing is divisible by a vector, rows are shorter than one.
static CHECK: Suite = Suite {
    name: "check",
    summary: "every path at tiny sizes, answers only; a second or two",
    seconds: 0.1,
    rounds: 1,
    contests: &[
        Contest { kernel: "lbm-d2q9-cavity", sizes: &[("N", 37)], schedules: &["rows"], check_steps: 7 },
        Contest { kernel: "lbm-d2q9-cavity", sizes: &[("N", 3)], schedules: &["rows"], check_steps: 4 },
        Contest { kernel: "lbm-d2q9-periodic", sizes: &[("N", 19)], schedules: &["rows"], check_steps: 7 },
        Contest { kernel: "heat-2d-5pt", sizes: &[("N", 45)], schedules: &["rows"], check_steps: 21 },
        Contest { kernel: "heat-1d", sizes: &[("N", 5001)], schedules: &["rows"], check_steps: 131 },
    ],
};

/// Every suite; the first is the default.
pub fn suites() -> [&'static Suite; 2] {
    [&QUICK, &CHECK]
}

/// The suite of that name.
pub fn find(name: &str) -> Option<&'static Suite> {
    suites().into_iter().find(|suite| suite.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_name_kernels_and_schedules_that_exist() {
        for contest in suites().iter().flat_map(|suite| suite.contests) {
            let entry = crease_kernels::find(contest.kernel).expect(contest.kernel);
            let kernel = entry.kernel().unwrap();
            for schedule in contest.schedules {
                assert!(kernel.schedule(schedule).is_some(), "{} has no schedule {schedule}", contest.kernel);
            }
        }
    }
}
