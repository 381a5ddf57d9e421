//! The machine's names of instructions, by operation, numbers and width.
//!
//! A table and nothing else, of floating-point numbers; those on integers are in `integer_codes`. Columns: one cell,
//! 256 bits and 16 registers (VEX), 256 and 512 bits and 32 registers with masks (EVEX).

use super::integer_codes::integer_code;
use super::kinds::{Form, Kind};
use crate::vector::{Arith, FmaForm, Number};
use crease_program::ShiftOp;
use iced_x86::Code;

/// The code of an instruction.
pub(super) fn code(kind: Kind, number: Number, form: Form) -> Code {
    let row = match number {
        Number::Integer(ty) => return integer_code(kind, ty, form),
        Number::F64 => doubles(kind),
        Number::F32 => floats(kind),
    };
    row[form as usize]
}

/// Instructions on doubles.
#[rustfmt::skip]
fn doubles(kind: Kind) -> [Code; 4] {
    use iced_x86::Code::*;
    match kind {
        Kind::Load => [VEX_Vmovsd_xmm_m64, VEX_Vmovupd_ymm_ymmm256,
            EVEX_Vmovupd_ymm_k1z_ymmm256, EVEX_Vmovupd_zmm_k1z_zmmm512],
        Kind::Store => [VEX_Vmovsd_m64_xmm, VEX_Vmovupd_ymmm256_ymm,
            EVEX_Vmovupd_ymmm256_k1z_ymm, EVEX_Vmovupd_zmmm512_k1z_zmm],
        Kind::StoreNonTemporal => [VEX_Vmovntpd_m128_xmm, VEX_Vmovntpd_m256_ymm,
            EVEX_Vmovntpd_m256_ymm, EVEX_Vmovntpd_m512_zmm],
        Kind::StoreFirst => [VEX_Vmovsd_m64_xmm, VEX_Vmovsd_m64_xmm,
            EVEX_Vmovsd_m64_k1_xmm, EVEX_Vmovsd_m64_k1_xmm],
        Kind::Broadcast => [VEX_Vmovsd_xmm_m64, VEX_Vbroadcastsd_ymm_m64,
            EVEX_Vbroadcastsd_ymm_k1z_xmmm64, EVEX_Vbroadcastsd_zmm_k1z_xmmm64],
        Kind::Splat => [VEX_Vmovapd_xmm_xmmm128, VEX_Vbroadcastsd_ymm_xmm,
            EVEX_Vbroadcastsd_ymm_k1z_xmmm64, EVEX_Vbroadcastsd_zmm_k1z_xmmm64],
        Kind::Move => [VEX_Vmovapd_xmm_xmmm128, VEX_Vmovapd_ymm_ymmm256,
            EVEX_Vmovapd_ymm_k1z_ymmm256, EVEX_Vmovapd_zmm_k1z_zmmm512],
        Kind::Shift => [INVALID, INVALID,
            EVEX_Valignq_ymm_k1z_ymm_ymmm256b64_imm8, EVEX_Valignq_zmm_k1z_zmm_zmmm512b64_imm8],
        Kind::Arith(Arith::Add) => [VEX_Vaddsd_xmm_xmm_xmmm64, VEX_Vaddpd_ymm_ymm_ymmm256,
            EVEX_Vaddpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er],
        Kind::Arith(Arith::Sub) => [VEX_Vsubsd_xmm_xmm_xmmm64, VEX_Vsubpd_ymm_ymm_ymmm256,
            EVEX_Vsubpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er],
        Kind::Arith(Arith::Mul) => [VEX_Vmulsd_xmm_xmm_xmmm64, VEX_Vmulpd_ymm_ymm_ymmm256,
            EVEX_Vmulpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er],
        Kind::Arith(Arith::Div) => [VEX_Vdivsd_xmm_xmm_xmmm64, VEX_Vdivpd_ymm_ymm_ymmm256,
            EVEX_Vdivpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er],
        Kind::Arith(Arith::Min) => [VEX_Vminsd_xmm_xmm_xmmm64, VEX_Vminpd_ymm_ymm_ymmm256,
            EVEX_Vminpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae],
        Kind::Arith(Arith::Max) => [VEX_Vmaxsd_xmm_xmm_xmmm64, VEX_Vmaxpd_ymm_ymm_ymmm256,
            EVEX_Vmaxpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae],
        Kind::Arith(Arith::And) => [VEX_Vandpd_xmm_xmm_xmmm128, VEX_Vandpd_ymm_ymm_ymmm256,
            EVEX_Vandpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vandpd_zmm_k1z_zmm_zmmm512b64],
        Kind::Arith(Arith::Or) => [VEX_Vorpd_xmm_xmm_xmmm128, VEX_Vorpd_ymm_ymm_ymmm256,
            EVEX_Vorpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vorpd_zmm_k1z_zmm_zmmm512b64],
        Kind::Arith(Arith::Xor) => [VEX_Vxorpd_xmm_xmm_xmmm128, VEX_Vxorpd_ymm_ymm_ymmm256,
            EVEX_Vxorpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vxorpd_zmm_k1z_zmm_zmmm512b64],
        Kind::Arith(Arith::AddBits) => [VEX_Vpaddq_xmm_xmm_xmmm128, VEX_Vpaddq_ymm_ymm_ymmm256,
            EVEX_Vpaddq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64],
        Kind::Arith(Arith::SubBits) => [VEX_Vpsubq_xmm_xmm_xmmm128, VEX_Vpsubq_ymm_ymm_ymmm256,
            EVEX_Vpsubq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64],
        Kind::ShiftBits(ShiftOp::Left) => [VEX_Vpsllq_xmm_xmm_imm8, VEX_Vpsllq_ymm_ymm_imm8,
            EVEX_Vpsllq_ymm_k1z_ymmm256b64_imm8, EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8],
        Kind::ShiftBits(ShiftOp::Right) => [VEX_Vpsrlq_xmm_xmm_imm8, VEX_Vpsrlq_ymm_ymm_imm8,
            EVEX_Vpsrlq_ymm_k1z_ymmm256b64_imm8, EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8],
        Kind::Round => [VEX_Vroundsd_xmm_xmm_xmmm64_imm8, VEX_Vroundpd_ymm_ymmm256_imm8,
            EVEX_Vrndscalepd_ymm_k1z_ymmm256b64_imm8, EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae],
        Kind::Sqrt => [VEX_Vsqrtsd_xmm_xmm_xmmm64, VEX_Vsqrtpd_ymm_ymmm256,
            EVEX_Vsqrtpd_ymm_k1z_ymmm256b64, EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er],
        Kind::Fma(FmaForm::F132) => [VEX_Vfmadd132sd_xmm_xmm_xmmm64, VEX_Vfmadd132pd_ymm_ymm_ymmm256,
            EVEX_Vfmadd132pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er],
        Kind::Fma(FmaForm::F213) => [VEX_Vfmadd213sd_xmm_xmm_xmmm64, VEX_Vfmadd213pd_ymm_ymm_ymmm256,
            EVEX_Vfmadd213pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er],
        Kind::Fma(FmaForm::F231) => [VEX_Vfmadd231sd_xmm_xmm_xmmm64, VEX_Vfmadd231pd_ymm_ymm_ymmm256,
            EVEX_Vfmadd231pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er],
        Kind::Compare => [VEX_Vcmpsd_xmm_xmm_xmmm64_imm8, VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
            EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8, EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae],
        Kind::Blend => [VEX_Vblendvpd_xmm_xmm_xmmm128_xmm, VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
            EVEX_Vblendmpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64],
        Kind::WidenBytes => [VEX_Vpmovzxbd_xmm_xmmm32, VEX_Vpmovzxbd_xmm_xmmm32,
            EVEX_Vpmovzxbd_xmm_k1z_xmmm32, EVEX_Vpmovzxbd_ymm_k1z_xmmm64],
        Kind::FromIntegers => [VEX_Vcvtsi2sd_xmm_xmm_rm32, VEX_Vcvtdq2pd_ymm_xmmm128,
            EVEX_Vcvtdq2pd_ymm_k1z_xmmm128b32, EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er],
        Kind::FromInteger => [VEX_Vcvtsi2sd_xmm_xmm_rm64, VEX_Vcvtsi2sd_xmm_xmm_rm64,
            EVEX_Vcvtsi2sd_xmm_xmm_rm64_er, EVEX_Vcvtsi2sd_xmm_xmm_rm64_er],
        Kind::FromHalves | Kind::FromHalf | Kind::ToHalves | Kind::MoveInteger => {
            unreachable!("`f16` cells are loaded and stored as floats")
        }
        Kind::Arith(Arith::AddSat | Arith::SubSat) | Kind::ShiftSigned | Kind::Abs | Kind::CompareEqual
        | Kind::CompareGreater | Kind::MulHalves => unreachable!("of integers only"),
    }
}

