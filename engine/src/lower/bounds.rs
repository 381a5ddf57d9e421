//! Bounds: no call of a program leaves its storage or 64 bits, whatever its steps.
//!
//! In: a lowered program.   Out: one that stays inside for all steps, or the place where it does not.
//!
//! Ranges of addresses decide (`Program::address_ranges`), for all arguments at once. A `wrap` that they cannot show to
//! be in its range becomes a remainder, which has none to leave. What else they leave open is decided by integer sets
//! (`inside`). A program without arguments has one run only: where sets give up, its loops are run dry once.

use crease_isl::Context;
use crease_program::{ANY_STEP, BoundsError, DRY_RUN_BUDGET, Program, Unproved, UnprovedReason};

use crate::lower::error::LowerError;
use crate::lower::inside::first_not_shown;

/// A program of which every call stays inside its storage.
pub(crate) struct Bounded {
    program: Program,
    lengths: Vec<u64>,
}

impl Bounded {
    /// The program, and the length of each buffer in cells.
    pub(crate) fn into_parts(self) -> (Program, Vec<u64>) {
        (self.program, self.lengths)
    }
}

/// Proves that every call of the kernel's program stays inside buffers of the declared lengths.
///
/// # Errors
/// [`LowerError::Bounds`] if that cannot be shown; [`LowerError::Program`] if the program breaks a rule of its
/// language; what isl reports, a quota that is spent among it.
pub(crate) fn prove_bounds(context: &Context, kernel: &str, mut program: Program) -> Result<Bounded, LowerError> {
    let lengths: Vec<u64> = program.buffers.iter().map(|buffer| buffer.cells.unwrap_or(0)).collect();
    let args = vec![ANY_STEP; program.args.len()];
    let fails = |reason| match reason {
        BoundsError::Invalid(fault) => LowerError::Program { kernel: kernel.to_string(), fault },
        reason => LowerError::Bounds { kernel: kernel.to_string(), reason },
    };
    let mut ranges = program.address_ranges(&args).map_err(fails)?;
    if program.replace_unproved_wraps(&ranges.unproved) > 0 {
        ranges = program.address_ranges(&args).map_err(fails)?;
    }
    if ranges.verify(&lengths).is_ok() {
        return Ok(Bounded { program, lengths });
    }
    let open = program.open_bounds(&args, &lengths).map_err(fails)?;
    let not_shown = first_not_shown(context, &program, &ANY_STEP, &lengths, &open);
    let runs_dry = || args.is_empty() && program.stays_inside(&[], &lengths, DRY_RUN_BUDGET);
    let is_inside = matches!(not_shown, Ok(None)) || runs_dry();
    if !is_inside && let Some(unproved) = not_shown? {
        return Err(fails(refusal(&program, unproved)));
    }
    Ok(Bounded { program, lengths })
}

