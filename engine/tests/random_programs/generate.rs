//! Random affine kernels as text: mostly legal, every one within its index spaces.
//!
//! Statements run over a cube of `N` points a side. An array is written through a random affine one-to-one map of the
//! cube (permuted, reversed, strided, skewed), so a reference first chooses a point of the cube and then goes through
//! the map of the array. Offsets leave the cube at its border; a statement is split there into an inner one and one for
//! the border, which reads only points that exist. Some values pass through a scratch array with fewer cells than points,
//! which is written again and again.

use fastrand::Rng;

/// A kernel and what to run it with. Its last schedule is legal by construction; the others may be or not.
pub(crate) struct Sample {
    /// The kernel's text.
    pub(crate) text: String,
    /// The value of `N`.
    pub(crate) size: i64,
    /// The value of `T`; none for kernels without state.
    pub(crate) steps: Option<i64>,
}

pub(crate) const ITERS: [&str; 3] = ["i", "j", "k"];

/// `coefficients . iterators + n * N + constant`.
#[derive(Clone)]
struct Affine {
    coefficients: Vec<i64>,
    n: i64,
    constant: i64,
}

/// A map from the cube, one expression per dimension.
type Map = Vec<Affine>;

impl Affine {
    fn new(dims: usize, n: i64, constant: i64) -> Affine {
        Affine { coefficients: vec![0; dims], n, constant }
    }

    fn plus(mut self, dim: usize, factor: i64) -> Affine {
        self.coefficients[dim] += factor;
        self
    }

    /// The expression with each iterator replaced.
    fn at(&self, point: &Map) -> Affine {
        let mut sum = Affine::new(self.coefficients.len(), self.n, self.constant);
        for (factor, inner) in self.coefficients.iter().zip(point) {
            sum.n += factor * inner.n;
            sum.constant += factor * inner.constant;
            for (total, c) in sum.coefficients.iter_mut().zip(&inner.coefficients) {
                *total += factor * c;
            }
        }
        sum
    }

    /// Smallest and largest value over the cube.
    fn bounds(&self) -> (Affine, Affine) {
        let end = |keep: fn(i64) -> i64| {
            let reach: i64 = self.coefficients.iter().map(|&c| keep(c)).sum();
            Affine::new(self.coefficients.len(), self.n + reach, self.constant - reach)
        };
        (end(|c| c.min(0)), end(|c| c.max(0)))
    }
}

impl std::fmt::Display for Affine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let terms = self.coefficients.iter().copied().zip(ITERS).chain([(self.n, "N")]).filter(|(c, _)| *c != 0);
        let mut text: String = terms.map(|(c, name)| format!(" {} {}*{name}", sign(c), c.abs())).collect();
        if self.constant != 0 || text.is_empty() {
            text.push_str(&format!(" {} {}", sign(self.constant), self.constant.abs()));
        }
        let text = text.replace(" 1*", " ");
        f.write_str(text.strip_prefix(" + ").map_or_else(|| text.replacen(" - ", "-", 1), str::to_string).as_str())
    }
}

fn sign(value: i64) -> &'static str {
    if value < 0 { "-" } else { "+" }
}

pub(crate) fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// An array of the kernel under construction: where the value that belongs to a point of the cube is kept.
#[derive(Clone)]
struct Array {
    name: String,
    map: Map,
}

impl Array {
    /// The reference to the value of `point`; states have a step in front.
    fn cell(&self, point: &Map, step: Option<&str>) -> String {
        let index: Vec<String> = self.map.iter().map(|e| e.at(point).to_string()).collect();
        let step = step.map(str::to_string);
        format!("{}[{}]", self.name, list(&step.into_iter().chain(index).collect::<Vec<_>>()))
    }
}

/// Statements that run together at a point, before those of the next position where the schedule says so.
pub(crate) struct Position {
    /// A statement that runs first at each point, if any statement of the kernel does.
    pub(crate) first: Option<String>,
    pub(crate) names: Vec<String>,
}

pub(crate) struct Generator<'r> {
    pub(crate) random: &'r mut Rng,
    pub(crate) dims: usize,
    element: &'static str,
    /// Whether nothing depends on another value of the first iterator, so that it may be a parallel loop around all else.
    tasks: bool,
    pub(crate) text: String,
}

