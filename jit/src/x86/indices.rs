//! Indices as numbers: integers that move by a constant from lane to lane, each rounded once.
//!
//! In: an index operation of a block.   Out: code.
//!
//! That of the block's first lane is computed in a general register, from what the table has for iteration 0. One that
//! does not move is an invariant, converted once before the loops and repeated. Of others the lanes are counted as
//! 64-bit integers and converted: by an instruction with AVX-512, out of both halves with AVX2, which is as exact for
//! all integers. AVX2 has nothing of that kind for floats, whose lanes are converted one by one.

use super::avx::Avx;
use super::codes::code;
use super::conversion_codes::conversion_code;
use super::encode::{Encoding, ITERATION, SCRATCH, Source, TABLE, memory};
use super::kinds::{Form, Kind};
use crate::vector::{Arith, Extent, INT64, Number, Reg};
use crease_program::Op;
use iced_x86::{Code, Instruction, Register};

/// Holds the integer of the first lane.
const VALUE: Register = SCRATCH[0];

impl Encoding<'_, '_> {
    /// `first + step * j` in each lane.
    pub(super) fn index(&mut self, to: Reg, index: usize) {
        let Op::Index { step, .. } = self.body.strip.ops[index] else { unreachable!("chosen for index operations") };
        self.first_lane(index, step);
        let is_single = self.extent == Extent::Single;
        if !is_single && step != 0 {
            return match self.body.shape.counts_in_vectors(self.number) {
                true => self.count_in_vectors(to, step),
                false => self.count_alone(to, step),
            };
        }
        let first = self.sized(to, 16);
        self.three(self.code(Kind::FromInteger), first, first, Source::Register(VALUE));
        if !is_single {
            self.two(self.code(Kind::Splat), self.vector(to), Source::Register(first));
        }
    }

    /// Computes the integer of the block's first lane.
    fn first_lane(&mut self, index: usize, step: i64) {
        let entry = self.indices.iter().position(|known| *known == index).expect("every index has an entry");
        let entry = Source::Memory(memory(TABLE, 8 * (self.pointers.len() + entry) as i64));
        match step {
            0 => return self.two(Code::Mov_r64_rm64, VALUE, entry),
            -1 => {
                self.two(Code::Mov_r64_rm64, VALUE, entry);
                self.two(Code::Sub_r64_rm64, VALUE, Source::Register(ITERATION));
            }
            1 => {
                self.two(Code::Mov_r64_rm64, VALUE, entry);
                self.two(Code::Add_r64_rm64, VALUE, Source::Register(ITERATION));
            }
            _ => {
                let step = i32::try_from(step).expect("larger steps are not eligible");
                self.put(Instruction::with3(Code::Imul_r64_rm64_imm32, VALUE, ITERATION, step));
                self.two(Code::Add_r64_rm64, VALUE, entry);
            }
        }
        let ahead = self.copy * self.body.shape.lanes() * step;
        if ahead != 0 {
            let ahead = i32::try_from(ahead).expect("steps and copies are small");
            self.put(Instruction::with2(Code::Add_rm64_imm32, VALUE, ahead));
        }
    }

    /// Counts on from the first lane in vectors of 64-bit integers, and converts these.
    fn count_in_vectors(&mut self, to: Reg, step: i64) {
        let number = self.number;
        let lanes = match self.body.shape.is_mixed {
            true => self.body.shape.lanes(),
            false => self.vector_bytes() / number.bytes(),
        };
        let bytes = lanes * INT64.bytes();
        if self.isa == Avx::Avx2 {
            let (first, all) = (self.sized(to, 16), self.sized(to, bytes));
            self.two(Code::VEX_Vmovq_xmm_rm64, first, Source::Register(VALUE));
            self.two(Code::VEX_Vpbroadcastq_ymm_xmmm64, all, Source::Register(first));
            self.add_multiples(all, all, (step, 0), Form::Vex256);
            return self.long_to_doubles(to, to);
        }
        let most = self.body.shape.features.widths[0];
        let (form, repeat) = match bytes < most {
            true => (Form::Evex256, Code::EVEX_Vpbroadcastq_ymm_k1z_r64),
            false => (Form::Evex512, Code::EVEX_Vpbroadcastq_zmm_k1z_r64),
        };
        let convert = conversion_code(INT64, number, form);
        let converted = bytes.min(most) * number.bytes() / INT64.bytes();
        let (all, to_converted) = (self.sized(to, bytes), self.sized(to, converted));
        if bytes <= most {
            self.two(repeat, all, Source::Register(VALUE));
            self.add_multiples(all, all, (step, 0), form);
            return self.two(convert, to_converted, Source::Register(all));
        }
        let between = self.between(0);
        let (upper, upper_converted) = (self.sized(between, most), self.sized(between, converted));
        self.two(repeat, upper, Source::Register(VALUE));
        self.add_multiples(all, upper, (step, 0), form);
        self.add_multiples(upper, upper, (step, lanes / 2), form);
        self.two(convert, to_converted, Source::Register(all));
        self.two(convert, upper_converted, Source::Register(upper));
        let join = Code::EVEX_Vinsertf32x8_zmm_k1z_zmm_ymmm256_imm8;
        self.put(Instruction::with4(join, all, all, upper_converted, 1));
    }

    /// Adds the multiples of a step to 64-bit integers, from that of a lane on.
    fn add_multiples(&mut self, to: Register, from: Register, (step, lane): (i64, i64), form: Form) {
        let (steps, lanes) = (&self.body.steps, self.body.shape.lanes());
        let place = steps.iter().position(|known| *known == step).expect("steps are kept beside the constants");
        let behind = (place as i64 * lanes + lane) * INT64.bytes();
        // Any type of 64 bits: the sum is that of their bits.
        let add = code(Kind::Arith(Arith::AddBits), Number::F64, form);
        let instruction = Instruction::with3(add, to, from, self.assembler.constant_operand(false));
        let instruction = instruction.expect("the operands fit the code");
        let text = || format!("{}, {}, ..", step * lane, step * (lane + 1));
        self.assembler.put_with_vector(&instruction, behind as usize, text);
    }

    /// Converts lane by lane, in memory.
    fn count_alone(&mut self, to: Reg, step: i64) {
        let (number, lanes) = (self.number, self.body.shape.lanes());
        let (first, convert) = (self.sized(to, 16), self.code(Kind::FromInteger));
        let step = i32::try_from(step).expect("larger steps are not eligible");
        for lane in 0..lanes {
            self.three(convert, first, first, Source::Register(VALUE));
            assert!(self.conversion_slot < self.slots, "a conversion has a slot in the frame");
            let place =
                memory(Register::RSP, self.conversion_slot as i64 * self.body.shape.bytes + lane * number.bytes());
            self.put(Instruction::with2(self.code(Kind::StoreFirst), place, first));
            if lane + 1 < lanes {
                self.put(Instruction::with2(Code::Add_rm64_imm32, VALUE, step));
            }
        }
        let all = self.slot(self.conversion_slot);
        self.two(self.code(Kind::Load), self.vector(to), Source::Memory(all));
    }
}
