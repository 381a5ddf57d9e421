//! Filetests: programs in `tests/filetests/program/*.crp` and what becomes of them.
//!
//! A file is a header of comments, a program and expectations; `BLESS=1` rewrites everything but the header. The
//! program stands there as it prints. The first error is a comment on the line it blames. The header may hold
//! directives:
//!
//! ```text
//! ; set k = 0.5            an argument or a scalar; 0 without it
//! ; fill u[6] = 1 2 3      what a buffer holds before the run, repeated; its declared length without `[..]`, else 0
//! ; range T = 0..9         the range of an argument for `bounds`, end excluded; its one value without it
//! ; test run, bounds       run it; print which cells it may touch
//! ```
//!
//! `run` runs the program at several block sizes and both orders of its parallel loops: all must give the same bits. If
//! `bounds` accepts the program for the buffers, then `run` must not trap.

use crease_program::*;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::{env, fs, path::Path};

#[test]
fn program_files_hold_their_expectations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/program");
    let mut paths: Vec<_> =
        fs::read_dir(&folder).expect("the folder exists").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no filetests found");
    let mut failures = String::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "crp")) {
        let found = fs::read_to_string(path).unwrap();
        let expected = processed(&found);
        if found == expected {
            continue;
        }
        if env::var_os("BLESS").is_some() {
            fs::write(path, expected).unwrap();
        } else {
            let name = path.file_name().unwrap().to_string_lossy();
            write!(failures, "\n{name}: {}", first_difference(&found, &expected)).unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}\nBLESS=1 rewrites the files");
}

fn first_difference(found: &str, expected: &str) -> String {
    let longest = found.lines().count().max(expected.lines().count());
    let line = |text: &str, at: usize| text.lines().nth(at).unwrap_or("(end of file)").to_string();
    let at = (0..longest).find(|at| line(found, *at) != line(expected, *at)).unwrap_or(longest);
    format!("line {}\n  in the file: {}\n  should be:   {}", at + 1, line(found, at), line(expected, at))
}

/// The text of a file with everything but its header written anew.
fn processed(text: &str) -> String {
    let header: Vec<&str> = text.lines().take_while(|line| line.starts_with(';') || line.is_empty()).collect();
    let source: Vec<&str> = text.lines().skip(header.len()).map(code_of).collect();
    let source = source.join("\n").trim_end().to_string() + "\n";
    let mut lines: Vec<String> = header.iter().map(|line| line.to_string()).collect();
    match Program::parse(&source) {
        Err(error) => {
            lines.extend(source.lines().map(str::to_string));
            let blamed = &mut lines[header.len() + error.line as usize - 1];
            *blamed += &format!(" ; error: column {}: {}", error.column, error.message);
        }
        Ok(program) => {
            let printed = program.to_string();
            assert_eq!(
                Program::parse(&printed).as_ref(),
                Ok(&program),
                "printing and reading back changed:\n{printed}"
            );
            lines.extend(printed.lines().map(str::to_string));
            match program.verify() {
                Err(error) => {
                    let line = program.line_of(&error.place).expect("every place has a line");
                    lines[header.len() + line - 1] += &format!(" ; error: {error}");
                }
                Ok(()) => lines.extend(Setting::read(&program, &header).outcomes(&program)),
            }
        }
    }
    lines.join("\n") + "\n"
}

fn code_of(line: &str) -> &str {
    line.split(';').next().unwrap_or_default().trim_end()
}

/// What the directives of a header say.
struct Setting {
    tests: Vec<String>,
    args: Vec<i64>,
    ranges: Vec<RangeInclusive<i64>>,
    scalars: Vec<f64>,
    memory: Memory,
}

impl Setting {
    fn read(program: &Program, header: &[&str]) -> Setting {
        let mut words: HashMap<(&str, String), String> = HashMap::new();
        let mut tests = Vec::new();
        for line in header {
            let Some((directive, rest)) = line.trim_start_matches("; ").split_once(' ') else { continue };
            match (directive, rest.split_once('=')) {
                ("test", _) => tests.extend(rest.split(',').map(|test| test.trim().to_string())),
                ("set" | "fill" | "range", Some((name, value))) => {
                    words.insert((directive, name.trim().to_string()), value.trim().to_string());
                }
                _ => {}
            }
        }
        let set = |name: &String| words.get(&("set", name.clone()));
        let args: Vec<i64> =
            program.args.iter().map(|arg| set(arg).map_or(0, |value| value.parse().unwrap())).collect();
        let range = |(name, value): (&String, &i64)| match words.get(&("range", name.clone())) {
            Some(range) => {
                let (lo, hi) = range.split_once("..").expect("a range is `lo..hi`");
                lo.parse().unwrap()..=hi.parse::<i64>().unwrap() - 1
            }
            None => *value..=*value,
        };
        let ranges = program.args.iter().zip(&args).map(range).collect();
        let scalar = |decl: &ScalarDecl| set(&decl.name).map_or(0.0, |value| value.parse().unwrap());
        let scalars = program.scalars.iter().map(scalar).collect();
        let fill = |decl: &BufferDecl| {
            let find = |((directive, name), values): (&(&str, String), &String)| {
                let (name, length) = name.split_once('[').unwrap_or((name, ""));
                let length = length.trim_end_matches(']').parse().ok();
                (*directive == "fill" && name == decl.name).then(|| (length, values.clone()))
            };
            let (length, values) = words.iter().find_map(find).unwrap_or((None, "0".to_string()));
            cells(decl.element, length.or(decl.cells).unwrap_or(0) as usize, &values)
        };
        let memory = Memory { buffers: program.buffers.iter().map(fill).collect() };
        Setting { tests, args, ranges, scalars, memory }
    }

