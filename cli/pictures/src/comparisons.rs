//! The rows of a record by kernel and size, for charts.

use std::collections::BTreeMap;

use crease_bench::record::Record;
use crease_bench::row::{Comparisons, Row};

/// Rows of one kernel at one size, on any number of threads.
pub(crate) struct Comparison<'a> {
    kernel: &'a str,
    sizes: BTreeMap<&'a str, i64>,
    pub(crate) rows: Vec<&'a Row>,
}

/// The comparisons of a record, in its order.
pub(crate) fn comparisons(record: &Record<Comparisons>) -> Vec<Comparison<'_>> {
    let mut found: Vec<Comparison<'_>> = Vec::new();
    for row in &record.found.rows {
        let sizes = sizes(row);
        match found.iter_mut().find(|comparison| comparison.kernel == row.kernel && comparison.sizes == sizes) {
            Some(comparison) => comparison.rows.push(row),
            None => found.push(Comparison { kernel: &row.kernel, sizes, rows: vec![row] }),
        }
    }
    found
}

/// Parameters without the number of steps, which is chosen for each number of threads and always recorded as `T`.
fn sizes(row: &Row) -> BTreeMap<&str, i64> {
    row.params.iter().filter(|(name, _)| *name != "T").map(|(name, &value)| (name.as_str(), value)).collect()
}

impl Comparison<'_> {
    /// The kernel and its sizes.
    pub(crate) fn title(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{}, {}", self.kernel, sizes.join(", "))
    }

    /// A row's layout, and its schedule and instruction set where there are several.
    pub(crate) fn name(&self, row: &Row) -> String {
        let mut name = row.layout.clone();
        for of in [|row: &Row| row.schedule.clone(), |row: &Row| row.isa.clone()] {
            if let Some(own) = of(row)
                && self.rows.iter().filter_map(|row| of(row)).any(|other| other != own)
            {
                name += &format!(", {own}");
            }
        }
        name
    }

    /// Numbers of threads, ascending.
    pub(crate) fn thread_counts(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = self.rows.iter().map(|row| row.threads).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }
}

/// Where and when the numbers were measured, and the file that holds them.
pub(crate) fn source_line(record: &Record<Comparisons>, data: &str) -> String {
    let day = record.header.date.get(..10).unwrap_or(&record.header.date);
    let machine = &record.header.machine;
    let revision = record.header.revision.as_deref().map(|r| format!(", revision {r}")).unwrap_or_default();
    format!("{}, {} cores, {day}{revision}; data: {data}", machine.cpu, machine.cores)
}
