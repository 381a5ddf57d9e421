//! Records of the papers' suite: one for each part, which is measured and replaced by itself.
//!
//! A part is a table of a publication or what is drawn beside it. Its record has one kind of rows, the other lists are
//! empty and not written.

use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::optimizer::OptimizerRow;
use crate::paper::published::Execution;
use crate::record::Findings;
use crate::row::Row;

/// What was found for one part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    /// Its name, such as `table-2`.
    pub part: String,
    /// Whether sizes and times were cut short: nothing that compares with a publication.
    pub short: bool,
    /// Storage of arrays, strategy by strategy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<OptimizerRow>,
    /// Timed programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed: Vec<TimedRow>,
    /// Several programs at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<TogetherRow>,
    /// The examples of GeCoS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gecos: Vec<GecosRow>,
    /// Domains that fit into memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub largest: Vec<LargestRow>,
    /// What one core allows, and what timed programs ask of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roofline: Option<Roof>,
}

/// What memory and arithmetic of one core allow, for the widest vectors and doubles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Roof {
    /// Updates of memory in place, in 10^9 bytes a second.
    pub bandwidth_gb_per_s: f64,
    /// In 10^9 operations a second.
    pub peak_gflop_per_s: f64,
    /// Programs.
    pub programs: Vec<Intensity>,
}

/// What a program asks of arithmetic and memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intensity {
    /// The program's name.
    pub name: String,
    /// Operations of a site away from borders.
    pub flops_per_site: f64,
    /// Bytes of the least traffic: state read and written once.
    pub bytes_per_site: f64,
}

/// One row of a timed program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimedRow {
    /// The program's name in the publication.
    pub name: String,
    /// What the publication measured.
    pub published: Option<Execution>,
    /// Steps of the publication's program; none if it runs once.
    pub steps: Option<u64>,
    /// What differs from the publication.
    pub remark: String,
    /// What was measured here.
    pub row: Row,
}

/// Some processes with one layout.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TogetherRow {
    /// The program's name in the publication.
    pub name: String,
    /// The kernel.
    pub kernel: String,
    /// Cells along a side.
    pub n: i64,
    /// Steps of each process.
    pub steps: u64,
    /// The storage.
    pub layout: String,
    /// Processes at once, one thread each.
    pub processes: u32,
    /// Address space of all processes together; none if it is not limited: they share a cache then.
    pub limit_bytes: Option<u64>,
    /// Bytes of states in each process.
    pub storage_bytes: Option<u64>,
    /// Seconds from the common start until the last one is done; none if not all of them could start.
    pub seconds: Option<f64>,
    /// Site updates per second of all together.
    pub updates_per_second: Option<f64>,
    /// Whether all processes, of all layouts, ended with the same bits; none if nothing ran.
    pub same_bits: Option<bool>,
    /// Why it did not run.
    pub note: Option<String>,
}

/// An example of GeCoS' report in one order and view.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GecosRow {
    /// The example.
    pub example: String,
    /// Sizes.
    pub sizes: String,
    /// The order.
    pub schedule: String,
    /// `contraction` or `reallocation`.
    pub view: String,
    /// The strategy.
    pub strategy: String,
    /// Cells of the arrays as they are written.
    pub full_cells: u64,
    /// Cells of the storage; none if there is no plan.
    pub cells: Option<u64>,
    /// Cells that no storage goes below, if known.
    pub lower_bound_cells: Option<u64>,
    /// Largest difference from the naive loops.
    pub max_abs_diff: Option<f64>,
    /// Seconds of a run.
    pub seconds: Option<f64>,
    /// Why there is no plan.
    pub note: Option<String>,
}

/// The largest domain of a kernel that fits into some memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LargestRow {
    /// The kernel.
    pub kernel: String,
    /// The storage.
    pub layout: String,
    /// The memory.
    pub memory_bytes: u64,
    /// Cells along a side.
    pub n: i64,
    /// What a run keeps in memory at that size.
    pub needed_bytes: u64,
}

impl TimedRow {
    /// Seconds that the publication's program takes at this rate.
    pub fn publication_seconds(&self) -> Option<f64> {
        let seconds = self.row.seconds?.median;
        match self.row.runs {
            Some(runs) => Some(seconds / runs as f64),
            None => Some(seconds * self.steps? as f64 / *self.row.params.get("T")? as f64),
        }
    }

    /// How the row is called: its layout, or `auto` if its schedule was found.
    pub fn label(&self) -> &str {
        if self.row.schedule.as_deref() == Some(crate::layouts::AUTOMATIC) { "auto" } else { &self.row.layout }
    }
}

impl Part {
    /// What is not as it should be: wrong answers, layouts that could not be run, storage below its bound.
    pub fn broken(&self) -> Vec<String> {
        let timed = self.timed.iter().filter(|timed| timed.row.is_wrong() || timed.row.failed).map(|timed| {
            let note = timed.row.note.as_deref().unwrap_or("wrong answer");
            format!("{}, {}, {} threads: {note}", timed.name, timed.label(), timed.row.threads)
        });
        let together = self.together.iter().filter(|row| row.same_bits == Some(false));
        let together = together.map(|row| format!("{}, {}: other bits than beside it", row.name, row.layout));
        let gecos = self.gecos.iter().filter(|row| row.max_abs_diff.is_some_and(|diff| diff != 0.0));
        let gecos = gecos.map(|row| format!("{}, {}: wrong answer", row.example, row.view));
        let below = |row: &&OptimizerRow| row.cells.zip(row.lower_bound_cells).is_some_and(|(cells, low)| cells < low);
        let arrays =
            self.arrays.iter().filter(below).map(|row| format!("{}, {}: below its bound", row.kernel, row.array));
        timed.chain(together).chain(gecos).chain(arrays).collect()
    }
}

impl Findings for Part {
    const SUFFIX: &'static str = "-paper";

    fn verdict(&self) -> Result<(), BenchError> {
        match self.broken().len() {
            0 => Ok(()),
            broken => Err(BenchError::Paper { part: self.part.clone(), broken }),
        }
    }
}
