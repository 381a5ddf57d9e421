//! Series of files: what other programs read is what the run holds; interrupted series go on.

use std::fs;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crease::prelude::*;
use crease::{Cancel, RunError};
use crease_files::checkpoint;
use crease_files::{Derived, Existing, FileError, Format, Grid, Output, OutputError, OutputOptions, TimeLoop};
use ndarray::{Array2, ArrayD, arr0};
use ndarray_npy::{NpzReader, read_npy};
use roxmltree::Document;

use crate::kernels::{BY_ROWS, begun};

/// A field of a file of image data, with the numbers of the file that say where it is.
struct Image {
    extent: String,
    origin: String,
    spacing: String,
    time: f64,
    /// Name, type and cells of each field.
    fields: Vec<(String, String, Vec<f64>)>,
}

/// Reads a file of image data by what the format says of it.
fn read_image(path: &Path) -> Image {
    let bytes = fs::read(path).unwrap();
    let marker = b"<AppendedData encoding=\"raw\">\n   _";
    let data = bytes.windows(marker.len()).position(|window| window == marker).unwrap() + marker.len();
    let xml = format!("{}</AppendedData></VTKFile>", std::str::from_utf8(&bytes[..data]).unwrap());
    let document = Document::parse(&xml).unwrap();
    let node = |name: &str| document.descendants().find(|node| node.has_tag_name(name)).unwrap();
    let attribute = |name: &str, key: &str| node(name).attribute(key).unwrap().to_owned();
    assert_eq!(attribute("VTKFile", "byte_order") + &attribute("VTKFile", "header_type"), "LittleEndianUInt64");
    let arrays = node("PointData").children().filter(|node| node.has_tag_name("DataArray"));
    let field = |array: roxmltree::Node<'_, '_>| {
        let (name, kind) = (array.attribute("Name").unwrap(), array.attribute("type").unwrap());
        let at = data + array.attribute("offset").unwrap().parse::<usize>().unwrap();
        let count = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        let cells = &bytes[at + 8..at + 8 + count];
        let cells = match kind {
            "Float64" => cells.chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect(),
            "Float32" => cells.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap()).into()).collect(),
            _ => cells.iter().copied().map(f64::from).collect(),
        };
        (name.to_owned(), kind.to_owned(), cells)
    };
    Image {
        extent: attribute("ImageData", "WholeExtent"),
        origin: attribute("ImageData", "Origin"),
        spacing: attribute("ImageData", "Spacing"),
        time: node("FieldData").first_element_child().unwrap().text().unwrap().parse().unwrap(),
        fields: arrays.map(field).collect(),
    }
}

/// Steps and files of a collection.
fn collection(path: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(path).unwrap();
    let document = Document::parse(&text).unwrap();
    let sets = document.descendants().filter(|node| node.has_tag_name("DataSet"));
    let entry = |node: roxmltree::Node<'_, '_>| {
        (node.attribute("timestep").unwrap().to_owned(), node.attribute("file").unwrap().to_owned())
    };
    sets.map(entry).collect()
}

