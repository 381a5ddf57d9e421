//! Programs whose marks are known.

use super::*;

/// The caches of these tests hold this much.
const CACHE_BYTES: u64 = 1 << 20;

/// For each store of `text`, whether it streams.
fn non_temporal(text: &str, args: &[i64]) -> Vec<bool> {
    let mut program = Program::parse(text).unwrap();
    program.mark_non_temporal(args, CACHE_BYTES);
    program.verify().unwrap();
    let mut found = Vec::new();
    for_each_strip(&mut program.body, &mut |strip| {
        let hints = strip.ops.iter().filter_map(|op| match op {
            Op::Store { hint, .. } => Some(*hint == StoreHint::NonTemporal),
            _ => None,
        });
        found.extend(hints);
    });
    found
}

#[test]
fn an_empty_loop_takes_no_time() {
    let text = "program p() { buffer out: f64[1048576] write for v0 in 0 .. 4611686018427387904 { }
        strip v1 in 0 .. 1048576 lanes 8 { m0 = out[pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 } }";
    assert_eq!(non_temporal(text, &[]), [true]);
}

/// Two rows of `mid` are alive at a time; rows of `out` are only written.
#[test]
fn results_stream_and_rolling_rows_do_not() {
    let pipeline = |rows: usize| {
        format!(
            "program pipeline() {{ buffer x: f64[{cells}] read buffer mid: f64[2048] write
             buffer out: f64[{cells}] write
             for v0 in 0 .. {rows} {{ let v1 = mod(v0, 2)
               strip v2 in 0 .. 1024 lanes 8 {{
                 m0 = x[base 1024 * v0, pos 0, stride 1] m1 = mid[base 1024 * v1, pos 0, stride 1]
                 %0 = load m0: f64 %1: store m1, %0 }}
               strip v3 in 0 .. 1024 lanes 8 {{
                 m0 = mid[base 1024 - 1024 * v1, pos 0, stride 1] m1 = out[base 1024 * v0, pos 0, stride 1]
                 %0 = load m0: f64 %1: store m1, %0 }} }} }}",
            cells = 1024 * rows
        )
    };
    assert_eq!(non_temporal(&pipeline(1024), &[]), [false, true]);
    // Most of it is still there for the caller; the whole of it fits.
    assert_eq!(non_temporal(&pipeline(100), &[]), [false, false]);
    assert_eq!(non_temporal(&pipeline(10), &[]), [false, false]);
}

/// Steps between two planes: far apart if planes are large, and not if tiles of steps keep to a few rows.
#[test]
fn a_plane_streams_if_it_is_read_a_whole_step_later() {
    let stepping = |rows: usize| {
        format!(
            "program stepping(_from, T) {{ buffer u: f64[{}] write
             for v0 in $_from .. $T {{ let v1 = mod(v0, 2) for v2 in 0 .. {rows} {{
               strip v3 in 0 .. 1024 lanes 8 {{
                 m0 = u[base {plane} * v1, pos 1024 * v2, stride 1]
                 m1 = u[base {plane} - {plane} * v1, pos 1024 * v2, stride 1]
                 %0 = load m0: f64 %1: store m1, %0 alias %0, %1: disjoint }} }} }} }}",
            2 * 1024 * rows,
            plane = 1024 * rows
        )
    };
    assert_eq!(non_temporal(&stepping(2000), &[0, 4]), [true]);
    let tiled = "program tiled() { buffer u: f64[2000000] write
        for v0 in 0 .. 100 { for v1 in 0 .. 8 { let v2 = mod(v1, 2)
          strip v3 in 0 .. 9000 lanes 8 {
            m0 = u[base 1000000 * v2, pos 10000 * v0, stride 1]
            m1 = u[base 1000000 - 1000000 * v2, pos 10000 * v0, stride 1]
            %0 = load m0: f64 %1: store m1, %0 alias %0, %1: disjoint } } } }";
    assert_eq!(non_temporal(tiled, &[]), [false]);
}

