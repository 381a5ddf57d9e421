//! The bytes of instructions on integers, as another assembler gives them: register 1 is the result, 2 and 3 the
//! operands, mask 2 the truth values, 3 the constant, and memory is `0x40(%rdx,%rdi)`.

use super::codes::code;
use super::integer_codes::{narrowing_code, widening_code};
use super::kinds::{Form, Kind};
use crate::vector::{Arith, Number};
use crease_program::{ShiftOp, ValueType};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

fn bytes(instruction: &Instruction) -> String {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, 0).unwrap();
    encoder.take_buffer().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn memory() -> MemoryOperand {
    MemoryOperand::new(Register::RDX, Register::RDI, 1, 0x40, 1, false, Register::None)
}

fn register(form: Form, number: u32) -> Register {
    number + if form == Form::Evex512 { Register::ZMM0 } else { Register::YMM0 }
}

fn masked(mut instruction: Instruction, form: Form, zeroing: bool) -> Instruction {
    if matches!(form, Form::Evex256 | Form::Evex512) {
        instruction.set_op_mask(Register::K2);
        instruction.set_zeroing_masking(zeroing);
    }
    instruction
}

/// An instruction as the encoder puts it.
fn instruction(kind: Kind, code: Code, form: Form) -> Instruction {
    let [to, a, b] = [1, 2, 3].map(|number| register(form, number));
    match kind {
        Kind::Load => masked(Instruction::with2(code, to, memory()).unwrap(), form, true),
        Kind::Store => masked(Instruction::with2(code, memory(), to).unwrap(), form, false),
        Kind::StoreNonTemporal => Instruction::with2(code, memory(), to).unwrap(),
        Kind::Broadcast => Instruction::with2(code, to, memory()).unwrap(),
        Kind::Move | Kind::Abs => Instruction::with2(code, to, a).unwrap(),
        Kind::ShiftBits(_) | Kind::ShiftSigned => Instruction::with3(code, to, a, 3).unwrap(),
        Kind::Shift => Instruction::with4(code, to, a, b, 3).unwrap(),
        Kind::Compare => Instruction::with4(code, Register::K2, a, b, 3).unwrap(),
        Kind::Blend if form == Form::Vex256 => Instruction::with4(code, to, a, b, a).unwrap(),
        Kind::Blend => masked(Instruction::with3(code, to, a, b).unwrap(), form, false),
        _ => Instruction::with3(code, to, a, b).unwrap(),
    }
}

