//! The frame: one block of memory with everything a call passes to compiled code.
//!
//! First come the literals, constants and run-time scalars of all strips, each filling 16 bytes, so that an operation
//! may read any of them as a memory operand of its own width; then the integer arguments; then the buffers' addresses;
//! then the strides of arrays in bytes; last the address of the memory of the call, and how many bytes of it each
//! worker has (`clif/scratch.rs`).
//!
//! Cranelift would load a constant anew at each use and never as an operand; a literal costs no instruction.

use crease_program::{Element, Node, Op, Program, ScalarId, ValueType};
use std::collections::HashMap;

/// 16 bytes, aligned as vector operands must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Slot(pub(crate) [u64; 2]);

/// What a literal slot holds in all its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Literal {
    /// A double, by its bits.
    F64(u64),
    /// A float, by its bits.
    F32(u32),
    /// A run-time scalar of the program.
    Scalar(ScalarId),
}

impl Literal {
    /// The literal an operation denotes, if it does.
    pub(crate) fn of(op: &Op) -> Option<Literal> {
        match *op {
            Op::F64(bits) => Some(Literal::F64(bits)),
            Op::F32(bits) => Some(Literal::F32(bits)),
            Op::Scalar(scalar) => Some(Literal::Scalar(scalar)),
            _ => None,
        }
    }
}

/// Where things are in the frame.
#[derive(Clone, Debug)]
pub(crate) struct FrameLayout {
    literals: Vec<Literal>,
    index: HashMap<Literal, usize>,
    scalars: Vec<Element>,
    args: usize,
    buffers: usize,
    /// For each buffer the number of strides before its own.
    strides_before: Vec<usize>,
    /// Strides of all buffers.
    strides: usize,
}

impl FrameLayout {
    /// The frame of `program`.
    pub(crate) fn new(program: &Program) -> Self {
        let mut layout = FrameLayout {
            literals: Vec::new(),
            index: HashMap::new(),
            scalars: program.scalars.iter().map(|scalar| scalar.element).collect(),
            args: program.args.len(),
            buffers: program.buffers.len(),
            strides_before: Vec::new(),
            strides: 0,
        };
        for buffer in &program.buffers {
            layout.strides_before.push(layout.strides);
            layout.strides += buffer.extents.as_ref().map_or(0, Vec::len);
        }
        layout.add_literals(&program.body);
        layout
    }

    fn add_literals(&mut self, body: &[Node]) {
        for node in body {
            match node {
                Node::Let { .. } => {}
                Node::For { body, .. } => self.add_literals(body),
                Node::If { then, otherwise, .. } => {
                    self.add_literals(then);
                    self.add_literals(otherwise);
                }
                Node::Strip(strip) => strip.ops.iter().filter_map(Literal::of).for_each(|literal| {
                    let next = self.literals.len();
                    if *self.index.entry(literal).or_insert(next) == next {
                        self.literals.push(literal);
                    }
                }),
            }
        }
    }

    /// Bytes from the start of the frame to a literal of the program.
    pub(super) fn literal_offset(&self, literal: Literal) -> i32 {
        offset(16 * self.index[&literal])
    }

    /// Bytes from the start of the frame to an argument.
    pub(super) fn arg_offset(&self, arg: usize) -> i32 {
        offset(16 * self.literals.len() + 8 * arg)
    }

    /// Bytes from the start of the frame to the address of a buffer.
    pub(super) fn buffer_offset(&self, buffer: usize) -> i32 {
        offset(16 * self.literals.len() + 8 * (self.args + buffer))
    }

    /// Bytes from the start of the frame to a stride of an array.
    pub(super) fn stride_offset(&self, array: usize, axis: usize) -> i32 {
        offset(16 * self.literals.len() + 8 * (self.args + self.buffers + self.strides_before[array] + axis))
    }

    /// Bytes from the start of the frame to the address of the memory of the call.
    pub(super) fn scratch_offset(&self) -> i32 {
        offset(16 * self.literals.len() + 8 * (self.args + self.buffers + self.strides))
    }

    /// Bytes from the start of the frame to the number of bytes that each worker has of that.
    pub(super) fn scratch_pitch_offset(&self) -> i32 {
        self.scratch_offset() + 8
    }

    /// A frame for one call. `scalars` are rounded to the types the program declares; `strides` are those of all arrays
    /// in turn, in bytes; `scratch` is the address of the memory of the call, and the bytes of it that a worker has.
    pub(crate) fn fill(
        &self,
        args: &[i64],
        scalars: &[f64],
        buffers: &[u64],
        strides: &[i64],
        scratch: [u64; 2],
    ) -> Vec<Slot> {
        assert_eq!((args.len(), scalars.len(), buffers.len()), (self.args, self.scalars.len(), self.buffers));
        assert_eq!(strides.len(), self.strides);
        let splat_f32 = |bits: u32| [u64::from(bits) << 32 | u64::from(bits); 2];
        let literal = |literal: &Literal| match *literal {
            Literal::F64(bits) => [bits; 2],
            Literal::F32(bits) => splat_f32(bits),
            Literal::Scalar(id) if self.scalars[id.index()].value_type() == ValueType::F32 => {
                splat_f32((scalars[id.index()] as f32).to_bits())
            }
            Literal::Scalar(id) => [scalars[id.index()].to_bits(); 2],
        };
        let mut slots: Vec<Slot> = self.literals.iter().map(|entry| Slot(literal(entry))).collect();
        let numbers = |numbers: &[i64]| numbers.iter().map(|number| *number as u64).collect::<Vec<u64>>();
        let words = [&numbers(args)[..], buffers, &numbers(strides)[..], &scratch].concat();
        slots.extend(words.chunks(2).map(|pair| Slot([pair[0], pair.get(1).copied().unwrap_or(0)])));
        slots
    }
}

/// Frames are far smaller than 2 GiB: a program with that many literals would not have fitted in memory itself.
fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).expect("frame offsets fit 32 bits")
}