/// The error of what was not shown.
fn refusal(program: &Program, unproved: &Unproved) -> BoundsError {
    let UnprovedReason::Cells { buffer, touched, cells } = unproved.reason else {
        return BoundsError::Unproved(Box::new(unproved.clone()));
    };
    let cell = if touched.min < 0 { touched.min } else { touched.max };
    let (place, buffer) = (Box::new(unproved.place.clone()), program.buffers[buffer.index()].name.clone());
    BoundsError::OutOfBuffer { place, buffer, cell, cells }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proved(text: &str) -> Result<Program, LowerError> {
        let context = Context::new(1_000_000).unwrap();
        prove_bounds(&context, "rows", Program::parse(text).unwrap()).map(|bounded| bounded.program)
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
    fn what_leaves_its_storage_after_many_steps_is_refused() {
        let rows = "program rows(T) { buffer u: f64[4000] write for v0 in 0 .. $T { strip v1 in 0 .. 4 lanes 4 {
            m0 = u[base 4 * min(v0, 1000), pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } } }";
        assert!(proved(rows).is_err());
        assert!(proved(&rows.replace("1000)", "999)")).is_ok());
    }

    #[test]
    fn integer_sets_decide_where_ranges_are_too_wide() {
        // Of the eight remainders the condition leaves out the last one.
        let text = "program p(T) { buffer b: f64[7] write for v0 in 0 .. $T { for v1 in 0 .. 8 {
            let v2 = mod(v0, 3) if all(v1 + v2 != 3, v1 + v2 <= 8) { strip v3 in v2 .. v2 + 1 lanes 1 {
            m0 = b[base mod(v1 + v2 + 4, 8), pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } } } }}";
        let program = Program::parse(text).unwrap();
        assert!(program.address_ranges(&[ANY_STEP]).unwrap().verify(&[7]).is_err());
        assert!(proved(text).is_ok());
        let error = proved(&text.replace("f64[7]", "f64[6]")).unwrap_err().to_string();
        assert!(error.contains("strip v3, stream m0: cell 7 may be touched, but buffer `b` has 6 cells"), "{error}");
        assert!(proved(&text.replace("!= 3", "!= 2")).is_err());
        let both = text.replace("all(v1 + v2 != 3, v1 + v2 <= 8)", "not(any(v1 + v2 == 3, v1 + v2 > 8))");
        assert!(proved(&both).is_ok());
        // The same number in a ring, as the smaller or the larger of two, and after a product.
        let ring = text.replace("pos 0, stride", "pos max(0, min(v2, -1)), ring 1, stride");
        assert!(proved(&ring).is_ok());
        let product = text.replace("mod(v1 + v2 + 4, 8)", "mulmod(3, 3 * (v1 + v2 + 4), 8)");
        assert!(proved(&product).is_ok(), "nine times a number, modulo 8, is that number");
    }

    #[test]
    fn places_behind_many_conditions_that_do_not_hold_are_decided_by_what_does() {
        // Each condition fails in three ways; where `v1` is 41, `v0` is 20.
        let mut body = "if v1 == 41 { strip v3 in 0 .. 1 lanes 1 {
            m0 = b[base 84 * (v0 + -20) + 28 * (v1 + -39), pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } }"
            .to_string();
        for number in 0..9 {
            body = format!("if all(v2 <= {number}, v5 <= {number}, v6 <= {number}) {{ }} else {{ {body} }}");
        }
        let text = format!(
            "program p(T) {{ buffer b: f64[57] write for v4 in 0 .. $T {{ for v0 in 0 .. 21 {{
            for v1 in max(2 * v0 - 1, 0) .. 2 * v0 + 2 {{ for v2 in 0 .. 20 {{ for v5 in 0 .. 20 {{ for v6 in 0 .. 20 {{
            {body} }} }} }} }} }} }} }}"
        );
        assert!(proved(&text).is_ok());
        let error = proved(&text.replace("f64[57]", "f64[56]")).unwrap_err().to_string();
        assert!(error.contains("may be touched, but buffer `b` has 56 cells"), "{error}");
    }

    #[test]
    fn a_quota_that_is_spent_is_said() {
        let text = "program p(T) { buffer b: f64[7] write for v0 in 0 .. $T { for v1 in 0 .. 8 {
            let v2 = mod(v0, 3) if all(v1 + v2 != 3, v1 + v2 <= 8) { strip v3 in v2 .. v2 + 1 lanes 1 {
            m0 = b[base mod(v1 + v2 + 4, 8), pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } } } }}";
        let context = Context::new(10).unwrap();
        let Err(LowerError::Analysis(error)) = prove_bounds(&context, "p", Program::parse(text).unwrap()) else {
            panic!("ten operations are not enough");
        };
        assert_eq!(error.spent_quota(), Some(10));
    }

    #[test]
    fn a_program_with_one_run_is_walked_where_sets_give_up() {
        let hill = "program p() { buffer b: f64[5] write for v0 in 0 .. 5 { strip v1 in 0 .. 1 lanes 1 {
            m0 = b[base v0 * (4 - v0), pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } } }";
        assert!(proved(hill).is_ok());
        assert!(proved(&hill.replace("f64[5]", "f64[4]")).is_err());
        let stepped = hill.replace("p()", "p(T)").replace("0 .. 5", "0 .. min($T, 5)");
        assert!(proved(&stepped).is_err(), "a product has no constraints");
    }
}