/// Offsets along each dimension that a statement's reads have, which say where its inner part ends.
struct Reach {
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Reach {
    fn none(dims: usize) -> Reach {
        Reach { low: vec![0; dims], high: vec![0; dims] }
    }

    fn add(&mut self, offset: &[i64]) {
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

/// A kernel without state: inputs, temporaries, one output.
pub(crate) fn stateless(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[1, 1, 2, 2, 2, 3]).unwrap();
    let size = random.i64([4..=9, 3..=5, 3..=3][dims - 1].clone());
    let mut generator = Generator::new(random, dims);
    let stmts = generator.stateless_body();
    generator.schedules(&stmts, None);
    Sample { text: generator.text + "}\n", size, steps: None }
}

/// A kernel without state whose temporaries live inside iterations of a parallel loop, if chance does not object.
pub(crate) fn in_tasks(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[2, 2, 3]).unwrap();
    let size = random.i64([3..=6, 3..=4][dims - 2].clone());
    let mut generator = Generator { tasks: true, ..Generator::new(random, dims) };
    let stmts = generator.stateless_body();
    generator.task_schedule(&stmts);
    generator.schedules(&stmts, None);
    Sample { text: generator.text + "}\n", size, steps: None }
}

/// A time-stepping kernel: one to three states.
pub(crate) fn stepping(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[1, 1, 1, 2, 2]).unwrap();
    let size = random.i64([4..=8, 3..=4][dims - 1].clone());
    let steps = random.i64(3..=5);
    let mut generator = Generator::new(random, dims);
    let stmts = generator.stepping_body();
    generator.schedules(&stmts, Some("t"));
    Sample { text: generator.text + "}\n", size, steps: Some(steps) }
}

