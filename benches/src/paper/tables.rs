//! Tables of each part: what a publication prints beside what was found here.
//!
//! In: a [`Part`].   Out: its [`Table`]s.

use crate::columns::{Columns, bytes};
use crate::optimizer::{FOOTPRINT, OptimizerRow};
use crate::paper::published::{FIGURE_THREE, TABLE_ONE, TOGETHER};
use crate::paper::record::{GecosRow, LargestRow, Part, TimedRow, TogetherRow};

/// A table of the page.
pub(crate) struct Table {
    /// What it is called.
    pub(crate) title: String,
    /// What it shows, in a few sentences.
    pub(crate) about: String,
    /// Its rows.
    pub(crate) columns: Columns,
    /// One sentence each, behind it.
    pub(crate) remarks: Vec<String>,
}

/// The tables of a part, one after the other.
pub(crate) fn of(part: &Part) -> Vec<Table> {
    let timed = || timed(&part.timed, part.short);
    match part.part.as_str() {
        "table-1" => vec![table_one(&part.arrays)],
        part if part.starts_with("table-2") => vec![timed()],
        "figure-3" => vec![figure_three(&part.arrays), timed()],
        "tables-5-6" => vec![together(&part.together), published_together()],
        "gecos" => vec![gecos(&part.gecos)],
        "sizes" => vec![sizes(&part.timed)],
        "largest" => vec![largest(&part.largest)],
        _ => Vec::new(),
    }
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

/// Three digits or more, at any size.
fn seconds_text(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2}"),
        0.001.. => format!("{seconds:.4}"),
        _ => format!("{seconds:.2e}"),
    }
}

fn difference(largest: f64) -> String {
    if largest == 0.0 { "0".to_owned() } else { format!("{largest:.0e}") }
}

fn ratio(above: Option<u64>, below: Option<u64>) -> String {
    let quotient = above.zip(below.filter(|&below| below > 0)).map(|(above, below)| above as f64 / below as f64);
    quotient.map_or("-".to_owned(), |quotient| format!("{quotient:.2}"))
}

/// The rows of one array at one size, by strategy.
fn same_array(a: &OptimizerRow, b: &OptimizerRow) -> bool {
    (&a.kernel, &a.params) == (&b.kernel, &b.params)
}

fn sizes_of(row: &OptimizerRow) -> String {
    row.params.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn table_one(rows: &[OptimizerRow]) -> Table {
    let mut columns = Columns::new(
        6,
        &[
            "program",
            "size",
            "published baseline",
            "published mapping",
            "published reduction",
            "chosen",
            "successive modulo",
            "published cells",
            "cells",
            "bound",
            "reduction",
            "published s",
            "ms",
        ],
    );
    for group in rows.chunk_by(same_array) {
        let of = |strategy: &str| group.iter().find(|row| row.strategy == strategy);
        let (Some(ours), baseline) = (of(FOOTPRINT), of("successive-modulo")) else { continue };
        let published = TABLE_ONE.iter().find(|row| row.name == ours.kernel);
        let baseline = baseline.and_then(|row| row.cells);
        columns.push(vec![
            ours.kernel.clone(),
            sizes_of(ours),
            published.map_or("-".to_owned(), |row| format!("`{}`", row.baseline)),
            published.map_or("-".to_owned(), |row| format!("`{}`", row.mapping)),
            published.map_or("-", |row| row.reduction).to_owned(),
            ours.chosen.clone().unwrap_or_default(),
            number(baseline),
            number(ours.published_cells),
            number(ours.cells),
            number(ours.lower_bound_cells),
            ratio(baseline, ours.cells),
            number(ours.published_seconds),
            ours.seconds.map_or("-".to_owned(), |seconds| format!("{:.1}", seconds * 1e3)),
        ]);
    }
    let about = "SMO, Table I. Cells of the published mapping and of the one that is chosen for the fewest cells, between \
                 successive modulo and the most values alive at once, which no storage goes below; the reduction is over \
                 successive modulo. Times go from the kernel to a proved mapping, on one thread here. Mappings that differ \
                 are both timed in Table II.";
    Table { title: "Table I: storage mappings".into(), about: about.into(), columns, remarks: Vec::new() }
}

fn figure_three(rows: &[OptimizerRow]) -> Table {
    let mut strategies: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.strategy != "auto") {
        if !strategies.contains(&row.strategy.as_str()) {
            strategies.push(&row.strategy);
        }
    }
    let mut header = vec![
        "kernel",
        "array",
        "published before",
        "published H1-H3",
        "published optimum",
        "bound",
        "published analysis s",
        "published search s",
        "ms, whole kernel",
    ];
    header.extend(&strategies);
    let mut columns = Columns::new(2, &header);
    for published in &FIGURE_THREE {
        let holds = |row: &&OptimizerRow| {
            row.kernel == published.kernel && row.array.split(", ").any(|array| array == published.array)
        };
        let of = |strategy: &str| rows.iter().filter(|row| row.strategy == strategy).find(holds);
        let auto = of("auto");
        let mut cells = vec![
            published.kernel.to_owned(),
            published.array.to_owned(),
            published.original.to_string(),
            published.heuristics.to_string(),
            published.optimum.to_string(),
            number(auto.and_then(|row| row.lower_bound_cells)),
            published.analysis_seconds.to_string(),
            number(published.search_seconds),
            auto.and_then(|row| row.seconds).map_or("-".to_owned(), |seconds| format!("{:.1}", seconds * 1e3)),
        ];
        cells.extend(strategies.iter().map(|strategy| number(of(strategy).and_then(|row| row.cells))));
        columns.push(cells);
    }
    let about = "Bee+Cl@k, Figure 3: all fifteen arrays at its sizes, and what every strategy here makes of them, in cells; \
                 arrays that share storage have its cells together. H1 to H3 are its heuristics, the optimum that of its \
                 exhaustive search among lattices.";
    Table { title: "Figure 3: contraction of arrays".into(), about: about.into(), columns, remarks: Vec::new() }
}

