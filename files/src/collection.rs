//! Collections: the `.pvd` file that lists the image data of a series, each with its time.
//!
//! In: frames, or the file of a series that is continued.   Out: the file, written anew as a whole for each frame.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use roxmltree::Document;

use crate::error::{FileError, OutputError};
use crate::partial::{Durability, write_whole};

/// A file of a series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) time: f64,
    /// Beside the collection.
    pub(crate) file: String,
}

/// Writes the list of all frames.
pub(crate) fn write(path: &Path, frames: &[Frame]) -> Result<(), FileError> {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n  <Collection>\n",
    );
    for Frame { time, file } in frames {
        let _ = writeln!(text, "    <DataSet timestep=\"{time}\" group=\"\" part=\"0\" file=\"{file}\"/>");
    }
    text.push_str("  </Collection>\n</VTKFile>\n");
    write_whole(path, text.as_bytes(), Durability::Buffered)
}

/// Reads a list of frames; none if there is no such file.
pub(crate) fn read(path: &Path) -> Result<Vec<Frame>, OutputError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let wrong = |message: String| OutputError::Series { path: path.to_owned(), message };
    let text = fs::read_to_string(path).map_err(FileError::io("read", path))?;
    let document = Document::parse(&text).map_err(|error| wrong(error.to_string()))?;
    if document.root_element().attribute("type") != Some("Collection") {
        return Err(wrong("it is no collection of VTK files".to_owned()));
    }
    let frames = document.descendants().filter(|node| node.has_tag_name("DataSet"));
    let frame = |node: roxmltree::Node<'_, '_>| {
        let time = node.attribute("timestep").and_then(|time| time.parse().ok());
        let file = node.attribute("file").map(str::to_owned);
        time.zip(file).map(|(time, file)| Frame { time, file })
    };
    let missing = || wrong("a data set has no file, or no number as its time".to_owned());
    frames.map(|node| frame(node).ok_or_else(missing)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pvd");
        assert_eq!(read(&path).unwrap(), []);
        let frame = |time, file: &str| Frame { time, file: file.to_owned() };
        let frames = [frame(0.1, "a_0.vti"), frame(1.0 / 3.0, "a_1.vti"), frame(1e30, "a_2.vti")];
        write(&path, &frames).unwrap();
        assert_eq!(read(&path).unwrap(), frames);
        for wrong in ["", "<VTKFile/>", "<VTKFile type='Collection'><DataSet file='a'/></VTKFile>"] {
            fs::write(&path, wrong).unwrap();
            assert!(matches!(read(&path), Err(OutputError::Series { .. })), "{wrong}");
        }
    }
}
