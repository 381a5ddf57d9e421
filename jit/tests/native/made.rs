//! Programs of any size that tests run and measurements time (`jit/examples/`).
#![allow(dead_code)] // Each of those takes one of them.

use std::fmt::Write as _;

/// `count` products, all needed once more when the last of them is there.
pub(crate) fn all_alive(ty: &str, count: usize) -> String {
    let mut text = format!(
        "program alive() {{ buffer a: {ty}[{}] read buffer b: {ty}[77] write strip v0 in 0 .. 77 lanes 16 {{\n",
        count + 80
    );
    for at in 0..count {
        writeln!(text, "m{at} = a[pos {at}, stride 1]").unwrap();
    }
    writeln!(text, "m{count} = b[pos 0, stride 1]").unwrap();
    for at in 0..count {
        writeln!(text, "%{at} = load m{at}: {ty}").unwrap();
    }
    for at in 0..count {
        writeln!(text, "%{} = mul %{at}, %{}", count + at, (at * 7 + 3) % count).unwrap();
    }
    let mut last = count;
    for at in 1..count {
        writeln!(text, "%{} = add %{last}, %{}", 2 * count - 1 + at, count + at).unwrap();
        last = 2 * count - 1 + at;
    }
    writeln!(text, "%{} = {ty} 0.5", last + 1).unwrap();
    let half = last + 1;
    let mut next = half + 1;
    for at in 0..count {
        writeln!(text, "%{next} = fma %{last}, %{half}, %{}", count + at).unwrap();
        last = next;
        next += 1;
    }
    text + &format!("%{next}: store m{count}, %{last}\n}} }}")
}

/// Writes a constant to this many buffers in turn: each has this many rows of this many cells.
pub(crate) fn constant_rows(buffers: usize, rows: usize, cells: usize) -> String {
    let (mut decls, mut streams, mut stores) = (String::new(), String::new(), String::new());
    for at in 0..buffers {
        decls += &format!("buffer y{at}: f64[{}] write\n", rows * cells + 7);
        streams += &format!("m{at} = y{at}[base {cells} * v1, pos 7, stride 1]\n");
        stores += &format!("%{}: store m{at}, %0 nontemporal\n", at + 1);
    }
    format!(
        "program rows() {{ {decls} for v1 in 0 .. {rows} {{ strip v0 in 0 .. {cells} lanes 8 {{ {streams}
         %0 = f64 1.5 {stores} }} }} }}"
    )
}
