//! Numbers that come from sizes: `i + 60` as `i + M`, where `M` is 60.
//!
//! In: candidates, and a way to find those of other sizes.   Out: the same candidates, whose times name sizes where their
//! constants change with these; where it does not show how, the candidate says so.
//!
//! Shifts are found as numbers, as they are ends of ranges of distances. How they depend on a size shows where that is a
//! little larger: `60` becomes `61`, and `-4` stays. What changes of all sizes at once do must be the sum of what each
//! does, so that the larger of two equal sizes is not taken for either. Where a size has other kinds of candidates as soon
//! as it is larger, it is looked at where it is smaller. Widths of tiles are left as they are: other sizes may have others.

use crate::kernel::affine::{Affine, AffineOverflow, Term};
use crate::kernel::graph::{Kernel, ParamId, ParamKind, Schedule};
use crate::schedule::automatic::{Candidate, NoCandidates};

/// By how much sizes are changed to see what numbers come from them: the first of these that the kernel is defined for.
const CHANGES: [i64; 3] = [1, 2, 4];

/// Which way each size is changed, and how many times that all of them are: larger, and all smaller; smaller, and all
/// smaller still.
const WAYS: [(i64, i64); 2] = [(1, -1), (-1, 2)];

/// A size is looked at where it is at most so many times the largest number in a schedule: shifts by a few rows are those
/// of any size.
const LARGE_PARTS: u64 = 2;

/// A size that is changed.
struct Change {
    param: usize,
    by: i64,
}

/// Candidates of other sizes.
struct Beside {
    changes: Vec<Change>,
    /// Where each of the changes is made.
    each: Vec<Vec<Candidate>>,
    /// Where all of them are made, as often as that.
    all: (i64, Vec<Candidate>),
}

/// The candidates with sizes in place of numbers that come from them; `at` finds those for other values of the parameters.
pub(super) fn in_sizes(
    kernel: &Kernel,
    params: &[i64],
    mut found: Vec<Candidate>,
    at: impl Fn(&[i64]) -> Result<Vec<Candidate>, NoCandidates>,
) -> Result<Vec<Candidate>, NoCandidates> {
    let sizes: Vec<usize> = (0..params.len()).filter(|&at| kernel.params()[at].kind == ParamKind::Size).collect();
    let smallest = sizes.iter().map(|&size| params[size].unsigned_abs()).min().unwrap_or(u64::MAX);
    let is_large = |c: &i64| c.unsigned_abs().saturating_mul(LARGE_PARTS) >= smallest.max(1);
    for candidate in &mut found {
        candidate.is_of_sizes = constants_of(&candidate.schedule).iter().any(is_large);
    }
    for (sign, times) in WAYS {
        if !found.iter().any(|candidate| candidate.is_of_sizes) {
            break;
        }
        let Some(beside) = Beside::of(kernel, params, &sizes, (sign, times), &at) else { continue };
        for candidate in found.iter_mut().filter(|candidate| candidate.is_of_sizes) {
            if let Some(slopes) = beside.slopes(&candidate.schedule) {
                candidate.schedule = with_sizes(&candidate.schedule, params, &beside.changes, &slopes)?;
                candidate.is_of_sizes = false;
            }
        }
    }
    Ok(found)
}

impl Beside {
    /// Candidates where sizes are changed one way, and all of them so many times; none if the kernel is not defined there.
    fn of(
        kernel: &Kernel,
        params: &[i64],
        sizes: &[usize],
        (sign, times): (i64, i64),
        at: &impl Fn(&[i64]) -> Result<Vec<Candidate>, NoCandidates>,
    ) -> Option<Beside> {
        let changed = |changes: &[Change], times: i64| -> Option<Vec<i64>> {
            let mut values = params.to_vec();
            for Change { param, by } in changes {
                values[*param] = values[*param].checked_add(by.checked_mul(times)?)?;
            }
            kernel.context().holds(&[], &values).unwrap_or(false).then_some(values)
        };
        let (mut changes, mut each) = (Vec::new(), Vec::new());
        for &param in sizes {
            let values_by = |by: &i64| Some((sign * by, changed(&[Change { param, by: sign * by }], 1)?));
            let (by, values) = CHANGES.iter().find_map(values_by)?;
            changes.push(Change { param, by });
            each.push(at(&values).ok()?);
        }
        let all = (times, at(&changed(&changes, times)?).ok()?);
        Some(Beside { changes, each, all })
    }

