//! All results at length: a section for each suite, with what made it and its tables.

use std::fmt::Write;

use crease::IsaChoice;
use crease_bench::columns::{Columns, bytes, plural};
use crease_bench::optimizer::{self, Optimizer};
use crease_bench::physics::{self, Physics};
use crease_bench::row::Comparisons;
use crease_bench::strips::{self, Strips, StripsRow};
use crease_bench::table;

use crate::results::newest::{Content, Found, Newest, SUITES};

/// Prose is no wider.
const WIDTH: usize = 118;

const OPENING: &str = "\
# Results

Written by `cargo run --release -- results` from the newest record of each suite in
[bench-results/](../bench-results/README.md). A test compares, so nothing here is changed by hand. All numbers are those
of the records, or ratios of them.
";

const QUICK: &str = "\
LBM and heat stencils at one size each. Layouts of one kernel are timed in turn, under the same schedule: `full` storage
where it fits, `successive-modulo` (of grids two, the usual baseline), `folded` (what Crease chooses), a mapping from a
paper as `paper`, and C loops, in their own order. `memory` is the storage of states and temporaries with its padding;
`/ bound` divides it by the bytes of the most values alive at once, which no storage can go below, `/ succ.mod.` by that
of successive modulo. Rates are medians; `spread` is half of what the slowest and the fastest round lie apart, over the
median. `of limit` is the share of the bandwidth limit: the bytes that an update must move at least, against memory
updated in place beside the comparison; it is above 100 % where data come from a cache. `max diff` is the largest
difference from the naive loops, whose answer is compared first. Titles have, for several threads, the cores' worth of
arithmetic that they were given in the same comparison, as virtual machines share cores with others, and the round trip
of a line of the cache between two of them, as they are moved: some ten nanoseconds between cores of one cache, hundreds
between those of two chiplets, where what is handed from thread to thread costs more and there is more bandwidth.
";

const TILES: &str = "\
Lattice Boltzmann and heat beyond the caches, by rows and in the schedule that is found, beside C in tiles of time.
Columns are those of `quick`. Calls are short, some as short as a tile, and begin anywhere; C loops begin their tiles
with each call, as ours do.
";

const IMAGES: &str = "\
Blurs, unsharp masks and Harris corners of large images, in both precisions; and images whose colours lie beside each
other, mostly of bytes. Columns are those of `quick`.
";

const BYTES: &str =
    "Cells of one byte, computed in integers: the game of life, and a blur whose sums have 16 bits. C loops have the
widest vectors of the machine.
";

const DIAMOND: &str = "\
A heat stencil on a line of 8192 cells over 8192 steps: row by row, and in tiles of space and time. Columns are those of
`quick`.
";

const STRIPS: &str = "\
Our code beside C loops for the same work, in cache (`l1`, `l2`) and from memory (`dram`). A C loop is built for vectors
of 256 and of 512 bits, where the compiler has both, and the faster one counts. `n` is the length of a row, `ratio` our
rate over that of C, `of limit` the share of the bandwidth that updates in place had in the same comparison, and the
column behind either is what was aimed for. The loop for D3Q27 in C has no collision written with intrinsics, so its
ratios flatter.
";

const OPTIMIZER: &str = "\
Cells of storage for published kernels at published sizes, and for some of the catalogue. `bound` is the most values
alive at once, `published` what the publication has, `known` the smallest number known before, `auto` what Crease takes
by itself, which weighs cells against what it costs to reach them, and `chosen` the strategy that found it. `ms` goes
from a kernel to storage that is proved, for all its arrays, on one thread; `published s` is what the publication
reports, on a machine of its time. `auto-footprint` is asked for the fewest cells (`--objective footprint`). Arrays that
share buffers have one line.
";

const PHYSICS: &str = "\
What folded kernels compute beside published and analytic results. A deviation is relative, and for profiles of the
cavity over the speed of its lid. Of a published band, the reference is the middle, and the band itself stands with the
quantity. Figures follow the table; what is computed has colours there, what is known is black.
";

