//! Instruction sets: CPU features found once and passed on as a value.
//!
//! Nothing else in this crate asks the processor what it can do, so that a test may compile for less than the machine
//! has.

use crease_program::named_choices;

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

/// Which instructions compiled strips may use; listed narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum IsaChoice {
    /// One lane at a time.
    Scalar,
    /// 128-bit vectors: two doubles or four floats.
    V128,
    /// 256-bit vectors (x86-64 AVX2 with FMA and F16C); 128 bits where a strip does not allow them.
    Avx2,
    /// 512-bit and 256-bit vectors with masks (x86-64 AVX-512 F, DQ, BW and VL); 128 bits where a strip does not allow
    /// them.
    Avx512,
    /// The widest the processor has.
    #[default]
    Auto,
}

named_choices! {
    IsaChoice = [
        ("scalar", IsaChoice::Scalar),
        ("v128", IsaChoice::V128),
        ("avx2", IsaChoice::Avx2),
        ("avx512", IsaChoice::Avx512),
        ("auto", IsaChoice::Auto),
    ]
}

/// Why there is no code generator for this machine, or none of the kind asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "isa/")]
#[non_exhaustive]
pub enum IsaError {
    /// The code generator does not know this processor.
    #[error("no code generator for this processor: {reason}")]
    Unsupported {
        /// In the words of the code generator.
        reason: String,
    },
    /// Vector code was asked for on a processor without the instructions it needs.
    #[error("{choice} strips need {missing}, which this processor lacks")]
    Missing {
        /// What was asked for.
        choice: IsaChoice,
        /// The missing features.
        missing: &'static str,
    },
}

/// The features of a processor that code generation depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Isa {
    /// 128-bit vectors with every operation that strips need (x86-64: SSE4.1; AArch64: always).
    pub has_v128: bool,
    /// Three-operand instructions with unaligned memory operands (x86-64 AVX).
    pub has_avx: bool,
    /// 256-bit integer vectors (x86-64 AVX2).
    pub has_avx2: bool,
    /// Multiply-add with one rounding.
    pub has_fma: bool,
    /// Conversions between `f16` and `f32` (x86-64 F16C).
    pub has_f16c: bool,
    /// 512-bit vectors with masks (x86-64 AVX-512 F, DQ, BW and VL, and BMI2 to make masks).
    pub has_avx512: bool,
    /// Permutations of single bytes in 512-bit vectors (x86-64 AVX-512 VBMI).
    pub has_avx512_vbmi: bool,
    /// Floating-point registers of 128 bits that compiled code may use.
    pub vector_registers: u32,
}