    /// The lines that follow the program.
    fn outcomes(&self, program: &Program) -> Vec<String> {
        let has = |test: &str| self.tests.iter().any(|name| name == test);
        let mut lines = Vec::new();
        let run = has("run").then(|| self.run(program));
        if has("bounds") {
            let ranges = program.address_ranges(&self.ranges).expect("the program verifies");
            for (decl, touched) in program.buffers.iter().zip(&ranges.buffers) {
                let cells = touched.as_ref().map_or("nothing".to_string(), |touched| touched.cells.to_string());
                lines.push(format!("; bounds {}: {cells}", decl.name));
            }
            lines.extend(ranges.unproved.iter().map(|unproved| format!("; unproved: {unproved}")));
            let lengths: Vec<u64> = self.memory.buffers.iter().map(|cells| cells.len() as u64).collect();
            match (ranges.verify(&lengths), &run) {
                (Err(error), _) => lines.push(format!("; refused: {error}")),
                (Ok(()), Some(Err(error))) => panic!("bounds accepted a program that traps: {error}"),
                (Ok(()), _) => {}
            }
        }
        match run {
            None => {}
            Some(Err(error)) => lines.push(format!("; traps: {error}")),
            Some(Ok(memory)) => {
                for (decl, cells) in program.buffers.iter().zip(&memory.buffers) {
                    if decl.access == BufferAccess::ReadWrite && decl.copies == Copies::One {
                        lines.push(format!("; result {} = {}", decl.name, cells_text(cells)));
                    }
                }
            }
        }
        lines
    }

    /// Runs the program in every way that must not matter.
    fn run(&self, program: &Program) -> Result<Memory, InterpretError> {
        let run = |lanes, order| {
            let mut memory = self.memory.clone();
            interpret_in_order(program, &self.args, &self.scalars, &mut memory, lanes, order).map(|()| memory)
        };
        let first = run(1, ParallelOrder::Ascending);
        for lanes in [1, 2, 3, 8, u32::MAX] {
            for order in [ParallelOrder::Ascending, ParallelOrder::Descending, ParallelOrder::Shuffled(7)] {
                match (&first, run(lanes, order)) {
                    (Ok(first), Ok(other)) => {
                        let same = first.buffers.iter().zip(&other.buffers).all(|(a, b)| bits(a) == bits(b));
                        assert!(same, "{lanes} lanes, {order:?}: {first:?} became {other:?}\n{program}");
                    }
                    (first, other) => assert!(first.is_err() && other.is_err(), "{lanes} lanes, {order:?}: {other:?}"),
                }
            }
        }
        first
    }
}

fn cells(element: Element, length: usize, values: &str) -> Cells {
    let values = values.split_whitespace().cycle().take(length);
    match element {
        Element::F64 => Cells::F64(values.map(|value| value.parse().unwrap()).collect()),
        Element::F32 => Cells::F32(values.map(|value| value.parse().unwrap()).collect()),
        Element::F16 => Cells::F16(values.map(|value| value.parse().unwrap()).collect()),
        Element::U8 => Cells::U8(values.map(|value| value.parse().unwrap()).collect()),
        Element::I8 => Cells::I8(values.map(|value| value.parse().unwrap()).collect()),
        Element::I16 => Cells::I16(values.map(|value| value.parse().unwrap()).collect()),
        Element::U16 => Cells::U16(values.map(|value| value.parse().unwrap()).collect()),
        Element::I32 => Cells::I32(values.map(|value| value.parse().unwrap()).collect()),
        Element::U32 => Cells::U32(values.map(|value| value.parse().unwrap()).collect()),
        Element::I64 => Cells::I64(values.map(|value| value.parse().unwrap()).collect()),
    }
}

fn cells_text(cells: &Cells) -> String {
    let texts: Vec<String> = match cells {
        Cells::F64(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::F32(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::F16(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::U8(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::I8(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::I16(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::U16(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::I32(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::U32(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
        Cells::I64(cells) => cells.iter().map(|cell| cell.to_string()).collect(),
    };
    texts.join(" ")
}

fn bits(cells: &Cells) -> Vec<u64> {
    match cells {
        Cells::F64(cells) => cells.iter().map(|cell| cell.to_bits()).collect(),
        Cells::F32(cells) => cells.iter().map(|cell| u64::from(cell.to_bits())).collect(),
        Cells::F16(cells) => cells.iter().map(|cell| u64::from(cell.to_bits())).collect(),
        Cells::U8(cells) => cells.iter().map(|cell| *cell as u64).collect(),
        Cells::I8(cells) => cells.iter().map(|cell| *cell as u64).collect(),
        Cells::I16(cells) => cells.iter().map(|cell| *cell as u64).collect(),
        Cells::U16(cells) => cells.iter().map(|cell| *cell as u64).collect(),
        Cells::I32(cells) => cells.iter().map(|cell| *cell as u64).collect(),
        Cells::U32(cells) => cells.iter().map(|cell| *cell as u64).collect(),
        Cells::I64(cells) => cells.iter().map(|cell| *cell as u64).collect(),
    }
}
