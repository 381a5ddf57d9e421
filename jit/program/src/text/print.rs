//! Prints programs, remembering which line shows which place.

use super::names::{COMPARE_SIGN, STORE_HINT, word};
use crate::depth::Binding;
use crate::limits::MAX_DEPTH;
use crate::place::{Part, Place, Step};
use crate::types::*;
use std::fmt;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Printer::print(self).text)
    }
}

impl Program {
    /// The line, from 1, of the printed program that shows `place`; `None` if it has no such place.
    pub fn line_of(&self, place: &Place) -> Option<usize> {
        Printer::print(self).lines.iter().position(|line| line.as_ref() == Some(place)).map(|at| at + 1)
    }
}

/// Stands for what nests too deep to be followed: no program that verifies has it.
const TOO_DEEP: &str = "(too deep)";

struct Printer<'p> {
    program: &'p Program,
    text: String,
    /// What each line shows, if anything new.
    lines: Vec<Option<Place>>,
    path: Vec<Step>,
}

impl<'p> Printer<'p> {
    fn print(program: &'p Program) -> Self {
        let mut printer = Printer { program, text: String::new(), lines: Vec::new(), path: Vec::new() };
        printer.line(0, Some(Part::Program), &format!("program {}({}) {{", program.name, program.args.join(", ")));
        printer.declarations();
        printer.block(&program.body);
        printer.line(0, None, "}");
        printer
    }

    fn line(&mut self, indent: usize, part: Option<Part>, text: &str) {
        let depth = self.path.len() + indent;
        self.text.extend(std::iter::repeat_n("  ", depth));
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.push(part.map(|part| Place { path: self.path.clone(), part }));
    }

