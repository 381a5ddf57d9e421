//! Random pipelines as users write them: stages of cells of all types, at two resolutions, with functions, look-up
//! tables and integers; some of them are what a step of a state consists of.

use fastrand::Rng;

use super::{INDICES, SIZES, Sample};

/// Cells along each index of the coarse boxes, of one to three dimensions: the fewest, and how many more there may be.
const EXTENTS: [(i64, i64); 3] = [(300, 3000), (24, 120), (8, 14)];
/// Steps of a state.
const STEPS: (u64, u64) = (5, 30);
/// What cells may be; what stands here twice is taken more often.
const ELEMENTS: [&str; 13] = ["f64", "f32", "u8", "u16", "i32", "f32", "f16", "u8", "i16", "i8", "u32", "i64", "f64"];

/// What later stages may read.
#[derive(Clone)]
struct Array {
    name: String,
    element: &'static str,
    is_half: bool,
    /// The index of steps, if it has one.
    step: Option<&'static str>,
}

struct Generator<'r> {
    random: &'r mut Rng,
    dims: usize,
    has_steps: bool,
    /// What can be read so far.
    arrays: Vec<Array>,
    text: String,
    /// Of each statement, its entry in the schedule.
    times: Vec<String>,
}

/// One pipeline.
pub(super) fn pipeline(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[1, 2, 2, 2, 3]).expect("there are some");
    let has_steps = random.u8(0..3) == 0;
    let mut generator =
        Generator { random, dims, has_steps, arrays: Vec::new(), text: String::new(), times: Vec::new() };
    generator.kernel();
    let (fewest, more) = EXTENTS[dims - 1];
    let sizes = SIZES[3 - dims..].iter().map(|name| (*name, fewest + generator.random.i64(0..more))).collect();
    let steps = has_steps.then(|| STEPS.0 + generator.random.u64(0..STEPS.1));
    Sample { text: generator.text, sizes, steps, goes_back: None, floats: (-1.0, 3.0) }
}

