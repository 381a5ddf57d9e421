//! Random affine kernels as text: mostly legal, every one within its index spaces.
//!
//! Statements run over a cube of `N` points a side. An array is written through a random affine one-to-one map of the
//! cube (permuted, reversed, strided, skewed), so a reference first chooses a point of the cube and then goes through
//! the map of the array. Offsets leave the cube at its border; a statement is split there into an inner one and one for
//! the border, which reads only points that exist. A part may be split again by a guard, and once more into its even
//! and its odd points, each with an iterator of its own.

use fastrand::Rng;

pub(crate) use super::affine::ITERS;
use super::affine::{Affine, Map, list, substitute};

/// A kernel and what to run it with. One of its schedules is legal by construction; the others may be or not.
#[derive(Clone)]
pub(crate) struct Sample {
    /// The kernel's text.
    pub(crate) text: String,
    /// The value of `N`.
    pub(crate) size: i64,
    /// The smallest one that the kernel is defined for.
    pub(crate) least: i64,
    /// The value of `T`; none for kernels without state.
    pub(crate) steps: Option<i64>,
    /// Dimensions of the schedule `base` with tile sizes, for a schedule to be tried first; none if empty.
    pub(crate) tiles: Vec<(usize, i64)>,
}

/// An array of the kernel under construction: where the value that belongs to a point of the cube is kept.
#[derive(Clone)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) element: &'static str,
    pub(crate) map: Map,
}

impl Array {
    /// The cell of `point`; states have a step in front.
    pub(crate) fn cell(&self, point: &Map, step: Option<&str>) -> String {
        let index: Vec<String> = self.map.iter().map(|e| e.at(point).to_string()).collect();
        let step = step.map(str::to_string);
        format!("{}[{}]", self.name, list(&step.into_iter().chain(index).collect::<Vec<_>>()))
    }
}

/// A statement; its first iterator may count even or odd points only.
pub(crate) struct Stmt {
    pub(crate) name: String,
    /// What its first iterator stands for.
    pub(crate) first: &'static str,
}

/// Statements that run together at a point, before those of the next position where the schedule says so.
pub(crate) struct Position {
    /// A statement that runs first at each point, if any statement of the kernel does.
    pub(crate) first: Option<String>,
    pub(crate) stmts: Vec<Stmt>,
}

/// What a statement writes: the target, its array, operands for the inner part and for the border.
pub(crate) struct Assign {
    pub(crate) target: String,
    pub(crate) element: &'static str,
    pub(crate) inner: Vec<String>,
    pub(crate) border: Vec<String>,
}

pub(crate) struct Generator<'r> {
    pub(crate) random: &'r mut Rng,
    pub(crate) dims: usize,
    /// The type of values.
    pub(crate) element: &'static str,
    /// Whether nothing depends on another value of the first iterator, so that it may be a parallel loop around all
    /// else.
    pub(crate) tasks: bool,
    /// Whether statements run once for every step `t`.
    pub(crate) stepping: bool,
    pub(crate) text: String,
}

