//! Pictures of a small run, as SVG in memory.

use std::fs;

use crease::Plan;
use crease_pictures::{PictureError, kernel_pictures};

use crate::error::{Answer, Failure};

/// The sizes shown, where they are not those of the plan, and each picture by its name.
pub(crate) type Drawn = (Vec<(String, i64)>, Vec<(String, String)>);

/// Draws `steps` steps; of a plan with smaller sizes, where those of this one are too large to show.
pub(crate) fn draw(plan: &Plan, steps: i64, smaller: impl FnOnce(Vec<(String, i64)>) -> Answer<Plan>) -> Answer<Drawn> {
    let error = match draw_as_it_is(plan, steps) {
        Ok(files) => return Ok((Vec::new(), files)),
        Err(Undrawn::Answer(failure)) => return Err(failure),
        Err(Undrawn::Picture(error)) => error,
    };
    let PictureError::TooMuchToDraw { smaller: sizes, .. } = &error else { return Err(failed(error)) };
    if sizes.is_empty() {
        return Err(failed(error));
    }
    let kernel = plan.kernel();
    let step = kernel.step_param().map(|id| &kernel.params()[id.index()].name);
    let (steps_of, sizes_of): (Vec<_>, Vec<_>) = sizes.iter().cloned().partition(|(name, _)| Some(name) == step);
    let steps = steps_of.first().map_or(steps, |(_, steps)| *steps);
    let files = draw_as_it_is(&smaller(sizes_of.clone())?, steps).map_err(|error| match error {
        Undrawn::Answer(failure) => failure,
        Undrawn::Picture(error) => failed(error),
    })?;
    Ok((sizes_of, files))
}

/// Why there are no pictures.
enum Undrawn {
    Answer(Failure),
    Picture(PictureError),
}

fn draw_as_it_is(plan: &Plan, steps: i64) -> Result<Vec<(String, String)>, Undrawn> {
    let unwritten = |error: std::io::Error| Undrawn::Answer(Failure::refused("py/pictures", error));
    let directory = tempfile::tempdir().map_err(unwritten)?;
    let drawn = kernel_pictures::draw(plan, steps, &[], directory.path()).map_err(Undrawn::Picture)?;
    let svg = drawn.files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "svg"));
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, fs::read_to_string(path).map_err(unwritten)?))
    };
    svg.map(read).collect()
}

fn failed(error: PictureError) -> Failure {
    match error {
        PictureError::Crease(error) => Failure::from(error),
        error => Failure::refused("py/pictures", error),
    }
}
