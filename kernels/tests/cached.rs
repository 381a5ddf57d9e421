//! Plans and code of the cache on disk are those that were kept, for every kernel, and compute what naive loops do.

use crease::{Code, Kept, Plan, PlanCache};
use crease_kernels::{Case, Entry, Fields, catalogue, transfer};

use crate::{is_left_for_later, is_of_other_cells, is_thorough};

fn plan(entry: &Entry, case: &Case, schedule: &str, cache: &PlanCache) -> Plan {
    let plan = entry.kernel().expect("catalogue kernels parse").plan().schedule(schedule).threads(2);
    let plan = case.sizes.iter().fold(plan, |plan, (name, value)| plan.size(name, *value));
    plan.cache(cache.clone()).build().unwrap_or_else(|error| panic!("{} {schedule}: {error}", entry.name))
}

fn run(code: &Code, case: &Case, initial: &Fields) -> Fields {
    let mut run = code.instantiate().expect("test sizes fit");
    for (name, value) in &case.scalars {
        run.set(name, *value).expect("the kernel has its scalars");
    }
    let kernel = run.kernel().clone();
    transfer::write_all(&mut run, &kernel, initial).expect("initial fields fit");
    if kernel.step_param().is_some() {
        run.advance(case.steps as u64).expect("steps run");
    } else {
        run.run_once().expect("it runs");
    }
    transfer::read_all(&run, &kernel).expect("fields can be read")
}

/// What a report says, but for the time that stages took.
fn said(plan: &Plan) -> serde_json::Value {
    let mut report = serde_json::to_value(plan.report()).expect("reports are data");
    report.as_object_mut().expect("they have fields").remove("stages");
    report
}

fn verify(entry: &Entry, schedule: &str, cache: &PlanCache) {
    let case = entry.case(&entry.tests[0]);
    let [made, found] = [Kept::Added, Kept::Found].map(|expected| {
        let plan = plan(entry, &case, schedule, cache);
        assert_eq!(*plan.kept(), expected, "{} {schedule}", entry.name);
        plan
    });
    assert_eq!(found.program(), made.program(), "{} {schedule}", entry.name);
    assert_eq!(found.layout(), made.layout(), "{} {schedule}", entry.name);
    assert_eq!(said(&found), said(&made), "{} {schedule}", entry.name);
    assert_eq!(found.kernel(), made.kernel(), "{} {schedule}", entry.name);
    let code = made.compile().expect("plans compile");
    // Another schedule may have been lowered to the same program.
    assert!(matches!(code.kept(), Kept::Added | Kept::Found), "{} {schedule}", entry.name);
    let code = found.compile().expect("plans compile");
    assert_eq!(*code.kept(), Kept::Found, "{} {schedule}", entry.name);
    let initial = (entry.initial)(&case).expect("presets are valid");
    let expected = (entry.naive)(&case, &initial).expect("presets are valid");
    assert!(run(&code, &case, &initial) == expected, "{} {schedule}", entry.name);
}

#[test]
fn every_kernel_comes_back_as_it_was_kept() {
    let directory = tempfile::tempdir().unwrap();
    let cache = PlanCache::in_directory(directory.path().join("plans"));
    for entry in catalogue() {
        if is_left_for_later(entry.name) || is_of_other_cells(entry.name) && !is_thorough() {
            continue;
        }
        let kernel = entry.kernel().expect("catalogue kernels parse");
        let schedules = kernel.schedules();
        for schedule in if is_thorough() { schedules } else { &schedules[..1] } {
            verify(entry, &schedule.name, &cache);
        }
    }
    for name in ["heat-2d-5pt", "lbm-d2q9-cavity"] {
        verify(crease_kernels::find(name).expect("it is in the catalogue"), "auto", &cache);
    }
}
