//! Random schemes as users write them: states on a box with rules for its ends, stages between them, coefficients.

use std::fmt::Write as _;

use fastrand::Rng;

use super::{INDICES, SIZES, Sample};

/// Cells along each index of boxes of one to three dimensions: the shortest, and how many more there may be.
const EXTENTS: [(i64, i64); 3] = [(600, 2500), (70, 160), (22, 26)];
/// Steps in boxes of one to three dimensions, as above.
const STEPS: [(u64, u64); 3] = [(40, 160), (20, 40), (8, 12)];
/// One scheme in this many has coefficients, one in as many several states, and so on.
const ONE_IN: u8 = 3;

const FIRST_STATE: &str = "u0";

struct Generator<'r> {
    random: &'r mut Rng,
    dims: usize,
    /// How far statements read.
    reach: i64,
    element: &'static str,
    /// Along each index, whether all arrays are periodic.
    is_periodic: Vec<bool>,
    has_coefficient: bool,
}

/// One scheme, which computes values that stay finite.
pub(super) fn scheme(random: &mut Rng) -> Sample {
    let dims = random.usize(1..4);
    let chance = |random: &mut Rng| random.u8(0..ONE_IN) == 0;
    // Cubes with more take seconds to plan; see docs/LIMITS.md.
    let is_wide = chance(random) && dims < 3;
    let n_states = if chance(random) { random.usize(2..4) } else { 1 };
    let n_stages = if chance(random) && dims < 3 { random.usize(1..3) } else { 0 };
    let element = if chance(random) { "f32" } else { "f64" };
    let has_coefficient = chance(random);
    let is_periodic = (0..dims).map(|_| random.u8(0..4) == 0).collect();
    let reach = if is_wide { 2 } else { 1 };
    let goes_back = chance(random);
    let mut generator = Generator { random, dims, reach, element, is_periodic, has_coefficient };
    let text = generator.text(n_states, n_stages, goes_back);
    let (shortest, more) = EXTENTS[dims - 1];
    let sizes = SIZES[3 - dims..].iter().map(|name| (*name, shortest + generator.random.i64(0..more))).collect();
    let (fewest, more) = STEPS[dims - 1];
    let steps = Some(fewest + generator.random.u64(0..more));
    Sample { text, sizes, steps, goes_back: goes_back.then_some(FIRST_STATE), floats: (0.0, 1.0) }
}

