//! Bytes of machine code: instructions appended one after the other, forward jumps, and constants behind the code.
//!
//! In: instructions of the assembler library.   Out: bytes that may lie anywhere in memory, and their text.

use iced_x86::{Code, Encoder, Formatter, GasFormatter, Instruction, MemoryOperand, Register};
use std::fmt::Write as _;

/// How far a displacement relative to the instruction pointer points while its target is not known: farther than one
/// byte holds, so that four are reserved.
const UNKNOWN: u64 = 1 << 20;

/// Where notes begin in the text, as far as instructions are shorter.
const NOTE_COLUMN: usize = 48;

/// A forward jump whose target is not yet known.
#[must_use]
pub(super) struct Jump {
    /// The place after its four bytes.
    end: usize,
    /// The number of its label in the text.
    label: usize,
}

/// A place that later jumps lead back to.
#[derive(Clone, Copy)]
pub(super) struct Top {
    position: usize,
    /// The number of its label in the text.
    label: usize,
}

/// Code under construction.
pub(super) struct Assembler {
    encoder: Encoder,
    /// Bytes so far.
    position: usize,
    /// Jumps: the place after their displacement, and the target.
    jumps: Vec<(usize, usize)>,
    /// Uses of constants: the place of the displacement, of the end of the instruction, and which constant.
    constants: Vec<(usize, usize, usize)>,
    /// The same of vectors of other numbers, by their distance in bytes from the first of them.
    vectors: Vec<(usize, usize, usize)>,
    /// Labels of the text so far.
    labels: usize,
    /// What was assembled, if it is wanted.
    text: Option<String>,
    /// What the next instruction is for.
    note: Option<String>,
}

impl Assembler {
    /// Nothing yet. `text` says whether to keep a text.
    pub(super) fn new(text: bool) -> Self {
        Assembler {
            encoder: Encoder::new(64),
            position: 0,
            jumps: Vec::new(),
            constants: Vec::new(),
            vectors: Vec::new(),
            labels: 0,
            text: text.then(String::new),
            note: None,
        }
    }

    /// Appends an instruction.
    pub(super) fn put(&mut self, instruction: &Instruction) {
        self.encode(instruction);
        self.instruction_line(|| as_text(instruction));
    }

    /// Says what the next instruction is for: a word on how, and a name.
    pub(super) fn note(&mut self, note: Option<(&str, &str)>) {
        if self.text.is_some() {
            self.note = note.map(|(how, name)| format!("{how}{name}"));
        }
    }

    /// Appends an instruction before the one that was noted, with a note of its own, or none if that is empty.
    pub(super) fn put_aside(&mut self, instruction: &Instruction, note: &str) {
        let next = self.note.take();
        self.note((!note.is_empty()).then_some((note, "")));
        self.put(instruction);
        self.note = next;
    }

    fn instruction_line(&mut self, instruction: impl FnOnce() -> String) {
        let note = self.note.take();
        self.line(|| match note {
            Some(note) => format!("  {:NOTE_COLUMN$} # {note}", instruction()),
            None => format!("  {}", instruction()),
        });
    }

    fn encode(&mut self, instruction: &Instruction) {
        let length = self.encoder.encode(instruction, self.position as u64);
        self.position += length.expect("operands fit the instruction they were chosen for");
    }

    /// Appends a line to the text.
    pub(super) fn line(&mut self, line: impl FnOnce() -> String) {
        if let Some(text) = &mut self.text {
            writeln!(text, "{}", line()).expect("writing to a string");
        }
    }

    /// A memory operand for a constant; the next instruction has to be put by [`Assembler::put_with_constant`].
    pub(super) fn constant_operand(&self, repeated: bool) -> MemoryOperand {
        let target = (self.position as u64 + UNKNOWN) as i64;
        MemoryOperand::new(Register::RIP, Register::None, 1, target, 8, repeated, Register::None)
    }

    /// Appends an instruction whose memory operand is constant number `constant`; the text shows its `value`.
    pub(super) fn put_with_constant(
        &mut self,
        instruction: &Instruction,
        constant: usize,
        value: impl FnOnce() -> String,
    ) {
        let (at, end) = self.put_relative(instruction, value);
        self.constants.push((at, end, constant));
    }

