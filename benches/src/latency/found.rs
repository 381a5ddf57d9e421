//! The kernels of the catalogue in schedules that the library finds: from text to running code.
//!
//! In: which kernel, or all.   Out: a row for each kernel and number of threads, and what they have in common.
//!
//! Sizes are the defaults of the catalogue. What a user waits for counts: all schedules that a search plans, not only the
//! one that is taken.

use std::collections::BTreeMap;

use crease::{CompileOptions, Error, Kernel};
use crease_kernels::{Entry, catalogue, library};
use serde::{Deserialize, Serialize};

use crate::columns::Columns;
use crate::error::{BenchError, chain};
use crate::latency::measure::{milliseconds, sizes_text, timed};
use crate::layouts::AUTOMATIC;
use crate::progress::Progress;
use crate::timing::Seconds;

/// Numbers of threads.
const THREADS: [usize; 2] = [1, 2];
/// Rounds of a row, unless the first takes longer than this many seconds.
const ROUNDS: (usize, f64) = (3, 0.25);
/// Kernels that the table names, slowest first.
const NAMED: usize = 16;

/// A kernel of the catalogue on some threads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// The kernel.
    pub kernel: String,
    /// Sizes.
    pub params: BTreeMap<String, i64>,
    /// Threads that are planned for.
    pub threads: usize,
    /// From the text to code that can run; none if no schedule is found.
    pub seconds: Option<Seconds>,
    /// The median of planning: of the search, and of all that it plans.
    pub plan_seconds: f64,
    /// Why no schedule is found.
    pub note: Option<String>,
}

/// The entries that are measured: those of this name, or all that are listed.
pub(super) fn entries(kernel: Option<&str>) -> Vec<&'static Entry> {
    let wanted = |entry: &&Entry| kernel.is_none_or(|kernel| kernel == entry.name);
    catalogue().iter().chain(library()).filter(wanted).collect()
}

/// The rows of an entry.
///
/// # Errors
/// [`BenchError`] if the catalogue is wrong, which a test of it excludes.
pub(super) fn rows(entry: &Entry, is_quick: bool, progress: &mut Progress) -> Result<Vec<Found>, BenchError> {
    let text = entry.kernel().map_err(Error::from)?.to_string();
    let row = |threads| {
        progress.detail(&threads_text(threads));
        let params = entry.case(&entry.default).sizes.into_iter().collect();
        let row = Found { kernel: entry.name.to_owned(), params, threads, ..Found::default() };
        match samples(&text, &row, is_quick) {
            Ok(samples) => {
                let of = |which: fn(&[f64; 2]) -> f64| Seconds::of(&samples.iter().map(which).collect::<Vec<_>>());
                Found { seconds: Some(of(|[all, _]| *all)), plan_seconds: of(|[_, plan]| *plan).median, ..row }
            }
            Err(error) => Found { note: Some(chain(&error)), ..row },
        }
    };
    Ok(THREADS.into_iter().map(row).collect())
}

/// Seconds of each round, in all and of planning.
fn samples(text: &str, row: &Found, is_quick: bool) -> Result<Vec<[f64; 2]>, Error> {
    let mut samples = Vec::new();
    let mut rounds = if is_quick { 1 } else { ROUNDS.0 };
    while samples.len() < rounds {
        let (kernel, parse) = timed(|| Kernel::parse(text));
        let kernel = kernel?;
        let mut request = kernel.plan().schedule(AUTOMATIC).threads(row.threads);
        for (name, value) in &row.params {
            request = request.size(name, *value);
        }
        let (plan, planning) = timed(|| request.build());
        let (code, compile) = timed(|| plan?.compile_with(&CompileOptions::default()));
        code?;
        let all = parse + planning + compile;
        samples.push([all, planning]);
        if all > ROUNDS.1 {
            rounds = 1;
        }
    }
    Ok(samples)
}

fn threads_text(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// A line for each number of threads, and the slowest kernels.
pub(super) fn render(found: &[Found]) -> String {
    let mut text = "\nSchedules that are found, at the default sizes of the catalogue, in milliseconds:\n".to_owned();
    for threads in THREADS {
        let of_threads = || found.iter().filter(move |row| row.threads == threads);
        let mut all: Vec<f64> = of_threads().filter_map(|row| Some(row.seconds?.median)).collect();
        all.sort_by(f64::total_cmp);
        let Some(slowest) = all.last() else { continue };
        let within = |tenths: usize| milliseconds(all[(all.len() * tenths).div_ceil(10).max(1) - 1]);
        let refused: Vec<&str> =
            of_threads().filter(|row| row.seconds.is_none()).map(|row| row.kernel.as_str()).collect();
        let without = if refused.is_empty() { String::new() } else { format!("; none of {}", refused.join(", ")) };
        text += &format!(
            "{}: {} kernels, half of them within {}, nine tenths within {}, all within {}{without}\n",
            threads_text(threads),
            all.len(),
            within(5),
            within(9),
            milliseconds(*slowest),
        );
    }
    let mut columns = Columns::new(2, &["kernel", "size", "1 thread", "plan", "2 threads", "plan"]);
    let seconds = |row: &Found| row.seconds.map_or(0.0, |seconds| seconds.median);
    let mut kernels: Vec<&[Found]> = found.chunk_by(|one, other| one.kernel == other.kernel).collect();
    let slower = |rows: &&[Found]| rows.iter().map(seconds).fold(0.0, f64::max);
    kernels.sort_by(|one, other| slower(other).total_cmp(&slower(one)));
    for rows in kernels.into_iter().take(NAMED) {
        let mut cells = vec![rows[0].kernel.clone(), sizes_text(&rows[0].params)];
        for row in rows {
            let of_row = |seconds| if row.seconds.is_some() { milliseconds(seconds) } else { "-".to_owned() };
            cells.extend([of_row(seconds(row)), of_row(row.plan_seconds)]);
        }
        columns.push(cells);
    }
    text + &columns.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, threads: usize, milliseconds: Option<f64>) -> Found {
        let seconds = milliseconds.map(|median| Seconds::of(&[median * 1e-3]));
        Found { kernel: kernel.to_owned(), threads, seconds, ..Found::default() }
    }

    #[test]
    fn slow_kernels_and_those_without_a_schedule_are_named() {
        let mut rows: Vec<Found> = (1..=9).map(|k| row(&format!("fast{k}"), 1, Some(f64::from(k)))).collect();
        rows.extend([row("slow", 1, Some(70.0)), row("none", 1, None)]);
        let text = render(&rows);
        let line =
            "1 thread: 10 kernels, half of them within 5.0, nine tenths within 9.0, all within 70.0; none of none";
        assert!(text.contains(line), "{text}");
        assert!(text.find("slow") < text.find("fast9"), "{text}");
    }
}
