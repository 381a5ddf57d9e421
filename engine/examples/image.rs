//! Sharpening photographs where they lie: a pipeline of two stages on borrowed arrays.
//!
//! `cargo run --release -p crease --example image -- [HEIGHT] [WIDTH]` sharpens a part of each channel of a made-up
//! photograph. Crease reads and writes the caller's arrays through `ndarray` views and copies nothing; between the
//! stages it keeps a few rows, not an image. Plain loops must come to the same pixels, bit for bit.

use std::error::Error;
use std::time::Instant;

use crease::prelude::*;
use ndarray::{Array2, Array3, ArrayView2, ArrayViewMut2, Axis, s};

/// `H` and `W` are the part's extents; the blur reaches two pixels further. Where `keep` is set, pixels stay as they
/// are.
const SHARPEN: &str = "
kernel sharpen(size H, W) for H >= 1 and W >= 1 {
  scalar amount: f32
  input image[y, x]: f32 for -2 <= y < H+2 and -2 <= x < W+2
  input keep[y, x]: u8 for 0 <= y < H and 0 <= x < W
  temp smooth[y, x]: f32 for -2 <= y < H+2 and 0 <= x < W
  output sharp[y, x]: f32 for 0 <= y < H and 0 <= x < W
  A[y, x] for -2 <= y < H+2 and 0 <= x < W {
    smooth[y,x] = 0.0625 * (image[y,x-2] + image[y,x+2]) + 0.25 * (image[y,x-1] + image[y,x+1]) + 0.375 * image[y,x]
  }
  B[y, x] for 0 <= y < H and 0 <= x < W {
    let blurred = 0.0625 * (smooth[y-2,x] + smooth[y+2,x]) + 0.25 * (smooth[y-1,x] + smooth[y+1,x]) + 0.375 * smooth[y,x]
    sharp[y,x] = select(keep[y,x] != 0, image[y,x], image[y,x] + amount * (image[y,x] - blurred))
  }
  schedule rows { A -> [y, x vector(8), 0]; B -> [y + 2, x vector(8), 1] }
}
";

/// How much of the difference from the blurred image is added.
const AMOUNT: f32 = 0.8;

fn main() -> Result<(), Box<dyn Error>> {
    let (height, width) = arguments()?;
    let plan = Kernel::parse(SHARPEN)?.plan().size("H", height as i64).size("W", width as i64).build()?;
    let image_bytes = 4 * (height + 4) * width;
    println!("between the stages {} bytes, a whole image {image_bytes} bytes", plan.folded_bytes());

    // Three channels, each with a border of 10 pixels that stays outside; a mask for all of them.
    let photo = Array3::from_shape_fn((3, height + 20, width + 20), |(c, y, x)| wave(c, y) * wave(c + 1, x));
    let keep = Array2::from_shape_fn((height, width), |(y, _)| u8::from(y < height / 8));
    let mut sharp = photo.clone();

    // One run for all channels: temporary storage is allocated once.
    let mut run = plan.compile()?.instantiate()?;
    run.set("amount", AMOUNT.into())?;
    let clock = Instant::now();
    for (from, mut to) in photo.axis_iter(Axis(0)).zip(sharp.axis_iter_mut(Axis(0))) {
        let image = from.slice(s![8..height + 12, 8..width + 12]);
        let part = to.slice_mut(s![10..height + 10, 10..width + 10]);
        run.run_on(&[("image", image.into()), ("keep", (&keep).into())], &mut [("sharp", part.into())])?;
    }
    let folded_time = clock.elapsed();

    let mut expected = photo.clone();
    let clock = Instant::now();
    for (from, mut to) in photo.axis_iter(Axis(0)).zip(expected.axis_iter_mut(Axis(0))) {
        let image = from.slice(s![8..height + 12, 8..width + 12]);
        stage_by_stage(image, keep.view(), to.slice_mut(s![10..height + 10, 10..width + 10]));
    }
    println!("folded {folded_time:.1?}, plain loops, stage by stage {:.1?}", clock.elapsed());
    if sharp != expected {
        return Err("folded and plain pixels differ".into());
    }

    // Any strides will do, at the speed of single cells: the same, transposed.
    let mut turned = Array2::<f32>::zeros((width, height));
    let image = photo.slice(s![0, 8..height + 12, 8..width + 12]);
    run.run_on(
        &[("image", image.into()), ("keep", (&keep).into())],
        &mut [("sharp", turned.view_mut().reversed_axes().into())],
    )?;
    if turned.t() != expected.slice(s![0, 10..height + 10, 10..width + 10]) {
        return Err("transposed pixels differ".into());
    }
    Ok(())
}

/// Extents of the part, from the command line.
fn arguments() -> Result<(usize, usize), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let height = arguments.next().map_or(Ok(1080), |word| word.parse())?;
    let width = arguments.next().map_or(Ok(1920), |word| word.parse())?;
    Ok((height, width))
}

/// Something to see, between 0 and 1.
fn wave(channel: usize, at: usize) -> f32 {
    let length = 10.0 + 7.0 * channel as f32;
    0.5 + 0.5 * (at as f32 / length).sin()
}

/// The same by hand: the first stage writes a whole image, the second reads it.
fn stage_by_stage(image: ArrayView2<'_, f32>, keep: ArrayView2<'_, u8>, mut sharp: ArrayViewMut2<'_, f32>) {
    let five = |a: f32, b: f32, c: f32, d: f32, e: f32| 0.0625 * (a + e) + 0.25 * (b + d) + 0.375 * c;
    let (height, width) = sharp.dim();
    let mut smooth = Array2::<f32>::zeros((height + 4, width));
    for (from, mut to) in image.rows().into_iter().zip(smooth.rows_mut()) {
        for x in 0..width {
            to[x] = five(from[x], from[x + 1], from[x + 2], from[x + 3], from[x + 4]);
        }
    }
    for y in 0..height {
        for x in 0..width {
            let column = |dy: usize| smooth[[y + dy, x]];
            let (pixel, blurred) = (image[[y + 2, x + 2]], five(column(0), column(1), column(2), column(3), column(4)));
            sharp[[y, x]] = if keep[[y, x]] != 0 { pixel } else { pixel + AMOUNT * (pixel - blurred) };
        }
    }
}
