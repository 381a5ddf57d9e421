//! What a plan decided, in the words of `crease explain`.

use crease::Plan;

use crate::error::{Answer, Failure};

/// Text for a person, and JSON.
pub(crate) type Explained = (String, String);

/// Both forms; what is found in a second beyond the plan, or all of it.
pub(crate) fn explain(plan: &Plan, all_sizes: bool) -> Answer<Explained> {
    let failed = |error: crease_cli::CommandError| match error {
        crease_cli::CommandError::Crease(error) => Failure::from(error),
        error => Failure::refused("py/explain", error),
    };
    let explained = crease_cli::explain::of_plan(plan, all_sizes).map_err(failed)?;
    Ok((explained.text, explained.json))
}