const PAPER: &str = "\
Each table of the publications that this project grows from, with what they print, what is found here and good C beside
it, and the marks that rows are held to. They have a page of their own,
[bench-results/paper](../bench-results/paper/README.md), which the suite `paper` writes.
";

/// The whole document; `paper` is the table of what the suite of the publications' tables has measured.
pub(super) fn document(newest: &Newest, paper: &str) -> String {
    let mut text = OPENING.to_owned();
    for suite in SUITES {
        let _ = write!(text, "\n## {suite}\n\n{}\n", introduction(suite));
        match newest.found.get(suite) {
            Some(found) => text += &format!("{}{}{}", origin(found), tables(&found.content), figures(found)),
            None => {
                let _ = writeln!(text, "There is no record; `cargo run --release -- bench --suite {suite}` makes one.");
            }
        }
    }
    let _ = write!(text, "\n## paper\n\n{PAPER}\n{paper}");
    text
}

fn introduction(suite: &str) -> &'static str {
    match suite {
        "tiles" => TILES,
        "images" => IMAGES,
        "bytes" => BYTES,
        "diamond" => DIAMOND,
        strips::SUITE => STRIPS,
        optimizer::SUITE => OPTIMIZER,
        physics::SUITE => PHYSICS,
        _ => QUICK,
    }
}

fn tables(content: &Content) -> String {
    match content {
        Content::Comparisons(record) => comparisons(&record.found),
        Content::Strips(record) => strips_tables(&record.found),
        Content::Optimizer(record) => optimizer_table(&record.found),
        Content::Physics(record) => physics_table(&record.found),
    }
}

/// What made a record, when, where and from what.
fn origin(found: &Found) -> String {
    let header = found.content.header();
    let machine = &header.machine;
    let link = |file: &str, name: &str| format!("[{name}](../bench-results/{file})");
    let bandwidth = |of: &std::collections::BTreeMap<String, f64>| {
        let each = of.iter().map(|(threads, gb_per_s)| format!("{gb_per_s:.0} GB/s on {}", plural(threads, "thread")));
        each.collect::<Vec<_>>().join(", ")
    };
    let revision = header.revision.as_ref().map_or("unknown".to_owned(), |revision| format!("`{revision}`"));
    let linked = found.charts.iter().filter(|_| !matches!(found.content, Content::Physics(_)));
    let charts: Vec<String> = linked.map(|(chart, file)| link(file, chart)).collect();
    let rows = [
        ("date", header.date.clone()),
        ("revision", format!("{revision}, version {}", header.version)),
        ("machine", format!("{}, {} cores, {}", machine.cpu, machine.cores, machine.isa.join(" "))),
        ("memory, system", format!("{}, {}", bytes(machine.memory_bytes), machine.platform)),
        ("update in place", bandwidth(&machine.update_in_place_gb_per_s)),
        ("triad", bandwidth(&machine.triad_gb_per_s)),
        ("C compiler", machine.c_compiler.as_ref().map_or(String::new(), |compiler| format!("`{compiler}`"))),
        ("record", link(&found.name, &found.name)),
        ("charts", charts.join(", ")),
    ];
    let mut columns = Columns::new(2, &["command", &shell(&header.command)]);
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        columns.push(vec![name.to_owned(), value]);
    }
    columns.markdown()
}

/// A recorded command line as it is typed in the repository.
pub(super) fn shell(command: &str) -> String {
    match command.split_once(' ') {
        Some((_, arguments)) => format!("`cargo run --release -- {arguments}`"),
        None => "`cargo run --release`".to_owned(),
    }
}

fn comparisons(found: &Comparisons) -> String {
    let mut text = String::new();
    for block in found.groups().into_iter().filter_map(table::block) {
        let _ = write!(text, "\n{}\n\n{}", heading(&block.title), block.columns.markdown());
        text += &list(&block.remarks);
    }
    text
}