fn state(run: &Run, name: &str) -> ArrayD<f64> {
    let mut cells = ArrayD::<f64>::zeros(run.shape(name).unwrap());
    run.read(name, cells.view_mut()).unwrap();
    cells
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn image_data_is_what_the_run_holds() {
    let directory = tempfile::tempdir().unwrap();
    let mut run = begun(&BY_ROWS);
    let grid = Grid::default().origin([1.0, -2.5, 0.0]).spacing([0.5, 0.25, 1.0]).time_step(0.1);
    let options = OutputOptions::default().fields(["v", "u"]).grid(grid);
    let mut output = Output::begin(&run, Format::Vtk, &directory, &options).unwrap();
    run.advance_with(6, 4, |run, _| {
        output.write(run)?;
        Ok::<_, OutputError>(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(names(directory.path()), ["membrane.pvd", "membrane_00000004.vti", "membrane_00000006.vti"]);
    let image = read_image(&directory.path().join("membrane_00000006.vti"));
    assert_eq!((image.extent.as_str(), image.origin.as_str()), ("0 12 0 5 0 0", "1 -2.5 0"));
    assert_eq!((image.spacing.as_str(), image.time), ("0.5 0.25 1", 0.1 * 6.0));
    assert_eq!(image.fields[1].2, state(&run, "u").into_raw_vec_and_offset().0);
    assert_eq!((image.fields[0].0.as_str(), image.fields[0].1.as_str()), ("v", "Float32"));
    let list = collection(&directory.path().join("membrane.pvd"));
    assert_eq!(list[0], ("0.4".to_owned(), "membrane_00000004.vti".to_owned()));
}

/// Lines and volumes, half precision, indices that do not begin at 0.
#[test]
fn image_data_has_one_to_three_axes_and_the_indices_of_the_array() {
    let directory = tempfile::tempdir().unwrap();
    let run = begun(&BY_ROWS);
    Output::begin(&run, Format::Vtk, &directory, &OutputOptions::default().fields(["h"])).unwrap().write(&run).unwrap();
    let image = read_image(&directory.path().join("membrane_00000000.vti"));
    assert_eq!((image.extent.as_str(), image.fields[0].1.as_str()), ("2 12 0 0 0 0", "Float32"));
    assert_eq!(image.fields[0].2[3], f64::from(crease::f16::from_f32(1.0)));

    let kernel = Kernel::parse(
        "kernel box(size N; run T) {
           state u[t, z, y, x]: f32 for -1 <= z < 2 and 0 <= y < 2 and 0 <= x < N
           S[t, z, y, x] for 1 <= t <= T and -1 <= z < 2 and 0 <= y < 2 and 0 <= x < N {
             u[t,z,y,x] = u[t-1,z,y,x] + f32(100 * index(z) + 10 * index(y) + index(x)) }
           schedule s { S -> [t, z, y, x] }
         }",
    );
    let mut run = kernel.unwrap().plan().size("N", 5).build().unwrap().compile().unwrap().instantiate().unwrap();
    run.fill("u", 0.0_f32).unwrap();
    run.advance(1).unwrap();
    Output::begin(&run, Format::Vtk, &directory, &OutputOptions::default()).unwrap().write(&run).unwrap();
    let image = read_image(&directory.path().join("box_00000001.vti"));
    assert_eq!(image.extent, "0 4 0 1 -1 1");
    assert_eq!(image.fields[0].2[..7], [-100.0, -99.0, -98.0, -97.0, -96.0, -90.0, -89.0]);
    assert_eq!(image.fields[0].2.len(), 30);
}

#[test]
fn arrays_of_numpy_are_what_the_run_holds() {
    let directory = tempfile::tempdir().unwrap();
    let mut run = begun(&BY_ROWS);
    run.advance(2).unwrap();
    let options = OutputOptions::default().prefix("m");
    Output::begin(&run, Format::Npy, &directory, &options).unwrap().write(&run).unwrap();
    Output::begin(&run, Format::Npz, &directory, &options).unwrap().write(&run).unwrap();
    let file = |name: &str| directory.path().join(name);
    let all = ["m_00000002.npz", "m_h_00000002.npy", "m_seen_00000002.npy", "m_u_00000002.npy", "m_v_00000002.npy"];
    assert_eq!(names(directory.path()), all);
    let u: ArrayD<f64> = read_npy(file("m_u_00000002.npy")).unwrap();
    assert_eq!(u, state(&run, "u"));
    let h: ArrayD<f32> = read_npy(file("m_h_00000002.npy")).unwrap();
    assert_eq!((h.shape(), h[[0]]), (&[11][..], crease::f16::from_f32(-0.4).to_f32()));
    let mut archive = NpzReader::new(fs::File::open(file("m_00000002.npz")).unwrap()).unwrap();
    assert_eq!(archive.by_name::<ndarray::OwnedRepr<f64>, ndarray::IxDyn>("u").unwrap(), u);
    assert_eq!(archive.by_name::<ndarray::OwnedRepr<i64>, ndarray::Ix0>("step").unwrap(), arr0(2));
}

#[test]
fn pictures_are_upright_and_have_the_colours_of_the_range() {
    let directory = tempfile::tempdir().unwrap();
    let mut run = begun(&BY_ROWS);
    run.write("u", Array2::from_shape_fn((6, 13), |(y, x)| f64::from(u8::from(y == 5 && x == 0))).view()).unwrap();
    let options = OutputOptions::default().fields(["u"]).range(0.0, 1.0);
    Output::begin(&run, Format::Png, &directory, &options).unwrap().write(&run).unwrap();
    let file = BufReader::new(fs::File::open(directory.path().join("membrane_u_00000000.png")).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let text = reader.info().utf8_text[0].get_text().unwrap();
    assert_eq!(text, "u at step 0, from 0e0 to 1e0");
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    let scale = crease_files::enlargement(6, 13);
    assert_eq!((frame.width as usize, frame.height as usize), (13 * scale, 6 * scale));
    // The upper left corner is the first cell of the last row; viridis begins in purple and ends in yellow.
    assert_eq!((&bytes[..3], &bytes[3 * scale..][..3]), (&[253, 231, 37][..], &[68, 1, 84][..]));
}

#[test]
fn a_time_loop_does_what_is_due_at_multiples() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let mut run = begun(&BY_ROWS);
    run.advance(3).unwrap();
    let options = OutputOptions::default().fields(["u"]);
    let mut frames = Output::begin(&run, Format::Vtk, directory.path().join("vtk"), &options).unwrap();
    let (mut seen, mut saved) = (Vec::new(), Vec::new());
    TimeLoop::new()
        .output(5, &mut frames)
        .checkpoint(4, &path)
        .each(2, |run| {
            seen.push(run.step());
            Ok(())
        })
        .each(1, |run| {
            let step = checkpoint::Checkpoint::open(&path).ok().map(|file| file.step());
            saved.push((run.step(), step));
            Ok(())
        })
        .run(&mut run, 8)
        .unwrap();
    assert_eq!((run.step(), frames.steps().collect::<Vec<_>>()), (11, vec![3, 5, 10, 11]));
    assert_eq!(seen, [4, 6, 8, 10]);
    assert_eq!([saved[0], saved[4], saved[7]], [(4, Some(4)), (8, Some(8)), (11, Some(11))]);
    let refused = TimeLoop::new().each(0, |_| Ok(())).run(&mut run, 1).unwrap_err();
    assert!(matches!(refused, OutputError::NoInterval));
}

#[test]
fn a_cancelled_time_loop_saves_its_last_whole_step() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let mut run = begun(&BY_ROWS);
    let cancel = Cancel::new();
    run.cancel_with(&cancel);
    let stop = |run: &mut Run| {
        if run.step() == 6 {
            cancel.cancel();
        }
        Ok(())
    };
    let refused = TimeLoop::new().checkpoint(100, &path).each(3, stop).run(&mut run, 50).unwrap_err();
    let is_cancelled = matches!(refused, OutputError::Run(Error::Run(RunError::Cancelled { step: 6, left: _ })));
    assert!(is_cancelled && checkpoint::Checkpoint::open(&path).unwrap().step() == 6, "{refused}");
}

#[test]
fn series_are_refused_replaced_or_continued() {
    let directory = tempfile::tempdir().unwrap();
    let vtk = directory.path().join("deep/vtk");
    let write = |existing: Existing, steps: &[u64]| -> Result<Vec<i64>, OutputError> {
        let mut run = begun(&BY_ROWS);
        run.advance(steps[0])?;
        let options = OutputOptions::default().fields(["u"]).existing(existing);
        let mut output = Output::begin(&run, Format::Vtk, &vtk, &options)?;
        for &more in &steps[1..] {
            run.advance(more)?;
            output.write(&run)?;
        }
        Ok(output.steps().collect())
    };
    assert_eq!(write(Existing::Refuse, &[0, 2, 2, 2]).unwrap(), [2, 4, 6]);
    let refused = write(Existing::Refuse, &[0, 2]).unwrap_err();
    assert!(matches!(&refused, OutputError::Exists { path } if path.ends_with("membrane_00000002.vti")), "{refused}");
    // A file that the list does not name, as a process leaves that was killed between the two, and files of others.
    fs::copy(vtk.join("membrane_00000002.vti"), vtk.join("membrane_00000003.vti")).unwrap();
    fs::write(vtk.join("membrane_notes_00000009.txt"), "mine").unwrap();
    assert_eq!(write(Existing::Continue, &[4, 1]).unwrap(), [2, 3, 4, 5]);
    let files: Vec<String> = collection(&vtk.join("membrane.pvd")).into_iter().map(|(_, file)| file).collect();
    assert_eq!(files, [2, 3, 4, 5].map(|step| format!("membrane_{step:08}.vti")));
    assert!(!vtk.join("membrane_00000006.vti").exists());
    assert_eq!(write(Existing::Replace, &[0, 7]).unwrap(), [7]);
    let left = ["membrane.pvd", "membrane_00000007.vti", "membrane_notes_00000009.txt"];
    assert_eq!(names(&vtk), left);
    fs::write(vtk.join("membrane.pvd"), "<nonsense/>").unwrap();
    assert!(matches!(write(Existing::Continue, &[9, 1]), Err(OutputError::Series { .. })));
}

#[test]
fn what_cannot_be_written_is_said_before_the_first_step() {
    let directory = tempfile::tempdir().unwrap();
    let run = begun(&BY_ROWS);
    let refused = |format: Format, options: OutputOptions| {
        Output::begin(&run, format, directory.path().join("out"), &options).map(|_| ()).unwrap_err()
    };
    let fields = |names: &[&str]| OutputOptions::default().fields(names.iter().copied());
    let said = |error: OutputError| (error.code(), error.to_string());
    assert_eq!(
        said(refused(Format::Npy, fields(&["u", "mask"]))),
        ("output/unknown-field", "kernel `membrane` has no field `mask`; it has u, v, h, seen".to_owned())
    );
    assert_eq!(said(refused(Format::Npz, fields(&["u", "u"]))).0, "output/twice");
    let grids = said(refused(Format::Vtk, OutputOptions::default()));
    assert!(grids.0 == "output/grids" && grids.1.contains("0 to 5 by 0 to 12 and 2 to 12"), "{grids:?}");
    let lines = said(refused(Format::Png, fields(&["h"])));
    assert_eq!(lines, ("output/dimensions", "field `h` has 1 indices, a picture takes 2 or more".to_owned()));
    let spacing = OutputOptions::default().fields(["u"]).grid(Grid::default().spacing([1.0, 0.0, 1.0]));
    assert_eq!(said(refused(Format::Vtk, spacing)).1, "a spacing is 0; it has to be finite and positive");
    for wrong in ["", "a/b", ".a", "../a", "a\"b"] {
        assert_eq!(said(refused(Format::Npy, OutputOptions::default().prefix(wrong))).0, "output/file-name");
    }
    assert!(!directory.path().join("out").exists());
    fs::write(directory.path().join("file"), "").unwrap();
    let inside: PathBuf = directory.path().join("file/out");
    let error = Output::begin(&run, Format::Npy, &inside, &OutputOptions::default()).map(|_| ()).unwrap_err();
    assert!(matches!(&error, OutputError::File(FileError::Io { path, .. }) if *path == inside), "{error}");
}

/// Fields that are computed of others go to every format, and are refused where they are not what was said.
#[test]
fn derived_fields_are_written_like_arrays() {
    let directory = tempfile::tempdir().unwrap();
    let mut run = begun(&BY_ROWS);
    let derived = |rows: usize| {
        Derived::new([("double", vec![(0, 5), (0, 12)])], move |run| {
            let mut cells = Array2::<f64>::zeros((6, 13));
            run.read("u", cells.view_mut())?;
            Ok(vec![(2.0 * cells).slice_move(ndarray::s![..rows, ..]).into_dyn()])
        })
    };
    let options = OutputOptions::default();
    for format in [Format::Vtk, Format::Npy, Format::Npz, Format::Png] {
        Output::begin_derived(&run, format, &directory, &options, Some(derived(6))).unwrap().write(&run).unwrap();
    }
    let double: ArrayD<f64> = read_npy(directory.path().join("membrane_double_00000000.npy")).unwrap();
    assert_eq!(double, 2.0 * state(&run, "u"));
    let image = read_image(&directory.path().join("membrane_00000000.vti"));
    assert_eq!((image.fields.len(), &image.fields[0].2), (1, &double.into_raw_vec_and_offset().0));
    assert!(directory.path().join("membrane_double_00000000.png").exists());

    run.advance(1).unwrap();
    let both = options.fields(["double", "u"]).existing(Existing::Continue);
    let mut output = Output::begin_derived(&run, Format::Vtk, &directory, &both, Some(derived(6))).unwrap();
    output.write(&run).unwrap();
    assert_eq!(read_image(&directory.path().join("membrane_00000001.vti")).fields.len(), 2);
    let mut output = Output::begin_derived(&run, Format::Vtk, &directory, &both, Some(derived(5))).unwrap();
    let refused = output.write(&run).unwrap_err().to_string();
    assert!(refused.ends_with("field `double` was to have shape [6, 13] and has [5, 13]"), "{refused}");
}

/// Extents of VTK are 32-bit numbers of at least one point, and pictures need a plane.
#[test]
fn fields_that_a_format_cannot_hold_are_refused() {
    let kernel = Kernel::parse(
        "kernel far(size N, K; run T) for N >= 0 and K >= 0 {
           state u[t, x]: f64 for K <= x < K + N
           S[t, x] for 1 <= t <= T and K <= x < K + N { u[t,x] = u[t-1,x] + 1 }
           schedule s { S -> [t, x] }
         }",
    )
    .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let refused = |format: Format, n: i64, k: i64| {
        let run = kernel.plan().size("N", n).size("K", k).build().unwrap().compile().unwrap().instantiate().unwrap();
        Output::begin(&run, format, &directory, &OutputOptions::default()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(Format::Vtk, 2, 1 << 31).contains("has indices 2147483648 to 2147483649, and extents"));
    assert!(refused(Format::Vtk, 0, 0).contains("of at least one point"));
    let none = refused(Format::Png, 2, 0);
    assert_eq!(none, "kernel `far` leaves no array of 2 or more indices, which is what a picture takes");
}

/// Outputs have no value before the first step; a directory that vanishes is an error that names it.
#[test]
fn outputs_are_left_out_before_they_are_computed() {
    let kernel = Kernel::parse(
        "kernel last(size N; run T) {
           state u[t, x]: f64 for 0 <= x < N
           output b[x]: f64 for 0 <= x < N
           S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + 1 }
           B[t, x] for 1 <= t <= T and t = T and 0 <= x < N { b[x] = u[t,x] }
           schedule s { S -> [t, 0, x]; B -> [t, 1, x] }
         }",
    );
    let mut run = kernel.unwrap().plan().size("N", 5).build().unwrap().compile().unwrap().instantiate().unwrap();
    run.fill("u", 0.0).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut output = Output::begin(&run, Format::Npy, &out, &OutputOptions::default()).unwrap();
    TimeLoop::new().output(1, &mut output).run(&mut run, 1).unwrap();
    assert_eq!(names(&out), ["last_b_00000001.npy", "last_u_00000000.npy", "last_u_00000001.npy"]);
    fs::remove_dir_all(&out).unwrap();
    let error = output.write(&run).unwrap_err().to_string();
    assert!(error.contains("cannot create") && error.contains("out"), "{error}");
}