/// Offsets along each dimension that a statement's reads have, which say where its inner part ends.
pub(crate) struct Reach {
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Reach {
    pub(crate) fn none(dims: usize) -> Reach {
        Reach { low: vec![0; dims], high: vec![0; dims] }
    }

    pub(crate) fn add(&mut self, offset: &[i64]) {
        for (dim, &o) in offset.iter().enumerate() {
            self.low[dim] = self.low[dim].min(o);
            self.high[dim] = self.high[dim].max(o);
        }
    }

    fn is_none(&self) -> bool {
        self.low.iter().chain(&self.high).all(|&o| o == 0)
    }

    fn condition(&self) -> String {
        let bound = |d: usize| format!("{} <= {} < N - {}", -self.low[d], ITERS[d], self.high[d]);
        (0..self.low.len()).map(bound).collect::<Vec<_>>().join(" and ")
    }
}

/// Types of integers.
const INTEGERS: [&str; 7] = ["u8", "i8", "i16", "u16", "i32", "u32", "i64"];

/// The type that values of cells have.
fn value_type(element: &str) -> &str {
    if element == "f16" { "f32" } else { element }
}

impl Generator<'_> {
    pub(crate) fn new(random: &mut Rng, dims: usize) -> Generator<'_> {
        let element = match random.u8(0..8) {
            0 => "f32",
            1 | 2 => *random.choice(&INTEGERS).unwrap(),
            _ => "f64",
        };
        Generator { random, dims, element, tasks: false, stepping: false, text: String::new() }
    }

    pub(crate) fn chance(&mut self, percent: u8) -> bool {
        self.random.u8(0..100) < percent
    }

    /// Mostly the type of values.
    pub(crate) fn array_element(&mut self) -> &'static str {
        match self.random.u8(0..20) {
            0 => "u8",
            1 => "f32",
            2 => "f64",
            3 | 4 if self.element == "f32" => "f16",
            3 => "f16",
            4 => self.random.choice(&INTEGERS).unwrap(),
            _ => self.element,
        }
    }

    /// The iterators themselves.
    pub(crate) fn identity(&self) -> Map {
        (0..self.dims).map(|d| Affine::new(self.dims, 0, 0).plus(d, 1)).collect()
    }

    pub(crate) fn cube(&self) -> String {
        (0..self.dims).map(|d| format!("0 <= {} < N", ITERS[d])).collect::<Vec<_>>().join(" and ")
    }

    /// The iterators of a statement, the step first if there is one.
    pub(crate) fn iters(&self) -> Vec<&'static str> {
        self.stepping.then_some("t").into_iter().chain(ITERS[..self.dims].iter().copied()).collect()
    }

    /// A random one-to-one map of the cube.
    pub(crate) fn storage_map(&mut self) -> Map {
        let mut order: Vec<usize> = (0..self.dims).collect();
        self.random.shuffle(&mut order);
        let mut map = Map::new();
        for (position, &dim) in order.iter().enumerate() {
            let mut e = match self.random.u8(0..10) {
                0 => Affine::new(self.dims, 1, -1).plus(dim, -1),
                1 => Affine::new(self.dims, 0, 0).plus(dim, 2),
                2 => Affine::new(self.dims, 0, 1).plus(dim, 1),
                _ => Affine::new(self.dims, 0, 0).plus(dim, 1),
            };
            // Dimensions that are already fixed may be added without losing any.
            if position > 0 && self.chance(15) {
                e = e.plus(order[self.random.usize(0..position)], 1);
            }
            map.push(e);
        }
        map
    }

    /// Any values between `-N` and `2 N`: for inputs, which exist everywhere there.
    fn anywhere(&mut self) -> Map {
        let mut index = Map::new();
        for _ in 0..self.dims {
            let (a, b) = (self.random.usize(0..self.dims), self.random.usize(0..self.dims));
            let offset = self.random.i64(-1..=1);
            index.push(match self.random.u8(0..8) {
                0 => Affine::new(self.dims, 1, -1).plus(a, -1),
                1 => Affine::new(self.dims, 0, -1).plus(a, 2),
                2 => Affine::new(self.dims, 0, 0).plus(a, 1).plus(b, 1),
                3 => Affine::new(self.dims, 0, 0).plus(a, 1).plus(b, -1),
                4 => Affine::new(self.dims, 0, offset),
                _ => Affine::new(self.dims, 0, offset).plus(a, 1),
            });
        }
        index
    }

    /// A point of the cube for every point of the cube, whatever the offsets.
    pub(crate) fn inside(&mut self) -> Map {
        let mut point = self.identity();
        if !self.tasks && self.chance(20) {
            self.random.shuffle(&mut point);
        }
        for e in &mut point[usize::from(self.tasks)..] {
            match self.random.u8(0..12) {
                0 => *e = Affine { n: 1, constant: -1, coefficients: e.coefficients.iter().map(|c| -c).collect() },
                1 => *e = Affine::new(self.dims, 0, 0),
                _ => {}
            }
        }
        point
    }

    pub(crate) fn offset(&mut self) -> Vec<i64> {
        let fixed = usize::from(self.tasks);
        (0..self.dims).map(|d| if d < fixed { 0 } else { *self.random.choice(&[-1, 0, 0, 0, 1]).unwrap() }).collect()
    }

    /// An offset to a point before this one in the order of the iterators.
    pub(crate) fn earlier(&mut self) -> Vec<i64> {
        let mut offset = self.offset();
        match offset.iter().position(|&o| o != 0) {
            Some(first) => offset[first] = -1,
            None => *offset.last_mut().unwrap() = -1,
        }
        offset
    }

    pub(crate) fn shifted(&self, offset: &[i64]) -> Map {
        self.identity().into_iter().zip(offset).map(|(e, o)| Affine { constant: o + e.constant, ..e }).collect()
    }

    pub(crate) fn declare(&mut self, role: &str, array: &Array, step: Option<&str>) {
        let index: Vec<String> = (0..self.dims).map(|d| format!("a{d}")).collect();
        let bound = |(name, e): (&String, &Affine)| {
            let (low, high) = e.bounds();
            format!("{low} <= {name} <= {high}")
        };
        let bounds: Vec<String> = index.iter().zip(&array.map).map(bound).collect();
        let index = list(&step.map(str::to_string).into_iter().chain(index).collect::<Vec<_>>());
        let (name, element) = (&array.name, array.element);
        self.text.push_str(&format!("  {role} {name}[{index}]: {element} for {}\n", bounds.join(" and ")));
    }

    /// What may be done to arithmetic; mostly nothing.
    pub(crate) fn arithmetic(&mut self) -> String {
        let flags = ["contract", "reassociate", "reciprocal"].into_iter().filter(|_| self.random.u8(0..4) == 0);
        let flags: Vec<&str> = flags.collect();
        if flags.is_empty() { String::new() } else { format!("  arithmetic {}\n", flags.join(", ")) }
    }

    /// The scalar, an input of values and one of bytes.
    pub(crate) fn inputs(&mut self) {
        let index: Vec<String> = (0..self.dims).map(|d| format!("a{d}")).collect();
        let bounds: Vec<String> = index.iter().map(|a| format!("-N <= {a} <= 2*N")).collect();
        let (index, bounds, element) = (list(&index), bounds.join(" and "), self.element);
        let scalar = if self.computes_integers() { "f64" } else { element };
        let cells = if element == "f32" && self.chance(30) { "f16" } else { element };
        self.text.push_str(&format!("  scalar c: {scalar}\n  input g[{index}]: {cells} for {bounds}\n"));
        self.text.push_str(&format!("  input m[{index}]: u8 for {bounds}\n"));
    }

    pub(crate) fn input_read(&mut self) -> String {
        let index = if self.chance(12) { self.computed_index() } else { list(&self.anywhere()) };
        if self.chance(15) { self.converted("u8", format!("m[{index}]")) } else { format!("g[{index}]") }
    }

    /// Indices of an input, of which some are values of bytes, so that many lie outside.
    fn computed_index(&mut self) -> String {
        let computed = self.random.usize(0..self.dims);
        let mut index: Vec<String> = self.anywhere().iter().map(Affine::to_string).collect();
        for (at, e) in index.iter_mut().enumerate() {
            if at == computed || self.chance(30) {
                let byte = format!("m[{}]", list(&self.anywhere()));
                let value = match self.random.u8(0..6) {
                    0 => byte,
                    1 => format!("i8({byte})"),
                    2 => format!("i32(f32({byte}) * 0.125 - 3)"),
                    3 => format!("i64(floor(f64({byte}) * f64(c)))"),
                    _ => format!("shift_right({byte}, {})", self.random.u8(2..7)),
                };
                *e = format!("clamp({value})");
            }
        }
        list(&index)
    }

    /// The value of an array at a point.
    pub(crate) fn read(&self, array: &Array, point: &Map, step: Option<&str>) -> String {
        self.converted(array.element, array.cell(point, step))
    }

    fn converted(&self, element: &str, cell: String) -> String {
        if value_type(element) == self.element { cell } else { format!("{}({cell})", self.element) }
    }

    /// An expression that uses every operand.
    pub(crate) fn expression(&mut self, operands: &[String]) -> String {
        if self.element == "f64" && self.chance(30) {
            let name = if self.chance(50) { "f" } else { "h" };
            return format!("{name}({})", list(operands));
        }
        if self.computes_integers() {
            return self.integer_expression(operands);
        }
        let mut sum = operands.first().cloned().unwrap_or_else(|| "c".to_string());
        for operand in operands.iter().skip(1) {
            sum = match self.random.u8(0..11) {
                0 => format!("{sum} - {operand}"),
                1 => format!("({sum}) * 0.5 + {operand}"),
                2 => format!("min({sum}, {operand})"),
                3 => format!("max({sum}, {operand})"),
                4 => format!("fma({sum}, 0.25, {operand})"),
                5 => format!("select({sum} < {operand}, {operand} - 0.125, {sum})"),
                6 => format!("({sum}) * ({operand} - 0.5)"),
                7 => format!("sqrt(abs({sum})) + c * {operand}"),
                8 => self.called(&sum, operand),
                _ => format!("{sum} + {operand}"),
            };
        }
        if self.element == "f64" && self.chance(10) {
            let point = list(&self.anywhere()[..1]);
            sum = format!("{sum} + 0.125 * index({point})");
        }
        if operands.len() < 2 && self.chance(70) { format!("{sum} * 0.75 + c") } else { sum }
    }

    fn computes_integers(&self) -> bool {
        INTEGERS.contains(&self.element)
    }

    /// The same among integers.
    fn integer_expression(&mut self, operands: &[String]) -> String {
        let ty = self.element;
        let bits = ty[1..].parse::<u32>().expect("it ends with its bits");
        let mut value = operands.first().cloned().unwrap_or_else(|| format!("{ty}(c * 20)"));
        for operand in operands.iter().skip(1) {
            let places = self.random.u32(0..bits);
            value = match self.random.u8(0..18) {
                0 => format!("{value} - {operand}"),
                1 => format!("({value}) * {operand} + 3"),
                2 => format!("min({value}, {operand})"),
                3 => format!("max({value}, {operand})"),
                4 => format!("add_sat({value}, {operand})"),
                5 => format!("sub_sat({value}, {operand})"),
                6 => format!("select({value} < {operand}, {operand}, select({operand} == 7, 1, {value}))"),
                7 => format!("bit_and({value}, {operand})"),
                8 => format!("bit_xor({value}, bit_not({operand}))"),
                9 => format!("bit_or(shift_left({value}, {places}), {operand})"),
                10 => format!("shift_right({value}, {places}) + {operand}"),
                11 => format!("abs({value}) - -{operand}"),
                12 => format!("clamp({value}, {operand}, 100)"),
                13 => format!("{ty}(f64({value}) * 0.75) + {operand}"),
                14 => format!("{ty}_sat(f32({value}) * 1.5) + {operand}"),
                15 => {
                    let other = *self.random.choice(&INTEGERS).unwrap();
                    let how = if self.chance(50) { "_sat" } else { "" };
                    format!("{ty}{how}({other}{how}({value}) + {other}({operand}))")
                }
                _ => format!("{value} + {operand}"),
            };
        }
        value
    }

    /// A mathematical function of two expressions, whose results stay moderate.
    fn called(&mut self, a: &str, b: &str) -> String {
        match self.random.u8(0..16) {
            0 => format!("exp(min({a}, 2)) - {b}"),
            1 => format!("expm1(-abs({a})) + {b}"),
            2 => format!("log(abs({a}) + 0.25) + {b}"),
            3 => format!("log1p(abs({a})) - log2(abs({b}) + 0.5)"),
            4 => format!("sin({a}) + {b}"),
            5 => format!("cos({a}) * sin({a}) + {b}"),
            6 => format!("tanh({a}) + {b}"),
            7 => format!("atan2({a}, {b})"),
            8 => format!("pow(abs({a}), clamp({b}, 0, 2))"),
            9 => format!("hypot({a}, {b})"),
            10 => format!("cbrt({a}) - {b}"),
            11 => format!("copysign({a}, {b}) + clamp(tan({a}), -1, 1)"),
            12 => format!("rem({a}, 0.75) + {b}"),
            13 => format!("floor({a} * 4) - ceil({b}) + trunc({a}) * 0.5"),
            14 => format!("select(is_nan({a}), 0, round({a} * 8) * 0.125) + nearest({b})"),
            _ => format!("sign({a}) * {b}"),
        }
    }

    /// An assignment whose value the target's element type takes.
    pub(crate) fn assign(&mut self, target: &str, element: &str, operands: &[String]) -> String {
        let value = self.expression(operands);
        let ty = value_type(element);
        let saturates = if INTEGERS.contains(&ty) && self.chance(30) { "_sat" } else { "" };
        match ty {
            _ if ty == self.element => format!("{target} = {value}"),
            "u8" if !self.computes_integers() => format!("{target} = u8{saturates}(abs({value}) * 60.0)"),
            _ => format!("{target} = {ty}{saturates}({value})"),
        }
    }

    /// A condition that holds for some points.
    fn guard(&mut self) -> String {
        let iters = self.iters();
        let (a, b) = (*self.random.choice(&iters).unwrap(), *self.random.choice(&iters).unwrap());
        match self.random.u8(0..6) {
            0 => format!("({a} + {b}) mod 2 = 0"),
            1 => format!("{a} mod 3 = 1"),
            2 => format!("{a} < 2 or {a} > N - 3"),
            3 if a != b => format!("{a} != {b}"),
            4 => format!("floor({a} / 2) mod 2 = 0"),
            _ => format!("{a} >= 1 and ({b} <= 2 or {a} > {b})"),
        }
    }

    /// Statements for the inner part and for the border, split further at random.
    pub(crate) fn split_stmt(&mut self, name: &str, reach: &Reach, assigns: &[Assign]) -> Vec<Stmt> {
        let condition = reach.condition();
        let mut parts = vec![(format!("S{name}"), condition.clone(), false)];
        if !reach.is_none() {
            parts.push((format!("B{name}"), format!("{} and not ({condition})", self.cube()), true));
        }
        if self.chance(15) {
            let (guard, at) = (self.guard(), self.random.usize(0..parts.len()));
            let (part, condition, border) = parts[at].clone();
            parts[at].1 = format!("{condition} and ({guard})");
            parts.push((format!("G{part}"), format!("{condition} and not ({guard})"), border));
        }
        let mut stmts = Vec::new();
        for (part, condition, border) in parts {
            let value = |a: &Assign| self.assign(&a.target, a.element, if border { &a.border } else { &a.inner });
            let body = assigns.iter().map(value).collect::<Vec<_>>().join("\n    ");
            let strides = if self.chance(8) { vec![("e", "(2*i)"), ("o", "(2*i + 1)")] } else { vec![("", "i")] };
            for (suffix, first) in strides {
                let name = format!("{part}{suffix}");
                self.push_stmt(&name, &substitute(&condition, "i", first), &substitute(&body, "i", first));
                stmts.push(Stmt { name, first });
            }
        }
        stmts
    }

    pub(crate) fn push_stmt(&mut self, name: &str, condition: &str, body: &str) {
        let steps = if self.stepping { "1 <= t <= T and " } else { "" };
        let iters = list(&self.iters());
        self.text.push_str(&format!("  {name}[{iters}] for {steps}{condition} {{\n    {body} }}\n"));
    }
}