impl Generator<'_> {
    fn new(random: &mut Rng, dims: usize) -> Generator<'_> {
        let element = if random.u8(0..6) == 0 { "f32" } else { "f64" };
        Generator { random, dims, element, tasks: false, text: String::new() }
    }

    pub(crate) fn chance(&mut self, percent: u8) -> bool {
        self.random.u8(0..100) < percent
    }

    /// The iterators themselves.
    fn identity(&self) -> Map {
        (0..self.dims).map(|d| Affine::new(self.dims, 0, 0).plus(d, 1)).collect()
    }

    fn cube(&self) -> String {
        (0..self.dims).map(|d| format!("0 <= {} < N", ITERS[d])).collect::<Vec<_>>().join(" and ")
    }

    /// A random one-to-one map of the cube.
    fn storage_map(&mut self) -> Map {
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
    fn inside(&mut self) -> Map {
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

    fn offset(&mut self) -> Vec<i64> {
        let fixed = usize::from(self.tasks);
        (0..self.dims).map(|d| if d < fixed { 0 } else { *self.random.choice(&[-1, 0, 0, 0, 1]).unwrap() }).collect()
    }

    /// An offset to a point before this one in the order of the iterators.
    fn earlier(&mut self) -> Vec<i64> {
        let mut offset = self.offset();
        match offset.iter().position(|&o| o != 0) {
            Some(first) => offset[first] = -1,
            None => *offset.last_mut().unwrap() = -1,
        }
        offset
    }

    fn shifted(&self, offset: &[i64]) -> Map {
        self.identity().into_iter().zip(offset).map(|(e, o)| Affine { constant: o + e.constant, ..e }).collect()
    }

    fn declare(&mut self, role: &str, array: &Array, step: Option<&str>) {
        let index: Vec<String> = (0..self.dims).map(|d| format!("a{d}")).collect();
        let bound = |(name, e): (&String, &Affine)| {
            let (low, high) = e.bounds();
            format!("{low} <= {name} <= {high}")
        };
        let bounds: Vec<String> = index.iter().zip(&array.map).map(bound).collect();
        let index = list(&step.map(str::to_string).into_iter().chain(index).collect::<Vec<_>>());
        let (name, element) = (&array.name, self.element);
        self.text.push_str(&format!("  {role} {name}[{index}]: {element} for {}\n", bounds.join(" and ")));
    }

    fn input(&mut self) {
        let index: Vec<String> = (0..self.dims).map(|d| format!("a{d}")).collect();
        let bounds: Vec<String> = index.iter().map(|a| format!("-N <= {a} <= 2*N")).collect();
        let line = format!("  input g[{}]: {} for {}\n", list(&index), self.element, bounds.join(" and "));
        self.text.push_str(&format!("  scalar c: {}\n{line}", self.element));
    }

    fn input_read(&mut self) -> String {
        format!("g[{}]", list(&self.anywhere()))
    }

    /// An expression that uses every operand.
    fn expression(&mut self, operands: &[String]) -> String {
        if self.element == "f64" && self.chance(30) {
            let name = if self.chance(50) { "f" } else { "h" };
            return format!("{name}({})", list(operands));
        }
        let mut sum = operands.first().cloned().unwrap_or_else(|| "c".to_string());
        for operand in operands.iter().skip(1) {
            sum = match self.random.u8(0..9) {
                0 => format!("{sum} - {operand}"),
                1 => format!("({sum}) * 0.5 + {operand}"),
                2 => format!("min({sum}, {operand})"),
                3 => format!("max({sum}, {operand})"),
                4 => format!("fma({sum}, 0.25, {operand})"),
                5 => format!("select({sum} < {operand}, {operand} - 0.125, {sum})"),
                6 => format!("({sum}) * ({operand} - 0.5)"),
                7 => format!("sqrt(abs({sum})) + c * {operand}"),
                _ => format!("{sum} + {operand}"),
            };
        }
        if operands.len() < 2 && self.chance(70) { format!("{sum} * 0.75 + c") } else { sum }
    }

    /// Two statements, for the inner part and for the border; returns their names.
    fn split_stmt(
        &mut self,
        name: &str,
        step: bool,
        reach: &Reach,
        assigns: &[(String, Vec<String>, Vec<String>)],
    ) -> Vec<String> {
        let iters =
            list(&step.then_some("t").into_iter().chain(ITERS[..self.dims].iter().copied()).collect::<Vec<_>>());
        let steps = if step { "1 <= t <= T and " } else { "" };
        let cube = self.cube();
        let mut names = vec![format!("S{name}")];
        let body = |g: &mut Self, border: bool| -> String {
            let value = |(target, inner, outer): &(String, Vec<String>, Vec<String>)| {
                format!("{target} = {}", g.expression(if border { outer } else { inner }))
            };
            assigns.iter().map(value).collect::<Vec<_>>().join("\n    ")
        };
        let (condition, inner) = (reach.condition(), body(self, false));
        self.text.push_str(&format!("  S{name}[{iters}] for {steps}{condition} {{\n    {inner} }}\n"));
        if !reach.is_none() {
            let border = body(self, true);
            let line = format!("  B{name}[{iters}] for {steps}{cube} and not ({condition}) {{\n    {border} }}\n");
            self.text.push_str(&line);
            names.push(format!("B{name}"));
        }
        names
    }

    /// Statements in an order in which they may run, those of one position together.
    fn stateless_body(&mut self) -> Vec<Position> {
        self.text = "kernel random(size N) for N >= 3 {\n".to_string();
        self.input();
        let mut stmts = Vec::new();
        let mut arrays: Vec<Array> = Vec::new();
        let n_stmts = self.random.usize(1..=3);
        for number in 0..n_stmts {
            let n_assigns = if self.chance(20) { 2 } else { 1 };
            let fresh = |g: &mut Self, k| Array { name: format!("u{number}{k}"), map: g.storage_map() };
            let written: Vec<Array> = (0..n_assigns).map(|k| fresh(self, ["", "b"][k])).collect();
            for array in &written {
                self.declare("temp", array, None);
            }
            let scratch = self.chance(25).then(|| self.scratch(number, &arrays));
            let (mut reach, mut assigns) = (Reach::none(self.dims), Vec::new());
            for array in &written {
                let (mut inner, mut border) = self.operands(&arrays, &written, &mut reach);
                if let Some((_, cell)) = &scratch {
                    inner.push(cell.clone());
                    border.push(cell.clone());
                }
                assigns.push((array.cell(&self.identity(), None), inner, border));
            }
            let names = self.split_stmt(&number.to_string(), false, &reach, &assigns);
            stmts.push(Position { first: scratch.map(|(name, _)| name), names });
            arrays.extend(written);
        }
        let output = Array { name: "o".to_string(), map: self.identity() };
        self.declare("output", &output, None);
        let mut operands: Vec<String> = Vec::new();
        for array in arrays.iter().rev().take(2) {
            let point = self.inside();
            operands.push(array.cell(&point, None));
        }
        let reach = Reach::none(self.dims);
        let target = output.cell(&self.identity(), None);
        let names = self.split_stmt("out", false, &reach, &[(target, operands.clone(), operands)]);
        stmts.push(Position { first: None, names });
        stmts
    }

    /// A statement that writes an array with a cell for several points; its name, and the cell at each point.
    fn scratch(&mut self, number: usize, before: &[Array]) -> (String, String) {
        let mut map = self.storage_map();
        for e in &mut map {
            if e.coefficients.iter().filter(|&&c| c != 0).count() > 1 || self.chance(60) {
                *e = Affine::new(self.dims, 0, 0);
            }
        }
        let array = Array { name: format!("s{number}"), map };
        self.declare("temp", &array, None);
        let mut operands = vec![self.input_read()];
        if let Some(array) = self.random.choice(before).cloned() {
            operands.push(array.cell(&self.identity(), None));
        }
        let (name, cell) = (format!("P{number}"), array.cell(&self.identity(), None));
        let (iters, cube, value) = (list(&ITERS[..self.dims]), self.cube(), self.expression(&operands));
        self.text.push_str(&format!("  {name}[{iters}] for {cube} {{\n    {cell} = {value} }}\n"));
        (name, cell)
    }

    /// Operands for the inner part and for the border: of the input, of arrays written before, of those being written.
    fn operands(&mut self, before: &[Array], own: &[Array], reach: &mut Reach) -> (Vec<String>, Vec<String>) {
        let (mut inner, mut border) = (Vec::new(), vec![self.input_read()]);
        if before.is_empty() || self.chance(40) {
            inner.push(self.input_read());
        }
        for _ in 0..self.random.usize(0..=2) {
            let own_array = before.is_empty() || self.chance(35);
            if own_array && self.chance(70) {
                let (array, offset) = (self.random.choice(own).unwrap().clone(), self.earlier());
                reach.add(&offset);
                inner.push(array.cell(&self.shifted(&offset), None));
            } else if let Some(array) = self.random.choice(before).cloned() {
                let point = if self.chance(40) {
                    self.inside()
                } else {
                    let offset = self.offset();
                    reach.add(&offset);
                    self.shifted(&offset)
                };
                inner.push(array.cell(&point, None));
                border.push(array.cell(&self.identity(), None));
            }
        }
        if inner.is_empty() {
            inner.push(self.input_read());
        }
        (inner, border)
    }

    /// States that read each other's last step, either all in one statement or one after the other.
    fn stepping_body(&mut self) -> Vec<Position> {
        self.text = "kernel random(size N; run T) for N >= 3 {\n".to_string();
        self.input();
        let n_states = self.random.usize(1..=3);
        let states: Vec<Array> = (0..n_states).map(|k| Array { name: format!("u{k}"), map: self.identity() }).collect();
        for state in &states {
            self.declare("state", state, Some("t"));
        }
        let streaming: Vec<Vec<i64>> = states.iter().map(|_| self.offset()).collect();
        let together = self.chance(60);
        let stream = together && self.chance(60);
        let deep = !stream && self.chance(20);
        let (mut reach, mut assigns, mut stmts) = (Reach::none(self.dims), Vec::new(), Vec::new());
        for (number, state) in states.iter().enumerate() {
            let (mut inner, mut border) = (Vec::new(), Vec::new());
            for (other, offset) in states.iter().zip(&streaming) {
                let offset = if stream { offset.clone() } else { self.offset() };
                reach.add(&offset);
                inner.push(other.cell(&self.shifted(&offset), Some("t-1")));
                border.push(other.cell(&self.identity(), Some("t-1")));
            }
            if deep {
                inner.push(state.cell(&self.identity(), Some("t-2")));
            }
            if !together && number > 0 && self.chance(60) {
                let offset = self.offset();
                reach.add(&offset);
                inner.push(states[number - 1].cell(&self.shifted(&offset), Some("t")));
            }
            if self.chance(20) {
                inner.push(self.input_read());
            }
            assigns.push((state.cell(&self.identity(), Some("t")), inner, border));
            if !together {
                let names = self.split_stmt(&number.to_string(), true, &reach, &assigns);
                stmts.push(Position { first: None, names });
                (reach, assigns) = (Reach::none(self.dims), Vec::new());
            }
        }
        if together {
            let names = self.split_stmt("", true, &reach, &assigns);
            stmts.push(Position { first: None, names });
        }
        stmts
    }
}
