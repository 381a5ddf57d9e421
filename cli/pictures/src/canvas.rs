//! A drawing surface: shapes and text in user units, written as one SVG file.
//!
//! In: coordinates with the origin at the upper left.   Out: an SVG document with a white background of its own, so
//! that it reads the same on a page of any colour. Attributes stand on the elements themselves: no style sheet, no
//! script, no font file; the reader's sans-serif is used and text is given room for a wide one.

use std::fmt;
use std::fs;
use std::path::Path;

use svg::Document;
use svg::node::element::{Group, Line, Polyline, Rectangle, Text, Title};

use crate::colour::{INK, MUTED, Rgb, WHITE};
use crate::error::PictureError;

/// Width of a character over its height: a wide sans-serif.
const CHARACTER_WIDTH: f64 = 0.6;
const FONTS: &str = "Helvetica Neue, Helvetica, Arial, DejaVu Sans, sans-serif";

/// A picture in the making.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    title: String,
    content: Group,
}

/// Where a text's position lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Face {
    pub(crate) size: f64,
    pub(crate) colour: Rgb,
    pub(crate) bold: bool,
}

impl Face {
    /// Titles of pictures.
    pub(crate) const TITLE: Face = Face { size: 16.0, colour: INK, bold: true };
    /// Titles of panels.
    pub(crate) const HEADING: Face = Face { size: 12.5, colour: INK, bold: true };
    /// Names and numbers at shapes.
    pub(crate) const LABEL: Face = Face { size: 11.0, colour: INK, bold: false };
    /// Axes, sources and remarks.
    pub(crate) const NOTE: Face = Face { size: 10.5, colour: MUTED, bold: false };

    pub(crate) fn sized(self, size: f64) -> Face {
        Face { size, ..self }
    }

    pub(crate) fn coloured(self, colour: Rgb) -> Face {
        Face { colour, ..self }
    }

    pub(crate) fn bold(self) -> Face {
        Face { bold: true, ..self }
    }

    /// Room that a text needs, in user units.
    pub(crate) fn width_of(self, text: &str) -> f64 {
        text.chars().count() as f64 * self.size * CHARACTER_WIDTH
    }
}

/// An axis-parallel rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub(crate) fn centre(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}

/// The look of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: Rgb,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
}

impl Stroke {
    pub(crate) fn solid(colour: Rgb, width: f64) -> Stroke {
        Stroke { colour, width, dashed: false }
    }

    pub(crate) fn dashed(colour: Rgb, width: f64) -> Stroke {
        Stroke { colour, width, dashed: true }
    }
}

/// A filled rectangle, and what a reader's mouse and a test may ask it.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) area: Area,
    pub(crate) fill: Rgb,
    pub(crate) border: Option<Stroke>,
    /// Shown when a browser's pointer rests on it.
    pub(crate) tip: Option<String>,
    /// Attributes `data-NAME`: the number behind the shape.
    pub(crate) data: Vec<(&'static str, String)>,
}

impl Block {
    pub(crate) fn new(area: Area, fill: Rgb) -> Block {
        Block { area, fill, border: None, tip: None, data: Vec::new() }
    }

    pub(crate) fn border(mut self, stroke: Stroke) -> Block {
        self.border = Some(stroke);
        self
    }

    pub(crate) fn tip(mut self, text: impl Into<String>) -> Block {
        self.tip = Some(text.into());
        self
    }

    pub(crate) fn data(mut self, name: &'static str, value: impl fmt::Display) -> Block {
        self.data.push((name, value.to_string()));
        self
    }
}