/// The type of what is read of cells.
fn value_type(element: &'static str) -> &'static str {
    if element == "f16" { "f32" } else { element }
}

fn is_float(ty: &str) -> bool {
    ty.starts_with('f')
}

impl Generator<'_> {
    fn indices(&self) -> &'static [&'static str] {
        &INDICES[3 - self.dims..]
    }

    fn domain(&self, is_half: bool) -> String {
        let bounds = self.indices().iter().zip(&SIZES[3 - self.dims..]);
        let factor = if is_half { "" } else { "2*" };
        bounds.map(|(index, size)| format!("0 <= {index} < {factor}{size}")).collect::<Vec<_>>().join(" and ")
    }

    fn element(&mut self) -> &'static str {
        self.random.choice(&ELEMENTS).expect("there are some")
    }

    /// The whole text.
    fn kernel(&mut self) {
        let sizes = SIZES[3 - self.dims..].join(", ");
        let least = SIZES[3 - self.dims..].iter().map(|size| format!("{size} >= 6")).collect::<Vec<_>>().join(" and ");
        let run = if self.has_steps { "; run T" } else { "" };
        self.line(format!("kernel pipeline(size {sizes}{run}) for {least} {{"));
        self.line("  scalar k: f32\n  scalar c: f64".to_string());
        self.line("  input lut[v]: f32 for 0 <= v < 256\n  input far[v]: i16 for -40 <= v <= 60".to_string());
        for number in 0..self.random.usize(1..3) {
            let input = self.declared("input", &format!("in{number}"), false);
            self.arrays.push(input);
        }
        if self.has_steps {
            let state = self.declared("state", "u", false);
            self.arrays.push(Array { step: Some("t-1"), ..state });
        }
        for number in 0..self.random.usize(1..5) {
            let is_half = self.random.u8(0..3) == 0;
            let stage = self.declared("temp", &format!("a{number}"), is_half);
            self.statement(&format!("A{number}"), &stage);
            self.arrays.push(stage);
        }
        if self.has_steps {
            let state = self.arrays.iter().find(|array| array.name == "u").expect("there is one").clone();
            self.statement("U", &Array { step: Some("t"), ..state });
        } else {
            for number in 0..self.random.usize(1..3) {
                let is_half = self.random.u8(0..4) == 0;
                let output = self.declared("output", &format!("out{number}"), is_half);
                self.statement(&format!("O{number}"), &output);
            }
        }
        let times = self.times.join("; ");
        self.line(format!("  schedule rows {{ {times} }}\n}}"));
    }

    fn line(&mut self, text: String) {
        self.text += &text;
        self.text.push('\n');
    }

    /// An array of a random type, once its declaration is written.
    fn declared(&mut self, role: &str, name: &str, is_half: bool) -> Array {
        let element = self.element();
        let step = (self.has_steps && role != "input").then_some("t");
        let t = step.map_or("", |_| "t,");
        let of_steps = if step.is_some() && role == "temp" { "1 <= t <= T and " } else { "" };
        let rules: Vec<String> = self.indices().iter().map(|index| format!("{index} {}", self.rule(element))).collect();
        let outside = if role == "output" { String::new() } else { format!(" outside {}", rules.join(", ")) };
        let (indices, domain) = (self.indices().join(","), self.domain(is_half));
        self.line(format!("  {role} {name}[{t}{indices}]: {element} for {of_steps}{domain}{outside}"));
        Array { name: name.to_string(), element, is_half, step }
    }

    fn rule(&mut self, element: &str) -> String {
        let value = if is_float(element) { "value -0.75" } else { "value 7" };
        self.random.choice(["clamp", "reflect cell", "reflect face", "periodic", value]).expect("some").to_string()
    }

    /// One statement for all cells of an array.
    fn statement(&mut self, name: &str, target: &Array) {
        let ty = value_type(target.element);
        // What it is computed in.
        let inner = match self.random.u8(0..3) {
            0 if !is_float(ty) => "f32",
            1 if !is_float(ty) => "i32",
            0 if ty == "f32" => "f64",
            _ => ty,
        };
        let mut sources = vec![self.arrays.last().expect("there is an input").clone()];
        while self.random.bool() && sources.len() < 3 {
            sources.push(self.random.choice(&self.arrays).expect("there is an input").clone());
        }
        let mut reads = Vec::new();
        for source in &sources {
            for _ in 0..self.random.usize(1..6) {
                let read = self.read(source, target.is_half);
                reads.push(convert(&read, value_type(source.element), inner, ""));
            }
        }
        let value = if is_float(inner) { self.float(&reads, inner) } else { self.integer(&reads, inner) };
        let value = convert(&value, inner, ty, if self.random.bool() { "_sat" } else { "" });
        let step = target.step.map_or(String::new(), |step| format!("{step},"));
        let (indices, domain) = (self.indices().join(","), self.domain(target.is_half));
        let of_steps = if target.step.is_some() { "1 <= t <= T and " } else { "" };
        let at = self.times.len();
        self.line(format!("  {name}[{step}{indices}] for {of_steps}{domain} {{"));
        self.line(format!("    {}[{step}{indices}] = {value} }}", target.name));
        self.times.push(format!("{name} -> [{step}{at}, {indices}]"));
    }

    /// A cell of an array beside one of the target.
    fn read(&mut self, source: &Array, is_half: bool) -> String {
        let mut cell: Vec<String> = source.step.map(str::to_string).into_iter().collect();
        let reach = if self.random.u8(0..4) == 0 { 2 } else { 1 };
        for index in self.indices() {
            cell.push(match (source.is_half, is_half) {
                (true, false) => format!("floor({index}/2)"),
                (false, true) => format!("2*{index} + {}", self.random.i64(0..2)),
                _ => match self.random.i64(-reach..=reach) {
                    0 => (*index).to_string(),
                    by => format!("{index}{by:+}"),
                },
            });
        }
        format!("{}[{}]", source.name, cell.join(","))
    }

    /// A weighted sum of what is read, and a few functions of it.
    fn float(&mut self, reads: &[String], ty: &str) -> String {
        let terms: Vec<String> = reads
            .iter()
            .map(|read| format!("{} * {read}", f64::from(self.random.i8(-16..17)) / 16.0 / reads.len() as f64))
            .collect();
        let mut value = format!("({})", terms.join(" + "));
        for _ in 0..self.random.usize(0..4) {
            let some = self.random.choice(reads).expect("it reads").clone();
            value = match self.random.u8(0..30) {
                0 => format!("sqrt(abs({value}))"),
                1 => format!("exp(-0.01 * abs({value}))"),
                2 => format!("sin(clamp({value}, -1000.0, 1000.0))"),
                3 => format!("cos(clamp({value}, -1000.0, 1000.0))"),
                4 => format!("tanh({value})"),
                5 => format!("floor({value})"),
                6 => format!("atan2({value}, {some})"),
                7 => format!("hypot({value}, {some})"),
                8 => format!("min({value}, {some})"),
                9 => format!("max({value}, {some})"),
                10 => format!("select({some} < {value}, {value}, -{some})"),
                11 => format!("clamp({value}, -8.0, 100.0)"),
                12 => format!("copysign({value}, {some})"),
                13 => format!("pow(0.5 + abs({value}), 0.75)"),
                14 => format!("log(1.0 + abs({value}))"),
                15 => format!("cbrt({value})"),
                16 => format!("round({value})"),
                17 => format!("nearest({value})"),
                18 => format!("trunc({value})"),
                19 => format!("({value} / (1.5 + abs({some})))"),
                20 if ty == "f32" => format!("({value} + lut[clamp(i32(floor({some})))])"),
                20 => format!("({value} + f64(lut[clamp(i32({some}))]))"),
                21 if ty == "f32" => format!("fma({value}, k, {some})"),
                21 => format!("fma({value}, c, {some})"),
                22 => format!("select({value} > 0.5 and not {some} > {value} or is_nan({some}), {value}, 0.25)"),
                23 => format!("expm1(min({value}, 3.0))"),
                24 => format!("log1p(abs({value}))"),
                25 => format!("log2(abs({value}) + 0.125)"),
                26 => format!("ceil({value})"),
                27 => format!("sign({value})"),
                28 if ty == "f32" => format!("({value} * f32(far[clamp(i8({some}))]))"),
                29 => format!("tan(clamp({value}, -1.0, 1.0))"),
                _ => value,
            };
        }
        value
    }

    /// The same of integers, which wrap and saturate.
    fn integer(&mut self, reads: &[String], ty: &str) -> String {
        let terms: Vec<String> = reads.iter().map(|read| format!("{} * {read}", self.random.u8(1..6))).collect();
        let mut value = format!("({})", terms.join(if self.random.bool() { " + " } else { " - " }));
        for _ in 0..self.random.usize(0..4) {
            let some = self.random.choice(reads).expect("it reads").clone();
            let shift = self.random.u8(0..7);
            value = match self.random.u8(0..17) {
                0 => format!("shift_right({value}, {shift})"),
                1 => format!("shift_left({value}, {shift})"),
                2 => format!("bit_and({value}, {some})"),
                3 => format!("bit_or({value}, {some})"),
                4 => format!("bit_xor({value}, {some})"),
                5 => format!("bit_not({value})"),
                6 => format!("add_sat({value}, {some})"),
                7 => format!("sub_sat({value}, {some})"),
                8 => format!("min({value}, {some})"),
                9 => format!("max({value}, {some})"),
                10 => format!("abs({value})"),
                11 => format!("select({some} <= {value}, {value}, {some})"),
                12 => format!("clamp({value}, 3, 100)"),
                13 => format!("(-{value})"),
                14 => format!("({value} * {some})"),
                15 => convert(&format!("far[clamp({value})]"), "i16", ty, "_sat"),
                _ => value,
            };
        }
        value
    }
}

/// A value of one type as one of another.
fn convert(value: &str, from: &str, to: &str, how: &str) -> String {
    match (from == to, is_float(to)) {
        (true, _) => value.to_string(),
        (_, true) => format!("{to}({value})"),
        _ => format!("{to}{how}({value})"),
    }
}
