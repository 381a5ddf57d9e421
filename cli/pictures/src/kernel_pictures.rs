//! Pictures of what a plan does with a small run of its kernel.
//!
//! In: a plan, a number of steps, moduli to force.   Out: SVG files in a directory, each with its table as CSV beside
//! it: `storage-map`, `lifetimes` (with `alive.csv` for the curve), `wavefronts`.

use std::fs;
use std::path::{Path, PathBuf};

use crease::Plan;

use crate::error::PictureError;
use crate::small_run::{ForcedModuli, SmallRun};
use crate::{lifetimes, storage_map, wavefronts};

/// What was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPictures {
    /// The files, in the order written.
    pub files: Vec<PathBuf>,
    /// What forced moduli break, if any were given: two cells alive at the same time in one place, or that none meet.
    pub verdict: Option<String>,
}

/// Draws every picture of `steps` steps into `directory`. `forced` names buffers and the moduli to draw them with.
///
/// # Errors
/// [`PictureError::TooMuchToDraw`] with sizes that would do, [`PictureError::UnknownBuffer`] or
/// [`PictureError::BadModuli`] for forced moduli that fit no buffer, [`PictureError::File`].
pub fn draw(
    plan: &Plan,
    steps: i64,
    forced: &[ForcedModuli],
    directory: &Path,
) -> Result<KernelPictures, PictureError> {
    let run = SmallRun::new(plan, steps, forced)?;
    fs::create_dir_all(directory).map_err(|source| PictureError::File { path: directory.to_owned(), source })?;
    let mut files = Vec::new();
    let mut file = |name: &str| {
        let path = directory.join(name);
        files.push(path.clone());
        path
    };
    if !run.folded_buffers().is_empty() {
        storage_map::draw(&run, &file("storage-map.svg"), &file("storage-map.csv"))?;
        lifetimes::draw(&run, &file("lifetimes.svg"), &file("lifetimes.csv"), &file("alive.csv"))?;
    }
    wavefronts::draw(&run, &file("wavefronts.svg"), &file("wavefronts.csv"))?;
    Ok(KernelPictures { files, verdict: run.verdict() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease::Kernel;

    fn plan(kernel: &Kernel, n: i64) -> Plan {
        kernel.plan().size("N", n).build().unwrap()
    }

    fn heat(n: i64) -> Plan {
        plan(&crease_kernels::find("heat-1d").unwrap().kernel().unwrap(), n)
    }

    /// The values of one attribute in a picture, in the order drawn.
    fn attributes(svg: &Path, name: &str) -> Vec<String> {
        let text = fs::read_to_string(svg).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        document.descendants().filter_map(|node| node.attribute(name).map(str::to_owned)).collect()
    }

    /// A column of a table.
    fn column(csv: &Path, name: &str) -> Vec<String> {
        let mut reader = csv::Reader::from_path(csv).unwrap();
        let position = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
        reader.records().map(|record| record.unwrap()[position].to_owned()).collect()
    }

    #[test]
    fn long_names_of_arrays_stay_in_the_picture() {
        for letters in [1, 25, 120] {
            let name = "u".repeat(letters);
            let text = format!(
                "kernel long(size N; run T) for N >= 3 {{
                   state {name}[t, x]: f64 for 0 <= x < N
                   S[t, x] for 1 <= t <= T and 0 <= x < N {{ {name}[t,x] = {name}[t-1,x] }}
                   schedule rows {{ S -> [t, x] }}
                 }}"
            );
            let directory = tempfile::tempdir().unwrap();
            draw(&plan(&Kernel::parse(&text).unwrap(), 5), 2, &[], directory.path()).unwrap();
            let svg = fs::read_to_string(directory.path().join("lifetimes.svg")).unwrap();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let ends = document.descendants().filter(|node| node.attribute("text-anchor") == Some("end"));
            let mut named = 0;
            for node in ends {
                let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
                let said = node.text().unwrap().trim();
                let width = 0.6 * number("font-size") * said.chars().count() as f64;
                assert!(number("x") >= width, "`{said}` begins left of the picture");
                named += usize::from(said.starts_with('u') && said.ends_with('3'));
            }
            assert_eq!(named, 1, "{letters} letters: the fourth cell has its number");
        }
    }

    const RED: &str = "#d61f1f";

    #[test]
    fn tables_hold_what_is_drawn_and_a_proved_mapping_has_no_red() {
        let directory = tempfile::tempdir().unwrap();
        let drawn = draw(&heat(9), 3, &[], directory.path()).unwrap();
        assert_eq!((drawn.files.len(), drawn.verdict), (7, None));
        let file = |name: &str| directory.path().join(name);
        // 4 levels of 9 cells and the 10 cells of storage.
        let mut cells = attributes(&file("storage-map.svg"), "data-cell");
        assert_eq!(cells.len(), 36 + 10);
        cells.truncate(36);
        assert_eq!(cells, column(&file("storage-map.csv"), "cell"));
        let mut drawn: Vec<String> = attributes(&file("lifetimes.svg"), "data-from");
        let mut listed = column(&file("lifetimes.csv"), "from");
        drawn.sort();
        listed.sort();
        assert_eq!(drawn, listed);
        assert_eq!(column(&file("alive.csv"), "alive").len(), 27 + 2);
        assert_eq!(attributes(&file("wavefronts.svg"), "data-wavefront"), column(&file("wavefronts.csv"), "wavefront"));
        for name in ["storage-map.svg", "lifetimes.svg", "wavefronts.svg"] {
            assert!(!attributes(&file(name), "fill").contains(&RED.to_owned()), "{name}");
        }
    }

    #[test]
    fn a_forced_collision_is_red_and_named() {
        let directory = tempfile::tempdir().unwrap();
        let forced = ["u=9".parse().unwrap()];
        let verdict = draw(&heat(9), 3, &forced, directory.path()).unwrap().verdict.unwrap();
        assert_eq!(verdict, "u forced to 9: u[0, 8] and u[1, 0] are alive at once and would share u[8]");
        let map = directory.path().join("storage-map.svg");
        let text = fs::read_to_string(&map).unwrap();
        assert!(text.contains(&verdict));
        let document = roxmltree::Document::parse(&text).unwrap();
        let red =
            document.descendants().filter(|node| node.has_tag_name("rect") && node.attribute("fill") == Some(RED));
        let titles: Vec<&str> = red.filter_map(|node| node.first_element_child()?.text()).collect();
        assert_eq!(titles, ["u[0, 8] in u[8]", "u[1, 0] in u[8]"]);
        let collides = column(&directory.path().join("storage-map.csv"), "collides");
        assert!(collides.iter().filter(|c| *c == "true").count() >= 2, "{collides:?}");
        let overlaps = attributes(&directory.path().join("lifetimes.svg"), "data-collision");
        assert!(!overlaps.is_empty());
    }

    #[test]
    fn moduli_that_suffice_collide_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let verdict = draw(&heat(9), 3, &["u=40".parse().unwrap()], directory.path()).unwrap().verdict;
        assert_eq!(verdict.as_deref(), Some("u forced to 40: no two live values meet in this run"));
    }

    #[test]
    fn diamonds_are_tiles_of_their_wavefronts() {
        let text = "
            kernel heat(size N; run T) {
              state u[t, x]: f64 for 0 <= x < N
              S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = 0.5 * u[t-1,x] + 0.25 * (u[t-1,x-1] + u[t-1,x+1]) }
              E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
              schedule diamond { S, E -> [floor((t+x)/4) + floor((t-x)/4), floor((t+x)/4) parallel, t, x] }
            }";
        let directory = tempfile::tempdir().unwrap();
        draw(&plan(&Kernel::parse(text).unwrap(), 12), 6, &[], directory.path()).unwrap();
        let csv = directory.path().join("wavefronts.csv");
        let (points, fronts) = (column(&csv, "point"), column(&csv, "wavefront"));
        let front = |t: i64, x: i64| (t + x).div_euclid(4) + (t - x).div_euclid(4);
        let first = (1..=6).flat_map(|t| (0..12).map(move |x| front(t, x))).min().unwrap();
        assert_eq!(points.len(), 72);
        for (point, wavefront) in points.iter().zip(&fronts) {
            let (t, x) = point.split_once(' ').unwrap();
            let expected = front(t.parse().unwrap(), x.parse().unwrap()) - first;
            assert_eq!(*wavefront, expected.to_string(), "at {point}");
        }
        let title = fs::read_to_string(directory.path().join("wavefronts.svg")).unwrap();
        assert!(title.contains("may run at once"));
    }

    #[test]
    fn scattered_cells_stand_in_the_table_only() {
        let text = "
            kernel scatter(size N) {
              temp a[x]: f64 for 0 <= x < 1000000 * N
              output o[i]: f64 for 0 <= i < N
              P[i] for 0 <= i < N { a[1000000*i] = 1.5 }
              Q[i] for 0 <= i < N { o[i] = a[1000000*i] }
              schedule seq { P -> [0, i]; Q -> [1, i] }
            }";
        let directory = tempfile::tempdir().unwrap();
        draw(&plan(&Kernel::parse(text).unwrap(), 4), 0, &[], directory.path()).unwrap();
        let map = fs::read_to_string(directory.path().join("storage-map.svg")).unwrap();
        assert!(map.contains("In the table only"), "{map}");
        assert_eq!(column(&directory.path().join("storage-map.csv"), "index"), ["0", "1000000", "2000000", "3000000"]);
    }

    #[test]
    fn what_cannot_be_drawn_says_what_can() {
        let directory = tempfile::tempdir().unwrap();
        let fail = |n: i64, forced: &str| {
            let forced: Vec<ForcedModuli> =
                [forced].iter().filter(|f| !f.is_empty()).map(|f| f.parse().unwrap()).collect();
            draw(&heat(n), 4, &forced, directory.path()).unwrap_err().to_string()
        };
        let message = fail(4000, "");
        assert!(message.contains("N = 4000, T = 4") && message.ends_with("--set N=500 --set T=4 can"), "{message}");
        assert!(fail(9, "v=8").contains("no folded buffer `v`; it has u"));
        assert!("u=0".parse::<ForcedModuli>().unwrap_err().to_string().contains("BUFFER=MODULUS"));
        assert!(fail(9, "u=3x3").contains("BUFFER=MODULUS"));
    }
}
