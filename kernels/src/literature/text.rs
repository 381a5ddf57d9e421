//! Statements whose reads depend on where they are.
//!
//! In: an iteration domain and reads with the condition under which each happens.   Out: statements that partition the
//! domain and read the same everywhere, as text. Values are opaque: these kernels are analysed, and run only in tests.

use std::fmt::Write;

/// Declares the opaque function `f` of up to `most` arguments.
pub(super) fn opaque(most: usize) -> String {
    let functions: Vec<String> = (1..=most).map(|arguments| format!("f({arguments})")).collect();
    format!("opaque {}", functions.join(", "))
}

/// A read, and the instances in which it happens.
pub(super) struct GuardedRead {
    /// The cell, such as `A[t-1, i]`.
    pub(super) cell: String,
    /// A formula of the statement's iterators.
    pub(super) condition: String,
}

/// A statement before it is split.
pub(super) struct Guarded<'a> {
    /// What the names of its parts begin with.
    pub(super) name: &'a str,
    /// Its iterators, such as `t, i`.
    pub(super) iters: &'a str,
    /// Its domain, a formula.
    pub(super) domain: &'a str,
    /// What it writes, such as `A[t, i]`.
    pub(super) target: &'a str,
    /// What it reads.
    pub(super) reads: Vec<GuardedRead>,
}

impl Guarded<'_> {
    /// One statement per combination of reads, and their names. Some may have no instance.
    pub(super) fn split(&self) -> (String, Vec<String>) {
        let (mut text, mut names) = (String::new(), Vec::new());
        for choice in (0..1_u32 << self.reads.len()).rev() {
            let happens = |k: usize| choice >> k & 1 == 1;
            let mut domain = format!("({})", self.domain);
            let mut cells = Vec::new();
            for (k, read) in self.reads.iter().enumerate() {
                let not = if happens(k) { "" } else { "not " };
                let _ = write!(domain, " and {not}({})", read.condition);
                cells.extend(happens(k).then_some(read.cell.as_str()));
            }
            if cells.is_empty() {
                cells.push(self.iters);
            }
            let name = format!("{}{choice}", self.name);
            let _ =
                writeln!(text, "  {name}[{}] for {domain} {{ {} = f({}) }}", self.iters, self.target, cells.join(", "));
            names.push(name);
        }
        (text, names)
    }
}
