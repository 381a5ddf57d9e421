//! Pictures of what a plan does with a small run of its kernel.
//!
//! In: a plan, a number of steps, moduli to force.   Out: SVG files in a directory, each with its table as CSV beside it:
//! `storage-map`, `lifetimes` (with `alive.csv` for the curve), `wavefronts`.

use std::fs;
use std::path::{Path, PathBuf};

use crease::Plan;

use crate::error::BenchError;
use crate::pictures::small_run::SmallRun;
use crate::pictures::{lifetimes, storage_map, wavefronts};
use crate::settings::Assignment;

/// What was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPictures {
    /// The files, in the order written.
    pub files: Vec<PathBuf>,
    /// What forced moduli break, if any were given: two cells alive at one moment in one place, or that none meet.
    pub verdict: Option<String>,
}

/// Draws every picture of `steps` steps into `directory`. `forced` names buffers and the moduli to draw them with.
///
/// # Errors
/// [`BenchError::TooMuchToDraw`] with sizes that would do, [`BenchError::UnknownName`] or [`BenchError::BadSetting`] for
/// forced moduli that fit no buffer, [`BenchError::File`].
pub fn draw(plan: &Plan, steps: i64, forced: &[Assignment], directory: &Path) -> Result<KernelPictures, BenchError> {
    let run = SmallRun::new(plan, steps, forced)?;
    fs::create_dir_all(directory).map_err(|source| BenchError::File { path: directory.to_owned(), source })?;
    let mut files = Vec::new();
    let mut file = |name: &str| {
        let path = directory.join(name);
        files.push(path.clone());
        path
    };
    if !run.folded_buffers().is_empty() {
        storage_map::draw(&run, &file("storage-map.svg"), &file("storage-map.csv"))?;
        lifetimes::draw(&run, &file("lifetimes.svg"), &file("lifetimes.csv"), &file("alive.csv"))?;
    }
    wavefronts::draw(&run, &file("wavefronts.svg"), &file("wavefronts.csv"))?;
    Ok(KernelPictures { files, verdict: run.verdict() })
}
