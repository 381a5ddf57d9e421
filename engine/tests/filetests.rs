//! Filetests of the stages behind the parser: `tests/filetests/{arithmetic,fold,parametric,stages}/*.crk`.
//!
//! A file holds a comment that says what it shows, one or more test lines, a kernel, and what the stages print:
//!
//! ```text
//! ; test conflicts, mapping(N = 8, schedule = rows, strategy = auto, horizon = 4, quota = 10000)
//! ```
//!
//! names stages (or `notes` and `losses`: those of the report; `parametric`: what is known of other sizes), sizes, and
//! what else is not the default (`rounding = lines`, `rings = double-mapped`, `view = reallocation`, too);
//! `mapping = paper` gives the storage that a line `; mapping paper: blurx[y, x] -> [..]` of the comment describes.
//! Each test line has its section behind the kernel, as comments after `; ==` and the line's text; a plan that is
//! refused prints `error:` and the message. `BLESS=1` rewrites them. What is printed of storage is given to another
//! plan, to be proved again: of the first test line of each file, and of the others with `CREASE_THOROUGH`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crease::kernel::graph::Kernel;
use crease::{Plan, PlanBuilder, Stage, StorageView};

use crate::is_thorough;

const TEST: &str = "; test ";
const MAPPING: &str = "; mapping ";
const SECTION: &str = "; == ";

const FOLDERS: [&str; 4] = ["arithmetic", "fold", "parametric", "stages"];

fn files() -> Vec<PathBuf> {
    FOLDERS.iter().flat_map(|folder| files_of(folder)).collect()
}

fn files_of(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder is there").map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "crk"));
    files.sort();
    assert!(!files.is_empty(), "no filetests in {}", folder.display());
    files
}

/// The storage that a comment gives under that name.
fn given<'f>(file: &'f str, name: &str) -> &'f str {
    let lines = file.lines().filter_map(|line| line.strip_prefix(MAPPING)?.split_once(':'));
    let (_, rules) = lines.clone().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no mapping `{name}`"));
    rules.trim()
}

/// The plan of a kernel as `key = value` pairs say.
fn plan(file: &str, kernel: &Kernel, options: &str) -> PlanBuilder {
    let mut builder = kernel.plan();
    for option in options.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap_or_else(|| panic!("`{option}` is no `key = value`"));
        let (key, value) = (key.trim(), value.trim());
        builder = match key {
            "schedule" => builder.schedule(value),
            "strategy" => builder.strategy(value.parse().unwrap()),
            "mapping" => builder.mapping(given(file, value)),
            "rounding" => builder.rounding(value.parse().unwrap()),
            "rings" => builder.rings(value.parse().unwrap()),
            "view" if value == "reallocation" => builder.storage_view(StorageView::Reallocation),
            "threads" => builder.threads(value.parse().expect("a number of threads")),
            "horizon" => builder.horizon(value.parse().expect("a number of steps")),
            "quota" => builder.operation_quota(value.parse().expect("a number of operations")),
            size => builder.size(size, value.parse().expect("a size")),
        };
    }
    builder
}

/// The mapping that a plan prints, given to the next one instead of what led to it, is proved again and prints alike.
fn verify_round_trip(plan_of: impl Fn(&str) -> PlanBuilder, options: &str, printed: &str) {
    let chosen = |option: &&str| option.trim().starts_with("strategy") || option.trim().starts_with("mapping");
    let others: Vec<&str> = options.split(',').filter(|option| !chosen(option)).collect();
    let again = plan_of(&others.join(",")).mapping(printed).build().unwrap_or_else(|e| panic!("{e}\n{printed}"));
    // Full storage, which is chosen as such, is never private; comments say what is.
    let rule = |line: &str| line.split('#').next().unwrap_or_default().trim_end().to_owned();
    let lines = |text: &str| text.lines().map(rule).collect::<BTreeSet<_>>();
    assert_eq!(lines(&again.dump(Stage::Mapping).unwrap()), lines(printed));
}

