//! Instructions of a strip's body: what is left of its operations once registers are assigned.
//!
//! They are straight-line and the same for whole vectors, for masked ones and for single cells; a target knows
//! the differences.

use crease_program::{CompareOp, MOST_AXES, ScalarId, ShiftOp, StoreHint};

use super::shape::Number;

/// Which registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Vectors of numbers; with AVX2 also truth values, as all ones and all zeros.
    Vector,
    /// One bit for each lane (AVX-512).
    Mask,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg {
    /// Which kind.
    pub(crate) class: Class,
    /// Its number among those that may be assigned.
    pub(crate) number: u8,
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The cells of a stream.
    Cell(usize),
    /// Those of the block that follows.
    NextCell(usize),
    /// A constant of the pool, the same in all lanes.
    Constant(usize),
    /// A vector or a mask on the stack.
    Slot(usize),
}

/// An operand that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// In a register.
    Reg(Reg),
    /// In memory.
    Memory(Memory),
}

/// Operations of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Sum, which stays within the type: of integers.
    AddSat,
    /// Difference, which stays within the type: of integers.
    SubSat,
    /// Quotient.
    Div,
    /// `a < b ? a : b`.
    Min,
    /// `a > b ? a : b`.
    Max,
    /// Bits in both.
    And,
    /// Bits in either.
    Or,
    /// Bits in one.
    Xor,
    /// Sum of the bits as integers.
    AddBits,
    /// Difference of the bits as integers.
    SubBits,
}

/// What becomes of an integer's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignOp {
    /// The other one.
    Negate,
    /// None; the least number of a type stays as it is.
    Magnitude,
}

/// Which integer a number becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// The nearest, the even one of two.
    Nearest,
    /// The largest that is not greater.
    Floor,
    /// The smallest that is not less.
    Ceil,
    /// The integer part.
    Trunc,
}

/// Which operand of a fused multiply-add the result replaces. The names are the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FmaForm {
    /// `to = to * c + b`.
    F132,
    /// `to = b * to + c`.
    F213,
    /// `to = b * c + to`.
    F231,
}

/// One instruction, or the few that a load or an index takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inst {
    /// Reads a vector, a number for all lanes, or bytes that become numbers: as the place has them.
    Load { to: Reg, from: Memory },
    /// A run-time scalar in all lanes.
    Scalar { to: Reg, scalar: ScalarId },
    /// The numbers of index operation `index` (an operation of the strip).
    Index { to: Reg, index: usize },
    /// Writes the cells of a stream; past the caches, if so hinted, in blocks where all such stores are aligned.
    Store { stream: usize, from: Reg, hint: StoreHint },
    /// Writes a slot.
    Spill { slot: usize, from: Reg },
    /// Copies a vector.
    Move { to: Reg, from: Reg },
    /// The vector that begins `lanes` numbers into `low`, and ends in `high` behind it; with AVX2 in the middle of `low`.
    Shift { to: Reg, low: Reg, high: Reg, lanes: u8 },
    /// The same for each half of the vectors, as if they were two (AVX2).
    ShiftHalves { to: Reg, low: Reg, high: Reg, lanes: u8 },
    /// Square root.
    Sqrt { to: Reg, from: Operand },
    /// To an integer.
    Round { rounding: Rounding, to: Reg, from: Operand },
    /// The negated number or its magnitude: of integers, where floats change their sign by [`Inst::Arith`].
    Sign { op: SignOp, to: Reg, from: Reg },
    /// Moves bits; the sign of signed integers fills in.
    ShiftBits { op: ShiftOp, to: Reg, from: Reg, count: u8 },
    /// `to = a op b`.
    Arith { op: Arith, to: Reg, a: Reg, b: Operand },
    /// A number of another type, whose own was `number`.
    Convert { to: Reg, from: Reg, number: Number },
    /// Cells of a table, at numbers for its axes.
    LookUp { to: Reg, values: [Option<Reg>; MOST_AXES] },
    /// Multiply-add with one rounding; `to` is an operand too.
    Fma { form: FmaForm, to: Reg, b: Reg, c: Operand },
    /// A truth value.
    Compare { op: CompareOp, to: Reg, a: Reg, b: Operand },
    /// `to = a and b` or `a or b`, of masks.
    Masks { op: Arith, to: Reg, a: Reg, b: Reg },
    /// Negation of a mask.
    NotMask { to: Reg, from: Reg },
    /// `to = cond ? then : otherwise`.
    Select { to: Reg, cond: Reg, then: Operand, otherwise: Reg },
}

