//! Short rows that go on where the row before ended run as one strip and leave the same, whatever they touch.

use crease_jit::*;
use crease_program::{Cells, Program, Verified};
use fastrand::Rng;
use ndarray::{Array4, ArrayView3, ArrayViewMut3, Axis, s};
use std::fmt::Write as _;

use super::harness::{Fill, agree_once_in_lanes, reference, variants, verified};
use crate::is_thorough;

/// Random programs, and how often that is tried.
const PROGRAMS: [u64; 2] = [400, 6000];
/// Pixels of a row of the arrays.
const PIXELS: i64 = 40;

/// What one random strip is made of.
struct Image {
    random: Rng,
    ty: &'static str,
    /// Cells of a pixel.
    cells: i64,
    /// Cells of the ring.
    ring: i64,
    /// Cells of a pixel of the arrays.
    extent: i64,
    streams: String,
    count: usize,
    ops: String,
    values: usize,
    /// What is touched in place, in order: the buffer, which cells of it, and whether that stores.
    in_place: Vec<(char, i64, bool)>,
}

impl Image {
    fn stream(&mut self, text: &str) -> usize {
        writeln!(self.streams, "m{} = {text}", self.count).unwrap();
        self.count += 1;
        self.count - 1
    }

    /// A place that each iteration of the loop moves by a pixel, in one of the ways in which storage has them.
    fn in_ring(&mut self, offset: i64) -> String {
        let (cells, ring) = (self.cells, self.ring);
        let at = format!("{cells} * v1 + {} * v0 + {offset}", 2 * cells);
        match self.random.u8(0..4) {
            0 => format!("r[pos mod({at}, {ring}), ring {ring}, stride 1]"),
            1 if offset % cells == 0 => {
                let place = format!("mod(v1 + 2 * v0 + {}, {})", offset / cells, ring / cells);
                format!("r[pos {cells} * {place}, stride 1]")
            }
            _ => format!("r[pos mod({at}, {ring}), stride 1]"),
        }
    }

    fn load(&mut self) {
        let (cells, offset) = (self.cells, self.random.i64(0..9));
        let by = cells * self.random.i64(0..4);
        let stream = match self.random.u8(0..9) {
            0 => format!("x[base {by} * v0, pos {cells} * v1 + {offset}, stride 1]"),
            1 => format!("x[pos {} * v1 + {offset}, stride {}]", 2 * cells, 2),
            // Not where the row before ended.
            2 if self.random.bool() => format!("x[pos {} * v1 + {offset}, stride 1]", cells + 1),
            3 => format!("x[pos {offset}, stride 0]"),
            4 => format!(
                "img[at v0, v1 + {}, {} step 1]",
                self.random.i64(0..3),
                self.random.i64(0..=self.extent - cells)
            ),
            5 => {
                let offset = self.offset();
                let text = self.in_ring(offset);
                self.in_place.push(('r', offset, false));
                text
            }
            _ => {
                let offset = self.offset();
                self.in_place.push(('y', offset, false));
                format!("y[pos {cells} * v1 + {}, stride 1]", 40 + offset)
            }
        };
        let at = self.stream(&stream);
        let ty = self.ty;
        writeln!(self.ops, "%{} = load m{at}: {ty}", self.values).unwrap();
        self.values += 1;
    }

    /// Pixels away mostly, cells sometimes.
    fn offset(&mut self) -> i64 {
        match self.random.u8(0..5) {
            0 => self.random.i64(-9..10),
            _ => self.cells * self.random.i64(-4..5),
        }
    }

    fn store(&mut self) {
        let (cells, value) = (self.cells, self.values - 1);
        let text = match self.random.u8(0..6) {
            0 => {
                self.in_place.push(('y', 0, true));
                format!("y[pos {cells} * v1 + 40, stride 1]")
            }
            1 => {
                self.in_place.push(('r', 0, true));
                self.in_ring(0)
            }
            2 => format!("res[at v0, v1, {} step 1]", self.random.i64(0..=self.extent - cells)),
            3 => format!("res[at v0, {} - v1, 0 step 1]", PIXELS - 1),
            _ => format!("out[base 300 * v0, pos {cells} * v1, stride 1]"),
        };
        let at = self.stream(&text);
        writeln!(self.ops, "%{}: store m{at}, %{value}", self.values).unwrap();
        self.values += 1;
    }

