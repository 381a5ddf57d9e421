//! Options that many calls take: choices by their names, and numbers from 1 on.

use std::fmt::Display;
use std::str::FromStr;

use crate::raw::Text;
use crate::status::ArgumentError;

/// A choice by its name.
pub(crate) fn named<T: FromStr<Err: Display>>(argument: &'static str, name: &Text) -> Result<T, ArgumentError> {
    name.get(argument)?.parse().map_err(|why: T::Err| ArgumentError::Name { argument, why: why.to_string() })
}

/// A number of threads and the like: at least 1, as far as memory has addresses.
pub(crate) fn positive(argument: &'static str, found: u64) -> Result<usize, ArgumentError> {
    let number = usize::try_from(found).ok().filter(|number| *number > 0);
    number.ok_or_else(|| ArgumentError::Number {
        argument,
        found: found.to_string(),
        wanted: "and has to be 1 or more",
    })
}
