//! Pixels whose colours lie beside each other, as arrays of NumPy, files and cameras have them: a blur, brightness, half
//! the size, one image over another, and an unsharp mask.
//!
//! Rows of three or four cells go on from pixel to pixel, so that those which treat all colours alike are one strip; of
//! others, colours are streams that take every third or fourth cell.
//!
//! Source: Burt, Adelson: The Laplacian Pyramid as a Compact Image Code, 1983 (binomial weights; means of two by two
//! pixels are their REDUCE with equal weights); ITU-R BT.601, section 2.5.1 (brightness); Porter, Duff: Compositing
//! Digital Images, 1984 (over), and Blinn: Three Wrongs Make a Right, 1995 (quotients by 255).

use crease::kernel::graph::Kernel;

use crate::catalogue::{Case, Entry, Preset};
use crate::fields::{Field, Fields, KernelDataError, cells};
use crate::grid::Grid;
use crate::image::pixel::disc;
use crate::real::Real;

/// A blur of three colours, of bytes.
pub const BLUR: Entry = Entry {
    name: "blur-rgb-u8",
    summary: "binomial blur of nine pixels with three colours beside each other, of bytes",
    source: "Burt, Adelson 1983",
    definition: || Kernel::parse(include_str!("../texts/blur_rgb_u8.crk")),
    scalars: &[],
    default: Preset { sizes: &[("NY", 601), ("NX", 811)], steps: 0 },
    tests: &[
        Preset { sizes: &[("NY", 67), ("NX", 29)], steps: 0 },
        Preset { sizes: &[("NY", 2), ("NX", 2)], steps: 0 },
    ],
    benches: &[Preset { sizes: &[("NY", 3001), ("NX", 4001)], steps: 0 }],
    sites: |case| Ok(cells(&pixels(case, 2)?)? as u64),
    initial: |case| Ok(Fields::from([("image".to_owned(), bytes(&colours(case, 2, 3)?)?)])),
    naive: naive_blur_of_bytes,
    published: &[],
};

/// The same in single precision.
pub const BLUR_F32: Entry = Entry {
    name: "blur-rgb-f32",
    summary: "binomial blur of nine pixels with three colours beside each other, f32",
    definition: || f32::parse(include_str!("../texts/blur_rgb.crk")),
    initial: |case| Ok(Fields::from([("image".to_owned(), image::<f32>(&colours(case, 2, 3)?)?)])),
    naive: naive_blur,
    ..BLUR
};

/// Brightness of three colours.
pub const GRAY: Entry = Entry {
    name: "gray-rgb-u8",
    summary: "brightness of pixels with three colours beside each other, of bytes",
    source: "ITU-R BT.601",
    definition: || Kernel::parse(include_str!("../texts/gray_rgb_u8.crk")),
    tests: &[
        Preset { sizes: &[("NY", 5), ("NX", 137)], steps: 0 },
        Preset { sizes: &[("NY", 1), ("NX", 1)], steps: 0 },
    ],
    sites: |case| Ok(cells(&pixels(case, 1)?)? as u64),
    initial: |case| Ok(Fields::from([("image".to_owned(), bytes(&colours(case, 1, 3)?)?)])),
    naive: naive_gray,
    ..BLUR
};

/// Means of two by two pixels.
pub const HALF: Entry = Entry {
    name: "half-rgb-u8",
    summary: "half the size, by means of four pixels with three colours beside each other, of bytes",
    definition: || Kernel::parse(include_str!("../texts/half_rgb_u8.crk")),
    benches: &[Preset { sizes: &[("NY", 1501), ("NX", 2001)], steps: 0 }],
    initial: |case| {
        let [ny, nx, colours] = colours(case, 1, 3)?;
        Ok(Fields::from([("image".to_owned(), bytes(&[2 * ny, 2 * nx, colours])?)]))
    },
    naive: naive_half,
    source: "Burt, Adelson 1983",
    ..GRAY
};

/// One image over another.
pub const OVER: Entry = Entry {
    name: "over-rgba-u8",
    summary: "one image over another, with three colours and opacity beside each other, of bytes",
    source: "Porter, Duff 1984; Blinn 1995",
    definition: || Kernel::parse(include_str!("../texts/over_rgba_u8.crk")),
    initial: |case| {
        let shape = colours(case, 1, 4)?;
        let [front, back] = [bytes(&shape)?, bytes(&shape)?.mapv_into(|byte| 255.0 - byte)];
        Ok(Fields::from([("front".to_owned(), multiplied(front)), ("back".to_owned(), multiplied(back))]))
    },
    naive: naive_over,
    ..GRAY
};

/// An unsharp mask of three colours in single precision.
pub const UNSHARP_F32: Entry = Entry {
    name: "unsharp-rgb-f32",
    summary: "unsharp mask of pixels with three colours beside each other, by a blur of 25, f32",
    definition: || f32::parse(include_str!("../texts/unsharp_rgb.crk")),
    scalars: &[("amount", 1.5)],
    tests: &[
        Preset { sizes: &[("NY", 69), ("NX", 13)], steps: 0 },
        Preset { sizes: &[("NY", 1), ("NX", 1)], steps: 0 },
    ],
    sites: |case| Ok(cells(&pixels(case, 1)?)? as u64),
    initial: |case| {
        let [ny, nx, colours] = colours(case, 1, 3)?;
        Ok(Fields::from([("image".to_owned(), image::<f32>(&[ny + 4, nx + 4, colours])?)]))
    },
    naive: naive_unsharp,
    ..BLUR_F32
};

