//! A plan's report as text for a person.

use std::fmt::{Error, Write};

use crease::plan::report::{ArrayReport, BufferReport, Report};

/// What was chosen: sizes, buffers, formulas, notes; a line for each.
pub(crate) fn explain(report: &Report) -> String {
    let mut text = String::new();
    write_report(&mut text, report).expect("strings take what is written");
    text
}

fn write_report(text: &mut String, report: &Report) -> Result<(), Error> {
    let params: Vec<String> = report.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    writeln!(text, "{}   schedule {}   {}", report.kernel, report.schedule, params.join(", "))?;
    let (planned, used, busy) = (report.threads, report.threads_used, report.threads_busy);
    writeln!(text, "threads: {planned} planned, {used} used, {busy} busy")?;
    let (folded, copied) = (report.footprint.folded_bytes, report.footprint.copied_bytes);
    writeln!(text, "memory: {folded} bytes folded, {copied} bytes of inputs and outputs")?;
    report.buffers.iter().try_for_each(|buffer| write_buffer(text, buffer))?;
    report.arrays.iter().try_for_each(|array| write_array(text, array))?;
    report.notes.iter().try_for_each(|note| writeln!(text, "note: {note}"))
}

fn write_buffer(text: &mut String, buffer: &BufferReport) -> Result<(), Error> {
    let BufferReport { name, cells, bytes, strategy, proof, .. } = buffer;
    write!(text, "buffer {name}: {cells} cells, {bytes} bytes, by {strategy}, proved by {}", proof.name())?;
    if let Some(bound) = buffer.lower_bound_cells {
        write!(text, ", no storage has less than {bound} cells")?;
    }
    writeln!(text)
}

fn write_array(text: &mut String, array: &ArrayReport) -> Result<(), Error> {
    if array.in_a_register {
        return writeln!(text, "array {}: in a register", array.name);
    }
    array.pieces.iter().try_for_each(|piece| match piece.when.as_str() {
        "true" | "" => writeln!(text, "array {}", piece.formula),
        when => writeln!(text, "array {}  if {when}", piece.formula),
    })
}