/// Programs with their layouts, in seconds of the publication's whole program.
fn timed(rows: &[TimedRow], short: bool) -> Table {
    let mut columns = Columns::new(
        4,
        &[
            "program",
            "schedule",
            "row",
            "max diff",
            "threads",
            "storage",
            "of succ. mod.",
            "seconds",
            "spread",
            "speed over succ. mod.",
            "published s",
            "published speed",
            "published storage reduction",
        ],
    );
    let mut remarks: Vec<String> = Vec::new();
    for group in rows.chunk_by(|a, b| a.name == b.name && a.row.threads == b.row.threads) {
        for row in group {
            columns.push(timed_cells(group, row));
            let remark = format!("{}: {}", row.name, row.remark);
            if !row.remark.is_empty() && !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    let extent = if short { ", at the small sizes of a run that was cut short" } else { "" };
    let about = format!(
        "Seconds of the publication's program{extent}: all its steps, or one run, medians; `spread` is half of what the \
         slowest and the fastest round lie apart. `paper-fold` is the published mapping, `auto` the schedule and storage \
         that are found for the same kernel; C loops have the order of the schedule where a mark compares with them, others \
         one of their own. `of succ. mod.` and `speed` compare with successive modulo under the same schedule, C and \
         `auto` with the first one. Publications used 16 cores."
    );
    Table { title: "Timed programs".into(), about, columns, remarks }
}

fn timed_cells(group: &[TimedRow], row: &TimedRow) -> Vec<String> {
    let is_baseline = |other: &&TimedRow| other.label() == "successive-modulo";
    let same = group.iter().filter(is_baseline).find(|other| other.row.schedule == row.row.schedule);
    let baseline = same.or_else(|| group.iter().find(is_baseline));
    let speed = row.row.seconds.zip(baseline.and_then(|baseline| baseline.row.seconds));
    let published = row.published.map(|published| match row.label() {
        "successive-modulo" => (Some(published.baseline_seconds), None, None),
        "paper-fold" => (Some(published.folded_seconds), Some(published.speedup()), Some(published.storage_reduction)),
        _ => (None, None, None),
    });
    let (seconds, speedup, reduction) = published.unwrap_or_default();
    let two = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let mut cells = vec![
        row.name.clone(),
        row.row.schedule.as_ref().map_or("-".to_owned(), |schedule| format!("`{schedule}`")),
        row.label().to_owned(),
        row.row.max_abs_diff.map_or("-".to_owned(), difference),
        row.row.threads.to_string(),
        row.row.temp_bytes.map_or("-".to_owned(), bytes),
        ratio(row.row.temp_bytes, baseline.and_then(|baseline| baseline.row.temp_bytes)),
        row.publication_seconds().map_or("-".to_owned(), seconds_text),
        row.row.seconds.map_or("-".to_owned(), |seconds| format!("{:.0} %", seconds.spread() * 100.0)),
        two(speed.map(|(own, other)| other.median / own.median)),
        number(seconds),
        two(speedup),
        number(reduction),
    ];
    cells.extend(row.row.note.clone());
    cells
}

fn together(rows: &[TogetherRow]) -> Table {
    let mut columns = Columns::new(
        3,
        &["program", "layout", "same bits", "N", "limit", "storage of each", "processes", "seconds", "M updates/s"],
    );
    for row in rows {
        let same = row.same_bits.map_or("-", |same| if same { "yes" } else { "NO" });
        let mut cells = vec![
            row.name.clone(),
            row.layout.clone(),
            same.to_owned(),
            row.n.to_string(),
            row.limit_bytes.map_or("none".to_owned(), bytes),
            row.storage_bytes.map_or("-".to_owned(), bytes),
            row.processes.to_string(),
            row.seconds.map_or("does not run".to_owned(), |seconds| format!("{seconds:.3}")),
            row.updates_per_second.map_or("-".to_owned(), |rate| format!("{:.1}", rate * 1e-6)),
        ];
        cells.extend(row.note.clone());
        columns.push(cells);
    }
    let about = "Several processes at once, one thread each. A limit is one of address space, of all processes together; \
                 each has an equal share of it, a little more than folded storage needs for two and for four. Without a \
                 limit, processes share a cache. Rates are of all processes together, from their common start until the \
                 last one is done.";
    Table { title: "Several programs at once".into(), about: about.into(), columns, remarks: Vec::new() }
}

fn published_together() -> Table {
    let mut columns = Columns::new(
        1,
        &["program", "N", "processes", "published s, succ. mod.", "published s, folded", "published speed"],
    );
    for table in &TOGETHER {
        for &(processes, baseline, folded) in table.rows {
            columns.push(vec![
                table.name.to_owned(),
                table.n.to_string(),
                processes.to_string(),
                baseline.to_string(),
                folded.to_string(),
                format!("{:.2}", baseline / folded),
            ]);
        }
    }
    let about = "SMO, Tables V and VI: seconds until all processes are done, ten steps each, on 16 cores with 64 GB, where \
                 what does not fit is swapped. Which seconds belong together is certain; to which number of processes, for \
                 9 and more of D2Q9, was put back in order from a damaged copy.";
    Table { title: "Tables V and VI as published".into(), about: about.into(), columns, remarks: Vec::new() }
}

fn gecos(rows: &[GecosRow]) -> Table {
    let mut columns = Columns::new(
        4,
        &["example", "order", "view", "strategy", "size", "cells written", "cells", "bound", "max diff", "ms"],
    );
    for row in rows {
        let mut cells = vec![
            row.example.clone(),
            row.schedule.clone(),
            row.view.clone(),
            row.strategy.clone(),
            row.sizes.clone(),
            row.full_cells.to_string(),
            number(row.cells),
            number(row.lower_bound_cells),
            number(row.max_abs_diff),
            row.seconds.map_or("-".to_owned(), |seconds| format!("{:.3}", seconds * 1e3)),
        ];
        cells.extend(row.note.clone());
        columns.push(cells);
    }
    let about = "The examples of GeCoS' report, which prints no sizes. Contraction keeps arrays as they are; reallocation \
                 gives every write a cell of its own first, and may expand an array where its order needs that.";
    Table {
        title: "GeCoS: contraction and partial expansion".into(),
        about: about.into(),
        columns,
        remarks: Vec::new(),
    }
}

fn sizes(rows: &[TimedRow]) -> Table {
    let mut columns =
        Columns::new(3, &["program", "schedule", "row", "N", "storage", "M updates/s", "of limit", "max diff"]);
    for row in rows {
        columns.push(vec![
            row.name.clone(),
            row.row.schedule.clone().unwrap_or_else(|| "-".to_owned()),
            row.label().to_owned(),
            number(row.row.params.get("N")),
            row.row.temp_bytes.map_or("-".to_owned(), bytes),
            row.row.updates_per_second.map_or("-".to_owned(), |rate| format!("{:.1}", rate * 1e-6)),
            row.row.bandwidth_share.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0)),
            row.row.max_abs_diff.map_or("-".to_owned(), difference),
        ]);
    }
    let about = "One thread, domains from the nearest cache to main memory. `of limit` is the share of what updates of \
                 memory in place allow beside it; it is above 100 % where data stay in a cache.";
    Table { title: "Speed against domain size".into(), about: about.into(), columns, remarks: Vec::new() }
}

fn largest(rows: &[LargestRow]) -> Table {
    let mut columns = Columns::new(2, &["kernel", "layout", "memory", "largest N", "needs"]);
    for row in rows {
        let cells = [row.kernel.clone(), row.layout.clone(), bytes(row.memory_bytes), row.n.to_string()];
        columns.push(cells.into_iter().chain([bytes(row.needed_bytes)]).collect());
    }
    let about = "The side of the largest square or cube whose run keeps no more than the memory, planned on one thread; to \
                 one part in two thousand.";
    Table { title: "Largest domain in a given memory".into(), about: about.into(), columns, remarks: Vec::new() }
}
