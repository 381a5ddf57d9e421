//! Text in and out.

use crease_isl::IslError;

use crate::context;

#[test]
fn text_survives_the_round_trip() {
    let isl = context();
    for text in ["[N] -> { S[i, j] : 0 <= i < N and 0 <= j <= i }", "{ A[i] : (i) mod 2 = 0 }", "{ [i] : false }"] {
        let set = isl.set(text).unwrap();
        assert!(set.is_equal(&isl.set(&set.to_text().unwrap()).unwrap()).unwrap(), "{set}");
        assert_eq!(set.to_string(), set.to_text().unwrap());
        assert_eq!(format!("{set:?}"), set.to_string());
    }
    assert_eq!(isl.map("{ S[i] -> A[i] }").unwrap().to_string(), "{ S[i] -> A[i] }");
    assert_eq!(isl.union_set("{ S[0] }").unwrap().to_string(), "{ S[0] }");
    assert_eq!(isl.union_map("{ S[0] -> A[0] }").unwrap().to_string(), "{ S[0] -> A[0] }");
}

#[test]
fn bad_text_is_a_parse_error() {
    let isl = context();
    let error =
        |kind, text: &str, message: &str| IslError::Parse { kind, text: text.to_owned(), message: message.to_owned() };
    for text in ["", "{", "{ [i] : i $ 3 }", "{ [i] : i * i > 0 }", "{ [i] : j = 0 }", "[N -> { [i] }"] {
        assert_eq!(isl.set(text).unwrap_err(), error("set", text, "syntax error"));
        assert_eq!(isl.union_map(text).unwrap_err(), error("union map", text, "syntax error"));
    }
    let text = "{ [i] -> [j] }";
    assert_eq!(isl.set(text).unwrap_err(), error("set", text, "it is not a set"));
    let text = "{ [i] }";
    assert_eq!(isl.map(text).unwrap_err(), error("map", text, "it is not a map"));
    assert_eq!(isl.union_map(text).unwrap_err(), error("union map", text, "it is not a union map"));
    assert!(isl.map("{ [] -> [i] }").is_ok());
    let text = "{ [i] : i > 0 } or so";
    assert_eq!(isl.set(text).unwrap_err(), error("set", text, "something follows its end"));
    assert_eq!(isl.set("{ [i]\0 }").unwrap_err(), IslError::Nul { text: "{ [i]\0 }".to_owned() });
    assert_eq!(isl.set("{ [i}").unwrap_err().to_string(), "cannot read `{ [i}` as an isl set: syntax error");
}

#[test]
fn deep_nesting_does_not_reach_the_parser() {
    let isl = context();
    let nested = |depth: usize, filler: &str| {
        format!("{{ [i] : i = {}1{} }}", format!("({filler}").repeat(depth), ")".repeat(depth))
    };
    assert!(isl.set(&nested(60, "")).is_ok());
    for filler in ["", "#)\n", "\")\""] {
        let error = isl.set(&nested(100_000, filler)).unwrap_err();
        let IslError::Parse { kind: "set", text, message } = error else { panic!("{error}") };
        assert_eq!(message, "brackets nested more than 64 deep");
        assert!(text.len() < 210, "errors quote an excerpt");
    }
}