#[rustfmt::skip]
#[test]
fn instructions_on_integers_have_the_bytes_of_another_assembler() {
    use Form::{Evex512, Vex256};
    use ValueType::{I8, I16, I32, I64, U8, U16, U32};
    let known = [
        (Kind::Arith(Arith::Add), U8, Vex256, "c5edfccb"),
        (Kind::Arith(Arith::Sub), U8, Vex256, "c5edf8cb"),
        (Kind::Arith(Arith::AddSat), U8, Vex256, "c5eddccb"),
        (Kind::Arith(Arith::AddSat), I8, Vex256, "c5edeccb"),
        (Kind::Arith(Arith::SubSat), U8, Vex256, "c5edd8cb"),
        (Kind::Arith(Arith::SubSat), I8, Vex256, "c5ede8cb"),
        (Kind::Arith(Arith::Min), U8, Vex256, "c5eddacb"),
        (Kind::Arith(Arith::Min), I8, Vex256, "c4e26d38cb"),
        (Kind::Arith(Arith::Max), U8, Vex256, "c5eddecb"),
        (Kind::Arith(Arith::Max), I8, Vex256, "c4e26d3ccb"),
        (Kind::Abs, I8, Vex256, "c4e27d1cca"),
        (Kind::CompareEqual, I8, Vex256, "c5ed74cb"),
        (Kind::CompareGreater, I8, Vex256, "c5ed64cb"),
        (Kind::Blend, I8, Vex256, "c4e36d4ccb20"),
        (Kind::Load, I8, Vex256, "c5fe6f4c3a40"),
        (Kind::Store, I8, Vex256, "c5fe7f4c3a40"),
        (Kind::Broadcast, I8, Vex256, "c4e27d784c3a40"),
        (Kind::Arith(Arith::Add), U8, Evex512, "62f16d48fccb"),
        (Kind::Arith(Arith::Sub), U8, Evex512, "62f16d48f8cb"),
        (Kind::Arith(Arith::AddSat), U8, Evex512, "62f16d48dccb"),
        (Kind::Arith(Arith::AddSat), I8, Evex512, "62f16d48eccb"),
        (Kind::Arith(Arith::SubSat), U8, Evex512, "62f16d48d8cb"),
        (Kind::Arith(Arith::SubSat), I8, Evex512, "62f16d48e8cb"),
        (Kind::Arith(Arith::Min), U8, Evex512, "62f16d48dacb"),
        (Kind::Arith(Arith::Min), I8, Evex512, "62f26d4838cb"),
        (Kind::Arith(Arith::Max), U8, Evex512, "62f16d48decb"),
        (Kind::Arith(Arith::Max), I8, Evex512, "62f26d483ccb"),
        (Kind::Abs, I8, Evex512, "62f27d481cca"),
        (Kind::Compare, U8, Evex512, "62f36d483ed303"),
        (Kind::Compare, I8, Evex512, "62f36d483fd303"),
        (Kind::Blend, I8, Evex512, "62f26d4a66cb"),
        (Kind::Load, I8, Evex512, "62f17fca6f4c3a01"),
        (Kind::Store, I8, Evex512, "62f17f4a7f4c3a01"),
        (Kind::Broadcast, I8, Evex512, "62f27d48784c3a40"),
        (Kind::Arith(Arith::Add), U16, Vex256, "c5edfdcb"),
        (Kind::Arith(Arith::Sub), U16, Vex256, "c5edf9cb"),
        (Kind::Arith(Arith::AddSat), U16, Vex256, "c5edddcb"),
        (Kind::Arith(Arith::AddSat), I16, Vex256, "c5ededcb"),
        (Kind::Arith(Arith::SubSat), U16, Vex256, "c5edd9cb"),
        (Kind::Arith(Arith::SubSat), I16, Vex256, "c5ede9cb"),
        (Kind::Arith(Arith::Mul), U16, Vex256, "c5edd5cb"),
        (Kind::Arith(Arith::Min), U16, Vex256, "c4e26d3acb"),
        (Kind::Arith(Arith::Min), I16, Vex256, "c5edeacb"),
        (Kind::Arith(Arith::Max), U16, Vex256, "c4e26d3ecb"),
        (Kind::Arith(Arith::Max), I16, Vex256, "c5edeecb"),
        (Kind::Abs, I16, Vex256, "c4e27d1dca"),
        (Kind::ShiftBits(ShiftOp::Left), U16, Vex256, "c5f571f203"),
        (Kind::ShiftBits(ShiftOp::Right), U16, Vex256, "c5f571d203"),
        (Kind::ShiftSigned, I16, Vex256, "c5f571e203"),
        (Kind::CompareEqual, I16, Vex256, "c5ed75cb"),
        (Kind::CompareGreater, I16, Vex256, "c5ed65cb"),
        (Kind::Blend, I16, Vex256, "c4e36d4ccb20"),
        (Kind::Load, I16, Vex256, "c5fe6f4c3a40"),
        (Kind::Store, I16, Vex256, "c5fe7f4c3a40"),
        (Kind::Broadcast, I16, Vex256, "c4e27d794c3a40"),
        (Kind::Arith(Arith::Add), U16, Evex512, "62f16d48fdcb"),
        (Kind::Arith(Arith::Sub), U16, Evex512, "62f16d48f9cb"),
        (Kind::Arith(Arith::AddSat), U16, Evex512, "62f16d48ddcb"),
        (Kind::Arith(Arith::AddSat), I16, Evex512, "62f16d48edcb"),
        (Kind::Arith(Arith::SubSat), U16, Evex512, "62f16d48d9cb"),
        (Kind::Arith(Arith::SubSat), I16, Evex512, "62f16d48e9cb"),
        (Kind::Arith(Arith::Mul), U16, Evex512, "62f16d48d5cb"),
        (Kind::Arith(Arith::Min), U16, Evex512, "62f26d483acb"),
        (Kind::Arith(Arith::Min), I16, Evex512, "62f16d48eacb"),
        (Kind::Arith(Arith::Max), U16, Evex512, "62f26d483ecb"),
        (Kind::Arith(Arith::Max), I16, Evex512, "62f16d48eecb"),
        (Kind::Abs, I16, Evex512, "62f27d481dca"),
        (Kind::ShiftBits(ShiftOp::Left), U16, Evex512, "62f1754871f203"),
        (Kind::ShiftBits(ShiftOp::Right), U16, Evex512, "62f1754871d203"),
        (Kind::ShiftSigned, I16, Evex512, "62f1754871e203"),
        (Kind::Compare, U16, Evex512, "62f3ed483ed303"),
        (Kind::Compare, I16, Evex512, "62f3ed483fd303"),
        (Kind::Blend, I16, Evex512, "62f2ed4a66cb"),
        (Kind::Load, I16, Evex512, "62f1ffca6f4c3a01"),
        (Kind::Store, I16, Evex512, "62f1ff4a7f4c3a01"),
        (Kind::Broadcast, I16, Evex512, "62f27d48794c3a20"),
        (Kind::Arith(Arith::Add), U32, Vex256, "c5edfecb"),
        (Kind::Arith(Arith::Sub), U32, Vex256, "c5edfacb"),
        (Kind::Arith(Arith::Mul), U32, Vex256, "c4e26d40cb"),
        (Kind::Arith(Arith::Min), U32, Vex256, "c4e26d3bcb"),
        (Kind::Arith(Arith::Min), I32, Vex256, "c4e26d39cb"),
        (Kind::Arith(Arith::Max), U32, Vex256, "c4e26d3fcb"),
        (Kind::Arith(Arith::Max), I32, Vex256, "c4e26d3dcb"),
        (Kind::Abs, I32, Vex256, "c4e27d1eca"),
        (Kind::ShiftBits(ShiftOp::Left), U32, Vex256, "c5f572f203"),
        (Kind::ShiftBits(ShiftOp::Right), U32, Vex256, "c5f572d203"),
        (Kind::ShiftSigned, I32, Vex256, "c5f572e203"),
        (Kind::CompareEqual, I32, Vex256, "c5ed76cb"),
        (Kind::CompareGreater, I32, Vex256, "c5ed66cb"),
        (Kind::Blend, I32, Vex256, "c4e36d4ccb20"),
        (Kind::Load, I32, Vex256, "c5fe6f4c3a40"),
        (Kind::Store, I32, Vex256, "c5fe7f4c3a40"),
        (Kind::Broadcast, I32, Vex256, "c4e27d584c3a40"),
        (Kind::Arith(Arith::Add), U32, Evex512, "62f16d48fecb"),
        (Kind::Arith(Arith::Sub), U32, Evex512, "62f16d48facb"),
        (Kind::Arith(Arith::Mul), U32, Evex512, "62f26d4840cb"),
        (Kind::Arith(Arith::Min), U32, Evex512, "62f26d483bcb"),
        (Kind::Arith(Arith::Min), I32, Evex512, "62f26d4839cb"),
        (Kind::Arith(Arith::Max), U32, Evex512, "62f26d483fcb"),
        (Kind::Arith(Arith::Max), I32, Evex512, "62f26d483dcb"),
        (Kind::Abs, I32, Evex512, "62f27d481eca"),
        (Kind::ShiftBits(ShiftOp::Left), U32, Evex512, "62f1754872f203"),
        (Kind::ShiftBits(ShiftOp::Right), U32, Evex512, "62f1754872d203"),
        (Kind::ShiftSigned, I32, Evex512, "62f1754872e203"),
        (Kind::Compare, U32, Evex512, "62f36d481ed303"),
        (Kind::Compare, I32, Evex512, "62f36d481fd303"),
        (Kind::Blend, I32, Evex512, "62f26d4a64cb"),
        (Kind::Load, I32, Evex512, "62f17eca6f4c3a01"),
        (Kind::Store, I32, Evex512, "62f17e4a7f4c3a01"),
        (Kind::Broadcast, I32, Evex512, "62f27d48584c3a10"),
        (Kind::Arith(Arith::Add), I64, Vex256, "c5edd4cb"),
        (Kind::Arith(Arith::Sub), I64, Vex256, "c5edfbcb"),
        (Kind::MulHalves, I64, Vex256, "c5edf4cb"),
        (Kind::ShiftBits(ShiftOp::Left), I64, Vex256, "c5f573f203"),
        (Kind::ShiftBits(ShiftOp::Right), I64, Vex256, "c5f573d203"),
        (Kind::CompareEqual, I64, Vex256, "c4e26d29cb"),
        (Kind::CompareGreater, I64, Vex256, "c4e26d37cb"),
        (Kind::Blend, I64, Vex256, "c4e36d4ccb20"),
        (Kind::Load, I64, Vex256, "c5fe6f4c3a40"),
        (Kind::Store, I64, Vex256, "c5fe7f4c3a40"),
        (Kind::Broadcast, I64, Vex256, "c4e27d594c3a40"),
        (Kind::Arith(Arith::Add), I64, Evex512, "62f1ed48d4cb"),
        (Kind::Arith(Arith::Sub), I64, Evex512, "62f1ed48fbcb"),
        (Kind::Arith(Arith::Mul), I64, Evex512, "62f2ed4840cb"),
        (Kind::MulHalves, I64, Evex512, "62f1ed48f4cb"),
        (Kind::Arith(Arith::Min), I64, Evex512, "62f2ed4839cb"),
        (Kind::Arith(Arith::Max), I64, Evex512, "62f2ed483dcb"),
        (Kind::Abs, I64, Evex512, "62f2fd481fca"),
        (Kind::ShiftBits(ShiftOp::Left), I64, Evex512, "62f1f54873f203"),
        (Kind::ShiftBits(ShiftOp::Right), I64, Evex512, "62f1f54873d203"),
        (Kind::ShiftSigned, I64, Evex512, "62f1f54872e203"),
        (Kind::Compare, I64, Evex512, "62f3ed481fd303"),
        (Kind::Blend, I64, Evex512, "62f2ed4a64cb"),
        (Kind::Load, I64, Evex512, "62f1feca6f4c3a01"),
        (Kind::Store, I64, Evex512, "62f1fe4a7f4c3a01"),
        (Kind::Broadcast, I64, Evex512, "62f2fd48594c3a08"),
        (Kind::Arith(Arith::And), U8, Vex256, "c5eddbcb"),
        (Kind::Arith(Arith::Or), U8, Vex256, "c5edebcb"),
        (Kind::Arith(Arith::Xor), U8, Vex256, "c5edefcb"),
        (Kind::Move, U8, Vex256, "c5fd6fca"),
        (Kind::StoreNonTemporal, U8, Vex256, "c5fde74c3a40"),
        (Kind::Arith(Arith::And), U8, Evex512, "62f1ed48dbcb"),
        (Kind::Arith(Arith::Or), U8, Evex512, "62f1ed48ebcb"),
        (Kind::Arith(Arith::Xor), U8, Evex512, "62f1ed48efcb"),
        (Kind::Move, U8, Evex512, "62f1fd486fca"),
        (Kind::Shift, U32, Evex512, "62f36d4803cb03"),
        (Kind::Shift, I64, Evex512, "62f3ed4803cb03"),
        (Kind::StoreNonTemporal, U8, Evex512, "62f17d48e74c3a01"),
    ];
    for (kind, ty, form, expected) in known {
        let found = bytes(&instruction(kind, code(kind, Number::Integer(ty), form), form));
        assert_eq!(found, expected, "{kind:?} {ty:?} {form:?}");
    }
}