/// What one test line prints.
fn section(file: &str, kernel: &Kernel, test: &str, is_read_back: bool) -> String {
    let (stages, options) = test.split_once('(').unwrap_or((test, ")"));
    let options = options.trim_end().strip_suffix(')').expect("options end with `)`");
    let planned = match plan(file, kernel, options).build() {
        Ok(planned) => planned,
        Err(error) => return format!("error: {error}"),
    };
    let print = |name: &str| {
        if name == "notes" {
            return planned.report().notes.join("\n");
        }
        if name == "losses" {
            return planned.report().losses.iter().map(|loss| loss.text.as_str()).collect::<Vec<_>>().join("\n");
        }
        if name == "parametric" {
            return parametric(&planned);
        }
        let stage: Stage = name.parse().unwrap();
        planned.dump(stage).unwrap().trim_end().to_string()
    };
    if is_read_back {
        verify_round_trip(|options| plan(file, kernel, options), options, &planned.dump(Stage::Mapping).unwrap());
    }
    stages.split(',').map(|name| print(name.trim())).collect::<Vec<_>>().join("\n\n")
}

/// What is known of the mappings at other sizes.
fn parametric(plan: &Plan) -> String {
    let mut lines = Vec::new();
    for array in plan.parametric().unwrap().arrays {
        for mapping in &array.mappings {
            lines.push(format!("{}, {}:", mapping.strategy, mapping.standing()));
            lines.extend(mapping.pieces.iter().map(|piece| format!("  {}", piece.formula)));
        }
        lines.extend(array.notes.iter().map(|note| format!("{}: {note}", array.name)));
    }
    lines.join("\n")
}

/// The file as it should be.
fn expected_file(file: &str) -> String {
    let text = file.split(SECTION).next().unwrap_or_default().trim_end();
    let kernel = Kernel::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut expected = format!("{text}\n");
    for (number, test) in text.lines().filter_map(|line| line.strip_prefix(TEST)).enumerate() {
        expected.push_str(&format!("{SECTION}{test}\n"));
        for line in section(text, &kernel, test, number == 0 || is_thorough()).lines() {
            expected.push_str(format!("; {line}").trim_end());
            expected.push('\n');
        }
    }
    expected
}

/// What is wrong with a file, if it is not what it should be and is not to be rewritten.
fn fault(path: &Path) -> Option<String> {
    let file = fs::read_to_string(path).unwrap();
    let expected = expected_file(&file);
    if file == expected {
        return None;
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, &expected).unwrap();
        return None;
    }
    Some(format!("{}:\n--- in the file\n{file}--- from the engine\n{expected}", path.display()))
}

/// On all cores, as files take from milliseconds to seconds.
#[test]
fn files_say_what_the_stages_print() {
    let (files, next, wrong) = (files(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // The lock is for the list alone.
                    let found = fault(path);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "BLESS=1 accepts:\n{}", wrong.join("\n"));
}

/// Text blocks of a section of a document, and the line where each starts.
fn text_blocks<'d>(document: &'d str, section: &str) -> Vec<(usize, &'d str)> {
    let start = document.find(section).unwrap_or_else(|| panic!("no section `{section}`"));
    let rest = &document[start + section.len()..];
    let body = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    let fences: Vec<&str> = body.split("```").collect();
    let lines_before = |k: usize| document[..start].lines().count() + fences[..k].concat().lines().count();
    let blocks = (1..fences.len()).step_by(2);
    blocks.filter_map(|k| Some((lines_before(k), fences[k].strip_prefix("text\n")?))).collect()
}

/// Machine code differs from processor to processor, so its block is not compared.
#[test]
fn the_architecture_quotes_real_dumps() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let document = fs::read_to_string(root.join("docs/ARCHITECTURE.md")).unwrap();
    let file = fs::read_to_string(root.join("engine/tests/filetests/stages/heat_1d.crk")).unwrap();
    let dumps: Vec<&str> = file.lines().filter_map(|line| line.strip_prefix(';')).map(str::trim_end).collect();
    let dumps: String = dumps.iter().map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    let blocks = text_blocks(&document, "\n## 4. ");
    assert!(blocks.len() >= 7, "one block a stage");
    for (line, block) in blocks.into_iter().filter(|(_, block)| !block.contains('%') || block.contains("program")) {
        assert!(dumps.contains(block), "line {line} of the architecture quotes what no stage prints:\n{block}");
    }
}