impl Inst {
    /// The place in memory that it reads, if there is one.
    pub(crate) fn reads(&self) -> Option<Memory> {
        match *self {
            Inst::Load { from, .. } => Some(from),
            Inst::Sqrt { from: Operand::Memory(memory), .. }
            | Inst::Round { from: Operand::Memory(memory), .. }
            | Inst::Arith { b: Operand::Memory(memory), .. }
            | Inst::Fma { c: Operand::Memory(memory), .. }
            | Inst::Compare { b: Operand::Memory(memory), .. }
            | Inst::Select { then: Operand::Memory(memory), .. } => Some(memory),
            _ => None,
        }
    }

    /// The register that it writes, if there is one.
    fn writes(&self) -> Option<Reg> {
        match *self {
            Inst::Store { .. } | Inst::Spill { .. } => None,
            Inst::Load { to, .. }
            | Inst::Scalar { to, .. }
            | Inst::Index { to, .. }
            | Inst::Move { to, .. }
            | Inst::Shift { to, .. }
            | Inst::ShiftHalves { to, .. }
            | Inst::Sqrt { to, .. }
            | Inst::Round { to, .. }
            | Inst::Sign { to, .. }
            | Inst::ShiftBits { to, .. }
            | Inst::Arith { to, .. }
            | Inst::Convert { to, .. }
            | Inst::LookUp { to, .. }
            | Inst::Fma { to, .. }
            | Inst::Compare { to, .. }
            | Inst::Masks { to, .. }
            | Inst::NotMask { to, .. }
            | Inst::Select { to, .. } => Some(to),
        }
    }
}

/// Instructions in order, each with the operation of the strip whose result it makes or moves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    instructions: Vec<Inst>,
    operations: Vec<usize>,
}

impl Sequence {
    /// Appends an instruction for the operation `at`.
    pub(crate) fn push(&mut self, instruction: Inst, at: usize) {
        self.instructions.push(instruction);
        self.operations.push(at);
    }

    /// Moves to a register what is stored to a slot, if no instruction reads the slot; says whether.
    pub(crate) fn move_instead_of_spilling(&mut self, home: Memory, to: Reg) -> bool {
        if self.iter().any(|inst| inst.reads() == Some(home)) {
            return false;
        }
        let mut stored = self.instructions.iter_mut().filter_map(|inst| match *inst {
            Inst::Spill { slot, from } if home == Memory::Slot(slot) => Some((inst, from)),
            _ => None,
        });
        let (Some((spill, from)), None) = (stored.next(), stored.next()) else { return false };
        *spill = Inst::Move { to, from };
        true
    }

    /// One more than the last slot that it writes.
    pub(crate) fn slots(&self) -> usize {
        let slot = |inst: &Inst| if let Inst::Spill { slot, .. } = inst { slot + 1 } else { 0 };
        self.iter().map(slot).max().unwrap_or(0)
    }

    /// The instructions.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Inst> {
        self.instructions.iter()
    }

    /// The instructions with their operations.
    pub(crate) fn with_operations(&self) -> impl Iterator<Item = (&Inst, usize)> {
        self.instructions.iter().zip(self.operations.iter().copied())
    }

    /// What comes before its stores, and these, if nothing else follows the first of them.
    pub(crate) fn stores_apart(&self) -> Option<(Sequence, Sequence)> {
        let is_store = |inst: &Inst| matches!(inst, Inst::Store { .. });
        let at = self.first_store().filter(|at| self.iter().skip(*at).all(is_store))?;
        Some(self.split(at))
    }

    /// All but the moves at its end.
    pub(crate) fn without_last_moves(&self) -> Sequence {
        let is_move = |inst: &&Inst| matches!(inst, Inst::Move { .. });
        let moves = self.instructions.iter().rev().take_while(is_move).count();
        self.split(self.len() - moves).0
    }

    /// Its first `count` instructions, and the others.
    pub(crate) fn split(&self, count: usize) -> (Sequence, Sequence) {
        let part = |range: std::ops::Range<usize>| Sequence {
            instructions: self.instructions[range.clone()].to_vec(),
            operations: self.operations[range].to_vec(),
        };
        (part(0..count), part(count..self.len()))
    }

    /// The place of its first store.
    pub(super) fn first_store(&self) -> Option<usize> {
        self.iter().position(|inst| matches!(inst, Inst::Store { .. }))
    }

    /// Whether an instruction writes a register.
    pub(crate) fn writes(&self, register: Reg) -> bool {
        self.iter().any(|inst| inst.writes() == Some(register))
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.instructions.len()
    }
}
