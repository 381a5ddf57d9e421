//! Tables: columns of text that line up, or Markdown; and how numbers are written in them.

use std::fmt::Write;

/// Columns of text, aligned; the first `left` columns to the left, the others to the right.
pub struct Columns {
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Columns {
    /// A table of its header only.
    pub fn new(left: usize, header: &[&str]) -> Columns {
        Columns { rows: vec![header.iter().map(|&name| name.to_owned()).collect()], left }
    }

    /// Adds a row; cells beyond the header are prose.
    pub fn push(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The rows as lines, indented.
    pub fn render(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max();
        let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from(" ");
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                // Notes, after the columns of the header, are prose.
                if column < self.left || column >= self.rows[0].len() {
                    let _ = write!(line, " {cell:<width$} ");
                } else {
                    let _ = write!(line, " {cell:>width$} ");
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The rows as a table of Markdown; cells beyond the header get a column without a name.
    pub fn markdown(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cell = |column: usize| row.get(column).map_or(String::new(), |cell| cell.replace('|', "\\|"));
            let _ = writeln!(text, "| {} |", (0..count).map(cell).collect::<Vec<_>>().join(" | "));
            if number == 0 {
                let is_text = |column: usize| column < self.left || column >= row.len();
                let rule = (0..count).map(|column| if is_text(column) { "---" } else { "---:" });
                let _ = writeln!(text, "|{}|", rule.collect::<Vec<_>>().join("|"));
            }
        }
        text
    }
    /// The rows as CSV, all of the same length; what has commas or quotes is quoted.
    pub fn csv(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let field = |cell: Option<&String>| match cell {
            Some(cell) if cell.contains([',', '"', '\n']) => format!("\"{}\"", cell.replace('"', "\"\"")),
            Some(cell) => cell.clone(),
            None => String::new(),
        };
        let line = |row: &Vec<String>| (0..count).map(|k| field(row.get(k))).collect::<Vec<_>>().join(",") + "\n";
        self.rows.iter().map(line).collect()
    }
}

/// Bytes for people: decimal units, four digits or fewer.
pub fn bytes(count: u64) -> String {
    let value = count as f64;
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{:.1} kB", value * 1e-3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", value * 1e-6),
        _ => format!("{:.1} GB", value * 1e-9),
    }
}

/// A number of things: `1 thread`, `2 threads`.
pub fn plural(count: &str, noun: &str) -> String {
    if count == "1" { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_markdown_has_a_rule_and_a_column_for_notes() {
        let mut columns = Columns::new(1, &["kernel", "cells"]);
        columns.push(vec!["a|b".into(), "7".into(), "above the cap".into()]);
        assert_eq!(columns.markdown(), "| kernel | cells |  |\n|---|---:|---|\n| a\\|b | 7 | above the cap |\n");
    }

    #[test]
    fn fields_of_csv_are_quoted_where_they_must_be() {
        let mut columns = Columns::new(1, &["a", "b"]);
        columns.push(vec!["x, \"y\"".into(), "7".into(), "note".into()]);
        assert_eq!(columns.csv(), "a,b,\n\"x, \"\"y\"\"\",7,note\n");
    }

    #[test]
    fn bytes_have_decimal_units() {
        assert_eq!((bytes(9_999), bytes(151_000_000)), ("9999 B".to_owned(), "151.0 MB".to_owned()));
    }
}