#[rustfmt::skip]
#[test]
fn conversions_of_cells_have_the_bytes_of_another_assembler() {
    use Form::{Evex256, Evex512, Vex256};
    use ValueType::{I8, I16, I32, U8, U16, U32};
    let widened = [
        (U8, 16, Vex256, "c4e27d304c3a40"),
        (I8, 16, Vex256, "c4e27d204c3a40"),
        (U8, 16, Evex512, "62f27dca304c3a02"),
        (I8, 16, Evex512, "62f27dca204c3a02"),
        (U8, 32, Vex256, "c4e27d314c3a40"),
        (I8, 32, Vex256, "c4e27d214c3a40"),
        (U8, 32, Evex512, "62f27dca314c3a04"),
        (I8, 32, Evex512, "62f27dca214c3a04"),
        (U8, 64, Vex256, "c4e27d324c3a40"),
        (I8, 64, Vex256, "c4e27d224c3a40"),
        (U8, 64, Evex512, "62f27dca324c3a08"),
        (I8, 64, Evex512, "62f27dca224c3a08"),
        (U16, 32, Vex256, "c4e27d334c3a40"),
        (I16, 32, Vex256, "c4e27d234c3a40"),
        (U16, 32, Evex512, "62f27dca334c3a02"),
        (I16, 32, Evex512, "62f27dca234c3a02"),
        (U16, 64, Vex256, "c4e27d344c3a40"),
        (I16, 64, Vex256, "c4e27d244c3a40"),
        (U16, 64, Evex512, "62f27dca344c3a04"),
        (I16, 64, Evex512, "62f27dca244c3a04"),
        (U32, 64, Vex256, "c4e27d354c3a40"),
        (I32, 64, Vex256, "c4e27d254c3a40"),
        (U32, 64, Evex512, "62f27dca354c3a02"),
        (I32, 64, Evex512, "62f27dca254c3a02"),
    ];
    for (cell, bits, form, expected) in widened {
        let code = widening_code(cell, bits, form);
        let load = Instruction::with2(code, register(form, 1), memory()).unwrap();
        assert_eq!(bytes(&masked(load, form, true)), expected, "{cell:?} to {bits} {form:?}");
    }
    let narrowed = [
        (16, 8, Evex512, "62f27e4a304c3a02"),
        (16, 8, Evex256, "62f27e2a304c3a04"),
        (32, 8, Evex512, "62f27e4a314c3a04"),
        (32, 8, Evex256, "62f27e2a314c3a08"),
        (32, 16, Evex512, "62f27e4a334c3a02"),
        (32, 16, Evex256, "62f27e2a334c3a04"),
        (64, 8, Evex512, "62f27e4a324c3a08"),
        (64, 8, Evex256, "62f27e2a324c3a10"),
        (64, 16, Evex512, "62f27e4a344c3a04"),
        (64, 16, Evex256, "62f27e2a344c3a08"),
        (64, 32, Evex512, "62f27e4a354c3a02"),
        (64, 32, Evex256, "62f27e2a354c3a04"),
    ];
    for (bits, cell_bits, form, expected) in narrowed {
        let code = narrowing_code(bits, cell_bits, form);
        let store = Instruction::with2(code, memory(), register(form, 1)).unwrap();
        assert_eq!(bytes(&masked(store, form, false)), expected, "{bits} to {cell_bits} {form:?}");
    }
}
