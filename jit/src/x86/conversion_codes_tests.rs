//! The bytes of conversions, as another assembler gives them: from register 2 to register 1, or from 18 to 17 where
//! there are 32.

use super::conversion_codes::conversion_code;
use super::kinds::Form;
use crate::vector::Number::{self, F32, F64, Integer};
use crease_program::ValueType::{I32, I64, U32};
use iced_x86::{Code, Encoder, Instruction, Register};

/// The first registers of a number beside a wider one.
fn register(number: Number, wider: Number, form: Form) -> Register {
    let bytes = if form == Form::Evex512 { 64 } else { 32 } * number.bytes() / wider.bytes();
    let first = match bytes {
        16 => Register::XMM0,
        32 => Register::YMM0,
        _ => Register::ZMM0,
    };
    first + if form == Form::Vex256 { 1 } else { 17 }
}

#[rustfmt::skip]
#[test]
fn conversions_have_the_bytes_of_another_assembler() {
    use Form::{Evex256, Evex512, Vex256};
    let known = [
        (F32, F64, Vex256, "c5fc5aca"),
        (F32, F64, Evex256, "62a17c285aca"),
        (F32, F64, Evex512, "62a17c485aca"),
        (F64, F32, Vex256, "c5fd5aca"),
        (F64, F32, Evex256, "62a1fd285aca"),
        (F64, F32, Evex512, "62a1fd485aca"),
        (Integer(I32), F32, Vex256, "c5fc5bca"),
        (Integer(I32), F32, Evex256, "62a17c285bca"),
        (Integer(I32), F32, Evex512, "62a17c485bca"),
        (Integer(I32), F64, Vex256, "c5fee6ca"),
        (Integer(I32), F64, Evex256, "62a17e28e6ca"),
        (Integer(I32), F64, Evex512, "62a17e48e6ca"),
        (Integer(U32), F32, Evex256, "62a17f287aca"),
        (Integer(U32), F32, Evex512, "62a17f487aca"),
        (Integer(U32), F64, Evex256, "62a17e287aca"),
        (Integer(U32), F64, Evex512, "62a17e487aca"),
        (Integer(I64), F32, Evex256, "62a1fc285bca"),
        (Integer(I64), F32, Evex512, "62a1fc485bca"),
        (Integer(I64), F64, Evex256, "62a1fe28e6ca"),
        (Integer(I64), F64, Evex512, "62a1fe48e6ca"),
        (F32, Integer(I32), Vex256, "c5fe5bca"),
        (F32, Integer(I32), Evex256, "62a17e285bca"),
        (F32, Integer(I32), Evex512, "62a17e485bca"),
        (F64, Integer(I32), Vex256, "c5fde6ca"),
        (F64, Integer(I32), Evex256, "62a1fd28e6ca"),
        (F64, Integer(I32), Evex512, "62a1fd48e6ca"),
        (F32, Integer(U32), Evex256, "62a17c2878ca"),
        (F32, Integer(U32), Evex512, "62a17c4878ca"),
        (F64, Integer(U32), Evex256, "62a1fc2878ca"),
        (F64, Integer(U32), Evex512, "62a1fc4878ca"),
        (F32, Integer(I64), Evex256, "62a17d287aca"),
        (F32, Integer(I64), Evex512, "62a17d487aca"),
        (F64, Integer(I64), Evex256, "62a1fd287aca"),
        (F64, Integer(I64), Evex512, "62a1fd487aca"),
    ];
    for (from, to, form, expected) in known {
        let wider = if from.bytes() < to.bytes() { to } else { from };
        let [to_register, from_register] = [to, from].map(|number| register(number, wider, form));
        let code = conversion_code(from, to, form);
        let instruction = Instruction::with2(code, to_register, from_register + 1).unwrap();
        let mut encoder = Encoder::new(64);
        encoder.encode(&instruction, 0).unwrap();
        let found: String = encoder.take_buffer().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, expected, "{from:?} to {to:?} {form:?}");
    }
    assert_eq!(conversion_code(F32, Integer(I64), Vex256), Code::INVALID);
}