impl Isa {
    /// The features of the processor this runs on.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        return Isa {
            has_v128: std::is_x86_feature_detected!("sse4.1") && std::is_x86_feature_detected!("ssse3"),
            has_avx: std::is_x86_feature_detected!("avx"),
            has_avx2: std::is_x86_feature_detected!("avx2"),
            has_fma: std::is_x86_feature_detected!("fma"),
            has_f16c: std::is_x86_feature_detected!("f16c"),
            has_avx512: std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("bmi2"),
            has_avx512_vbmi: std::is_x86_feature_detected!("avx512vbmi"),
            vector_registers: 16,
        };
        #[cfg(not(target_arch = "x86_64"))]
        return Isa {
            has_v128: cfg!(target_arch = "aarch64"),
            has_avx: false,
            has_avx2: false,
            has_fma: cfg!(target_arch = "aarch64"),
            has_f16c: false,
            has_avx512: false,
            has_avx512_vbmi: false,
            vector_registers: 32,
        };
    }

    /// The features that both have.
    #[must_use]
    pub fn intersect(&self, other: &Isa) -> Isa {
        Isa {
            has_v128: self.has_v128 && other.has_v128,
            has_avx: self.has_avx && other.has_avx,
            has_avx2: self.has_avx2 && other.has_avx2,
            has_fma: self.has_fma && other.has_fma,
            has_f16c: self.has_f16c && other.has_f16c,
            has_avx512: self.has_avx512 && other.has_avx512,
            has_avx512_vbmi: self.has_avx512_vbmi && other.has_avx512_vbmi,
            vector_registers: self.vector_registers.min(other.vector_registers),
        }
    }

    /// A name for reports: the widest vectors of the processor.
    pub fn name(&self) -> &'static str {
        match self {
            Isa { has_avx512: true, .. } => "avx512",
            Isa { has_avx2: true, has_fma: true, .. } => "avx2+fma",
            Isa { has_avx: true, .. } => "avx",
            Isa { has_v128: true, .. } => "v128",
            _ => "scalar",
        }
    }

    /// What strips are compiled for: the choice itself, or the widest that is there in place of [`IsaChoice::Auto`].
    ///
    /// # Errors
    /// [`IsaError::Missing`] if the processor lacks what the choice needs.
    pub fn resolve(&self, choice: IsaChoice) -> Result<IsaChoice, IsaError> {
        // Every processor with AVX2 that is known has F16C.
        let avx2 = self.has_v128 && self.has_avx2 && self.has_fma && self.has_f16c;
        let needs = match choice {
            IsaChoice::Scalar => return Ok(choice),
            IsaChoice::V128 => (self.has_v128, "SSE4.1"),
            IsaChoice::Avx2 => (avx2, "AVX2, FMA and F16C"),
            IsaChoice::Avx512 => (avx2 && self.has_avx512, "AVX-512 F, DQ, BW and VL"),
            IsaChoice::Auto => {
                let widest = [IsaChoice::Avx512, IsaChoice::Avx2, IsaChoice::V128].into_iter();
                return Ok(widest.filter_map(|choice| self.resolve(choice).ok()).next().unwrap_or(IsaChoice::Scalar));
            }
        };
        match needs {
            (true, _) => Ok(choice),
            (false, missing) => Err(IsaError::Missing { choice, missing }),
        }
    }

    /// The code generator for this processor.
    ///
    /// Its middle end is off (`opt_level = none`): the emitter decides by itself which loads to share and which to keep
    /// beside their use, where a memory operand costs little. The middle end keeps every shared load in a register from
    /// its first use on, and so spills (there are 16): a D2Q9 strip then ran slower by a tenth or more, and compiled
    /// slower.
    ///
    /// Functions whose frame is a page or more touch every page of it when they are entered, one after the other, so
    /// that a stack that is too small is noticed by its guard page. `verifies` says whether the code generator checks
    /// the form that it is given, which finds our own mistakes and changes nothing else.
    pub(crate) fn target(&self, verifies: bool) -> Result<OwnedTargetIsa, IsaError> {
        let unsupported = |reason: String| IsaError::Unsupported { reason };
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "none"),
            ("enable_verifier", if verifies { "true" } else { "false" }),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("unwind_info", "false"),
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
        ] {
            flags.set(name, value).expect("the setting exists in the pinned version of the code generator");
        }
        let mut builder = cranelift_native::builder_with_options(false).map_err(|why| unsupported(why.to_string()))?;
        if cfg!(not(target_arch = "x86_64")) {
            cranelift_native::infer_native_flags(&mut builder).map_err(|why| unsupported(why.to_string()))?;
        }
        self.enable_x86_features(&mut builder);
        builder.finish(settings::Flags::new(flags)).map_err(|why| unsupported(why.to_string()))
    }

    /// Passes the x86-64 features on; those this type does not name stay off.
    fn enable_x86_features(&self, builder: &mut cranelift_codegen::isa::Builder) {
        let features = [
            (self.has_v128, ["has_sse3", "has_ssse3", "has_sse41"].as_slice()),
            (self.has_avx, &["has_sse42", "has_avx"]),
            (self.has_avx2, &["has_avx2"]),
            (self.has_fma, &["has_fma"]),
        ];
        for (_, names) in features.iter().filter(|(present, _)| *present && cfg!(target_arch = "x86_64")) {
            for name in *names {
                builder.enable(name).expect("the setting exists for x86-64");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demanding_missing_vectors_is_an_error() {
        let missing = |choice, missing| Err(IsaError::Missing { choice, missing });
        let plain = Isa { has_v128: false, ..Isa::detect() };
        assert_eq!(plain.resolve(IsaChoice::Auto), Ok(IsaChoice::Scalar));
        assert_eq!(plain.resolve(IsaChoice::V128), missing(IsaChoice::V128, "SSE4.1"));
        let old = Isa { has_v128: true, has_fma: false, has_avx512: true, ..Isa::detect() };
        assert_eq!(old.resolve(IsaChoice::Auto), Ok(IsaChoice::V128));
        assert_eq!(old.resolve(IsaChoice::Avx2), missing(IsaChoice::Avx2, "AVX2, FMA and F16C"));
        let odd = Isa { has_v128: true, has_f16c: false, ..Isa::detect() };
        assert_eq!(odd.resolve(IsaChoice::Avx2), missing(IsaChoice::Avx2, "AVX2, FMA and F16C"));
        assert_eq!(old.resolve(IsaChoice::Avx512), missing(IsaChoice::Avx512, "AVX-512 F, DQ, BW and VL"));
    }

    #[test]
    fn the_machine_we_run_on_has_a_code_generator() {
        assert!(Isa::detect().target(true).is_ok());
    }
}