#[test]
fn folds_in_place_never_stream() {
    let text = "program p(_from, T) { buffer u: f64[2000000] write
        for v0 in $_from .. $T { strip v1 in 0 .. 1999999 lanes 1 {
          m0 = u[pos 1, stride 1] m1 = u[pos 0, stride 1]
          %0 = load m0: f64 %1: store m1, %0 alias %0, %1: distance 1 } } }";
    assert_eq!(non_temporal(text, &[0, 4]), [false]);
    // The same between strips: row by row, each takes the place of the one before the last.
    let text = "program p() { buffer u: f64[2000000] write
        for v0 in 0 .. 1900 { strip v1 in 0 .. 1000 lanes 8 {
          m0 = u[base 1000 * v0, pos 2000, stride 1] m1 = u[base 1000 * v0, pos 0, stride 1]
          %0 = load m0: f64 %1: store m1, %0 alias %0, %1: disjoint } } }";
    assert_eq!(non_temporal(text, &[]), [false]);
}

/// Colours of pixels that lie between each other are written past the cache, as code does so with whole pixels; bytes of
/// one row are not.
#[test]
fn pixels_that_nobody_reads_again_are_streamed() {
    let pixels = |stride: usize| {
        format!(
            "program pixels() {{ buffer a: u8[4000000] read buffer b: u8[4000000] write
             for v0 in 0 .. 1000 {{ strip v1 in 0 .. 1000 lanes 64 {{
               m0 = a[base 3000 * v0, pos 0, stride 3] m1 = b[base 3000 * v0, pos 0, stride {stride}]
               m2 = b[base 3000 * v0, pos 1, stride {stride}]
               %0 = load m0: u8 %1: store m1, %0 %2: store m2, %0 }} }} }}"
        )
    };
    assert_eq!(non_temporal(&pixels(3), &[]), [true, true]);
    assert_eq!(non_temporal(&pixels(1), &[]), [false, false]);
    assert_eq!(non_temporal(&pixels(5), &[]), [false, false]);
}

/// For each stream of `text` whether it is cold.
fn cold(text: &str, args: &[i64]) -> Vec<bool> {
    let mut program = Program::parse(text).unwrap();
    program.mark_cold(args, CACHE_BYTES);
    program.verify().unwrap();
    assert_eq!(Program::parse(&program.to_string()).as_ref(), Ok(&program));
    let mut found = Vec::new();
    for_each_strip(&mut program.body, &mut |strip| {
        found.extend(strip.streams.iter().map(|stream| stream.cold.is_some()))
    });
    found
}

/// Three rows of a plane, from below: the upper one was not touched for a whole step, the other two a row ago.
#[test]
fn the_row_that_is_read_first_is_cold() {
    let stencil = |rows: usize| {
        format!(
            "program stencil(_from, T) {{ buffer u: f64[{}] write
             for v0 in $_from .. $T {{ for v1 in 1 .. {} {{ strip v2 in 0 .. 1000 lanes 8 {{
               m0 = u[base 1000 * v1, pos 0, stride 1] m1 = u[base 1000 * v1, pos 1000, stride 1]
               m2 = u[base 1000 * v1, pos 2000, stride 1]
               %0 = load m0: f64 %1 = load m1: f64 %2 = load m2: f64 %3 = add %0, %1 %4 = add %3, %2
               %5: store m0, %4 }} }} }} }}",
            1000 * rows,
            rows - 2
        )
    };
    assert_eq!(cold(&stencil(2000), &[0, 4]), [false, false, true]);
    assert_eq!(cold(&stencil(100), &[0, 4]), [false; 3], "all of it fits");
}