    fn strip(&mut self, var: &str) -> String {
        (self.streams, self.ops, self.count, self.values) = (String::new(), String::new(), 0, 0);
        self.in_place.clear();
        (0..self.random.usize(1..4)).for_each(|_| self.load());
        for _ in 1..self.values {
            let (last, first) = (self.values - 1, self.random.usize(0..self.values));
            writeln!(self.ops, "%{} = sub %{last}, %{first}", self.values).unwrap();
            self.values += 1;
        }
        let base = ["v0", "v0", "v0", "v1"][self.random.usize(0..4)];
        if self.random.u8(0..4) == 0 {
            let step = if self.random.u8(0..3) == 0 { 1 } else { 0 };
            writeln!(self.ops, "%{} = index {base} + 3 step {step}: {}", self.values, self.ty).unwrap();
            writeln!(self.ops, "%{} = mul %{}, %{}", self.values + 1, self.values, self.values - 1).unwrap();
            self.values += 2;
        }
        self.store();
        if self.random.u8(0..3) == 0 {
            self.load();
            self.store();
        }
        let lo = self.random.i64(0..3);
        format!("strip {var} in {lo} .. {} lanes 64 {{\n{}{}}}\n", lo + self.cells, self.streams, self.ops)
    }
}

/// A loop over pixels of a few cells: a text with two arguments, the first pixel and the end.
fn program(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let ty = ["f64", "f32"][random.usize(0..2)];
    let cells = random.i64(1..6);
    let extent = cells + i64::from(random.u8(0..4) == 0);
    let ring = cells * random.i64(5..60) + i64::from(random.u8(0..6) == 0);
    let mut image = Image {
        random,
        ty,
        cells,
        ring,
        extent,
        streams: String::new(),
        count: 0,
        ops: String::new(),
        values: 0,
        in_place: vec![],
    };
    let mut body = image.strip("v2");
    if image.random.u8(0..3) == 0 {
        let other = image.strip("v3");
        let cond = ["v0 >= 1", "v0 >= 1", "v1 >= 9"][image.random.usize(0..3)];
        body = format!("if {cond} {{ {body} }} else {{ {other} }}");
    }
    let end = if image.random.bool() { "$b".to_string() } else { (PIXELS - 3).to_string() };
    let pixels = PIXELS + 3;
    format!(
        "program image{seed}(a, b) {{
buffer x: {ty}[1024] read
buffer y: {ty}[512] write
buffer r: {ty}[512] write
buffer out: {ty}[1024] write
array img: {ty}[3, {pixels}, {extent}] read
array res: {ty}[3, {pixels}, {extent}] write
for v0 in 0 .. 3 {{ for v1 in $a .. {end} {{
{body}}} }} }}"
    )
}

/// Strips of the program with as many lanes as can be proved.
fn with_lanes(text: &str) -> Option<(Program, u32)> {
    [64, 4, 3, 2].into_iter().find_map(|lanes| {
        let program = Program::parse(&text.replace("lanes 64", &format!("lanes {lanes}")));
        let program = program.unwrap_or_else(|error| panic!("{error}\n{text}"));
        Verified::new(program.clone()).is_ok().then_some((program, lanes))
    })
}

#[test]
fn random_images_agree() {
    let count = PROGRAMS[usize::from(is_thorough())];
    let (mut tried, mut long) = (0, 0);
    for seed in 0..count {
        let text = program(seed);
        let Some((program, lanes)) = with_lanes(&text) else { continue };
        let mut random = Rng::with_seed(seed);
        let first = random.i64(0..4);
        let end = [first, random.i64(0..PIXELS - 3), PIXELS - 3][random.usize(0..3)];
        (tried, long) = (tried + 1, long + u64::from(!program.coalesced().loops.is_empty()));
        agree_once_in_lanes(&program.to_string(), &[first, end], &[], lanes, seed);
    }
    assert!(tried > count / 2, "few programs are legal: {tried}");
    assert!(long > count / 6 && long < tried - count / 6, "{long} of {tried} are images");
}

