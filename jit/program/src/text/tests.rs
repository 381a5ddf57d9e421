//! What the filetests cannot show: limits, numbers without names, places.

use crate::place::{Part, Place, Step};
use crate::types::*;
use crate::{MAX_DEPTH, MAX_OPERATORS};

fn program(body: Vec<Node>) -> Program {
    Program { name: "p".to_string(), args: vec![], scalars: vec![], buffers: vec![], body }
}

fn let_text(value: &str) -> String {
    format!("program p() {{ let v0 = {value} }}")
}

#[test]
fn long_sums_are_read_and_longer_ones_refused() {
    let sum = |operators: usize| let_text(&format!("1{}", " + 1".repeat(operators)));
    assert!(Program::parse(&sum(MAX_OPERATORS)).is_ok());
    let error = Program::parse(&sum(MAX_OPERATORS + 1)).unwrap_err();
    assert_eq!(error.message, format!("expected at most {MAX_OPERATORS} operators in one expression"));
}

#[test]
fn deep_nesting_is_refused_before_the_stack_ends() {
    let nested = |depth: usize| let_text(&format!("{}1{}", "(".repeat(depth), ")".repeat(depth)));
    assert!(Program::parse(&nested(MAX_DEPTH - 1)).is_ok(), "the block around it counts, too");
    assert!(Program::parse(&nested(MAX_DEPTH)).is_err());
    assert!(Program::parse(&let_text(&"min(".repeat(1_000_000))).is_err());
    assert!(Program::parse(&format!("program p() {{ if {}", "not(".repeat(1_000_000))).is_err());
    assert!(Program::parse(&format!("program p() {{ {}", "if all() {".repeat(1_000_000))).is_err());
}

#[test]
fn undeclared_names_print_as_numbers() {
    let address = Address::Block { base: Int::Arg(ArgId(2)), pos: Int::Const(0), ring: None, stride: 1 };
    let stream = Stream { buffer: BufferId(7), address, cold: Some(Cold::NextRow(-64)), table: vec![] };
    let ops = vec![Op::Scalar(ScalarId(3))];
    let (lo, hi) = (Int::Const(0), Int::Const(1));
    let strip = Strip { var: Var(0), lo, hi, lanes: 1, streams: vec![stream], ops, alias: vec![] };
    let program = program(vec![Node::Strip(strip)]);
    let text = program.to_string();
    assert!(text.contains("m0 = #7[base $#2, pos 0, stride 1] cold") && text.contains("%0 = scalar #3"), "{text}");
    assert_eq!(Program::parse(&text), Ok(program));
}

#[test]
fn places_have_lines() {
    let text = "program p() {\n  if all() {\n  } else {\n    let v0 = 1\n    strip v1 in 0 .. 1 lanes 1 {\n      %0 = f64 1.0\n    }\n  }\n}\n";
    let program = Program::parse(text).unwrap();
    assert_eq!(program.to_string(), text);
    let mut place = Place { path: vec![Step::Else { node: 0 }], part: Part::Node(0) };
    assert_eq!(program.line_of(&place), Some(4));
    place.path.push(Step::Strip { node: 1, var: Var(1) });
    place.part = Part::Op(ValueId(0));
    assert_eq!(program.line_of(&place), Some(6));
    place.part = Part::Op(ValueId(1));
    assert_eq!(program.line_of(&place), None);
}

#[test]
fn no_text_makes_the_reader_panic() {
    let text = "program p(a) { scalar k: f64 buffer u: f64[8] write for v0 in 0 .. $a { strip v1 in 0 .. 8 lanes 2 { \
                m0 = u[pos v0 * 3, ring 8, stride 1] %0 = load m0: f64 %1 = index v0 - 1 step 2: f64 %2: store m0, %1 \
                alias %0, %2: distance -1 } } }";
    assert!(Program::parse(text).is_ok());
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..5_000 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = random.u8(32..127),
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let changed = String::from_utf8(bytes).expect("only ASCII");
        if let Ok(program) = Program::parse(&changed) {
            assert_eq!(Program::parse(&program.to_string()), Ok(program), "{changed}");
        }
    }
}