/// Tiles of steps keep to a few rows; what only stores touch needs no call, nor do cells that are far apart.
#[test]
fn what_is_at_hand_is_not_far() {
    let tiled = "program tiled() { buffer u: f64[2000000] write
        for v0 in 0 .. 100 { for v1 in 0 .. 8 {
          strip v3 in 0 .. 9000 lanes 8 { m0 = u[pos 20000 * v0, stride 1]
            %0 = load m0: f64 %1 = add %0, %0 %2: store m0, %1 } } } }";
    assert_eq!(cold(tiled, &[]), [false]);
    let once = "program once() { buffer u: f64[2000000] read buffer w: f64[20000000] read
        buffer b: u8[2000000] read buffer v: f64[2000000] write
        for v0 in 0 .. 2000 { strip v1 in 0 .. 1000 lanes 8 {
          m0 = u[base 1000 * v0, pos 0, stride 1] m1 = w[base 10000 * v0, pos 0, stride 5]
          m2 = b[base 1000 * v0, pos 0, stride 1] m3 = v[base 1000 * v0, pos 0, stride 1]
          %0 = load m0: f64 %1 = load m1: f64 %2 = load m2: f64 %3 = add %0, %1 %4 = add %3, %2
          %5: store m3, %4 } } }";
    assert_eq!(cold(once, &[]), [true, false, true, false]);
}

/// Pixels of three bytes, blurred along rows of 3000: a row is one strip, and so it is followed.
#[test]
fn short_rows_that_go_on_are_followed_as_one() {
    let pixels = |x: &str| {
        format!(
            "program blur() {{ array a: u8[1000, 1002, 3] read array b: u8[1000, 1002, 3] write
             for v0 in 0 .. 1000 {{ for v1 in 1 .. 1001 {{ strip v2 in 0 .. 3 lanes 32 {{
               m0 = a[at v0, v1 + -1, 0 step 1] m1 = a[at v0, {x}, 0 step 1] m2 = b[at v0, v1, 0 step 1]
               %0 = load m0: u8 %1 = load m1: u8 %2 = add %0, %1 %3: store m2, %2 }} }} }} }}"
        )
    };
    assert_eq!(cold(&pixels("v1 + 1"), &[]), [true, false, false]);
    // Rows that run backwards do not go on: pages are at hand from the second pixel on.
    assert_eq!(cold(&pixels("1001 - v1"), &[]), [false; 3]);
}

/// Each row of results takes hundreds of passes over a few others: the run is given up before it has moved what a loop
/// is followed for.
#[test]
fn of_what_takes_too_long_to_look_at_the_beginning_decides() {
    // A pass looks at two nodes, a row and some five pages; 240 rows of results are more than the cache holds.
    let passes = LOOKED_AT / 8 / 240;
    let text = format!(
        "program p() {{ buffer mid: f64[7000] write buffer out: f64[100000000] write
        for v0 in 0 .. 100000 {{
          for v1 in 0 .. {passes} {{ let v2 = mod(v1, 7) strip v3 in 0 .. 1000 lanes 8 {{
            m0 = mid[base 1000 * v2, pos 0, stride 1] %0 = load m0: f64 %1 = add %0, %0 %2: store m0, %1 }} }}
          strip v4 in 0 .. 1000 lanes 8 {{ m0 = mid[pos 0, stride 1] m1 = out[base 1000 * v0, pos 0, stride 1]
            %0 = load m0: f64 %1: store m1, %0 }} }}
        strip v5 in 0 .. 7000 lanes 8 {{ m0 = mid[pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 }} }}"
    );
    assert_eq!(non_temporal(&text, &[]), [false, true, false]);
    let program = Program::parse(&text).unwrap();
    let seen: Vec<u64> = Tallies::of((&program, &program.coalesced()), &[], CACHE_BYTES, Marked::Stores)
        .stores
        .iter()
        .map(|t| t.bytes)
        .collect();
    assert!(seen[1] > 0 && seen[1] < CACHE_BYTES, "rows that are still in the cache are open: {seen:?}");
    assert_eq!(seen[2], 0, "the end was not reached");
}

