//! Marks: what Table II, and several programs at once, are held to; met or missed, never left out.
//!
//! In: rows of one program on a number of threads.   Out: a [`Mark`] for each thing that is asked of it.
//!
//! Folded storage is to be faster than successive modulo under the same schedule where it saves traffic, never slower,
//! and not slower than C in the same order; storage at or below the published mapping's. For kernels in steps the
//! schedule that is found is to be ahead of everything else in the comparison.

use crate::paper::record::{TimedRow, TogetherRow};

/// Speed over successive modulo where folding saves traffic.
const GAIN: f64 = 1.15;
/// Speed over everything else of the automatic schedule.
const LEAD: f64 = 1.2;
/// Throughput over programs that do not fit together.
const TOGETHER: f64 = 1.5;

/// Something that is asked of rows, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// The program.
    pub(crate) name: String,
    /// Threads or processes.
    pub(crate) count: usize,
    /// What is compared.
    pub(crate) what: String,
    /// At least this ..
    pub(crate) aim: f64,
    /// .. and this was found; none if there is nothing to compare.
    pub(crate) found: Option<f64>,
}

impl Mark {
    /// Whether it was reached.
    pub(crate) fn is_met(&self) -> bool {
        self.found.is_some_and(|found| found >= self.aim)
    }
}

/// Programs whose fold saves traffic: what it saves is beyond a near cache.
fn saves_traffic(name: &str) -> bool {
    !matches!(name, "diamond-tile" | "stencil-1d-pllgm-tile")
}

/// The C loop in the order of a schedule, by the program's name.
fn loop_of(name: &str, schedule: &str) -> Option<&'static str> {
    match (name, schedule) {
        ("blur-tiled" | "unsharp-mask-tiled", _) => Some("c-tiled"),
        ("blur-interleaved" | "harris-corner-tiled", schedule) if schedule != "sequential" => Some("c-rows"),
        ("LBM-D2Q9" | "LBM-D3Q19" | "LBM-D3Q27", "rows") => Some("c-aa"),
        ("diamond-tile", "tiles") => Some("c-tiles"),
        ("diamond-tile", "rows") => Some("c-rows"),
        ("stencil-1d-pllgm-tile", schedule) if schedule.contains("parallelogram") => Some("c-parallelograms"),
        _ => None,
    }
}

/// Marks of the rows of Table II.
pub(crate) fn of_timed(rows: &[TimedRow]) -> Vec<Mark> {
    let groups = rows.chunk_by(|a, b| a.name == b.name && a.row.threads == b.row.threads);
    groups.flat_map(of_group).collect()
}

fn of_group(rows: &[TimedRow]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for folded in rows.iter().filter(|row| row.label() == "folded") {
        let schedule = folded.row.schedule.as_deref().unwrap_or_default();
        let beside = |layout: &str, schedule: Option<&str>| {
            let of = |row: &&TimedRow| row.label() == layout && row.row.schedule.as_deref() == schedule;
            rows.iter().find(of)
        };
        let aim = if saves_traffic(&folded.name) { GAIN } else { 1.0 };
        let mark = |what: String, aim: f64, found: Option<f64>| Mark {
            name: folded.name.clone(),
            count: folded.row.threads,
            what,
            aim,
            found,
        };
        let baseline = beside("successive-modulo", Some(schedule));
        marks.push(mark(format!("folded over successive modulo, `{schedule}`"), aim, speed_over(folded, baseline)));
        if let Some(layout) = loop_of(&folded.name, schedule) {
            marks.push(mark(
                format!("folded over {layout}, `{schedule}`"),
                1.0,
                speed_over(folded, beside(layout, None)),
            ));
        }
        let paper = beside("paper-fold", Some(schedule)).or(beside("paper-fold", Some("rows_sequential")));
        if let Some(paper) = paper {
            let cells = paper.row.temp_bytes.zip(folded.row.temp_bytes).map(|(a, b)| a as f64 / b as f64);
            marks.push(mark(format!("storage of the published mapping over folded, `{schedule}`"), 1.0, cells));
        }
    }
    marks.extend(lead(rows));
    marks
}

