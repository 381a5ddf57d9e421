//! The cache of plans: what is found again, what is not, and what a damaged or foreign file is taken for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crease::plan::Plan;
use crease::prelude::*;
use crease::{CompileOptions, IsaChoice, Kept, MachineModel, PlanBuilder, PlanCache, Rounding, StorageView, Unroll};

const HEAT: &str = "kernel heat(size N; run T) for N >= 4 {
  scalar r: f64
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x] + r * (u[t-1,x-1] + u[t-1,x+1]) }
  B[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S -> [t, 0, x]; B -> [t, 1, x] }
  schedule late { S -> [t, 1, x]; B -> [t, 0, x] }
  observe total { reduce sum all: f64 A[t, x] for 0 <= x < N { all = u[t,x] } }
}";

fn heat() -> PlanBuilder {
    Kernel::parse(HEAT).unwrap().plan().size("N", 40).schedule("rows").threads(1)
}

fn built(plan: PlanBuilder, cache: &PlanCache) -> Plan {
    plan.cache(cache.clone()).build().unwrap()
}

/// Files of one kind in a directory.
fn files(directory: &Path, kind: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(kind)).collect()
}

#[test]
fn whatever_a_plan_depends_on_makes_it_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let cache = PlanCache::in_directory(directory.path().join("plans"));
    let machine = MachineModel::detect();
    let other_bits = Kernel::parse(&HEAT.replace("r * (", "0.1 * (")).unwrap().plan().size("N", 40);
    let plans = [
        heat(),
        heat().size("N", 41),
        heat().schedule("late"),
        heat().schedule("auto"),
        heat().threads(2),
        heat().strategy(StrategyChoice::Full).horizon(3),
        heat().strategy(StrategyChoice::Full).horizon(4),
        heat().objective(Objective::Footprint),
        heat().rounding(Rounding::Exact),
        heat().mapping("u[t, x] -> [t mod 2, x]"),
        heat().machine(machine.caches(1 << 12, 1 << 13)),
        heat().machine(machine.vector_registers(8)),
        heat().machine(machine.far_last_level(!machine.is_last_level_far)),
        heat().cache_bytes(1 << 12),
        heat().operation_quota(199_999_999),
        heat().work_limit(1 << 19),
        heat().run_opaque_functions(true),
        heat().storage_view(StorageView::Reallocation),
        other_bits.schedule("rows").threads(1),
    ];
    for (number, plan) in plans.iter().enumerate() {
        assert_eq!(*built(plan.clone(), &cache).kept(), Kept::Added, "{number}");
    }
    for (number, plan) in plans.iter().enumerate() {
        assert_eq!(*built(plan.clone(), &cache).kept(), Kept::Found, "{number}");
    }
    // What a kernel means is not where its text stands, nor what it may take at most.
    let moved = Kernel::parse(&format!("\n\n{HEAT}")).unwrap().plan().size("N", 40).schedule("rows").threads(1);
    assert_eq!(*built(moved, &cache).kept(), Kept::Found);
    assert_eq!(*built(heat().memory_cap_bytes(1 << 20), &cache).kept(), Kept::Found);
    let refused = heat().memory_cap_bytes(100).cache(cache.clone()).build();
    assert!(matches!(refused, Err(Error::Plan(_))), "{refused:?}");
    assert_eq!(*heat().build().unwrap().kept(), Kept::Off);
}

#[test]
fn whatever_code_depends_on_makes_it_other_code() {
    let directory = tempfile::tempdir().unwrap();
    let cache = PlanCache::in_directory(directory.path().join("plans"));
    let plan = built(heat(), &cache);
    let variants = [
        CompileOptions::default(),
        CompileOptions::default().choice(IsaChoice::Scalar),
        CompileOptions::default().unroll(Unroll::Exactly(2)),
        CompileOptions::default().verify_code(true),
    ];
    for expected in [Kept::Added, Kept::Found] {
        for options in &variants {
            assert_eq!(*plan.compile_with(options).unwrap().kept(), expected, "{options:?}");
        }
    }
    assert_eq!(*plan.compile_with(&CompileOptions::default().texts(true)).unwrap().kept(), Kept::Off);
    // A limit holds whether or not the work was done before.
    let refused = Kernel::parse(HEAT).unwrap().plan().size("N", 40).schedule("rows").threads(1).work_limit(1);
    assert!(refused.cache(cache).build().is_err());
}

#[test]
fn what_is_damaged_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let cache = PlanCache::in_directory(directory.path().join("plans"));
    built(heat(), &cache).compile().unwrap();
    for kind in ["plan", "code"] {
        let [file] = &files(cache.directory().unwrap(), kind)[..] else { panic!("one {kind}") };
        let mut bytes = fs::read(file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        fs::write(file, bytes).unwrap();
    }
    let plan = built(heat(), &cache);
    assert_eq!(*plan.kept(), Kept::Added);
    assert_eq!(*plan.compile().unwrap().kept(), Kept::Added);
    assert_eq!(*built(heat(), &cache).kept(), Kept::Found);
}