/// Rows that have aims: those with the widest vectors of the record, then the others; compile times.
fn strips_tables(found: &Strips) -> String {
    let width = |row: &StripsRow| IsaChoice::ALL.into_iter().position(|isa| isa.name() == row.isa);
    let aimed = || found.rows.iter().filter(|row| row.ratio_aim.is_some() || row.share_aim.is_some());
    let widest = aimed().map(width).max().flatten();
    let is_widest = |row: &&StripsRow| width(row) == widest;
    let name = widest.map_or("none", |k| IsaChoice::ALL[k].name());
    let below = aimed().filter(is_widest).flat_map(|row| {
        let name = format!("{} from {}, {}, beside {}", row.kernel, row.working_set.name(), row.layout, row.reference);
        let at = format!("n = {}, {}", row.n, plural(&row.threads.to_string(), "thread"));
        row.shortfalls().into_iter().map(move |short| format!("{name}, {at}: {short}"))
    });
    let below: Vec<String> = below.collect();
    let verdict = if below.is_empty() { "No row is below its aim.\n" } else { "Below their aims:\n" };
    let widest_rows = strips::columns(aimed().filter(is_widest)).markdown();
    let other_rows = strips::columns(aimed().filter(|row| !is_widest(row))).markdown();
    let compile = strips::compile_columns(&found.compile).markdown();
    format!(
        "\n### The widest vectors of that machine: {name}\n\n{widest_rows}\n{verdict}{}\n### Narrower ones\n\n{other_rows}\n\
         ### Compile times\n\nFrom the lowered program to code, all strips and loops, and for each of the strips that the \
         emitter for wide vectors\ncompiled; medians.\n\n{compile}",
        list(&below)
    )
}

fn optimizer_table(found: &Optimizer) -> String {
    let broken: Vec<String> = found.broken().into_iter().map(|line| format!("FAIL {line}")).collect();
    let kept = "No storage is below its bound, and `auto-footprint` takes no more cells than are known to do.";
    let verdict = if broken.is_empty() { kept } else { "Rows that are not as they should be:" };
    let columns = optimizer::columns(found, &[optimizer::FOOTPRINT]).markdown();
    format!("\n{columns}\nWhat every other strategy finds is in the record.\n{verdict}\n{}", list(&broken))
}

fn physics_table(found: &Physics) -> String {
    let failures: Vec<String> =
        found.failures.iter().map(|failure| format!("{}: FAIL, {}", failure.run, failure.reason)).collect();
    format!("\n{}{}", physics::columns(found).markdown(), list(&failures))
}

/// Figures of checks, each with what it shows.
fn figures(found: &Found) -> String {
    let shown = found.charts.iter().filter(|_| matches!(found.content, Content::Physics(_)));
    let mut text = String::new();
    for (title, file) in shown {
        let name = file.rsplit('.').nth(1).unwrap_or(file);
        let _ = write!(text, "\n{title}:\n\n![{name}](../bench-results/{file})\n");
    }
    text
}

/// Lines as a list, behind an empty line; nothing if there are none.
fn list(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        let mut width = WIDTH + 1;
        for word in line.split_whitespace() {
            if width + word.chars().count() < WIDTH {
                let _ = write!(text, " {word}");
                width += word.chars().count() + 1;
            } else {
                text += if text.is_empty() || width > WIDTH { "\n- " } else { "\n  " };
                text += word;
                width = word.chars().count() + 2;
            }
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// A heading of parts, and below it those that would make it wider than a page.
fn heading(parts: &[String]) -> String {
    let fits = |count: &usize| 4 + parts[..*count].join(", ").chars().count() <= WIDTH;
    let count = (1..=parts.len()).rev().find(fits).unwrap_or(parts.len());
    let (head, rest) = (parts[..count].join(", "), parts[count..].join(", "));
    if rest.is_empty() { format!("### {head}") } else { format!("### {head}\n\n{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_wrapped() {
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["a b".to_owned(), "c".to_owned()]), "\n- a b\n- c\n");
        let long = list(&["word ".repeat(40)]);
        assert!(long.lines().all(|line| line.len() <= 120) && long.lines().count() == 3, "{long}");
        assert!(long.lines().nth(2).is_some_and(|line| line.starts_with("  word")), "{long}");
    }

    #[test]
    fn commands_are_those_of_the_repository() {
        assert_eq!(shell("crease"), "`cargo run --release`");
        assert_eq!(shell("crease bench --suite images"), "`cargo run --release -- bench --suite images`");
    }
}
