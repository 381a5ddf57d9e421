//! Mutations of a text, by tokens: words, numbers, single marks.

use fastrand::Rng;

/// What numbers become: borders of types, of sizes, of what is sensible.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "64",
    "1000",
    "65536",
    "2147483647",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999999",
    "1.5e300",
];

/// What may stand anywhere, or nowhere.
const WORDS: [&str; 52] = [
    "kernel",
    "size",
    "run",
    "for",
    "and",
    "or",
    "not",
    "mod",
    "floor",
    "schedule",
    "parallel",
    "vector(4)",
    "vector(0)",
    "state",
    "temp",
    "input",
    "output",
    "live",
    "in",
    "let",
    "table",
    "define",
    "outside",
    "periodic",
    "clamp",
    "reflect face",
    "value",
    "sum(q in 0..3,",
    "product(q in 0..2,",
    "for q in 0..2 {",
    "if",
    "..",
    "f32",
    "f64",
    "u8",
    "select",
    "fma",
    "min",
    "index",
    "true",
    "exists",
    "->",
    "<=",
    "=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    ";",
];

/// Characters that no token has, or that look like others.
const CHARACTERS: [char; 10] = ['\u{0}', '\u{feff}', 'é', '−', '‘', '漢', '🌊', '\u{202e}', '\\', '#'];

/// The text with one to three mutations; now and then none.
pub(crate) fn mutated(text: &str, random: &mut Rng) -> String {
    let mut tokens = tokens(text);
    for _ in 0..[0, 1, 1, 1, 1, 2, 2, 3][random.usize(0..8)] {
        mutate(&mut tokens, random);
    }
    tokens.concat()
}

/// Words, numbers and single other characters, white space among them: together they are the text.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if in_word && is_word(c) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
        in_word = is_word(c);
    }
    tokens
}

fn mutate(tokens: &mut Vec<String>, random: &mut Rng) {
    let visible: Vec<usize> = (0..tokens.len()).filter(|&at| !tokens[at].trim().is_empty()).collect();
    let Some(&at) = random.choice(&visible) else { return };
    let other = *random.choice(&visible).expect("there is one");
    match random.u8(0..100) {
        0..45 => change_alike(tokens, at, &visible, random),
        45..65 => change_number(tokens, &visible, random),
        65..69 => drop(tokens.remove(at)),
        69..73 => tokens.insert(at, format!("{} ", tokens[at])),
        73..77 => tokens.swap(at, other),
        77..81 => tokens[at] = tokens[other].clone(),
        81..84 => tokens[at] = random.choice(&WORDS).expect("there are words").to_string(),
        84..87 => tokens.insert(at, format!(" {} ", random.choice(&WORDS).expect("there are words"))),
        87..89 => tokens.insert(at, random.choice(&CHARACTERS).expect("there are characters").to_string()),
        89..91 => tokens.truncate(at),
        91..94 => move_line(tokens, random),
        94..97 => nest(&mut tokens[at], random),
        _ => repeat(&mut tokens[at], random),
    }
}

/// What may stand for each other without breaking the grammar.
const ALIKE: [&[&str]; 10] = [
    &["periodic", "clamp"],
    &["below", "above"],
    &["sum", "product"],
    &["<", ">"],
    &["+", "-", "*"],
    &["and", "or"],
    &["parallel", "vector"],
    &["f32", "f64", "u8"],
    &["temp", "output", "input", "state"],
    &["min", "max", "f", "h"],
];

/// Another token of the same kind: one of those alike, a word for a word, a number for a number.
fn change_alike(tokens: &mut [String], at: usize, visible: &[usize], random: &mut Rng) {
    if let Some(alike) = ALIKE.iter().find(|alike| alike.contains(&tokens[at].as_str())) {
        tokens[at] = random.choice(*alike).expect("none is empty").to_string();
        return;
    }
    let kind = |token: &String| match token.chars().next() {
        Some(c) if c.is_ascii_digit() => 0,
        Some(c) if c.is_alphabetic() => 1,
        _ => 2,
    };
    // Words that stand near each other are names of the same things more often than not.
    let near = |other: &&usize| kind(&tokens[**other]) == kind(&tokens[at]) && other.abs_diff(at) < 40;
    let others: Vec<usize> = visible.iter().filter(near).copied().collect();
    if let Some(&other) = random.choice(&others) {
        tokens[at] = tokens[other].clone();
    }
}

/// Another number for one of the text's, mostly a near one.
fn change_number(tokens: &mut [String], visible: &[usize], random: &mut Rng) {
    let is_number = |at: &&usize| tokens[**at].starts_with(|c: char| c.is_ascii_digit());
    let numbers: Vec<usize> = visible.iter().filter(is_number).copied().collect();
    let Some(&at) = random.choice(&numbers) else { return };
    let near = tokens[at].parse::<i64>().ok().and_then(|value| value.checked_add(random.i64(-2..=2)));
    tokens[at] = match near {
        Some(value) if random.bool() => value.to_string(),
        _ => random.choice(&NUMBERS).expect("there are numbers").to_string(),
    };
}

/// Removes a line, doubles it, or puts it somewhere else.
fn move_line(tokens: &mut Vec<String>, random: &mut Rng) {
    let text = tokens.concat();
    let mut lines: Vec<&str> = text.lines().collect();
    let (from, to) = (random.usize(0..lines.len()), random.usize(0..lines.len()));
    match random.u8(0..3) {
        0 => drop(lines.remove(from)),
        1 => lines.insert(to, lines[from]),
        _ => lines.swap(from, to),
    }
    *tokens = self::tokens(&lines.join("\n"));
}

/// Parentheses, calls or signs around a token, a few or thousands.
fn nest(token: &mut String, random: &mut Rng) {
    let depth = [1, 3, 90, 200, 5000, 50_000][random.usize(0..6)];
    let (open, close) = *random
        .choice(&[
            ("(", ")"),
            ("-", ""),
            ("not ", ""),
            ("abs(", ")"),
            ("floor(", "/2)"),
            ("sum(r in 0..2, ", ")"),
            ("for r in 0..1 {", "}"),
        ])
        .unwrap();
    *token = format!("{}{token}{}", open.repeat(depth), close.repeat(depth));
}

/// A token many times, joined in several ways.
fn repeat(token: &mut String, random: &mut Rng) {
    let times = [2, 10, 100, 3000][random.usize(0..4)];
    let joint = *random.choice(&["", " ", ", ", " + ", " and ", " * "]).unwrap();
    *token = vec![token.as_str(); times].join(joint);
}
