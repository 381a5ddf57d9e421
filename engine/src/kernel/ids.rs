//! Numbers of what a kernel is made of, a type for each kind.

use serde::{Deserialize, Serialize};

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position in the kernel's table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

index_type!(
    /// A parameter of the kernel it came from; prints as `P0`.
    ParamId, "P"
);

impl ParamId {
    /// The step before the first one of a call, `_from` in texts: times of kernels with steps may name it, nothing
    /// else.
    pub const FROM_STEP: ParamId = ParamId(u32::MAX);
}

index_type!(
    /// A run-time scalar of the kernel it came from; prints as `K0`.
    ScalarId, "K"
);
index_type!(
    /// An array of the kernel it came from; prints as `A0`.
    ArrayId, "A"
);
index_type!(
    /// A statement of the kernel it came from; prints as `S0`.
    StmtId, "S"
);
index_type!(
    /// An expression of the statement it came from; prints as `%0`.
    ExprId, "%"
);
