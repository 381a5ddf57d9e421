//! Images: a plane of numbers as coloured squares in a PNG file, in the colours of all pictures.
//!
//! In: a two-dimensional field, a colour for each value.   Out: a PNG, as `crease-files` writes it for series.

use std::io;
use std::path::Path;

use crease_files::{FileError, save_picture};
use ndarray::ArrayView2;

use crate::colour::Rgb;
use crate::error::PictureError;

/// Writes `colour_of` every value of `field` to `path`; `description` becomes the file's text chunk.
///
/// # Errors
/// [`PictureError::File`] if the file cannot be written, or the image has no pixel or too many.
pub(crate) fn save(
    path: &Path,
    field: ArrayView2<'_, f64>,
    colour_of: &dyn Fn(usize, usize, f64) -> Rgb,
    description: &str,
) -> Result<(), PictureError> {
    let colour = |row: usize, column: usize, value: f64| {
        let Rgb(r, g, b) = colour_of(row, column, value);
        [r, g, b]
    };
    save_picture(path, field, &colour, description).map_err(|error| match error {
        FileError::Io { path, source, .. } => PictureError::File { path, source },
        other => PictureError::File { path: path.to_owned(), source: io::Error::other(other) },
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::colour::{INK, WHITE};
    use crease_files::enlargement;
    use ndarray::array;
    use std::fs::File;
    use std::io::BufReader;

    #[test]
    fn an_image_is_upright_enlarged_and_says_what_it_shows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.png");
        let field = array![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
        let two = |_: usize, _: usize, value: f64| if value > 0.5 { INK } else { WHITE };
        save(&path, field.view(), &two, "ones are dark").unwrap();
        let scale = enlargement(2, 3);
        let (width, height, bytes) = decode(&path);
        assert_eq!((width, height), (3 * scale, 2 * scale));
        // The upper left pixel is the first cell of the last row.
        let pixel = |x: usize, y: usize| {
            Rgb(bytes[3 * (y * width + x)], bytes[3 * (y * width + x) + 1], bytes[3 * (y * width + x) + 2])
        };
        assert_eq!([pixel(0, 0), pixel(width - 1, height - 1)], [INK, INK]);
        assert_eq!([pixel(width - 1, 0), pixel(0, height - 1)], [WHITE, WHITE]);
        let reader = png::Decoder::new(BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
        assert_eq!(reader.info().utf8_text[0].get_text().unwrap(), "ones are dark");
    }

    #[test]
    fn an_image_without_pixels_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.png");
        let nothing = ndarray::Array2::zeros((0, 3));
        assert!(matches!(save(&path, nothing.view(), &|_, _, _| INK, ""), Err(PictureError::File { .. })));
    }

    /// Width, height and bytes of an image.
    pub(crate) fn decode(path: &Path) -> (usize, usize, Vec<u8>) {
        let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        (frame.width as usize, frame.height as usize, bytes)
    }
}
