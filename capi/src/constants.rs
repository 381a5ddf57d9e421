//! Numbers of the interface: how they are written down, each with what it stands for.

/// Defines numbers that the header has, too, as `CREASE_` and the name; the tests compare them.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $value:literal,)*) => {
        $($(#[$doc])* pub(crate) const $name: i32 = $value;)*
    };
}
pub(crate) use constants;
