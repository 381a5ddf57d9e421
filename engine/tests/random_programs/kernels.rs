//! Whole random kernels: with and without state, and with arrays that live inside the iterations of a parallel loop.
//!
//! Some values pass through a scratch array with fewer cells than points, which is written again and again.

use fastrand::Rng;

use super::affine::Affine;
use super::generate::{Array, Assign, Generator, ITERS, Position, Reach, Sample, Stmt};

/// The functions that values are made by, of any number of operands there is.
const OPAQUE: &str = "  opaque f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8)\n  opaque h(1), h(2), h(3), h(4), h(5), h(6), h(7), h(8)\n";

/// A kernel of any family.
pub(crate) fn any(random: &mut Rng) -> Sample {
    match random.u8(0..9) {
        0..4 => stateless(random),
        4..8 => stepping(random),
        _ => in_tasks(random),
    }
}

/// A kernel without state: inputs, temporaries, one output.
fn stateless(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[1, 1, 2, 2, 2, 3]).unwrap();
    let size = random.i64([4..=9, 3..=5, 3..=3][dims - 1].clone());
    let mut generator = Generator::new(random, dims);
    let positions = generator.stateless_body();
    generator.schedules(&positions, None);
    generator.finish(size, None)
}

/// A kernel without state whose temporaries live inside iterations of a parallel loop, if chance does not object.
fn in_tasks(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[2, 2, 3]).unwrap();
    let size = random.i64([3..=6, 3..=4][dims - 2].clone());
    let mut generator = Generator { tasks: true, ..Generator::new(random, dims) };
    let positions = generator.stateless_body();
    generator.task_schedule(&positions);
    generator.schedules(&positions, None);
    generator.finish(size, None)
}

/// A time-stepping kernel: one to three states.
fn stepping(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[1, 1, 1, 2, 2]).unwrap();
    let size = random.i64([4..=8, 3..=4][dims - 1].clone());
    let steps = random.i64(3..=5);
    let mut generator = Generator { stepping: true, ..Generator::new(random, dims) };
    let positions = generator.stepping_body();
    generator.schedules(&positions, Some("t"));
    generator.finish(size, Some(steps))
}

