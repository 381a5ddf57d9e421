//! The machine's names of conversions, by the types before and after and the width of vectors of the wider one.
//!
//! A table and nothing else. Columns: 256 bits and 16 registers (VEX), 256 and 512 bits and 32 registers (EVEX).
//! Integers have 32 or 64 bits; what has no instruction is `INVALID`.

use super::kinds::Form;
use crate::vector::Number;
use crease_program::ValueType;
use iced_x86::Code;

/// The code that converts numbers: integers round to floating-point numbers, these are cut to integers.
#[rustfmt::skip]
pub(super) fn conversion_code(from: Number, to: Number, form: Form) -> Code {
    use Number::{F32, F64, Integer};
    use ValueType::{I32, I64, U32};
    use iced_x86::Code::*;
    let codes = match (from, to) {
        (F32, F64) => [VEX_Vcvtps2pd_ymm_xmmm128,
            EVEX_Vcvtps2pd_ymm_k1z_xmmm128b32, EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae],
        (F64, F32) => [VEX_Vcvtpd2ps_xmm_ymmm256,
            EVEX_Vcvtpd2ps_xmm_k1z_ymmm256b64, EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er],
        (Integer(I32), F32) => [VEX_Vcvtdq2ps_ymm_ymmm256,
            EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32, EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er],
        (Integer(I32), F64) => [VEX_Vcvtdq2pd_ymm_xmmm128,
            EVEX_Vcvtdq2pd_ymm_k1z_xmmm128b32, EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er],
        (Integer(U32), F32) => [INVALID,
            EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32, EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er],
        (Integer(U32), F64) => [INVALID,
            EVEX_Vcvtudq2pd_ymm_k1z_xmmm128b32, EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er],
        (Integer(I64), F32) => [INVALID,
            EVEX_Vcvtqq2ps_xmm_k1z_ymmm256b64, EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er],
        (Integer(I64), F64) => [INVALID,
            EVEX_Vcvtqq2pd_ymm_k1z_ymmm256b64, EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er],
        (F32, Integer(I32)) => [VEX_Vcvttps2dq_ymm_ymmm256,
            EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32, EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae],
        (F64, Integer(I32)) => [VEX_Vcvttpd2dq_xmm_ymmm256,
            EVEX_Vcvttpd2dq_xmm_k1z_ymmm256b64, EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae],
        (F32, Integer(U32)) => [INVALID,
            EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32, EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae],
        (F64, Integer(U32)) => [INVALID,
            EVEX_Vcvttpd2udq_xmm_k1z_ymmm256b64, EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae],
        (F32, Integer(I64)) => [INVALID,
            EVEX_Vcvttps2qq_ymm_k1z_xmmm128b32, EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae],
        (F64, Integer(I64)) => [INVALID,
            EVEX_Vcvttpd2qq_ymm_k1z_ymmm256b64, EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae],
        _ => [INVALID; 3],
    };
    match form {
        Form::Single => INVALID,
        Form::Vex256 => codes[0],
        Form::Evex256 => codes[1],
        Form::Evex512 => codes[2],
    }
}
