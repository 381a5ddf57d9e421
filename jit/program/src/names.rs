//! Choices that a person names and is told by name: the one way to parse, print and list them.
//!
//! In: an enum without fields and a name for each of its variants.   Out: `ALL`, `name`, `Display` and `FromStr`. A
//! variant without a name does not compile.

use std::fmt;

/// A name that no choice has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// As given.
    pub name: String,
    /// The names that there are.
    pub known: &'static [&'static str],
}

impl UnknownName {
    #[doc(hidden)]
    pub fn new(name: &str, known: &'static [&'static str]) -> UnknownName {
        UnknownName { name: name.to_owned(), known }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no `{}`", self.name)?;
        match self.known {
            [] => Ok(()),
            [only] => write!(f, ", only {only}"),
            [first @ .., last] => write!(f, "; there are {} and {last}", first.join(", ")),
        }
    }
}

impl std::error::Error for UnknownName {}

/// Names the variants of an enum without fields.
#[doc(hidden)]
#[macro_export]
macro_rules! named_choices {
    ($Choice:ident = [$(($name:literal, $choice:path)),* $(,)?]) => {
        impl $Choice {
            /// Every choice.
            pub const ALL: [$Choice; [$($name),*].len()] = [$($choice),*];

            /// The name in texts, commands and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $($choice => $name,)*
                }
            }
        }

        impl ::std::fmt::Display for $Choice {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $Choice {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<$Choice, $crate::UnknownName> {
                let found = Self::ALL.into_iter().find(|choice| choice.name() == name);
                found.ok_or_else(|| $crate::UnknownName::new(name, &[$($name),*]))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::{Element, ValueType};

    #[test]
    fn what_is_printed_is_parsed_and_what_is_unknown_is_told_what_there_is() {
        assert!(Element::ALL.into_iter().all(|element| element.to_string().parse() == Ok(element)));
        assert_eq!(format!("{:>5}", Element::U8), "   u8");
        let error = "f128".parse::<ValueType>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no `f128`; there are f64, f32, bool, u8, i8, i16, u16, i32, u32 and i64"
        );
    }
}