    fn declarations(&mut self) {
        for (id, scalar) in (0..).map(ScalarId).zip(&self.program.scalars) {
            self.line(1, Some(Part::Scalar(id)), &format!("scalar {}: {}", scalar.name, scalar.element.name()));
        }
        for (id, buffer) in (0..).map(BufferId).zip(&self.program.buffers) {
            let access = match buffer.access {
                BufferAccess::ReadOnly => "read",
                BufferAccess::ReadWrite => "write",
            };
            let copies = match buffer.copies {
                Copies::One => String::new(),
                Copies::PerWorker { pitch } => format!(" per_worker {pitch}"),
            };
            let mapped = match buffer.mapped {
                Mapped::Once => "",
                Mapped::Twice => " double_mapped",
            };
            let (what, cells) = match &buffer.extents {
                Some(extents) => ("array", extents.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
                None => ("buffer", buffer.cells.map(|cells| cells.to_string()).unwrap_or_default()),
            };
            let text = format!("{what} {}: {}[{cells}] {access}{copies}{mapped}", buffer.name, buffer.element.name());
            self.line(1, Some(Part::Buffer(id)), &text);
        }
    }

    fn block(&mut self, nodes: &[Node]) {
        // The path may end in a strip, which is no block.
        if self.path.len() > MAX_DEPTH {
            return self.line(1, None, TOO_DEEP);
        }
        for (node, content) in (0..).zip(nodes) {
            self.node(node, content);
        }
    }

    fn inside(&mut self, step: Step, nodes: &[Node]) {
        self.path.push(step);
        self.block(nodes);
        self.path.pop();
    }

    fn node(&mut self, node: u32, content: &Node) {
        let head = Some(Part::Node(node));
        match content {
            Node::Let { var, value } => self.line(1, head, &format!("let {var} = {}", self.int(value))),
            Node::For { var, lo, hi, step, kind, body } => {
                let kind = match kind {
                    LoopKind::Sequential => String::new(),
                    LoopKind::Parallel => "parallel ".to_string(),
                    LoopKind::Fronts(Needs { open, behind, ahead }) => {
                        let far = |far: &Option<u32>| far.map_or("all".to_string(), |far| far.to_string());
                        format!("fronts({open}, {}, {}) ", far(behind), far(ahead))
                    }
                };
                let step = if *step == 1 { String::new() } else { format!(" step {step}") };
                let text = format!("{kind}for {var} in {} .. {}{step} {{", self.int(lo), self.int(hi));
                self.line(1, head, &text);
                self.inside(Step::For { node, var: *var }, body);
                self.line(1, None, "}");
            }
            Node::If { cond, then, otherwise } => {
                self.line(1, head, &format!("if {} {{", self.guard(cond)));
                self.inside(Step::Then { node }, then);
                if !otherwise.is_empty() {
                    self.line(1, None, "} else {");
                    self.inside(Step::Else { node }, otherwise);
                }
                self.line(1, None, "}");
            }
            Node::Strip(strip) => self.strip(node, strip),
        }
    }

    fn strip(&mut self, node: u32, strip: &Strip) {
        let Strip { var, lo, hi, lanes, .. } = strip;
        let head = format!("strip {var} in {} .. {} lanes {lanes} {{", self.int(lo), self.int(hi));
        self.line(1, Some(Part::Node(node)), &head);
        self.path.push(Step::Strip { node, var: *var });
        for (id, stream) in (0..).map(StreamId).zip(&strip.streams) {
            self.line(1, Some(Part::Stream(id)), &format!("{id} = {}", self.stream(stream)));
        }
        for (id, op) in (0..).map(ValueId).zip(&strip.ops) {
            let sign = if matches!(op, Op::Store { .. }) { ":" } else { " =" };
            self.line(1, Some(Part::Op(id)), &format!("{id}{sign} {}", self.op(op)));
        }
        for (id, fact) in (0..).zip(&strip.alias) {
            let relation = match fact.relation {
                AliasRelation::Disjoint => "disjoint".to_string(),
                AliasRelation::SameLane => "same_lane".to_string(),
                AliasRelation::Distance(distance) => format!("distance {distance}"),
            };
            self.line(1, Some(Part::Alias(id)), &format!("alias {}, {}: {relation}", fact.load, fact.store));
        }
        self.path.pop();
        self.line(1, None, "}");
    }

    fn stream(&self, stream: &Stream) -> String {
        let names = self.program.buffers.get(stream.buffer.index()).map(|buffer| buffer.name.as_str());
        let buffer = name_or_number(names, stream.buffer.0);
        let axis = |axis: &TableAxis| match axis.along {
            Along::Cells(cells) => format!(" axis {} to {} by {cells}", axis.first, axis.last),
            Along::Coordinate(at) => format!(" axis {} to {} of {at}", axis.first, axis.last),
        };
        let axes: String = stream.table.iter().map(axis).collect();
        let cold = match stream.cold {
            None => axes,
            Some(Cold::SameRow) => axes + " cold",
            Some(Cold::NextRow(bytes)) => format!("{axes} cold next {bytes}"),
        };
        match &stream.address {
            Address::Block { base, pos, ring, stride } => {
                let base = match base {
                    Int::Const(0) => String::new(),
                    base => format!("base {}, ", self.int(base)),
                };
                let ring = ring.map(|ring| format!("ring {ring}, ")).unwrap_or_default();
                format!("{buffer}[{base}pos {}, {ring}stride {stride}]{cold}", self.int(pos))
            }
            Address::Array(coordinates) => {
                let coordinate = |c: &Coordinate| match c.step {
                    0 => self.int(&c.start),
                    step => format!("{} step {step}", self.int(&c.start)),
                };
                format!("{buffer}[at {}]{cold}", coordinates.iter().map(coordinate).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// One arm per operation.
    fn op(&self, op: &Op) -> String {
        match *op {
            Op::F64(bits) => format!("f64 {}", f64_text(bits)),
            Op::F32(bits) => format!("f32 {}", f32_text(bits)),
            Op::Int(ty, value) => format!("int {value}: {ty}"),
            Op::Scalar(id) => {
                let name = self.program.scalars.get(id.index()).map(|scalar| scalar.name.as_str());
                format!("scalar {}", name_or_number(name, id.0))
            }
            Op::Index { base, offset, step, ty } => {
                let start = match base {
                    None => offset.to_string(),
                    Some(var) if offset < 0 => format!("{var} - {}", offset.unsigned_abs()),
                    Some(var) => format!("{var} + {offset}"),
                };
                format!("index {start} step {step}: {ty}")
            }
            Op::Load { stream, ty } => format!("load {stream}: {ty}"),
            Op::Lookup { stream, values, ty } => {
                let values: Vec<String> = values.iter().flatten().map(ValueId::to_string).collect();
                format!("lookup {stream}[{}]: {ty}", values.join(", "))
            }
            Op::Unary(op, a) => format!("{op} {a}"),
            Op::Binary(op, a, b) => format!("{op} {a}, {b}"),
            Op::Bits(op, a, b) => format!("{op} {a}, {b}"),
            Op::Shift(op, a, count) => format!("{op} {a}, {count}"),
            Op::Fma(a, b, c) => format!("fma {a}, {b}, {c}"),
            Op::Compare(op, a, b) => format!("{op} {a}, {b}"),
            Op::And(a, b) => format!("and {a}, {b}"),
            Op::Or(a, b) => format!("or {a}, {b}"),
            Op::Not(a) => format!("not {a}"),
            Op::Select(cond, a, b) => format!("select {cond}, {a}, {b}"),
            Op::Convert(ty, a) => format!("convert {a}: {ty}"),
            Op::OpaqueSeed(seed) => format!("opaque_seed {seed:#x}"),
            Op::OpaqueMix(acc, x) => format!("opaque_mix {acc}, {x}"),
            Op::OpaqueFinish(acc) => format!("opaque_finish {acc}"),
            Op::Store { stream, value, hint } => format!("store {stream}, {value}{}", word(&STORE_HINT, hint)),
        }
    }

    fn guard(&self, cond: &Cond) -> String {
        if cond.within_limits(0).is_err() { TOO_DEEP.to_string() } else { self.cond(cond) }
    }

    fn cond(&self, cond: &Cond) -> String {
        let list = |conds: &[Cond]| conds.iter().map(|cond| self.cond(cond)).collect::<Vec<_>>().join(", ");
        match cond {
            Cond::Compare(op, lhs, rhs) => format!("{} {} {}", self.int(lhs), word(&COMPARE_SIGN, *op), self.int(rhs)),
            Cond::And(conds) => format!("all({})", list(conds)),
            Cond::Or(conds) => format!("any({})", list(conds)),
            Cond::Not(cond) => format!("not({})", self.cond(cond)),
        }
    }

    fn int(&self, int: &Int) -> String {
        if int.within_limits(0).is_err() {
            return TOO_DEEP.to_string();
        }
        let mut text = String::new();
        self.int_into(&mut text, int, Binding::Sum);
        text
    }

    fn int_into(&self, text: &mut String, int: &Int, least: Binding) {
        let (left, sign, right, binding) = match int {
            Int::Add(a, b) => (a, " + ", b, Binding::Sum),
            Int::Sub(a, b) => (a, " - ", b, Binding::Sum),
            Int::Mul(a, b) => (a, " * ", b, Binding::Product),
            other => return text.push_str(&self.primary(other)),
        };
        if binding < least {
            text.push('(');
        }
        // Chains associate to the left, so only a right operand of the same binding needs parentheses.
        let tighter = if binding == Binding::Sum { Binding::Product } else { Binding::Primary };
        self.int_into(text, left, binding);
        text.push_str(sign);
        self.int_into(text, right, tighter);
        if binding < least {
            text.push(')');
        }
    }

    fn primary(&self, int: &Int) -> String {
        match int {
            Int::Const(value) => value.to_string(),
            Int::Arg(id) => format!("${}", name_or_number(self.program.args.get(id.index()).map(String::as_str), id.0)),
            Int::Var(var) => var.to_string(),
            Int::FloorDiv(x, d) => format!("floordiv({}, {d})", self.int(x)),
            Int::Mod(x, m) => format!("mod({}, {m})", self.int(x)),
            Int::Wrap(x, m) => format!("wrap({}, {m})", self.int(x)),
            Int::MulMod(a, x, m) => format!("mulmod({a}, {}, {m})", self.int(x)),
            Int::Min(a, b) => format!("min({}, {})", self.int(a), self.int(b)),
            Int::Max(a, b) => format!("max({}, {})", self.int(a), self.int(b)),
            Int::Add(..) | Int::Sub(..) | Int::Mul(..) => format!("({})", self.int(int)),
        }
    }
}

fn name_or_number(name: Option<&str>, number: u32) -> String {
    name.map_or_else(|| format!("#{number}"), str::to_string)
}

/// The shortest decimal that reads back as the same double; the bits of what has no decimal.
fn f64_text(bits: u64) -> String {
    let value = f64::from_bits(bits);
    if value.is_finite() { format!("{value:?}") } else { format!("bits {bits:#x}") }
}

fn f32_text(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_finite() { format!("{value:?}") } else { format!("bits {bits:#x}") }
}
