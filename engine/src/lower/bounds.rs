//! Bounds: no call of a program leaves its storage or 64 bits, whatever its steps.
//!
//! In: a lowered program.   Out: one that stays inside for all steps, or the stream that does not.
//!
//! Ranges of addresses decide (`Program::address_ranges`), for all arguments at once. A `wrap` that they cannot show to
//! be in its range becomes a remainder, which has none to leave. A program without arguments has one run only: where
//! ranges are too wide, its loops are walked once. So are those of the first steps of a program with any number of them:
//! what leaves its storage there is refused, and what does not is planned with a note. Such a program is looked at again
//! in each call, for its steps, and a call that might leave its storage is refused before anything is written.

use crease_jit::program::{ANY_STEP, BoundsError, Program};

use crate::lower::LowerError;

/// Steps of the walk: about a second.
const WALK_BUDGET: u64 = 100_000_000;
/// Steps that are walked of a program with any number of them: more than storage has phases in any catalogue kernel.
const FIRST_STEPS: i64 = 8;

/// A program, and what could not be shown of all its calls when it was planned.
pub(crate) struct Bounded {
    pub(crate) program: Program,
    pub(crate) doubt: Option<BoundsError>,
}

/// Proves that every call of the kernel's program stays inside buffers of the declared lengths.
///
/// # Errors
/// [`LowerError::Bounds`] if a call would not, or its only call cannot be shown to; [`LowerError::Program`] if the program breaks a rule of its language.
pub(crate) fn prove_bounds(kernel: &str, mut program: Program) -> Result<Bounded, LowerError> {
    let lengths: Vec<u64> = program.buffers.iter().map(|buffer| buffer.cells.unwrap_or(0)).collect();
    let args = vec![ANY_STEP; program.args.len()];
    let fails = |reason| match reason {
        BoundsError::Invalid(fault) => LowerError::Program { kernel: kernel.to_string(), fault },
        reason => LowerError::Bounds { kernel: kernel.to_string(), reason },
    };
    let mut ranges = program.address_ranges(&args).map_err(fails)?;
    if program.replace_doubtful_wraps(&ranges.doubts) > 0 {
        ranges = program.address_ranges(&args).map_err(fails)?;
    }
    let Err(reason) = ranges.verify(&lengths) else { return Ok(Bounded { program, doubt: None }) };
    // A call goes from the step before its first one to its last one.
    let mut first_steps = vec![0; args.len()];
    if let Some(last) = first_steps.last_mut() {
        *last = FIRST_STEPS;
    }
    match program.stays_inside(&first_steps, &lengths, WALK_BUDGET) {
        true => Ok(Bounded { program, doubt: Some(reason).filter(|_| !args.is_empty()) }),
        false => Err(fails(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proved(text: &str) -> Result<Program, LowerError> {
        prove_bounds("rows", Program::parse(text).unwrap()).map(|bounded| bounded.program)
    }

    #[test]
    fn a_wrap_out_of_range_is_a_remainder_afterwards() {
        let rows = "program rows(T) { buffer u: f64[20] write for v0 in 0 .. $T { strip v1 in 0 .. 4 lanes 4 {
            m0 = u[pos wrap(4 * v0, 20), ring 20, stride 1] %0 = f64 1.0 %1: store m0, %0 } } }";
        assert!(proved(rows).unwrap().to_string().contains("pos mod(4 * v0, 20)"));
    }

    #[test]
    fn rows_that_grow_with_the_steps_are_refused_when_planning() {
        let rows = "program rows(T) { buffer u: f64[20] write for v0 in 0 .. $T { strip v1 in 0 .. 4 lanes 4 {
            m0 = u[base 4 * v0, pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } } }";
        let error = proved(rows).unwrap_err().to_string();
        assert!(
            error.contains("for v0, strip v1, stream m0: cell") && error.contains("buffer `u` has 20 cells"),
            "{error}"
        );
        let once = rows.replace("(T)", "()").replace("$T", "5");
        assert!(proved(&once).is_ok());
        assert!(proved(&once.replace(".. 5", ".. 6")).is_err());
    }

    #[test]
    fn what_holds_for_the_first_steps_only_is_planned_with_a_doubt() {
        let rows = "program rows(T) { buffer u: f64[40] write for v0 in 0 .. $T { strip v1 in 0 .. 4 lanes 4 {
            m0 = u[base 4 * v0, pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } } }";
        let bounded = prove_bounds("rows", Program::parse(rows).unwrap()).unwrap();
        assert!(bounded.doubt.unwrap().to_string().contains("buffer `u` has 40 cells"));
    }

    #[test]
    fn a_program_with_one_run_is_walked_where_ranges_are_too_wide() {
        let triangle = "program p() { buffer b: f64[6] write for v0 in 0 .. 3 { strip v1 in 0 .. v0 + 1 lanes 1 {
            m0 = b[base floordiv(v0 * (v0 + 1), 2), pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } } }";
        assert!(proved(triangle).is_ok());
        assert!(proved(&triangle.replace("f64[6]", "f64[5]")).is_err());
    }
}
