//! Interchange: two time dimensions that change places.
//!
//! In: a schedule, two of its dimensions.   Out: `[t, y, x]` with `y` and `x` interchanged is `[t, x, y]`; each takes its
//! kind along.

use crate::kernel::graph::Schedule;
use crate::schedule::transform::TransformError;

impl Schedule {
    /// The schedule `name` with two dimensions in each other's place.
    ///
    /// # Errors
    /// [`TransformError`] names the dimension that does not exist or is both.
    ///
    /// Source: Allen and Kennedy, Automatic loop interchange (1984).
    pub fn interchange(&self, name: &str, first: usize, second: usize) -> Result<Schedule, TransformError> {
        self.verify_pair(first, second)?;
        let mut changed = Schedule { name: name.to_string(), ..self.clone() };
        changed.dims.swap(first, second);
        changed.times.iter_mut().for_each(|time| time.swap(first, second));
        Ok(changed)
    }
}
