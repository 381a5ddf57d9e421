//! Every public method of the wrapper, on examples small enough to check by hand.

mod ast;
mod linkage;
mod maps;
mod parse;
mod points;
mod quota;
mod sets;
mod unions;

use crease_isl::{Context, Map, Set, UnionMap, UnionSet};

/// A context that no test exhausts.
fn context() -> Context {
    Context::new(1_000_000).unwrap()
}

/// Asserts that `got` is the set, map or union that `want` describes.
macro_rules! assert_same {
    ($got:expr, $want:expr) => {{
        let got = $got.unwrap();
        assert!($crate::Same::same_as(&got, $want), "got {got}, want {}", $want);
    }};
}
pub(crate) use assert_same;

/// Equality with an object in isl's notation, in the same space.
trait Same {
    fn same_as(&self, want: &str) -> bool;
}

macro_rules! same {
    ($($Type:ident $read:ident)*) => {
        $(impl Same for $Type<'_> {
            fn same_as(&self, want: &str) -> bool {
                self.is_equal(&self.context().$read(want).unwrap()).unwrap()
            }
        })*
    };
}

same! { Set set Map map UnionSet union_set UnionMap union_map }
