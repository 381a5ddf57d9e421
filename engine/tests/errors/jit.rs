//! Errors of code generation and of calls. Faults of a program's text are in the filetests of `crease-jit`.

use crease_jit::{
    BufferRef, Call, CompileError, CompileOptions, Field, FieldError, FieldOptions, Isa, IsaChoice, IsaError,
    PlanCacheError,
};
use crease_jit::{CallError, Pool, compile};
use crease_program::{
    self, BoundsError, Cells, Cond, Element, ExactError, Fault, Int, InterpretError, Mapped, Memory, Node, Program,
    TileGraphError, UnprovedReason, Var, Verified,
};

use ndarray::{Array1, Array2, s};

use super::cases::Cases;

const COPY: &str = "program copy(n) {
  scalar k: f64
  buffer a: f64[8] read
  buffer b: f64[8] write
  strip v0 in 0 .. $n lanes 1 {
    m0 = a[base 0, pos 0, stride 1]
    m1 = b[base 0, pos 0, stride 1]
    %0 = load m0: f64
    %1: store m1, %0
  }
}";

pub(crate) fn cases(cases: &mut Cases) {
    fields(cases);
    pools(cases);
    caches(cases);
    instruction_sets(cases);
    compiler(cases);
    independence(cases);
    calls(cases);
    ranges(cases);
    interpreter(cases);
    traps(cases);
    tile_graphs(cases);
}