/// Rows of pixels of two images, of which one is written; each pixel reads those before and behind it.
const BLUR: &str = "program blur() {
  array in: f32[5, 9, 3] read
  array out: f32[5, 7, 3] write
  for v0 in 0 .. 5 { for v1 in 0 .. 7 { strip v2 in 0 .. 3 lanes 64 {
    m0 = in[at v0, v1, 0 step 1]
    m1 = in[at v0, v1 + 1, 0 step 1]
    m2 = in[at v0, v1 + 2, 0 step 1]
    m3 = out[at v0, v1, 0 step 1]
    %0 = load m0: f32 %1 = load m1: f32 %2 = load m2: f32 %3 = load m3: f32
    %4 = sub %0, %1 %5 = fma %4, %2, %3 %6: store m3, %5
    alias %3, %6: same_lane } } } }";

/// A block of memory in which an image lies somehow.
#[derive(Clone)]
struct Host {
    cells: Array4<f32>,
    kind: u8,
}

impl Host {
    /// Dense, with pixels or rows that are padded, turned in one direction, or with colours far apart.
    fn new(random: &mut Rng, [y, x, c]: [usize; 3]) -> Host {
        let kind = random.u8(0..9);
        let shape = match kind {
            1 => (1, y, x, c + 1),
            2 => (1, y, x + 2, c),
            3 => (1, y, 2 * x, c),
            4 => (1, c, y, x),
            5 => (2, y, x, c),
            _ => (1, y, x, c),
        };
        Host { cells: Array4::from_shape_simple_fn(shape, || random.f32()), kind }
    }

    fn with_view<R>(&mut self, [y, x, c]: [usize; 3], use_it: impl FnOnce(ArrayViewMut3<'_, f32>) -> R) -> R {
        let mut view = self.cells.index_axis_mut(Axis(0), 0);
        match self.kind {
            3 => view = view.slice_move(s![.., ..;2, ..]),
            4 => view = view.permuted_axes([1, 2, 0]),
            6 => view.invert_axis(Axis(0)),
            7 => view.invert_axis(Axis(1)),
            8 => view.invert_axis(Axis(2)),
            _ => {}
        }
        use_it(view.slice_mut(s![..y, ..x, ..c]))
    }
}

fn in_order(view: &ArrayView3<'_, f32>) -> Vec<f64> {
    view.iter().map(|cell| f64::from(*cell)).collect()
}

#[test]
fn images_in_views_of_any_strides_agree() {
    let program = Program::parse(BLUR).unwrap();
    assert_eq!(program.coalesced().loops.len(), 1);
    let mut random = Rng::with_seed(11);
    for (choice, _) in variants() {
        let code = compile(&verified(&program), &CompileOptions::default().choice(choice)).unwrap();
        for _ in 0..100 {
            let (shape, written) = ([5, 9, 3], [5, 7, 3]);
            let (mut input, mut out) = (Host::new(&mut random, shape), Host::new(&mut random, written));
            let before = [
                input.with_view(shape, |view| in_order(&view.view())),
                out.with_view(written, |view| in_order(&view.view())),
            ];
            let fill: &Fill = &[("in", before[0].clone()), ("out", before[1].clone())];
            let Cells::F32(expected) = reference(&program, &[], &[], fill).buffers.remove(1) else { unreachable!() };
            let mut around = out.clone();
            input.with_view(shape, |input| {
                out.with_view(written, |out| {
                    let buffers = vec![BufferRef::read_view(input.view()), BufferRef::write_view(out)];
                    code.run(&mut Call { args: &[], scalars: &[], buffers, pool: &Pool::sequential() }).unwrap();
                })
            });
            let found = out.with_view(written, |view| view.iter().copied().collect::<Vec<f32>>());
            assert!(found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{choice:?} {}", out.kind);
            for host in [&mut around, &mut out] {
                host.with_view(written, |mut view| view.fill(0.0));
            }
            assert!(around.cells == out.cells, "{choice:?} {}: cells around the view have changed", out.kind);
        }
    }
}