/// A coordinate with two decimals, so that files stay small and equal on every machine.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 100.0).round() / 100.0;
    if rounded == 0.0 { 0.0 } else { rounded }
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Canvas {
        Canvas { width, height, title: title.to_owned(), content: Group::new().set("font-family", FONTS) }
    }

    pub(crate) fn block(&mut self, block: &Block) {
        let Area { x, y, width, height } = block.area;
        let mut node = Rectangle::new()
            .set("x", rounded(x))
            .set("y", rounded(y))
            .set("width", rounded(width.max(0.0)))
            .set("height", rounded(height.max(0.0)))
            .set("fill", block.fill.to_string());
        if let Some(stroke) = block.border {
            node = node.set("stroke", stroke.colour.to_string()).set("stroke-width", rounded(stroke.width));
        }
        for (name, value) in &block.data {
            node = node.set(format!("data-{name}"), value.as_str());
        }
        if let Some(tip) = &block.tip {
            node = node.add(Title::new(tip.as_str()));
        }
        self.content = std::mem::take(&mut self.content).add(node);
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let node = Line::new()
            .set("x1", rounded(from.0))
            .set("y1", rounded(from.1))
            .set("x2", rounded(to.0))
            .set("y2", rounded(to.1))
            .set("stroke", stroke.colour.to_string())
            .set("stroke-width", rounded(stroke.width));
        let node =
            if stroke.dashed { node.set("stroke-dasharray", "4 3") } else { node.set("stroke-linecap", "square") };
        self.content = std::mem::take(&mut self.content).add(node);
    }

    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        let points: Vec<String> = points.iter().map(|&(x, y)| format!("{},{}", rounded(x), rounded(y))).collect();
        let node = Polyline::new()
            .set("points", points.join(" "))
            .set("fill", "none")
            .set("stroke", stroke.colour.to_string())
            .set("stroke-width", rounded(stroke.width));
        let node = if stroke.dashed { node.set("stroke-dasharray", "4 3") } else { node };
        self.content = std::mem::take(&mut self.content).add(node);
    }

    /// Text whose baseline is at `y`.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, face: Face, text: &str) {
        let node = styled(Text::new(text), anchor, face).set("x", rounded(x)).set("y", rounded(y));
        self.content = std::mem::take(&mut self.content).add(node);
    }

    /// A bow over what lies between two points, ending `short` of both; its white casing makes it stand out.
    pub(crate) fn bow(&mut self, from: (f64, f64), to: (f64, f64), short: f64, stroke: Stroke) {
        let (from, to) = if from.0 <= to.0 { (from, to) } else { (to, from) };
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let cut = (short / dx.hypot(dy).max(1.0)).min(0.3);
        let point = |k: u32| {
            let share = cut + (1.0 - 2.0 * cut) * f64::from(k) / 32.0;
            let height = 0.2 * 4.0 * share * (1.0 - share);
            (from.0 + dx * share + dy * height, from.1 + dy * share - dx * height)
        };
        let points: Vec<(f64, f64)> = (0..=32).map(point).collect();
        self.polyline(&points, Stroke::solid(WHITE, stroke.width + 2.5));
        self.polyline(&points, stroke);
    }

    /// The document.
    pub(crate) fn render(self) -> String {
        let (width, height) = (rounded(self.width), rounded(self.height));
        let background = Rectangle::new().set("width", width).set("height", height).set("fill", WHITE.to_string());
        let document: Document = Document::new()
            .set("width", width)
            .set("height", height)
            .set("viewBox", (0, 0, width, height))
            .set("role", "img")
            .add(Title::new(self.title))
            .add(background)
            .add(self.content);
        document.to_string() + "\n"
    }

    /// Writes the document to `path`; its directory must exist.
    pub(crate) fn save(self, path: &Path) -> Result<(), PictureError> {
        fs::write(path, self.render()).map_err(|source| PictureError::File { path: path.to_owned(), source })
    }
}

fn styled(text: Text, anchor: Anchor, face: Face) -> Text {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let text = text.set("text-anchor", anchor).set("font-size", face.size).set("fill", face.colour.to_string());
    if face.bold { text.set("font-weight", "bold") } else { text }
}

/// Lines of whole words that fit `width`; a longer word stands alone.
pub(crate) fn wrapped(text: &str, width: f64, face: Face) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if face.width_of(line) + face.width_of(word) + face.size <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_well_formed_whatever_the_texts_say() {
        let mut canvas = Canvas::new(100.0, 50.0, "a < b & \"c\"");
        let area = Area { x: 1.0, y: 2.0, width: 3.14321, height: -1.0 };
        canvas.block(&Block::new(area, INK).tip("x <= y").data("value", 0.25));
        canvas.text((0.0, 0.0), Anchor::End, Face::LABEL.bold(), "u[t, x] & <v>");
        let text = canvas.render();
        let document = roxmltree::Document::parse(&text).unwrap();
        let block = document.descendants().find(|node| node.attribute("data-value").is_some()).unwrap();
        assert_eq!((block.attribute("width"), block.attribute("height")), (Some("3.14"), Some("0")));
        assert!(document.descendants().any(|node| node.text().map(str::trim) == Some("u[t, x] & <v>")));
    }

    #[test]
    fn paragraphs_break_at_blanks() {
        let lines = wrapped("one two threeandmore four", 60.0, Face::LABEL);
        assert_eq!(lines, ["one two", "threeandmore", "four"]);
    }
}
