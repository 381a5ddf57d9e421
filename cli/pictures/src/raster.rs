//! Images: a plane of numbers as coloured squares in a PNG file.
//!
//! In: a two-dimensional field, a colour for each value.   Out: a PNG, RGB with 8 bits a channel. The first index runs
//! upwards, as `y` does in a drawing of the flow; small fields are enlarged by whole numbers, so that each cell stays
//! one square.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use ndarray::ArrayView2;

use crate::colour::Rgb;
use crate::error::PictureError;

/// Pixels that the longer side of an image has at least.
const AT_LEAST: usize = 512;

/// Pixels per cell, along both sides.
pub(crate) fn enlargement(rows: usize, columns: usize) -> usize {
    AT_LEAST.div_ceil(rows.max(columns).max(1))
}

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
    let failed = |source: std::io::Error| PictureError::File { path: path.to_owned(), source };
    let refused = |error: png::EncodingError| failed(error.into());
    let (rows, columns) = field.dim();
    let scale = enlargement(rows, columns);
    let side = |cells: usize| {
        let pixels = cells.checked_mul(scale).and_then(|pixels| u32::try_from(pixels).ok());
        pixels
            .ok_or_else(|| failed(std::io::Error::other(format!("an image of {rows} by {columns} cells is too large"))))
    };
    let (width, height) = (side(columns)?, side(rows)?);
    let file = BufWriter::new(File::create(path).map_err(failed)?);
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.add_itxt_chunk("Description".into(), description.into()).map_err(refused)?;
    let mut writer = encoder.write_header().map_err(refused)?;
    writer.write_image_data(&pixels(field, colour_of, scale)).map_err(refused)?;
    writer.finish().map_err(refused)
}

/// Bytes of the image, from its upper left: the last row of the field first.
fn pixels(field: ArrayView2<'_, f64>, colour_of: &dyn Fn(usize, usize, f64) -> Rgb, scale: usize) -> Vec<u8> {
    let (rows, columns) = field.dim();
    let mut bytes = Vec::with_capacity(rows * columns * scale * scale * 3);
    for row in (0..rows).rev() {
        let mut line = Vec::with_capacity(columns * scale * 3);
        for column in 0..columns {
            let Rgb(r, g, b) = colour_of(row, column, field[[row, column]]);
            (0..scale).for_each(|_| line.extend([r, g, b]));
        }
        (0..scale).for_each(|_| bytes.extend_from_slice(&line));
    }
    bytes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::colour::{INK, WHITE};
    use ndarray::array;
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
