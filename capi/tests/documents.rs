//! The pages for C, C++ and Fortran: every listing in one of these languages is a part of a program that is tested, and
//! every code of this interface is listed.

use crate::toolkit::text;

/// Pages, and the programs that they quote.
const PAGES: [(&str, &str, &[&str]); 4] = [
    ("C.md", "c", &["examples/heat.c", "examples/plate.c", "examples/cavity.c"]),
    ("C.md", "cmake", &["tests/installed/CMakeLists.txt"]),
    ("CPP.md", "cpp", &["examples/heat.cpp", "examples/plate.cpp", "examples/cavity.cpp"]),
    ("FORTRAN.md", "fortran", &["examples/heat.f90", "examples/plate.f90", "examples/cavity.f90"]),
];

#[test]
fn listings_are_parts_of_tested_programs() {
    for (page, language, programs) in PAGES {
        let page_text = text(&format!("../docs/{page}"));
        let programs: Vec<String> = programs.iter().map(|program| text(program)).collect();
        let fence = format!("```{language}\n");
        let listings = page_text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap());
        let mut count = 0;
        for listing in listings {
            count += 1;
            // Of the file for CMake, lines are left out.
            let is_quoted = |program: &String| match language {
                "cmake" => listing.lines().all(|line| program.contains(line)),
                _ => program.contains(listing),
            };
            let found = programs.iter().any(is_quoted);
            assert!(found, "docs/{page} has a listing that no tested program has:\n{listing}");
        }
        assert!(count > 0, "docs/{page} has no listing in {language}");
    }
}

/// `no-handle` of `NoHandle`.
fn kebab(variant: &str) -> String {
    let hyphen = |(at, c): (usize, char)| if c.is_uppercase() && at > 0 { vec!['-', c] } else { vec![c] };
    variant.char_indices().flat_map(hyphen).collect::<String>().to_lowercase()
}

#[test]
fn codes_of_the_interface_are_listed() {
    let (source, page) = (text("src/status.rs"), text("../docs/C.md"));
    let body = source.split("enum ArgumentError {\n").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    let variants = body.lines().filter(|line| !line.contains("#["));
    let variants = variants.filter_map(|line| line.strip_prefix("    ")?.split_once(" {").map(|(name, _)| name));
    let argument: Vec<String> = variants.map(|name| format!("argument/{}", kebab(name))).collect();
    let others = source.split("code: \"").skip(1).map(|rest| rest.split('"').next().unwrap().to_string());
    let codes: Vec<String> = argument.into_iter().chain(others).collect();
    assert!(codes.len() == page.matches("\n| `").count(), "{codes:?}");
    for code in codes {
        assert!(page.contains(&format!("\n| `{code}` | ")), "docs/C.md does not list `{code}`");
    }
}
