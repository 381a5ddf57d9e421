//! Domains as people write them: `1 <= t <= T and x = N - 1`.
//!
//! In: a formula, and the names it uses.   Out: text that reads back as the same set of points.
//!
//! Each constraint of a conjunction is told as a bound of its last iterator, and two bounds of one iterator make a
//! chain. What does not fit is printed as everywhere else.

use crate::kernel::affine::{Affine, Term};
use crate::kernel::formula::Formula;

/// Writes a domain with these names.
pub(crate) fn domain_text(formula: &Formula, iters: &[String], params: &[String]) -> String {
    let conjunction = |formula: &Formula| match formula {
        Formula::And(parts) => conjunction_text(parts, iters, params),
        other => conjunction_text(std::slice::from_ref(other), iters, params),
    };
    match formula {
        Formula::Or(parts) if parts.len() > 1 => {
            let texts: Vec<String> = parts.iter().map(|part| format!("({})", conjunction(part))).collect();
            texts.join(" or ")
        }
        other => conjunction(other),
    }
}

/// What is known of one iterator.
#[derive(Default)]
struct Bounds {
    equal: Vec<String>,
    least: Vec<String>,
    most: Vec<String>,
}

fn conjunction_text(parts: &[Formula], iters: &[String], params: &[String]) -> String {
    let mut bounds: Vec<Bounds> = iters.iter().map(|_| Bounds::default()).collect();
    let mut rest = Vec::new();
    for part in parts {
        if add_bound(part, iters, params, &mut bounds).is_none() {
            rest.push(match part {
                Formula::Or(_) => format!("({})", part.display(iters, params)),
                part => part.display(iters, params),
            });
        }
    }
    let mut texts = Vec::new();
    for (name, known) in iters.iter().zip(&bounds) {
        texts.extend(known.equal.iter().map(|value| format!("{name} = {value}")));
        match (known.least.as_slice(), known.most.as_slice()) {
            ([least], [most]) => texts.push(format!("{least} <= {name} <= {most}")),
            (least, most) => {
                texts.extend(least.iter().map(|value| format!("{name} >= {value}")));
                texts.extend(most.iter().map(|value| format!("{name} <= {value}")));
            }
        }
    }
    texts.extend(rest);
    if texts.is_empty() { "true".to_string() } else { texts.join(" and ") }
}

/// Adds a constraint to what is known of its last iterator; none if that has another coefficient than 1 or -1, or
/// stands in a floor.
fn add_bound(part: &Formula, iters: &[String], params: &[String], bounds: &mut [Bounds]) -> Option<()> {
    let (Formula::NonNegative(e) | Formula::Zero(e)) = part else { return None };
    if e.has_floor() {
        return None;
    }
    let last = e.terms().filter_map(|(term, c)| if let Term::Iter(i) = term { Some((*i as usize, c)) } else { None });
    let (iter, c) = last.max_by_key(|(iter, _)| *iter)?;
    let known = bounds.get_mut(iter)?;
    if c != 1 && c != -1 {
        return None;
    }
    let rest = e.sub(&Affine::iter(iter).scale(c).ok()?).ok()?;
    let value = if c == 1 { rest.scale(-1).ok()? } else { rest }.display(iters, params);
    match part {
        Formula::Zero(_) => known.equal.push(value),
        _ if c == 1 => known.least.push(value),
        _ => known.most.push(value),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::graph::Kernel;
    use crate::kernel::parse_domain;

    #[test]
    fn bounds_of_one_iterator_are_a_chain_and_read_back() {
        let kernel =
            Kernel::parse("kernel k(size N; run T) { state u[t, x, y]: f64 S[t, x, y] for t <= T { u[t, x, y] = 1 } }");
        let kernel = kernel.unwrap();
        let (iters, params) = (["t", "x", "y"].map(str::to_string), ["N", "T"].map(str::to_string));
        for (given, told) in [
            ("t >= 1 and t + 0 <= T and x + 1 = N", "1 <= t <= T and x = N - 1"),
            ("x < N and y >= x and y mod 2 = 1", "x <= N - 1 and y >= x and y mod 2 = 1"),
            ("x = 3 or (x = 5 and 2y >= N)", "(x = 3) or (x = 5 and 2*y >= N)"),
            ("true", "true"),
        ] {
            let formula = parse_domain(given, &iters, &kernel).unwrap();
            assert_eq!(domain_text(&formula, &iters, &params), told);
            assert!(parse_domain(told, &iters, &kernel).is_some());
        }
    }
}