    /// Of each constant of a schedule, how it changes with each of the sizes; none if that does not show.
    fn slopes(&self, schedule: &Schedule) -> Option<Vec<Vec<i64>>> {
        let constants = constants_of(schedule);
        let like = |found: &[Candidate]| {
            let same = found.iter().find(|other| is_like(&other.schedule, schedule))?;
            Some(constants_of(&same.schedule))
        };
        let each = self.each.iter().map(|found| like(found)).collect::<Option<Vec<_>>>()?;
        let (times, all) = (self.all.0, like(&self.all.1)?);
        let slopes_of = |at: usize| {
            let slope = |(change, there): (&Change, &Vec<i64>)| {
                let by = there[at].checked_sub(constants[at])?;
                (by % change.by == 0).then_some(by / change.by)
            };
            let slopes = self.changes.iter().zip(&each).map(slope).collect::<Option<Vec<i64>>>()?;
            let sum = slopes.iter().zip(&self.changes).try_fold(constants[at], |sum, (slope, change)| {
                sum.checked_add(slope.checked_mul(change.by)?.checked_mul(times)?)
            })?;
            (sum == all[at]).then_some(slopes)
        };
        (0..constants.len()).map(slopes_of).collect()
    }
}

/// The schedule whose constants name sizes.
fn with_sizes(
    schedule: &Schedule,
    params: &[i64],
    changes: &[Change],
    slopes: &[Vec<i64>],
) -> Result<Schedule, AffineOverflow> {
    let value = |(constant, slopes): (i64, &Vec<i64>)| {
        slopes.iter().zip(changes).try_fold(Affine::constant(constant), |sum, (slope, change)| {
            let size = Affine::param(ParamId(change.param as u32)).sub(&Affine::constant(params[change.param]))?;
            sum.add(&size.scale(*slope)?)
        })
    };
    let values = constants_of(schedule).into_iter().zip(slopes).map(value).collect::<Result<Vec<_>, _>>()?;
    let mut values = values.into_iter();
    let mut times = Vec::with_capacity(schedule.times.len());
    for time in &schedule.times {
        times.push(time.iter().map(|e| rebuilt(e, &mut values)).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(Schedule { times, ..schedule.clone() })
}

/// An expression with other constants, in the order of [`constants`].
fn rebuilt(e: &Affine, values: &mut impl Iterator<Item = Affine>) -> Result<Affine, AffineOverflow> {
    let mut sum = values.next().expect("there are as many as constants");
    for (term, factor) in e.terms() {
        let term = match term {
            Term::Floor(inner, divisor) => rebuilt(inner, values)?.floor_div(*divisor)?,
            term => Affine::term(term.clone()),
        };
        sum = sum.add(&term.scale(factor)?)?;
    }
    Ok(sum)
}

/// The constants of all times, those inside of floors included.
fn constants_of(schedule: &Schedule) -> Vec<i64> {
    let mut found = Vec::new();
    schedule.times.iter().flatten().for_each(|e| constants(e, &mut found));
    found
}

fn constants(e: &Affine, found: &mut Vec<i64>) {
    found.push(e.constant_part());
    for (term, _) in e.terms() {
        if let Term::Floor(inner, _) = term {
            constants(inner, found);
        }
    }
}

/// Whether schedules differ in constants alone.
fn is_like(one: &Schedule, other: &Schedule) -> bool {
    one.dims == other.dims
        && one.times.len() == other.times.len()
        && one.times.iter().flatten().zip(other.times.iter().flatten()).all(|(a, b)| is_alike(a, b))
}

fn is_alike(one: &Affine, other: &Affine) -> bool {
    let is_same = |((a, by), (b, times)): ((&Term, i64), (&Term, i64))| {
        by == times
            && match (a, b) {
                (Term::Floor(a, divisor), Term::Floor(b, other)) => divisor == other && is_alike(a, b),
                _ => a == b,
            }
    };
    one.terms().count() == other.terms().count() && one.terms().zip(other.terms()).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ScheduleText;
    use crate::machine::MachineModel;
    use crate::schedule::automatic::{MANY_STEPS, Target, candidates};

    /// The text of the cheapest schedule, and whether it is one of these sizes alone.
    fn found(text: &str, params: &[i64]) -> (String, bool) {
        let kernel = Kernel::parse(text).unwrap();
        let machine = MachineModel::detect().caches(1 << 20, 16 << 20);
        let found = candidates(&kernel, &Target { params, machine, threads: 1 }).unwrap();
        (ScheduleText(&kernel, &found[0].schedule).to_string(), found[0].is_of_sizes)
    }

    /// A sum over all rows, and what comes behind it.
    const CENTRED: &str = "kernel centred(size N, M) for N >= 2 and M >= 2 {
        input a[i, j]: f64 for 0 <= i < N and 0 <= j < M
        temp s[i, j]: f64 for 0 <= i <= N and 0 <= j < M
        output c[i, j]: f64 for 0 <= i < N and 0 <= j < M
        Z[j] for 0 <= j < M { s[0,j] = 0 }
        S[i, j] for 0 <= i < N and 0 <= j < M { s[i+1,j] = s[i,j] + a[i,j] }
        C[i, j] for 0 <= i < N and 0 <= j < M { c[i,j] = a[i,j] - s[N,j] } }";

    /// Rows divided by their sums, of which lanes lie across the rows.
    const MEAN: &str = "kernel mean(size N, M) for N >= 2 and M >= 2 {
        input a[y, x]: f32 for 0 <= y < N and 0 <= x < M
        temp s[y, x]: f32 for 0 <= y < N and 0 <= x <= M
        output b[y, x]: f32 for 0 <= y < N and 0 <= x < M
        Z[y] for 0 <= y < N { s[y,0] = 0 }
        S[y, x] for 0 <= y < N and 0 <= x < M { s[y,x+1] = s[y,x] + a[y,x] }
        D[y, x] for 0 <= y < N and 0 <= x < M { b[y,x] = a[y,x] / s[y,M] } }";

    #[test]
    fn shifts_by_whole_dimensions_name_their_sizes() {
        let (text, is_of_sizes) = found(CENTRED, &[60, 64]);
        assert!(text.contains("C -> [i + N, ") && !is_of_sizes, "{text}");
        // Where sizes are equal it is still the one that it is.
        assert_eq!(found(CENTRED, &[60, 60]), (text, false));
    }

    /// From 65 on, other candidates are found than up to 64.
    #[test]
    fn sizes_that_cannot_be_larger_are_looked_at_where_they_are_smaller() {
        let (text, is_of_sizes) = found(MEAN, &[60, 64]);
        assert!(text.contains("D -> [floor(y/64) parallel, x + M, ") && !is_of_sizes, "{text}");
    }

    #[test]
    fn schedules_without_large_numbers_are_left_alone() {
        let text = "kernel heat(size N; run T) for N >= 3 {
            state u[t, x]: f64 for 0 <= x < N
            S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x] + 0.1 * (u[t-1,x-1] + u[t-1,x+1]) }
            E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] } }";
        let (text, is_of_sizes) = found(text, &[1000, MANY_STEPS]);
        assert!(!text.contains('N') && !is_of_sizes, "{text}");
    }

    #[test]
    fn sizes_that_cannot_be_told_apart_are_said_to_be_those_of_the_numbers() {
        let square = CENTRED.replace("for N >= 2 and M >= 2 {", "for N = M and M >= 2 {");
        let (text, is_of_sizes) = found(&square, &[60, 60]);
        assert!(text.contains("60") && is_of_sizes, "{text}");
    }
}
