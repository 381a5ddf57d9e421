//! Choices that a person names and is told by name.

/// Gives an enum without fields its constant `ALL`, and the functions `by_name` and `name`.
#[doc(hidden)]
#[macro_export]
macro_rules! named_choices {
    ($Choice:ident = [$(($name:literal, $choice:expr)),* $(,)?]) => {
        impl $Choice {
            /// Every choice with its name.
            pub const ALL: [(&'static str, $Choice); [$($name),*].len()] = [$(($name, $choice)),*];

            /// The choice of that name.
            pub fn by_name(name: &str) -> Option<$Choice> {
                Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice)
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                let (name, _) = Self::ALL.iter().find(|(_, choice)| *choice == self).expect("every choice is listed");
                name
            }
        }
    };
}