/// Numbers without a pattern.
fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// A sweep over rows that are kept in rings, by steps, or in a buffer of their own.
fn random_sweep(random: &mut impl FnMut(u64) -> u64) -> String {
    let (rows, length) = (120 + random(400), 200 + random(900));
    let pitch = length + random(40);
    let modulus = rows * pitch + random(3 * pitch);
    let mut streams = String::new();
    let mut ops = String::new();
    let reads = 1 + random(4);
    for k in 0..reads {
        let offset = random(modulus);
        let stream = match random(4) {
            0 => format!("m{k} = u[pos wrap(v3 + {offset}, {modulus}), ring {modulus}, stride 1]"),
            1 => format!("m{k} = w[base {pitch} * v1, pos {}, stride 1]", random(40)),
            2 => format!("m{k} = w[base v4, pos 1, stride 1]"),
            _ => format!("m{k} = u[pos wrap({pitch} * v1 + {offset}, {modulus}), ring {modulus}, stride 1]"),
        };
        streams += &format!("{stream} ");
        ops += &format!("%{k} = load m{k}: f64 ");
    }
    streams += &format!("m{reads} = u[pos v2, ring {modulus}, stride 1]");
    let cells = modulus.max((rows + 2) * pitch + length + 40);
    let (a, b) = (random(rows), random(rows));
    let cond = match random(6) {
        0 => "v0 >= 1".to_owned(),
        1 => format!("v1 >= {a}"),
        2 => format!("all({a} >= v1, v1 != {b})"),
        3 => format!("any(2 * v1 == {a}, not(v1 <= {b}))"),
        4 => format!("3 * v0 + {a} > v1 + {b}"),
        _ => format!("all(v0 != 2, v1 < {a} - 2 * v1, any(v1 == {b}, v1 > 7))"),
    };
    format!(
        "program sweep(_from, T) {{ buffer u: f64[{modulus}] write buffer w: f64[{cells}] read
         for v0 in $_from .. $T {{ let v5 = mulmod({}, v0, {modulus}) for v1 in 0 .. {rows} {{
           let v2 = wrap(v5 + {pitch} * v1, {modulus}) let v3 = {pitch} * v1
           let v4 = wrap({pitch} * v1, {modulus}) + {}
           if {cond} {{ strip v6 in 0 .. {length} lanes 1 {{ {streams} {ops} %{reads}: store m{reads}, %0 }} }}
           strip v7 in 0 .. {length} lanes 1 {{ {streams} {ops} %{reads}: store m{reads}, %0 }} }} }} }}",
        random(2 * pitch),
        random(9),
    )
}

#[test]
fn rows_that_are_followed_by_adding_have_the_marks_of_rows_that_are_evaluated() {
    let mut random = numbers(5);
    for _ in 0..60 {
        let text = random_sweep(&mut random);
        // With a loop inside, iterations are evaluated.
        let evaluated = text.replace(" if ", " for v8 in 0 .. 0 { } if ");
        for (page_bytes, cache_bytes) in [(512, 1 << 16), (4096, 1 << 18)] {
            let tallies = |text: &str| {
                let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
                program.verify().unwrap();
                let (short, sizes) = (program.coalesced(), (cache_bytes, page_bytes));
                Sample::of(&program, &short, &[0, 4], sizes).map_or_else(Tallies::default, Sample::run)
            };
            let (fast, slow) = (tallies(&text), tallies(&evaluated));
            let seen = |tallies: &Tallies| {
                let all = tallies.stores.iter().chain(&tallies.streams);
                all.map(|tally| (tally.bytes, tally.near_bytes)).collect::<Vec<_>>()
            };
            assert_eq!(seen(&fast), seen(&slow), "{text}");
            assert!(seen(&fast).iter().any(|(bytes, _)| *bytes > 0), "{text}");
        }
    }
}

