//! A golden entry as a kernel.
//!
//! In: domains, accesses and a schedule in isl's notation, as the JSON files hold them.   Out: a kernel's text.
//!
//! Golden reads are relations with guards; reads of a kernel are functions, and every instance of a statement reads all
//! of them. So a relation is taken apart into one function per offset (`A[t-1,a] : -1 <= a-i <= 1` gives three), and a
//! statement is split into regions, in each of which every read happens everywhere or nowhere. Values are opaque calls;
//! a statement that writes nothing gets an output of its own.

use crease_isl::{Context, IslError, Set};
use serde_json::Value;

/// The facts of an entry that a kernel is made of.
pub(crate) struct Entry<'a> {
    /// The JSON object.
    facts: &'a Value,
    context: &'a Context,
    /// Names of the size parameters.
    params: Vec<&'a str>,
    /// A time dimension that runs in blocks of this many lanes.
    vector: Option<(usize, u64)>,
}

/// One rule of an isl relation or set: `S[t, i] -> A[t-1, a] : condition`, still as text.
struct Rule<'a> {
    from: Tuple<'a>,
    to: Option<Tuple<'a>>,
    text: &'a str,
}

#[derive(Clone, PartialEq)]
struct Tuple<'a> {
    name: &'a str,
    items: Vec<String>,
}

/// A reference to a cell, as text in the statement's iterators.
#[derive(Clone, PartialEq)]
struct Reference<'a> {
    array: &'a str,
    index: Vec<String>,
}

/// A statement before it is split.
struct Stmt<'a, 'c> {
    tuple: Tuple<'a>,
    domain: Set<'c>,
    /// Each with the instances in which it happens.
    reads: Vec<(Reference<'a>, Set<'c>)>,
    writes: Vec<Reference<'a>>,
    time: String,
}

/// Part of a statement that reads the same everywhere.
struct Region<'c> {
    name: String,
    points: Set<'c>,
    /// Positions in [`Stmt::reads`].
    reads: Vec<usize>,
}