/// Brightness of red, green and blue in 1/256.
const BRIGHTNESS: [f64; 3] = [77.0, 150.0, 29.0];

fn pixels(case: &Case, at_least: usize) -> Result<[usize; 2], KernelDataError> {
    Ok([case.extent("NY", at_least)?, case.extent("NX", at_least)?])
}

fn colours(case: &Case, at_least: usize, colours: usize) -> Result<[usize; 3], KernelDataError> {
    let [ny, nx] = pixels(case, at_least)?;
    Ok([ny, nx, colours])
}

/// A disc in each colour, with other noise.
fn image<P: Real>(&[ny, nx, colours]: &[usize; 3]) -> Result<Field, KernelDataError> {
    let planes = disc::<P>(&[colours, ny, nx])?;
    Ok(planes.permuted_axes(vec![1, 2, 0]).as_standard_layout().into_owned())
}

/// The same from 0 to 255, and the brightest pixels beyond, which end there.
fn bytes(shape: &[usize; 3]) -> Result<Field, KernelDataError> {
    Ok(image::<f64>(shape)?.mapv_into(|pixel| (pixel.abs() * 300.0).min(255.0).trunc()))
}

/// No colour brighter than its pixel is opaque.
fn multiplied(mut image: Field) -> Field {
    for mut pixel in image.rows_mut() {
        let opacity = pixel[3];
        pixel.mapv_inplace(|colour| colour.min(opacity));
    }
    image
}

fn out<P: Real, const D: usize>(pixels: &Grid<P, D>) -> Fields {
    Fields::from([("out".to_owned(), pixels.field())])
}

/// All nine products of each pixel at once.
fn naive_blur_of_bytes(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = colours(case, 2, 3)?;
    let image = Grid::<f64, 3>::read(initial, "image", shape)?;
    Ok(out(&Grid::of(shape, |[y, x, c]| {
        let weight = |k: i64| if k == 1 { 2.0 } else { 1.0 };
        let product = |k: i64| weight(k / 3) * weight(k % 3) * image.nearest([y + k / 3 - 1, x + k % 3 - 1, c]);
        (((0..9).map(product).sum::<f64>() + 8.0) / 16.0).floor()
    })))
}

fn naive_blur(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = colours(case, 2, 3)?;
    let image = Grid::<f32, 3>::read(initial, "image", shape)?;
    let three = |a: f32, b: f32, c: f32| 0.25 * a + 0.5 * b + 0.25 * c;
    let sums = Grid::of(shape, |[y, x, c]| {
        three(image.nearest([y, x - 1, c]), image[[y, x, c]], image.nearest([y, x + 1, c]))
    });
    Ok(out(&Grid::<f32, 3>::of(shape, |[y, x, c]| {
        three(sums.nearest([y - 1, x, c]), sums[[y, x, c]], sums.nearest([y + 1, x, c]))
    })))
}

fn naive_gray(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let image = Grid::<f64, 3>::read(initial, "image", colours(case, 1, 3)?)?;
    Ok(out(&Grid::<f64, 2>::of(pixels(case, 1)?, |[y, x]| {
        let sum: f64 = (0..3).map(|c| BRIGHTNESS[c as usize] * image[[y, x, c]]).sum();
        ((sum + 128.0) / 256.0).floor()
    })))
}

fn naive_half(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = colours(case, 1, 3)?;
    let image = Grid::<f64, 3>::read(initial, "image", [2 * shape[0], 2 * shape[1], 3])?;
    Ok(out(&Grid::<f64, 3>::of(shape, |[y, x, c]| {
        let sum: f64 = (0..4).map(|k| image[[2 * y + k / 2, 2 * x + k % 2, c]]).sum();
        ((sum + 2.0) / 4.0).floor()
    })))
}

/// With a division; no product of two bytes is halfway between two multiples of 255.
fn naive_over(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let shape = colours(case, 1, 4)?;
    let [front, back] = ["front", "back"].map(|name| Grid::<f64, 3>::read(initial, name, shape));
    let (front, back) = (front?, back?);
    Ok(out(&Grid::<f64, 3>::of(shape, |[y, x, c]| {
        let behind = (back[[y, x, c]] * (255.0 - front[[y, x, 3]]) / 255.0).round();
        (front[[y, x, c]] + behind).min(255.0)
    })))
}

fn naive_unsharp(case: &Case, initial: &Fields) -> Result<Fields, KernelDataError> {
    let [ny, nx, colours] = colours(case, 1, 3)?;
    let image = Grid::<f32, 3>::read(initial, "image", [ny + 4, nx + 4, colours])?;
    let amount = f32::of(case.scalar("amount")?);
    let five = |pixel: &dyn Fn(i64) -> f32| {
        let products = [0.0625, 0.25, 0.375, 0.25, 0.0625].iter().zip(0..);
        products.map(|(weight, d)| weight * pixel(d)).reduce(|sum, product| sum + product).expect("there are five")
    };
    let wide = Grid::<f32, 3>::of([ny + 4, nx, colours], |[y, x, c]| five(&|d| image[[y, x + d, c]]));
    Ok(out(&Grid::<f32, 3>::of([ny, nx, colours], |[y, x, c]| {
        let pixel = image[[y + 2, x + 2, c]];
        (pixel + amount * (pixel - five(&|d| wide[[y + d, x, c]]))).clamp(0.0, 1.0)
    })))
}