#[test]
fn where_nothing_can_be_kept_that_is_said_and_plans_are_made() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let plan = built(heat(), &PlanCache::in_directory(directory.path()));
    let Kept::Not(why) = plan.kept() else { panic!("{:?}", plan.kept()) };
    assert!(why.contains("777") && why.contains(directory.path().to_str().unwrap()), "{why}");
    assert!(matches!(plan.compile().unwrap().kept(), Kept::Not(_)));
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let plan = built(heat(), &PlanCache::in_directory(&file));
    assert!(matches!(plan.kept(), Kept::Not(why) if why.contains("file")), "{:?}", plan.kept());
}

#[test]
fn observers_of_plans_from_the_cache_see_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let cache = PlanCache::in_directory(directory.path().join("plans"));
    let seen = [Kept::Added, Kept::Found].map(|expected| {
        let plan = built(heat(), &cache);
        assert_eq!(*plan.kept(), expected);
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        run.set("r", 0.25).unwrap();
        run.write("u", ndarray::Array1::from_shape_fn(40, |x| x as f64).view()).unwrap();
        run.advance(7).unwrap();
        let mut all = 0.0_f64;
        run.observe("total", &mut [("all", (&mut all).into())]).unwrap();
        all.to_bits()
    });
    assert_eq!(seen[0], seen[1]);
}

/// Where [`one_of_many`] keeps plans, and which of the processes it is.
const DIRECTORY: &str = "CREASE_TEST_CACHE";
const SEED: &str = "CREASE_TEST_SEED";

/// What [`processes_share_a_directory`] starts several times at once.
#[test]
#[ignore = "a process of another test"]
fn one_of_many() {
    let cache = PlanCache::in_directory(std::env::var_os(DIRECTORY).expect("it is set"));
    let seed: i64 = std::env::var(SEED).unwrap().parse().unwrap();
    for round in 0..24 {
        let size = 40 + (7 * round + seed) % 12;
        let plan = built(heat().size("N", size), &cache);
        assert!(matches!(plan.kept(), Kept::Found | Kept::Added), "{:?}", plan.kept());
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        run.set("r", 0.25).unwrap();
        run.fill("u", 1.0).unwrap();
        run.advance(2).unwrap();
        let mut u = ndarray::Array1::zeros(size as usize);
        run.read("u", u.view_mut()).unwrap();
        assert_eq!((u[0], u[1], u[2], u[size as usize / 2]), (1.0, 2.125, 2.25, 2.25));
        // Files that vanish or are damaged meanwhile, as if by somebody who cleans up.
        // One that is still being written would be missed by who writes it, who would say so.
        let mut kept = files(cache.directory().unwrap(), if round % 2 == 0 { "plan" } else { "code" });
        kept.retain(|path| path.extension().is_some_and(|extension| extension == "cached"));
        for path in kept.iter().take(1) {
            if seed == 0 && round % 3 == 0 {
                _ = fs::remove_file(path);
            } else if seed == 1 && round % 3 == 0 {
                _ = fs::write(path, b"crease cache  1\n nothing");
            }
        }
    }
}

#[test]
fn processes_share_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let plans = directory.path().join("plans");
    let start = |seed: i64| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "cached::one_of_many", "--ignored"]).env(DIRECTORY, &plans).env(SEED, seed.to_string());
        child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..5).map(start).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    assert!(fs::read_dir(&plans).unwrap().all(|entry| entry.unwrap().path().extension().unwrap() == "cached"));
}

/// A schedule that was found is kept as it was before statements were repeated for its tiles.
#[test]
fn found_overlapped_tiles_are_found_again() {
    let text = "kernel blur(size N) for N >= 16 {
        input a[y, x]: f64 for 0 <= y, x < N
        temp b[y, x]: f64 for 0 <= y < N and 1 <= x < N-1
        output c[y, x]: f64 for 2 <= y, x < N-2
        B[y, x] for 0 <= y < N and 1 <= x < N-1 { b[y,x] = a[y,x-1] + a[y,x] + a[y,x+1] }
        C[y, x] for 2 <= y, x < N-2 { c[y,x] = b[y-1,x-1] + b[y,x] + b[y+1,x+1] } }";
    let directory = tempfile::tempdir().unwrap();
    let cache = PlanCache::in_directory(directory.path().join("plans"));
    let plan = || Kernel::parse(text).unwrap().plan().size("N", 1000).threads(2);
    for kept in [Kept::Added, Kept::Found] {
        let plan = built(plan(), &cache);
        let search = plan.report().schedule_search.clone().expect("nobody wrote a schedule");
        assert!(search.taken().shape.contains("overlapped"), "{search:?}");
        assert_eq!(*plan.kept(), kept);
        plan.compile().unwrap();
    }
}
