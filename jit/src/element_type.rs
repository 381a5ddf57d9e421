//! Element types: the Rust types that cells may have, and back from the loop language's [`Element`].

use crease_program::Element;
use half::f16;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
}

/// A Rust type that fields and buffers may consist of: every bit pattern is a value.
pub trait ElementType: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The same type in the loop language.
    const ELEMENT: Element;

    /// The value as a double: exact but for `i64` beyond 2^53, which is rounded.
    fn to_number(self) -> f64;

    /// The value that a number is: rounded to floating-point types, none if it is not one of an integer type.
    fn from_number(value: f64) -> Option<Self>;
}

macro_rules! integers {
    ($($Type:ident = $element:ident),*) => {$(
        impl sealed::Sealed for $Type {}

        impl ElementType for $Type {
            const ELEMENT: Element = Element::$element;

            fn to_number(self) -> f64 {
                self as f64
            }

            fn from_number(value: f64) -> Option<$Type> {
                // `as` saturates, so that what is back again at the same number was one; 2^63 is none of an `i64`.
                let cut = value as $Type;
                (cut as f64 == value && (cut < $Type::MAX || $Type::BITS < 64)).then_some(cut)
            }
        }
    )*};
}

integers! { u8 = U8, i8 = I8, i16 = I16, u16 = U16, i32 = I32, u32 = U32, i64 = I64 }

impl ElementType for f64 {
    const ELEMENT: Element = Element::F64;

    fn to_number(self) -> f64 {
        self
    }

    fn from_number(value: f64) -> Option<f64> {
        Some(value)
    }
}

impl ElementType for f32 {
    const ELEMENT: Element = Element::F32;

    fn to_number(self) -> f64 {
        self.into()
    }

    fn from_number(value: f64) -> Option<f32> {
        Some(value as f32)
    }
}

impl ElementType for f16 {
    const ELEMENT: Element = Element::F16;

    fn to_number(self) -> f64 {
        self.into()
    }

    /// Rounded to an `f32` first, as literals are.
    fn from_number(value: f64) -> Option<f16> {
        Some(f16::from_f32(value as f32))
    }
}

/// Evaluates an expression in which `$T` is the Rust type of cells of an [`Element`].
///
/// ```
/// use crease_jit::with_element_type;
/// use crease_program::Element;
///
/// let bytes = |element: Element| with_element_type!(element, T => size_of::<T>());
/// assert!(Element::ALL.into_iter().all(|element| bytes(element) as u64 == element.bytes()));
/// ```
#[macro_export]
macro_rules! with_element_type {
    ($element:expr, $T:ident => $body:expr) => {
        match $element {
            $crate::Element::F64 => $crate::with_element_type!(@ f64, $T => $body),
            $crate::Element::F32 => $crate::with_element_type!(@ f32, $T => $body),
            $crate::Element::F16 => $crate::with_element_type!(@ $crate::f16, $T => $body),
            $crate::Element::U8 => $crate::with_element_type!(@ u8, $T => $body),
            $crate::Element::I8 => $crate::with_element_type!(@ i8, $T => $body),
            $crate::Element::I16 => $crate::with_element_type!(@ i16, $T => $body),
            $crate::Element::U16 => $crate::with_element_type!(@ u16, $T => $body),
            $crate::Element::I32 => $crate::with_element_type!(@ i32, $T => $body),
            $crate::Element::U32 => $crate::with_element_type!(@ u32, $T => $body),
            $crate::Element::I64 => $crate::with_element_type!(@ i64, $T => $body),
        }
    };
    (@ $Type:ty, $T:ident => $body:expr) => {{
        type $T = $Type;
        $body
    }};
}