impl Generator<'_> {
    fn indices(&self) -> &'static [&'static str] {
        &INDICES[3 - self.dims..]
    }

    fn domain(&self) -> String {
        let bounds = self.indices().iter().zip(&SIZES[3 - self.dims..]);
        bounds.map(|(index, size)| format!("0 <= {index} < {size}")).collect::<Vec<_>>().join(" and ")
    }

    fn text(&mut self, n_states: usize, n_stages: usize, goes_back: bool) -> String {
        let indices = self.indices().join(",");
        let (sizes, domain, element) = (SIZES[3 - self.dims..].join(", "), self.domain(), self.element);
        let least = SIZES[3 - self.dims..].iter().map(|size| format!("{size} >= 12")).collect::<Vec<_>>().join(" and ");
        let mut text = format!("kernel scheme(size {sizes}; run T) for {least} {{\n  scalar k: {element}\n");
        if self.has_coefficient {
            writeln!(text, "  input c[{indices}]: {element} for {domain}").expect("strings take all");
        }
        let mut declare = |text: &mut String, role: &str, name: &str, steps: &str| {
            let rules = self.rules();
            writeln!(text, "  {role} {name}[t,{indices}]: {element} for {steps}{domain} outside {rules}")
                .expect("strings take all");
        };
        let states: Vec<String> = (0..n_states).map(|number| format!("u{number}")).collect();
        let stages: Vec<String> = (0..n_stages).map(|number| format!("a{number}")).collect();
        states.iter().for_each(|state| declare(&mut text, "state", state, ""));
        stages.iter().for_each(|stage| declare(&mut text, "temp", stage, "1 <= t <= T and "));
        // Stages read states of the step before and the stage before; states read all stages.
        for (number, stage) in stages.iter().enumerate() {
            let from: Vec<(&str, &str)> = match number {
                0 => states.iter().map(|state| (state.as_str(), "t-1")).collect(),
                _ => vec![(stages[number - 1].as_str(), "t"), (states[0].as_str(), "t-1")],
            };
            self.statement(&mut text, &format!("A{number}"), stage, &from);
        }
        for (number, state) in states.iter().enumerate() {
            let mut from: Vec<(&str, &str)> = vec![(state, "t-1")];
            from.extend(stages.last().map(|stage| (stage.as_str(), "t")));
            if goes_back && number == 0 {
                from.push((state, "t-2"));
            }
            // The next state, of the step before; or the last one, of this step.
            if let Some(next) = states.get(number + 1) {
                from.push((next, "t-1"));
            } else if number > 0 {
                from.push((&states[number - 1], "t"));
            }
            self.statement(&mut text, &format!("S{number}"), state, &from);
        }
        let names =
            (0..n_stages).map(|number| format!("A{number}")).chain((0..n_states).map(|number| format!("S{number}")));
        let times = names.enumerate().map(|(at, name)| format!("{name} -> [t, {at}, {indices}]")).collect::<Vec<_>>();
        writeln!(text, "  schedule rows {{ {} }}\n}}", times.join("; ")).expect("strings take all");
        text
    }

    /// Rules for all ends of an array.
    fn rules(&mut self) -> String {
        let mut rules = Vec::new();
        for (at, index) in self.indices().iter().enumerate() {
            if self.is_periodic[at] {
                rules.push(format!("{index} periodic"));
            } else if self.random.bool() {
                rules.push(format!("{index} {}", self.rule()));
            } else {
                rules.push(format!("{index} below {}", self.rule()));
                rules.push(format!("{index} above {}", self.rule()));
            }
        }
        rules.join(", ")
    }

    fn rule(&mut self) -> &'static str {
        self.random.choice(["clamp", "reflect cell", "reflect face", "value 0.5", "value k"]).expect("there are some")
    }

    /// One statement for all cells: a weighted mean of what it reads, and little of something else.
    fn statement(&mut self, text: &mut String, name: &str, array: &str, from: &[(&str, &str)]) {
        let mut reads = Vec::new();
        for (number, (array, time)) in from.iter().enumerate() {
            let offsets = if number == 0 || self.random.bool() { self.offsets() } else { vec![vec![0; self.dims]] };
            reads.extend(offsets.into_iter().map(|offset| self.read(array, time, &offset)));
        }
        let mut weights: Vec<f64> = reads.iter().map(|_| f64::from(self.random.u8(1..17))).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight = (*weight / sum * 4096.0).floor() / 4096.0);
        let terms: Vec<String> =
            reads.iter().zip(&weights).map(|(read, weight)| format!("{weight} * {read}")).collect();
        let mut value = terms.join(" + ");
        let some = self.random.choice(&reads).expect("a statement reads").clone();
        value = match self.random.u8(0..6) {
            0 => format!("max({value}, 0.25 * {some})"),
            1 => format!("select({some} < 0.5, {value}, 0.75 * ({value}))"),
            2 if self.has_coefficient => format!("{value} + c[{}] * 0.125", self.indices().join(",")),
            3 => format!("{value} - 0.0625 * k * {some} * {some}"),
            _ => value,
        };
        let indices = self.indices().join(",");
        writeln!(
            text,
            "  {name}[t,{indices}] for 1 <= t <= T and {} {{\n    {array}[t,{indices}] = {value} }}",
            self.domain()
        )
        .expect("strings take all");
    }

    fn read(&self, array: &str, time: &str, offset: &[i64]) -> String {
        let cell = self.indices().iter().zip(offset).map(|(index, by)| match by {
            0 => (*index).to_string(),
            _ => format!("{index}{by:+}"),
        });
        format!("{array}[{time},{}]", cell.collect::<Vec<_>>().join(","))
    }

    /// A star, a box, or some cells around.
    fn offsets(&mut self) -> Vec<Vec<i64>> {
        let (dims, reach) = (self.dims, self.reach);
        let width = 2 * reach + 1;
        let all = (0..width.pow(dims as u32))
            .map(|number| (0..dims).map(|at| number / width.pow(at as u32) % width - reach).collect::<Vec<i64>>());
        let is_star = |offset: &Vec<i64>| offset.iter().filter(|by| **by != 0).count() <= 1;
        let kind = self.random.u8(0..5);
        let mut found: Vec<Vec<i64>> = match kind {
            0 if dims < 3 => all.collect(),
            1 => all.filter(|_| self.random.u8(0..3) == 0).take(9).collect(),
            _ => all.filter(is_star).collect(),
        };
        if found.is_empty() {
            found.push(vec![0; dims]);
        }
        found
    }
}