fn parsed(text: &str) -> Program {
    Program::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn verified(text: &str) -> Verified {
    Verified::new(parsed(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn fields(cases: &mut Cases) {
    let field = |cells, page_offset_bytes| {
        let options = FieldOptions { page_offset_bytes, ..FieldOptions::default() };
        Field::new(Element::F64, cells, options)
    };
    cases.add("a field of 2^61 cells", field(1 << 61, 0).unwrap_err());
    cases.add("a field of 2^45 cells", field(1 << 45, 0).unwrap_err());
    cases.add("a field skewed by 7 bytes", field(8, 7).unwrap_err());
    let options = FieldOptions { line_offset_bytes: 12, ..FieldOptions::default() };
    cases.add("a field 12 bytes behind a line", Field::new(Element::F64, 8, options).unwrap_err());
    let options = FieldOptions { mapped: Mapped::Twice, ..FieldOptions::default() };
    let error = Field::new(Element::F64, 511, options).unwrap_err();
    assert!(matches!(error, FieldError::DoubleMapping { bytes: 4088, .. }), "{error}");
    cases.add_made_up("pages have other sizes elsewhere", FieldError::DoubleMapping { bytes: 4088, page_bytes: 4096 });
    cases.add("a field of f64, read as f32", field(8, 0).expect("8 cells").as_slice::<f32>().unwrap_err());
}

fn pools(cases: &mut Cases) {
    cases.add("a pool of 0 threads", Pool::new(0).unwrap_err());
}

/// What a plan or a code was not kept for is told in words ([`crease_jit::Kept`]); `engine/tests/cached.rs` has them.
fn caches(cases: &mut Cases) {
    let path = || "plans".into();
    let source = std::io::ErrorKind::NotADirectory.into();
    cases.add_made_up("told in words alone", PlanCacheError::File { path: path(), source });
    let untrusted = PlanCacheError::Untrusted { path: path(), owner: 0, user: 1000, mode: 0o755 };
    cases.add_made_up("told in words alone", untrusted);
    let kind = "libcall".to_string();
    cases.add_made_up("code refers to nothing of that kind", PlanCacheError::Reference { kind });
}

fn instruction_sets(cases: &mut Cases) {
    let mut none = Isa::detect();
    none.has_v128 = false;
    cases.add("128-bit vectors of a processor without them", none.resolve(IsaChoice::V128).unwrap_err());
    let reason = "Support for this target has not been implemented yet".to_string();
    cases.add_made_up("tests run where code can be generated", IsaError::Unsupported { reason });
}

fn compiler(cases: &mut Cases) {
    let mut invalid = parsed(COPY);
    invalid.name = "two words".to_string();
    let options = CompileOptions::default();
    cases.add("a program named `two words`", Verified::new(invalid).unwrap_err().fault);
    let mut array = trapped_program("let v0 = $a");
    array.buffers[1].cells = Some(7);
    cases.add("an array of 2 x 3 in 7 cells", array.verify().unwrap_err().fault);
    let (program, reason) = ("copy".to_string(), "Code for function is too large".to_string());
    cases.add_made_up("no function of a test is too large", CompileError::Generator { program, reason });
    cases.add("`copy` as at most 5 units of work", compile(&verified(COPY), &options.work_limit(5)).unwrap_err());
    let (program, function) = ("copy".to_string(), "the parallel loop over v3".to_string());
    let frame = CompileError::Frame { program, function, frame_bytes: 48_144, limit_bytes: 32_768 };
    cases.add_made_up("strips and variables are kept from taking so much", frame);
    let lets: String = (0..2000).map(|at| format!("let v{at} = $n\n")).collect();
    let uses: String = (0..2000).map(|at| format!("let v{} = v{at}\n", 2000 + at)).collect();
    let variables = verified(&format!("program lets(n) {{ {lets} {uses} }}"));
    cases.add("2000 variables that are needed later", compile(&variables, &options).unwrap_err());
}

/// A program over three rows of eight cells; the first strip of the loop stands for what is claimed wrongly.
fn rows(kind: &str, strip: &str) -> Program {
    parsed(&format!(
        "program rows() {{\nbuffer u: f64[24] write\nbuffer w: f64[8] write per_worker 8\n{kind}for v0 in 0 .. 3 \
         {{\nstrip v1 in 0 .. 8 {strip}\n}}\n}}"
    ))
}

/// Claims that are wrong: refused by the proof, and contradicted by the run.
fn independence(cases: &mut Cases) {
    let shifted = "m0 = u[base 8 * v0, pos 0, stride 1] m1 = u[base 8 * v0, pos 0, ring 8, stride 1] %0 = load m0: f64 %1: store m1, %0";
    let behind = "m0 = u[pos 0, stride 1] m1 = u[pos 1, stride 1] %0 = load m0: f64 %1: store m1, %0";
    let wrong = [
        ("an alias fact that is wrong", rows("", &format!("lanes 1 {{ {shifted} alias %0, %1: disjoint }}"))),
        (
            "eight lanes, each of which reads what the one before it writes",
            rows("", &format!("lanes 8 {{ {behind} }}")),
        ),
        (
            "rows in parallel that overlap",
            rows("parallel ", "lanes 1 { m0 = u[base 7 * v0, pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 }"),
        ),
        (
            "fronts of which each iteration writes what the next one did in the front before",
            parsed(
                "program fronts() {\nbuffer u: f64[24] write\nbuffer w: f64[8] write per_worker 8\n\
                 fronts(2, 0, 0) for v0 in 0 .. 3 {\nparallel for v1 in 0 .. 2 {\nstrip v2 in 0 .. 8 lanes 1 {\n\
                 m0 = u[base 8 * v1 + 8 * mod(v0, 2), pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 }\n}\n}\n}",
            ),
        ),
    ];
    for (done, program) in wrong {
        let exact = program.verify_exactly(&[], &[24, 8], 10_000).unwrap_err();
        let ExactError::Contradicted(found) = &exact else { panic!("{exact}") };
        cases.add(done, found.claim.clone());
        cases.add(done, exact);
        cases.add(done, Verified::new(program).unwrap_err().fault);
    }
    let unwritten = rows("parallel ", "lanes 1 { m0 = w[pos 0, stride 1] %0 = load m0: f64 %1: store m0, %0 }");
    let exact = unwritten.verify_exactly(&[], &[24, 8], 10_000).unwrap_err();
    let ExactError::Contradicted(found) = &exact else { panic!("{exact}") };
    cases.add("a copy is read before it is written", found.claim.clone());
    let copy = parsed(COPY);
    cases.add("`copy` looked at without its argument", copy.verify_exactly(&[], &[8, 8], 100).unwrap_err());
    let open = copy.open_bounds(&[0..=9], &[8, 8]).unwrap();
    cases.add("`copy` of up to 9 cells, in buffers of 8", open[0].reason);
    cases.add("`copy` of 9 cells looked at", copy.verify_exactly(&[9], &[8, 8], 100).unwrap_err());
    cases.add("`copy` looked at in 3 steps", copy.verify_exactly(&[8], &[8, 8], 3).unwrap_err());
    cases.add_made_up("no program of a test takes seconds to prove", Fault::TooIntricate);
    let reason = UnprovedReason::Effort { limit: 1 << 28 };
    cases.add_made_up("no program of a test takes seconds to analyse", reason);
    let nested = |depth: usize| {
        let mut nodes = Vec::new();
        for _ in 0..depth {
            nodes = vec![Node::If { cond: Cond::And(Vec::new()), then: nodes, otherwise: Vec::new() }];
        }
        Program { body: nodes, ..parsed("program deep() { }") }
    };
    cases.add("a million blocks in each other", nested(1_000_000).verify().unwrap_err().fault);
    let sum = (0..1001).fold(Int::Const(0), |sum, _| Int::Add(Box::new(sum), Box::new(Int::Const(1))));
    let long = Program { body: vec![Node::Let { var: Var(0), value: sum }], ..parsed("program long() { }") };
    cases.add("a sum of a thousand and two terms", long.verify().unwrap_err().fault);
    let endless = parsed("program endless() { for v0 in 0 .. 4611686018427387904 { } }");
    let error = crease_program::interpret(&endless, &[], &[], &mut Memory::default(), 1).unwrap_err();
    let InterpretError::Trapped(trapped) = error else { panic!("{error}") };
    cases.add("a loop of 2^62 iterations", trapped.trap);
}

fn calls(cases: &mut Cases) {
    let compiled = compile(&verified(COPY), &CompileOptions::default()).expect("it compiles");
    let pool = Pool::sequential();
    let mut refuse = |done: &str, args: &[i64], buffers: Vec<BufferRef<'_>>| {
        cases.add(done, compiled.run(&mut Call { args, scalars: &[1.0], buffers, pool: &pool }).unwrap_err());
    };
    let (a, mut b, short, single) = ([1.0; 8], [0.0; 16], [1.0; 7], [1.0_f32; 8]);
    refuse("`copy` without its argument", &[], vec![BufferRef::read(&a), BufferRef::write(&mut b)]);
    refuse("`copy` of f32", &[8], vec![BufferRef::read(&single), BufferRef::write(&mut b)]);
    refuse("`copy` of 7 cells", &[7], vec![BufferRef::read(&short), BufferRef::write(&mut b)]);
    refuse("`copy` to what is borrowed for reading", &[8], vec![BufferRef::read(&a), BufferRef::read(&b)]);
    refuse("`copy` of 9 cells", &[9], vec![BufferRef::read(&a), BufferRef::write(&mut b[..8])]);
    let wide = Array1::<f64>::ones(16);
    let second = BufferRef::read_view(wide.slice(s![..;2]));
    refuse("`copy` of every second cell", &[8], vec![second, BufferRef::write(&mut b)]);
    let double_mapped = verified(&COPY.replace("b: f64[8] write", "b: f64[8] write double_mapped"));
    let double_mapped = compile(&double_mapped, &CompileOptions::default()).expect("it compiles");
    let buffers = vec![BufferRef::read(&a), BufferRef::write(&mut b[..8])];
    cases.add(
        "a double-mapped buffer is bound to a slice",
        double_mapped.run(&mut Call { args: &[8], scalars: &[1.0], buffers, pool: &pool }).unwrap_err(),
    );
    let array = "program ones() {\narray u: f64[2, 4] write\nstrip v0 in 0 .. 4 lanes 4 {\nm0 = u[at 0, 0 step 1]\n\
                 %0 = f64 1.0\n%1: store m0, %0\n}\n}";
    let array = compile(&verified(array), &CompileOptions::default()).expect("it compiles");
    let mut square = Array2::<f64>::zeros((3, 3));
    let buffers = vec![BufferRef::write_view(square.view_mut())];
    cases.add(
        "an array of 2 x 4 is bound to 3 x 3",
        array.run(&mut Call { args: &[], scalars: &[], buffers, pool: &pool }).unwrap_err(),
    );
    let (first, second) = ("a".to_string(), "b".to_string());
    cases.add_made_up("safe code cannot lend a slice twice", CallError::Overlap { first, second });
}

fn ranges(cases: &mut Cases) {
    let copy = parsed(COPY);
    cases.add("the cells that `copy` touches, without its argument", copy.address_ranges(&[]).unwrap_err());
    let ranges = copy.address_ranges(&[9..=9]).expect("a range was given");
    cases.add("`copy` of 9 cells between buffers of 8", ranges.verify(&[8, 8]).unwrap_err());
    for (done, nodes) in TRAPS {
        let ranges = trapped_program(nodes).address_ranges(&[6..=6]).expect("a range was given");
        match ranges.verify(&[6, 6]).unwrap_err() {
            BoundsError::Unproved(unproved) => {
                cases.add(done, unproved.reason);
                cases.add(done, BoundsError::Unproved(unproved))
            }
            error => cases.add(done, error),
        };
    }
}

fn interpreter(cases: &mut Cases) {
    let copy = parsed(COPY);
    let memory = |first, cells| Memory { buffers: vec![first, Cells::zeros(Element::F64, cells)] };
    let run =
        |args: &[i64], mut memory: Memory| crease_program::interpret(&copy, args, &[1.0], &mut memory, 1).unwrap_err();
    let double = |cells| Cells::zeros(Element::F64, cells);
    cases.add("`copy` interpreted without its argument", run(&[], memory(double(8), 8)));
    cases.add("`copy` of f32 interpreted", run(&[8], memory(Cells::zeros(Element::F32, 8), 8)));
    cases.add("`copy` of 7 cells interpreted", run(&[7], memory(double(7), 8)));
}

/// What no program may do: nodes of a program with an argument, which is 6, a buffer of 6 cells and an array of 2 x 3.
const TRAPS: [(&str, &str); 5] = [
    ("a loop to 2^63 + 5", "for v0 in 0 .. $a + 9223372036854775807 {\n}"),
    ("wrap of 3 * 6 by 6", "let v1 = wrap(3 * $a, 6)"),
    ("a store at the end of a ring of 6 cells", "STRIP m0 = u[pos $a, ring 6, stride 1]"),
    ("a store behind the last of 6 cells", "STRIP m0 = u[pos $a, stride 1]"),
    ("a store to column 6 of 2 x 3", "STRIP m0 = w[at 0, $a step 1]"),
];

fn trapped_program(nodes: &str) -> Program {
    let nodes = match nodes.strip_prefix("STRIP ") {
        Some(stream) => format!("strip v0 in 0 .. 1 lanes 1 {{\n{stream}\n%0 = f64 1.0\n%1: store m0, %0\n}}"),
        None => nodes.to_string(),
    };
    let buffers = "buffer u: f64[6] write\narray w: f64[2, 3] write";
    parsed(&format!("program trapped(a) {{\n{buffers}\n{nodes}\n}}"))
}

/// Graphs of tiles.
fn tile_graphs(cases: &mut Cases) {
    let copy = parsed(COPY);
    cases.add("a tile graph without arguments", copy.tile_graph(&[], 1 << 20, 9).unwrap_err());
    cases.add("a tile graph of no strip", copy.tile_graph(&[8], 1 << 20, 0).unwrap_err());
    let trapping = TRAPS.into_iter().find_map(|(_, nodes)| {
        let error = trapped_program(nodes).tile_graph(&[6], 1 << 20, 1 << 10).err()?;
        matches!(error, TileGraphError::Trapped(_)).then_some(error)
    });
    cases.add("a tile graph of a run that leaves 64 bits", trapping.expect("some of them trap"));
}

fn traps(cases: &mut Cases) {
    for (done, nodes) in TRAPS {
        let mut memory = Memory { buffers: vec![Cells::zeros(Element::F64, 6); 2] };
        let error = crease_program::interpret(&trapped_program(nodes), &[6], &[], &mut memory, 1).unwrap_err();
        let InterpretError::Trapped(trapped) = &error else { panic!("{done}: {error}") };
        cases.add(done, trapped.trap.clone());
        cases.add(done, error);
    }
}