/// Instructions on floats.
#[rustfmt::skip]
fn floats(kind: Kind) -> [Code; 4] {
    use iced_x86::Code::*;
    match kind {
        Kind::Load => [VEX_Vmovss_xmm_m32, VEX_Vmovups_ymm_ymmm256,
            EVEX_Vmovups_ymm_k1z_ymmm256, EVEX_Vmovups_zmm_k1z_zmmm512],
        Kind::Store => [VEX_Vmovss_m32_xmm, VEX_Vmovups_ymmm256_ymm,
            EVEX_Vmovups_ymmm256_k1z_ymm, EVEX_Vmovups_zmmm512_k1z_zmm],
        Kind::StoreNonTemporal => [VEX_Vmovntps_m128_xmm, VEX_Vmovntps_m256_ymm,
            EVEX_Vmovntps_m256_ymm, EVEX_Vmovntps_m512_zmm],
        Kind::StoreFirst => [VEX_Vmovss_m32_xmm, VEX_Vmovss_m32_xmm,
            EVEX_Vmovss_m32_k1_xmm, EVEX_Vmovss_m32_k1_xmm],
        Kind::Broadcast => [VEX_Vmovss_xmm_m32, VEX_Vbroadcastss_ymm_m32,
            EVEX_Vbroadcastss_ymm_k1z_xmmm32, EVEX_Vbroadcastss_zmm_k1z_xmmm32],
        Kind::Splat => [VEX_Vmovaps_xmm_xmmm128, VEX_Vbroadcastss_ymm_xmm,
            EVEX_Vbroadcastss_ymm_k1z_xmmm32, EVEX_Vbroadcastss_zmm_k1z_xmmm32],
        Kind::Move => [VEX_Vmovaps_xmm_xmmm128, VEX_Vmovaps_ymm_ymmm256,
            EVEX_Vmovaps_ymm_k1z_ymmm256, EVEX_Vmovaps_zmm_k1z_zmmm512],
        Kind::Shift => [INVALID, INVALID,
            EVEX_Valignd_ymm_k1z_ymm_ymmm256b32_imm8, EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8],
        Kind::Arith(Arith::Add) => [VEX_Vaddss_xmm_xmm_xmmm32, VEX_Vaddps_ymm_ymm_ymmm256,
            EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32, EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er],
        Kind::Arith(Arith::Sub) => [VEX_Vsubss_xmm_xmm_xmmm32, VEX_Vsubps_ymm_ymm_ymmm256,
            EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32, EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er],
        Kind::Arith(Arith::Mul) => [VEX_Vmulss_xmm_xmm_xmmm32, VEX_Vmulps_ymm_ymm_ymmm256,
            EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32, EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er],
        Kind::Arith(Arith::Div) => [VEX_Vdivss_xmm_xmm_xmmm32, VEX_Vdivps_ymm_ymm_ymmm256,
            EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32, EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er],
        Kind::Arith(Arith::Min) => [VEX_Vminss_xmm_xmm_xmmm32, VEX_Vminps_ymm_ymm_ymmm256,
            EVEX_Vminps_ymm_k1z_ymm_ymmm256b32, EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae],
        Kind::Arith(Arith::Max) => [VEX_Vmaxss_xmm_xmm_xmmm32, VEX_Vmaxps_ymm_ymm_ymmm256,
            EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32, EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae],
        Kind::Arith(Arith::And) => [VEX_Vandps_xmm_xmm_xmmm128, VEX_Vandps_ymm_ymm_ymmm256,
            EVEX_Vandps_ymm_k1z_ymm_ymmm256b32, EVEX_Vandps_zmm_k1z_zmm_zmmm512b32],
        Kind::Arith(Arith::Or) => [VEX_Vorps_xmm_xmm_xmmm128, VEX_Vorps_ymm_ymm_ymmm256,
            EVEX_Vorps_ymm_k1z_ymm_ymmm256b32, EVEX_Vorps_zmm_k1z_zmm_zmmm512b32],
        Kind::Arith(Arith::Xor) => [VEX_Vxorps_xmm_xmm_xmmm128, VEX_Vxorps_ymm_ymm_ymmm256,
            EVEX_Vxorps_ymm_k1z_ymm_ymmm256b32, EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32],
        Kind::Arith(Arith::AddBits) => [VEX_Vpaddd_xmm_xmm_xmmm128, VEX_Vpaddd_ymm_ymm_ymmm256,
            EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32],
        Kind::Arith(Arith::SubBits) => [VEX_Vpsubd_xmm_xmm_xmmm128, VEX_Vpsubd_ymm_ymm_ymmm256,
            EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32],
        Kind::ShiftBits(ShiftOp::Left) => [VEX_Vpslld_xmm_xmm_imm8, VEX_Vpslld_ymm_ymm_imm8,
            EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8, EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8],
        Kind::ShiftBits(ShiftOp::Right) => [VEX_Vpsrld_xmm_xmm_imm8, VEX_Vpsrld_ymm_ymm_imm8,
            EVEX_Vpsrld_ymm_k1z_ymmm256b32_imm8, EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8],
        Kind::Round => [VEX_Vroundss_xmm_xmm_xmmm32_imm8, VEX_Vroundps_ymm_ymmm256_imm8,
            EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8, EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae],
        Kind::Sqrt => [VEX_Vsqrtss_xmm_xmm_xmmm32, VEX_Vsqrtps_ymm_ymmm256,
            EVEX_Vsqrtps_ymm_k1z_ymmm256b32, EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er],
        Kind::Fma(FmaForm::F132) => [VEX_Vfmadd132ss_xmm_xmm_xmmm32, VEX_Vfmadd132ps_ymm_ymm_ymmm256,
            EVEX_Vfmadd132ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er],
        Kind::Fma(FmaForm::F213) => [VEX_Vfmadd213ss_xmm_xmm_xmmm32, VEX_Vfmadd213ps_ymm_ymm_ymmm256,
            EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er],
        Kind::Fma(FmaForm::F231) => [VEX_Vfmadd231ss_xmm_xmm_xmmm32, VEX_Vfmadd231ps_ymm_ymm_ymmm256,
            EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er],
        Kind::Compare => [VEX_Vcmpss_xmm_xmm_xmmm32_imm8, VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
            EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8, EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae],
        Kind::Blend => [VEX_Vblendvps_xmm_xmm_xmmm128_xmm, VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
            EVEX_Vblendmps_ymm_k1z_ymm_ymmm256b32, EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32],
        Kind::WidenBytes => [VEX_Vpmovzxbd_xmm_xmmm32, VEX_Vpmovzxbd_ymm_xmmm64,
            EVEX_Vpmovzxbd_ymm_k1z_xmmm64, EVEX_Vpmovzxbd_zmm_k1z_xmmm128],
        Kind::FromIntegers => [VEX_Vcvtsi2ss_xmm_xmm_rm32, VEX_Vcvtdq2ps_ymm_ymmm256,
            EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32, EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er],
        Kind::FromInteger => [VEX_Vcvtsi2ss_xmm_xmm_rm64, VEX_Vcvtsi2ss_xmm_xmm_rm64,
            EVEX_Vcvtsi2ss_xmm_xmm_rm64_er, EVEX_Vcvtsi2ss_xmm_xmm_rm64_er],
        Kind::FromHalves => [VEX_Vcvtph2ps_xmm_xmmm64, VEX_Vcvtph2ps_ymm_xmmm128,
            EVEX_Vcvtph2ps_ymm_k1z_xmmm128, EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae],
        Kind::FromHalf => [VEX_Vcvtph2ps_xmm_xmmm64, VEX_Vcvtph2ps_xmm_xmmm64,
            EVEX_Vcvtph2ps_xmm_k1z_xmmm64, EVEX_Vcvtph2ps_xmm_k1z_xmmm64],
        Kind::ToHalves => [VEX_Vcvtps2ph_xmmm64_xmm_imm8, VEX_Vcvtps2ph_xmmm128_ymm_imm8,
            EVEX_Vcvtps2ph_xmmm128_k1z_ymm_imm8, EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae],
        Kind::MoveInteger => [VEX_Vmovd_xmm_rm32, VEX_Vmovd_xmm_rm32,
            EVEX_Vmovd_xmm_rm32, EVEX_Vmovd_xmm_rm32],
        Kind::Arith(Arith::AddSat | Arith::SubSat) | Kind::ShiftSigned | Kind::Abs | Kind::CompareEqual
        | Kind::CompareGreater | Kind::MulHalves => unreachable!("of integers only"),
    }
}
