//! What was meant by a name that is not known, and which names there are.
//!
//! In: the name, and those that could stand in its place.   Out: the end of a message: the nearest of them, or all.

/// Most names that a message lists.
const MOST_LISTED: usize = 12;

/// How the message that a name is unknown goes on: `; did you mean ..?`, or what there is.
pub(in crate::kernel) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    if let Some(nearest) = nearest(name, &known) {
        return format!("; did you mean `{nearest}`?");
    }
    if known.is_empty() {
        return "; none is declared before it".to_string();
    }
    let more = known.len().saturating_sub(MOST_LISTED);
    known.truncate(MOST_LISTED);
    let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; known here: {list}{more}")
}

/// Names with commas; `none` for none.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { "none".to_string() } else { names }
}

/// The name that takes the fewest changes, if those are few for its length; the first of several.
pub(in crate::kernel) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let allowed =
        |other: &str| if name.chars().count().max(other.chars().count()) < 3 { 0 } else { 1 + name.len() / 6 };
    let found = known.iter().map(|other| (distance(name, other), *other)).filter(|(d, other)| *d <= allowed(other));
    found.min_by_key(|(d, _)| *d).map(|(_, other)| other)
}

/// Characters to insert, remove, replace or swap with their neighbour to make one name of the other; upper and lower
/// case are one.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.chars().take(64).map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_found_and_another_word_is_not() {
        let known = ["abs", "max", "min", "select", "sqrt"];
        assert_eq!(nearest("mn", &known), Some("min"));
        assert_eq!(nearest("sqtr", &known), Some("sqrt"));
        assert_eq!(nearest("Select", &known), Some("select"));
        assert_eq!(nearest("exp", &known), None);
        assert_eq!(nearest("x", &["y"]), None);
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..20).map(|k| format!("array{k}")).collect();
        assert!(hint("velocity", names.iter().map(String::as_str)).ends_with("`array11` and 8 more"));
        assert_eq!(hint("velocity", []), "; none is declared before it");
    }
}