impl Generator<'_> {
    fn finish(mut self, size: i64, steps: Option<i64>) -> Sample {
        let (before, mut tiles) = (1 + usize::from(self.stepping), Vec::new());
        if self.chance(20) {
            for dim in before..before + self.dims {
                if self.chance(60) {
                    tiles.push((dim, self.random.i64(1..=3)));
                }
            }
        }
        Sample { text: self.text + "}\n", size, least: 3, steps, tiles }
    }

    /// Statements in an order in which they may run, those of one position together.
    fn stateless_body(&mut self) -> Vec<Position> {
        self.text = format!("kernel random(size N) for N >= 3 {{\n{OPAQUE}{}", self.arithmetic());
        self.inputs();
        let mut positions = Vec::new();
        let mut arrays: Vec<Array> = Vec::new();
        let n_stmts = self.random.usize(1..=3);
        for number in 0..n_stmts {
            let n_assigns = if self.chance(20) { 2 } else { 1 };
            let mut written = Vec::new();
            for suffix in &["", "b"][..n_assigns] {
                let (element, map) = (self.array_element(), self.storage_map());
                written.push(Array { name: format!("u{number}{suffix}"), element, map });
            }
            for array in &written {
                self.declare("temp", array, None);
            }
            let before = arrays.iter().map(|array| self.read(array, &self.identity(), None)).collect::<Vec<_>>();
            let scratch = self.chance(25).then(|| self.scratch(number, &before));
            let (mut reach, mut assigns) = (Reach::none(self.dims), Vec::new());
            for array in &written {
                let (mut inner, mut border) = self.operands(&arrays, &written, &mut reach);
                if let Some((_, value)) = &scratch {
                    inner.push(value.clone());
                    border.push(value.clone());
                }
                let target = array.cell(&self.identity(), None);
                assigns.push(Assign { target, element: array.element, inner, border });
            }
            let stmts = self.split_stmt(&number.to_string(), &reach, &assigns);
            positions.push(Position { first: scratch.map(|(name, _)| name), stmts });
            arrays.extend(written);
        }
        let mut operands: Vec<String> = Vec::new();
        for array in arrays.iter().rev().take(2) {
            let point = self.inside();
            operands.push(self.read(array, &point, None));
        }
        positions.push(self.output(operands));
        positions
    }

    /// The last statement, which writes the output.
    fn output(&mut self, operands: Vec<String>) -> Position {
        let output = Array { name: "o".to_string(), element: self.array_element(), map: self.identity() };
        self.declare("output", &output, None);
        let target = output.cell(&self.identity(), None);
        let assign = Assign { target, element: output.element, inner: operands.clone(), border: operands };
        let stmts = self.split_stmt("out", &Reach::none(self.dims), &[assign]);
        Position { first: None, stmts }
    }

    /// A statement that writes an array with a cell for several points; its name, and the value at each point.
    fn scratch(&mut self, number: usize, before: &[String]) -> (String, String) {
        let mut map = self.storage_map();
        for e in &mut map {
            if e.coefficients.iter().filter(|&&c| c != 0).count() > 1 || self.chance(60) {
                *e = Affine::new(self.dims, 0, 0);
            }
        }
        let array = Array { name: format!("s{number}"), element: self.array_element(), map };
        self.declare("temp", &array, None);
        let mut operands = vec![self.input_read()];
        operands.extend(self.random.choice(before).cloned());
        let (name, cell) = (format!("P{number}"), array.cell(&self.identity(), None));
        let (cube, body) = (self.cube(), self.assign(&cell, array.element, &operands));
        self.push_stmt(&name, &cube, &body);
        (name, self.read(&array, &self.identity(), None))
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
                inner.push(self.read(&array, &self.shifted(&offset), None));
            } else if let Some(array) = self.random.choice(before).cloned() {
                let point = if self.chance(40) {
                    self.inside()
                } else {
                    let offset = self.offset();
                    reach.add(&offset);
                    self.shifted(&offset)
                };
                inner.push(self.read(&array, &point, None));
                border.push(self.read(&array, &self.identity(), None));
            }
        }
        if inner.is_empty() {
            inner.push(self.input_read());
        }
        (inner, border)
    }

    /// States that read each other's last step, either all in one statement or one after the other.
    fn stepping_body(&mut self) -> Vec<Position> {
        self.text = format!("kernel random(size N; run T) for N >= 3 {{\n{OPAQUE}{}", self.arithmetic());
        self.inputs();
        let n_states = self.random.usize(1..=3);
        let element = if self.chance(10) { self.array_element() } else { self.element };
        let state = |k| Array { name: format!("u{k}"), element, map: self.identity() };
        let states: Vec<Array> = (0..n_states).map(state).collect();
        for state in &states {
            self.declare("state", state, Some("t"));
        }
        let last = self.read(&states[0], &self.identity(), Some("t-1"));
        let mut scratch = self.chance(15).then(|| self.scratch(0, &[last]));
        let streaming: Vec<Vec<i64>> = states.iter().map(|_| self.offset()).collect();
        let together = self.chance(60);
        let stream = together && self.chance(60);
        let deep = !stream && self.chance(20);
        let (mut reach, mut assigns, mut positions) = (Reach::none(self.dims), Vec::new(), Vec::new());
        for (number, state) in states.iter().enumerate() {
            let (mut inner, mut border) = (Vec::new(), Vec::new());
            for (other, offset) in states.iter().zip(&streaming) {
                let offset = if stream { offset.clone() } else { self.offset() };
                reach.add(&offset);
                inner.push(self.read(other, &self.shifted(&offset), Some("t-1")));
                border.push(self.read(other, &self.identity(), Some("t-1")));
            }
            if deep {
                inner.push(self.read(state, &self.identity(), Some("t-2")));
            }
            if !together && number > 0 && self.chance(60) {
                let offset = self.offset();
                reach.add(&offset);
                inner.push(self.read(&states[number - 1], &self.shifted(&offset), Some("t")));
            }
            if self.chance(20) {
                inner.push(self.input_read());
            }
            if let (0, Some((_, value))) = (number, &scratch) {
                inner.push(value.clone());
            }
            let target = state.cell(&self.identity(), Some("t"));
            assigns.push(Assign { target, element: state.element, inner, border });
            if !together || number + 1 == states.len() {
                let name = if together { String::new() } else { number.to_string() };
                let stmts = self.split_stmt(&name, &reach, &assigns);
                positions.push(Position { first: scratch.take().map(|(name, _)| name), stmts });
                (reach, assigns) = (Reach::none(self.dims), Vec::new());
            }
        }
        if self.chance(20) {
            positions.push(self.output_of_last_step(&states[0]));
        }
        positions
    }

    /// A statement that copies a state to an output at the last step.
    fn output_of_last_step(&mut self, state: &Array) -> Position {
        let output = Array { name: "o".to_string(), element: self.array_element(), map: self.identity() };
        self.declare("output", &output, None);
        let value = self.read(state, &self.identity(), Some("t"));
        let body = self.assign(&output.cell(&self.identity(), None), output.element, &[value]);
        let condition = format!("t = T and {}", self.cube());
        self.push_stmt("Last", &condition, &body);
        Position { first: None, stmts: vec![Stmt { name: "Last".to_string(), first: ITERS[0] }] }
    }
}