/// Loads of a row and those beside them share cache lines.
#[test]
fn loads_of_one_row_are_followed_as_one() {
    let text = "program p() { buffer u: f64[1048576] read buffer w: f64[1048576] write
        for v0 in 1 .. 1000 { strip v1 in 0 .. 1000 lanes 8 {
          m0 = u[pos wrap(1000 * v0 + 1, 1048576), stride 1] m1 = u[pos wrap(1000 * v0 + 2, 1048576), stride 1]
          m2 = u[pos wrap(1000 * v0 + 1001, 1048576), stride 1] m3 = w[pos 1000 * v0, stride 1]
          %0 = load m0: f64 %1 = load m1: f64 %2 = load m2: f64 %3 = add %0, %1 %4 = add %3, %2 %5: store m3, %4 } } }";
    let mut program = Program::parse(text).unwrap();
    let short = program.coalesced();
    let all = Sample::of(&program, &short, &[], (CACHE_BYTES, 512)).unwrap();
    let lengths: Vec<usize> = all.accesses.values().map(|accesses| accesses.len()).collect();
    assert_eq!(lengths, [3], "two rows that are read and one that is written");
    // The row that is read first by either of the loads comes from memory; the other load is at hand.
    assert_eq!(program.mark_cold(&[], CACHE_BYTES), 1);
    let mut cold = Vec::new();
    for_each_strip(&mut program.body, &mut |strip| {
        cold.extend(strip.streams.iter().map(|stream| stream.cold.is_some()))
    });
    assert_eq!(cold, [false, false, true, false]);
}

#[test]
fn a_program_none_of_whose_stores_could_be_marked_is_not_followed() {
    let text = "program p() { buffer u: f64[1048576] write for v0 in 0 .. 1000 { strip v1 in 0 .. 1000 lanes 8 {
        m0 = u[pos 1000 * v0, stride 1] %0 = load m0: f64 %1: store m0, %0 } } }";
    let program = Program::parse(text).unwrap();
    assert!(Tallies::of((&program, &program.coalesced()), &[], CACHE_BYTES, Marked::Stores).stores.is_empty());
    assert_eq!(Tallies::of((&program, &program.coalesced()), &[], CACHE_BYTES, Marked::Loads).streams.len(), 1);
}

/// Rows of 512 floats of a tile, 32 KiB apart, one after the other: the next one is prefetched, of what is read and of
/// what is stored.
#[test]
fn short_rows_that_lie_apart_are_prefetched_row_by_row() {
    let tiled = |cells: usize, apart: usize| {
        format!(
            "program tiled() {{ buffer a: f32[16777216] read buffer b: f32[16777216] write
             for v0 in 0 .. {} {{ for v1 in 0 .. 2000 {{ strip v2 in 0 .. {cells} lanes 8 {{
               m0 = a[base {cells} * v0, pos {apart} * v1, stride 1]
               m1 = b[base {cells} * v0, pos {apart} * v1, stride 1]
               %0 = load m0: f32 %1 = add %0, %0 %2: store m1, %1 }} }} }} }}",
            apart / cells
        )
    };
    let marks = |text: &str| {
        let mut program = Program::parse(text).unwrap();
        program.mark_reuse(&[], CACHE_BYTES);
        assert_eq!(Program::parse(&program.to_string()).as_ref(), Ok(&program));
        let mut found = (Vec::new(), false);
        for_each_strip(&mut program.body, &mut |strip| {
            found.0.extend(strip.streams.iter().map(|stream| stream.cold));
            found.1 |= strip.ops.iter().any(|op| matches!(op, Op::Store { hint: StoreHint::NonTemporal, .. }));
        });
        found
    };
    let next = Some(Cold::NextRow(4 * 8192));
    assert_eq!(marks(&tiled(512, 8192)), (vec![next, next], false));
    assert_eq!(marks(&tiled(2048, 8192)), (vec![Some(Cold::SameRow), None], true), "long enough");
    assert_eq!(marks(&tiled(8192, 8192)), (vec![Some(Cold::SameRow), None], true), "they continue each other");
}
