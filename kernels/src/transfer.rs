//! Fields into runs and out of them: catalogue data are doubles, arrays of a kernel may be narrower.
//!
//! In: a kernel, a run of it, fields by array name.   Out: the run's arrays, or fields, converted cell by cell.

use crease::kernel::graph::{Array, Element, Role};
use crease::{ElementType, Error, Kernel, Run, RunError, with_element_type};
use ndarray::ArrayD;

use crate::fields::{Field, Fields};

/// Writes every field to the array of its name: inputs, and state at the current step. Values are rounded to the
/// array's element type, on the way to `f16` to `f32`; `u8` truncates and saturates.
///
/// # Errors
/// [`RunError::UnknownArray`] for a name that the kernel does not have, and the errors of [`Run::write`].
pub fn write_all(run: &mut Run, kernel: &Kernel, fields: &Fields) -> Result<(), Error> {
    fields.iter().try_for_each(|(name, field)| write(run, array(kernel, name)?, field))
}

/// Every array that a run leaves results in: outputs, and state at the current step.
///
/// # Errors
/// The errors of [`Run::read`].
pub fn read_all(run: &Run, kernel: &Kernel) -> Result<Fields, Error> {
    let results = kernel.arrays().iter().filter(|array| matches!(array.role, Role::Output | Role::State));
    results.map(|array| Ok((array.name.clone(), read(run, array)?))).collect()
}

/// Writes one array: of a state, its newest level.
///
/// # Errors
/// The errors of [`Run::write`].
pub fn write(run: &mut Run, array: &Array, field: &Field) -> Result<(), Error> {
    write_back(run, array, 0, field)
}

/// Writes one level of an array: 0 is the newest one, or that of an array without steps.
///
/// # Errors
/// The errors of [`Run::write`] and of [`Run::write_back`].
pub fn write_back(run: &mut Run, array: &Array, back: u32, field: &Field) -> Result<(), Error> {
    // Doubles need no copy.
    if array.element == Element::F64 {
        return run.write_back(&array.name, back, field.view());
    }
    with_element_type!(array.element, T => run.write_back(&array.name, back, field.mapv(cell::<T>).view()))
}

/// What cells hold of a number: integers are cut and saturate.
fn cell<T: ElementType>(value: f64) -> T {
    let (low, high) = T::ELEMENT.value_type().range();
    // The largest `i64` is no double; the one before it is.
    let within =
        if T::ELEMENT.is_integer() { value.trunc().clamp(low as f64, (high - (high >> 53)) as f64) } else { value };
    T::from_number(within).unwrap_or_default()
}

/// Reads one array.
///
/// # Errors
/// The errors of [`Run::read`].
pub fn read(run: &Run, array: &Array) -> Result<Field, Error> {
    with_element_type!(array.element, T => widened::<T>(run, &array.name))
}

fn widened<T: ElementType>(run: &Run, name: &str) -> Result<Field, Error> {
    let mut cells: ArrayD<T> = ArrayD::default(run.shape(name)?);
    run.read(name, cells.view_mut())?;
    Ok(cells.mapv_into_any(T::to_number))
}

fn array<'a>(kernel: &'a Kernel, name: &str) -> Result<&'a Array, RunError> {
    let unknown = || RunError::unknown_array(kernel, name);
    kernel.array_id(name).map(|id| kernel.array(id)).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr1;

    #[test]
    fn each_level_gets_its_own_values() {
        let kernel = Kernel::parse(
            "kernel wave(size N; run T) {
               state u[t, x]: f32 for 0 <= x < N
               S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 2 * u[t-1,x] - u[t-2,x] } }",
        )
        .unwrap();
        let mut run = kernel.plan().size("N", 2).build().unwrap().compile().unwrap().instantiate().unwrap();
        let array = kernel.array(kernel.array_id("u").unwrap());
        write_back(&mut run, array, 1, &arr1(&[1.0, 5.0]).into_dyn()).unwrap();
        write(&mut run, array, &arr1(&[2.0, 3.0]).into_dyn()).unwrap();
        run.advance(1).unwrap();
        assert_eq!(read(&run, array).unwrap(), arr1(&[3.0, 1.0]).into_dyn());
    }

    const TEXT: &str = "kernel k(size N; run T) {
        input m[x]: u8 for 0 <= x < N
        state u[t, x]: f32 for 0 <= x < N
        state h[t, x]: f16 for 0 <= x < N
        S[t, x] for 1 <= t <= T and 0 <= x < N {
          u[t,x] = select(m[x] > 0, u[t-1,x] + 1, u[t-1,x])
          h[t,x] = h[t-1,x] + 1 }
        schedule rows { S -> [t, x] }
      }";

    #[test]
    fn narrow_arrays_are_converted_and_wrong_ones_refused() {
        let kernel = Kernel::parse(TEXT).unwrap();
        let mut run = kernel.plan().size("N", 3).build().unwrap().compile().unwrap().instantiate().unwrap();
        let mut fields = Fields::from([("m".to_owned(), arr1(&[0.0, 1.0, 200.0]).into_dyn())]);
        fields.insert("u".into(), arr1(&[0.1, 0.5, -3.0]).into_dyn());
        fields.insert("h".into(), arr1(&[0.5, 0.1, 2047.0]).into_dyn());
        write_all(&mut run, &kernel, &fields).unwrap();
        run.advance(3).unwrap();
        let after = read_all(&run, &kernel).unwrap();
        assert_eq!(after.keys().collect::<Vec<_>>(), ["h", "u"]);
        // From 2048 on, `f16` holds every other number: the next one is a tie, and even is what was there.
        assert_eq!(after["h"], arr1(&[3.5, 3.099_609_375, 2048.0]).into_dyn());
        assert_eq!(after["u"], arr1(&[f64::from(0.1f32), 3.5, 0.0]).into_dyn());

        let refused = |name: &str, cells: usize| {
            let wrong = Fields::from([(name.to_owned(), Field::zeros(vec![cells]))]);
            write_all(&mut run_of(&kernel), &kernel, &wrong).unwrap_err().to_string()
        };
        assert_eq!(refused("w", 3), "kernel `k` has no array `w`; it has m, u, h");
        assert_eq!(refused("m", 4), "array `m` has shape [3], the view has [4]");
        let doubles = run.write("m", arr1(&[1.0; 3]).view()).unwrap_err();
        assert_eq!(doubles.to_string(), "array `m` holds u8, the view holds f64");
    }

    fn run_of(kernel: &Kernel) -> Run {
        kernel.plan().size("N", 3).build().unwrap().compile().unwrap().instantiate().unwrap()
    }
}