/// Of the schedule that is found, for kernels with steps.
fn lead(rows: &[TimedRow]) -> Option<Mark> {
    let in_steps = |row: &&TimedRow| row.label() == "auto" && (row.steps.is_some() || row.name == "diamond-tile");
    let found = rows.iter().find(in_steps)?;
    let others = rows.iter().filter(|row| row.label() != "auto");
    let best = others.filter(|row| row.row.seconds.is_some()).min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let what = format!("auto over the best of the others, {}", best.map_or("none", TimedRow::label));
    Some(Mark { name: found.name.clone(), count: found.row.threads, what, aim: LEAD, found: speed_over(found, best) })
}

fn seconds(row: &TimedRow) -> f64 {
    row.row.seconds.map_or(f64::INFINITY, |seconds| seconds.median)
}

/// How many times as fast, in one comparison.
fn speed_over(row: &TimedRow, other: Option<&TimedRow>) -> Option<f64> {
    let (own, other) = (row.row.seconds?, other?.row.seconds?);
    Some(other.median / own.median)
}

/// Marks of several programs at once, under the limits that as many folded ones fit into.
pub(crate) fn of_together(rows: &[TogetherRow]) -> Vec<Mark> {
    let same = |a: &TogetherRow, b: &TogetherRow| (&a.name, a.n, a.limit_bytes) == (&b.name, b.n, b.limit_bytes);
    rows.chunk_by(same).filter_map(of_limit).collect()
}

fn of_limit(rows: &[TogetherRow]) -> Option<Mark> {
    let limit = rows.first()?.limit_bytes?;
    let ran = |layout: &'static str| rows.iter().filter(move |row| row.layout == layout && row.seconds.is_some());
    let most = ran("folded").max_by_key(|row| row.processes)?;
    let best = ran("successive-modulo").filter_map(|row| row.updates_per_second).reduce(f64::max);
    let limit = crate::columns::bytes(limit);
    Some(Mark {
        name: format!("{}, N = {}", most.name, most.n),
        count: most.processes as usize,
        what: format!("throughput of folded over the most that successive modulo reaches in {limit}"),
        aim: TOGETHER,
        found: most.updates_per_second.zip(best).map(|(folded, best)| folded / best),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;
    use crate::timing::Seconds;

    fn row(layout: &str, schedule: Option<&str>, median: f64) -> TimedRow {
        let mut row = Row::new("k", &[], layout, 2);
        row.schedule = schedule.map(str::to_owned);
        row.seconds = Some(Seconds { median, min: median, max: median });
        row.temp_bytes = Some(if layout == "folded" { 10 } else { 20 });
        TimedRow { name: "LBM-D2Q9".into(), published: None, steps: Some(5), remark: String::new(), row }
    }

    #[test]
    fn tiles_of_a_publication_are_compared_with_c_in_these_tiles() {
        let order = |name, schedule| loop_of(name, schedule).unwrap_or("none");
        assert_eq!([order("diamond-tile", "tiles"), order("diamond-tile", "rows")], ["c-tiles", "c-rows"]);
        assert_eq!(order("stencil-1d-pllgm-tile", "rows parallelogram(t 8, x 8)"), "c-parallelograms");
        assert_eq!(order("diamond-tile", "auto"), "none");
    }

    #[test]
    fn marks_compare_with_the_same_schedule_and_say_what_was_missed() {
        let rows = [
            row("successive-modulo", Some("rows"), 2.0),
            row("folded", Some("rows"), 1.0),
            row("paper-fold", Some("rows_sequential"), 3.0),
            row("c-aa", None, 0.9),
            row("folded", Some("auto"), 0.8),
        ];
        let marks = of_timed(&rows);
        let found: Vec<(Option<f64>, bool)> = marks.iter().map(|mark| (mark.found, mark.is_met())).collect();
        assert_eq!(found[0], (Some(2.0), true));
        assert_eq!(found[1], (Some(0.9), false));
        assert_eq!(found[2], (Some(2.0), true));
        assert!(!found[3].1 && marks[3].what.ends_with("c-aa"), "{marks:?}");
    }
}