impl<'a> Entry<'a> {
    /// Reads what is needed often.
    pub(crate) fn new(facts: &'a Value, context: &'a Context) -> Entry<'a> {
        let params = facts["params"].as_array().expect("a list").iter().map(|p| p.as_str().expect("a name")).collect();
        Entry { facts, context, params, vector: None }
    }

    /// The same with its innermost moving time dimension in blocks of `lanes`.
    pub(crate) fn in_blocks_of(mut self, lanes: u64) -> Entry<'a> {
        let moves = |k: usize, rule: &Rule<'a>| {
            let time = &rule.to.as_ref().expect("a time vector").items[k];
            rule.from.items.iter().any(|iter| time.contains(iter.as_str()))
        };
        let rules = self.rules("schedule");
        let n_dims = rules[0].to.as_ref().map_or(0, |time| time.items.len());
        let innermost = (0..n_dims).rev().find(|&k| rules.iter().all(|rule| moves(k, rule)));
        self.vector = innermost.map(|dim| (dim, lanes));
        self
    }

    fn text(&self, field: &str) -> &'a str {
        self.facts[field].as_str().unwrap_or_else(|| panic!("`{field}` is a string"))
    }

    fn prefix(&self) -> String {
        format!("[{}] -> ", self.params.join(", "))
    }

    fn rules(&self, field: &str) -> Vec<Rule<'a>> {
        let text = self.text(field);
        let inside = text.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).expect("a set in braces").0;
        inside.split(';').map(str::trim).filter(|rule| !rule.is_empty()).map(Rule::new).collect()
    }

    /// The cells of one array in a golden set of cells.
    fn cells(&self, field: &str, array: &str) -> Result<Option<Set<'a>>, IslError> {
        let mut cells: Option<Set<'a>> = None;
        for rule in self.rules(field).iter().filter(|rule| rule.from.name == array) {
            let more = self.context.set(&format!("{}{{ {} }}", self.prefix(), rule.text))?;
            cells = Some(cells.map_or(Ok(more.clone()), |known| known.union(&more))?);
        }
        Ok(cells)
    }

    /// The kernel's text.
    pub(crate) fn kernel_text(&self) -> Result<String, IslError> {
        let stmts = self.stmts()?;
        let regions = stmts.iter().map(Stmt::regions).collect::<Result<Vec<_>, _>>()?;
        let name: String = self.text("name").chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let mut text = format!("kernel {name}({})", self.sizes());
        if !self.text("context").is_empty() {
            text.push_str(&format!(" for {}", self.text("context")));
        }
        text.push_str(" {\n");
        let most = stmts.iter().map(|stmt| stmt.reads.len().max(stmt.tuple.items.len()).max(1)).max().unwrap_or(1);
        let functions: Vec<String> = (1..=most).map(|n| format!("f({n})")).collect();
        text.push_str(&format!("  opaque {}\n", functions.join(", ")));
        self.push_arrays(&stmts, &mut text)?;
        for (stmt, regions) in stmts.iter().zip(&regions) {
            regions.iter().try_for_each(|region| stmt.push_region(region, &mut text))?;
        }
        text.push_str("  schedule golden {");
        for (stmt, regions) in stmts.iter().zip(&regions) {
            let names: Vec<&str> = regions.iter().map(|r| r.name.as_str()).collect();
            text.push_str(&format!(" {} -> {};", names.join(", "), stmt.time));
        }
        text.push_str(" }\n}\n");
        Ok(text)
    }

    fn sizes(&self) -> String {
        if self.params.is_empty() { String::new() } else { format!("size {}", self.params.join(", ")) }
    }

    fn stmts(&self) -> Result<Vec<Stmt<'a, 'a>>, IslError> {
        let context = self.context.set(&format!("{}{{ : {} }}", self.prefix(), self.guard()))?;
        let (times, writes, reads) = (self.rules("schedule"), self.rules("writes"), self.rules("reads"));
        let mut stmts = Vec::new();
        for rule in self.rules("domain") {
            let of_stmt = |other: &&Rule<'a>| other.from.name == rule.from.name;
            let time = times.iter().find(of_stmt).expect("every statement is scheduled");
            let domain = self.context.set(&format!("{}{{ {} }}", self.prefix(), rule.text))?;
            let mut stmt = Stmt {
                domain: domain.intersect_params(&context)?,
                reads: Vec::new(),
                writes: writes.iter().filter(of_stmt).map(|w| w.target(&rule.from)).collect(),
                time: self.time(time, &rule.from),
                tuple: rule.from.clone(),
            };
            for read in reads.iter().filter(of_stmt) {
                stmt.reads.extend(self.functions(read, &stmt)?);
            }
            // Statements that touch nothing only mark the start and the end.
            if !(stmt.reads.is_empty() && stmt.writes.is_empty()) {
                stmts.push(stmt);
            }
        }
        Ok(stmts)
    }

    fn guard(&self) -> &'a str {
        Some(self.text("context")).filter(|c| !c.is_empty()).unwrap_or("true")
    }

    fn time(&self, rule: &Rule<'a>, iters: &Tuple<'a>) -> String {
        let parallel = |k: usize| self.facts["parallel_dims"].as_array().is_some_and(|d| d.contains(&Value::from(k)));
        let item = |(k, item): (usize, String)| match self.vector {
            Some((dim, lanes)) if dim == k => format!("{item} vector({lanes})"),
            _ if parallel(k) => item + " parallel",
            _ => item,
        };
        format!("[{}]", rule.target(iters).index.into_iter().enumerate().map(item).collect::<Vec<_>>().join(", "))
    }

    /// The functions that make up a read relation, each with the instances in which it happens.
    fn functions(&self, rule: &Rule<'a>, stmt: &Stmt<'a, 'a>) -> Result<Vec<(Reference<'a>, Set<'a>)>, IslError> {
        let Reference { array, index } = rule.target(&stmt.tuple);
        let relation = self.context.map(&format!("{}{{ {} }}", self.prefix(), rule.text))?;
        let relation = relation.intersect_domain(&stmt.domain)?;
        let mut choices: Vec<Vec<String>> = vec![Vec::new()];
        for (position, item) in index.iter().enumerate() {
            let free = item.chars().all(char::is_alphanumeric) && !item.starts_with(|c: char| c.is_ascii_digit());
            let free = free && !stmt.tuple.items.contains(item) && !self.params.contains(&item.as_str());
            let values = if free { self.offsets(&relation, stmt, position, index.len())? } else { vec![item.clone()] };
            let extend = |known: &Vec<String>| {
                let with = |value: &String| [known.as_slice(), std::slice::from_ref(value)].concat();
                values.iter().map(with).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(extend).collect();
        }
        let mut functions = Vec::new();
        for index in choices {
            let (name, iters) = (stmt.tuple.name, stmt.tuple.items.join(", "));
            let function = format!("{}{{ {name}[{iters}] -> {array}[{}] }}", self.prefix(), index.join(", "));
            let instances = relation.intersect(&self.context.map(&function)?)?.domain()?;
            if !instances.is_empty()? {
                functions.push((Reference { array, index }, instances.coalesce()?));
            }
        }
        Ok(functions)
    }

    /// The values that a free index takes: an iterator plus each of a few offsets.
    fn offsets(
        &self,
        relation: &crease_isl::Map<'a>,
        stmt: &Stmt<'a, 'a>,
        position: usize,
        n: usize,
    ) -> Result<Vec<String>, IslError> {
        let iters = &stmt.tuple.items;
        let index: Vec<String> = (0..n).map(|k| format!("_{k}")).collect();
        let array = relation.range_name()?.expect("arrays have names");
        let mut found: Option<(i64, Vec<String>)> = None;
        for iter in iters {
            let pair = format!("[{}[{}] -> {array}[{}]]", stmt.tuple.name, iters.join(", "), index.join(", "));
            let offset = self.context.map(&format!("{{ {pair} -> [_{position} - {iter}] }}"))?;
            let offsets = relation.wrap()?.apply(&offset)?;
            let Some((low, high)) = offsets.dim_min(0)?.zip(offsets.dim_max(0)?) else { continue };
            if found.as_ref().is_none_or(|(width, _)| high - low < *width) {
                let value = |d: i64| match d.signum() {
                    0 => iter.clone(),
                    1 => format!("{iter}+{d}"),
                    _ => format!("{iter}-{}", -d),
                };
                found = Some((high - low, (low..=high).map(value).collect()));
            }
        }
        Ok(found.expect("a free index keeps close to some iterator").1)
    }

    fn push_arrays(&self, stmts: &[Stmt<'a, 'a>], text: &mut String) -> Result<(), IslError> {
        let mut names: Vec<&str> = Vec::new();
        for write in stmts.iter().flat_map(|s| &s.writes) {
            if !names.contains(&write.array) {
                names.push(write.array);
            }
        }
        for name in names {
            let is_read = stmts.iter().any(|s| s.reads.iter().any(|(read, _)| read.array == name));
            let live_in = self.cells("live_in", name)?;
            let mut cells = live_in.clone();
            for (stmt, write) in stmts.iter().flat_map(|s| s.writes.iter().map(move |w| (s, w))) {
                if write.array == name {
                    let more = self.written(stmt, write)?;
                    cells = Some(cells.map_or(Ok(more.clone()), |known| known.union(&more))?);
                }
            }
            // Rational bounds do where the cells have gaps: the conflicts see only cells that hold a value.
            let cells = cells.expect("it is written").remove_divs()?.coalesce()?;
            let index: Vec<String> = (0..cells.n_dims()?).map(|k| format!("i{k}")).collect();
            let role = if is_read { "temp" } else { "output" };
            text.push_str(&format!("  {role} {name}[{}]: f64 for \"{}\"", index.join(", "), cells.to_text()?));
            let live_out = self.cells("live_out", name)?.filter(|_| is_read);
            for (way, cells) in [("in", live_in), ("out", live_out)] {
                if let Some(cells) = cells {
                    text.push_str(&format!(" live {way} for \"{}\"", cells.coalesce()?.to_text()?));
                }
            }
            text.push('\n');
        }
        Ok(())
    }

    /// The cells that a reference writes.
    fn written(&self, stmt: &Stmt<'a, 'a>, write: &Reference<'a>) -> Result<Set<'a>, IslError> {
        let (name, iters) = (stmt.tuple.name, stmt.tuple.items.join(", "));
        let relation = format!("{}{{ {name}[{iters}] -> {}[{}] }}", self.prefix(), write.array, write.index.join(", "));
        stmt.domain.apply(&self.context.map(&relation)?)
    }
}

impl<'a> Rule<'a> {
    fn new(text: &'a str) -> Rule<'a> {
        let head = text.split_once(':').map_or(text, |(head, _)| head);
        match head.split_once("->") {
            Some((from, to)) => Rule { from: Tuple::new(from), to: Some(Tuple::new(to)), text },
            None => Rule { from: Tuple::new(head), to: None, text },
        }
    }

    /// The right-hand side; the left one must use the statement's own names.
    fn target(&self, stmt: &Tuple<'a>) -> Reference<'a> {
        assert!(self.from == *stmt, "`{}` uses the names of the domain", self.text);
        let to = self.to.as_ref().expect("a relation");
        Reference { array: to.name, index: to.items.clone() }
    }
}

impl<'a> Tuple<'a> {
    fn new(text: &'a str) -> Tuple<'a> {
        let (name, items) = text.trim().split_once('[').expect("a tuple");
        let items = items.trim_end_matches(']').split(',').map(|item| item.trim().replace("+-", "-"));
        Tuple { name: name.trim(), items: items.filter(|item| !item.is_empty()).collect() }
    }
}

impl<'c> Stmt<'_, 'c> {
    /// Splits the domain along the guard of every read.
    fn regions(&self) -> Result<Vec<Region<'c>>, IslError> {
        let mut parts: Vec<(Set<'c>, Vec<usize>)> = vec![(self.domain.clone(), Vec::new())];
        for (number, (_, instances)) in self.reads.iter().enumerate() {
            let mut finer = Vec::new();
            for (points, reads) in parts {
                let (inside, outside) = (points.intersect(instances)?, points.subtract(instances)?);
                if !inside.is_empty()? {
                    finer.push((inside, [reads.as_slice(), &[number]].concat()));
                }
                if !outside.is_empty()? {
                    finer.push((outside, reads));
                }
            }
            parts = finer;
        }
        let single = parts.len() == 1;
        let name = |k: usize| if single { self.tuple.name.to_string() } else { format!("{}_{k}", self.tuple.name) };
        let region = |(k, (points, reads))| -> Result<Region<'c>, IslError> {
            let points: Set<'c> = points;
            Ok(Region { name: name(k), points: points.coalesce()?, reads })
        };
        parts.into_iter().enumerate().map(region).collect()
    }

    /// One statement of the kernel.
    fn push_region(&self, region: &Region<'c>, text: &mut String) -> Result<(), IslError> {
        let (name, iters) = (&region.name, self.tuple.items.join(", "));
        let domain = region.points.set_tuple_name(name)?.to_text()?;
        let mut arguments: Vec<String> = region.reads.iter().map(|&r| self.reads[r].0.to_string()).collect();
        if arguments.is_empty() {
            arguments.extend(self.tuple.items.clone());
        }
        if arguments.is_empty() {
            arguments.push("1".to_string());
        }
        let value = format!("f({})", arguments.join(", "));
        let mut writes: Vec<String> = self.writes.iter().map(Reference::to_string).collect();
        if writes.is_empty() {
            let sink = region.points.set_tuple_name(&format!("{name}_done"))?.to_text()?;
            let index: Vec<String> = (0..self.tuple.items.len()).map(|k| format!("i{k}")).collect();
            text.push_str(&format!("  output {name}_done[{}]: f64 for \"{sink}\"\n", index.join(", ")));
            writes.push(format!("{name}_done[{iters}]"));
        }
        let assigns: Vec<String> = writes.iter().map(|write| format!("{write} = {value}")).collect();
        text.push_str(&format!("  {name}[{iters}] for \"{domain}\" {{ {} }}\n", assigns.join("; ")));
        Ok(())
    }
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}]", self.array, self.index.join(", "))
    }
}