    /// Appends an instruction whose memory operand, one of [`Assembler::constant_operand`], is `bytes` behind the first
    /// of the vectors that are no constants; the text shows its `value`.
    pub(super) fn put_with_vector(&mut self, instruction: &Instruction, bytes: usize, value: impl FnOnce() -> String) {
        let (at, end) = self.put_relative(instruction, value);
        self.vectors.push((at, end, bytes));
    }

    /// Appends an instruction with a displacement that is found out in the end: where it is, and what it counts from.
    fn put_relative(&mut self, instruction: &Instruction, value: impl FnOnce() -> String) -> (usize, usize) {
        let start = self.position;
        self.encode(instruction);
        self.instruction_line(|| {
            let target = format!("0x{:X}", instruction.memory_displacement64());
            as_text(instruction).replace(&target, &format!("[{}]", value()))
        });
        let offset = self.encoder.get_constant_offsets().displacement_offset();
        (start + offset, self.position)
    }

    /// Appends a jump to a place that is still to come.
    pub(super) fn jump_ahead(&mut self, code: Code) -> Jump {
        let label = self.label();
        self.jump(code, Top { position: self.position + UNKNOWN as usize, label });
        Jump { end: self.position, label }
    }

    /// Lets a jump lead here.
    pub(super) fn land(&mut self, jump: Jump) {
        self.jumps.push((jump.end, self.position));
        self.line(|| format!("{}:", name(jump.label)));
    }

    /// A place to jump back to.
    pub(super) fn top(&mut self) -> Top {
        let label = self.label();
        self.line(|| format!("{}:", name(label)));
        Top { position: self.position, label }
    }

    /// Appends a jump to a place.
    pub(super) fn jump(&mut self, code: Code, to: Top) {
        let instruction = Instruction::with_branch(code, to.position as u64).expect("the code is that of a jump");
        self.encode(&instruction);
        let mnemonic = |instruction| as_text(instruction).split(' ').next().unwrap_or_default().to_owned();
        self.line(|| format!("  {} {}", mnemonic(&instruction), name(to.label)));
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    /// Fills up to a multiple of `bytes` with instructions that do nothing.
    pub(super) fn align(&mut self, bytes: usize) {
        while !self.position.is_multiple_of(bytes) {
            let gap = bytes - self.position % bytes;
            let mut nop = Instruction::with(Code::Nopd);
            if gap >= 9 {
                let wide = MemoryOperand::with_base_index_scale_displ_size(Register::RAX, Register::RAX, 1, 0, 8);
                nop = Instruction::with1(Code::Nop_rm16, wide).expect("a no-operation takes any operand");
            } else if gap >= 4 {
                let wide = MemoryOperand::with_base_displ_size(Register::RAX, 0, 1);
                nop = Instruction::with1(Code::Nop_rm32, wide).expect("a no-operation takes any operand");
            }
            let before = self.position;
            self.put(&nop);
            debug_assert!(self.position - before <= gap, "no-operations fill the gap exactly");
        }
    }

    /// The code, with `constants` of `bytes` bytes each and `vectors` behind it, and its text.
    pub(super) fn finish(mut self, constants: &[u8], bytes: usize, vectors: &[u8]) -> (Vec<u8>, String) {
        let mut code = self.encoder.take_buffer();
        code.resize(code.len().next_multiple_of(64), 0xcc);
        let pool = code.len();
        let mut patch = |at: usize, end: usize, target: usize| {
            let distance = i32::try_from(target as i64 - end as i64).expect("a strip's code is below 2 GiB");
            code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        };
        for (end, target) in self.jumps {
            patch(end - 4, end, target);
        }
        for (at, end, constant) in self.constants {
            patch(at, end, pool + constant * bytes);
        }
        let first = (pool + constants.len()).next_multiple_of(64);
        for (at, end, behind) in self.vectors {
            patch(at, end, first + behind);
        }
        code.extend_from_slice(constants);
        if !vectors.is_empty() {
            code.resize(first, 0);
            code.extend_from_slice(vectors);
        }
        (code, self.text.unwrap_or_default())
    }
}

fn as_text(instruction: &Instruction) -> String {
    let mut text = String::new();
    GasFormatter::new().format(instruction, &mut text);
    text
}

fn name(label: usize) -> String {
    format!("wide{label}")
}
