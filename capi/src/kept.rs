//! What became of plans and codes in the cache on disk.

use crease::Kept;

use crate::code::CodeBody;
use crate::constants::constants;
use crate::handle::Handle;
use crate::plan::PlanBody;
use crate::raw::{Out, exports};
use crate::status::Failure;
use crate::text::OwnedText;

constants! {
    /// There is no cache.
    KEPT_OFF = 1,
    /// It was there.
    KEPT_FOUND = 2,
    /// It is there now.
    KEPT_ADDED = 3,
    /// It could not be kept.
    KEPT_NOT = 4,
}

/// Answers with a number, and with words where they are wanted.
fn tell(found: &Kept, kept: Out<i32>, words: Out<OwnedText>) -> Result<(), Failure> {
    kept.verify("kept")?;
    kept.put(match found {
        Kept::Off => KEPT_OFF,
        Kept::Found => KEPT_FOUND,
        Kept::Added => KEPT_ADDED,
        // What later versions may add is not kept either.
        _ => KEPT_NOT,
    });
    if words.verify("words").is_err() {
        return Ok(());
    }
    words.make("words", || Ok(found.to_string()))
}

exports! {
    fn crease_plan_kept(plan: Handle<PlanBody>, kept: Out<i32>, words: Out<OwnedText>) {
        tell(plan.get("plan")?.kept(), kept, words)
    }

    fn crease_code_kept(code: Handle<CodeBody>, kept: Out<i32>, words: Out<OwnedText>) {
        tell(code.get("code")?.code.kept(), kept, words)
    }
}
