//! Planners: what a plan is to be made for, collected option by option.

use crease::{MachineModel, PlanBuilder, PlanCache};

use crate::choices::{named, positive};
use crate::handle::{Alone, Handle, Kind};
use crate::kernel::KernelBody;
use crate::plan::PlanBody;
use crate::raw::{Out, Text, exports};
use crate::status::{ArgumentError, Failure};

/// What was asked for so far.
pub(crate) struct PlannerBody(Alone<Wanted>);

struct Wanted {
    builder: PlanBuilder,
    machine: Option<MachineModel>,
}

/// Takes one more option.
fn set(
    planner: Handle<PlannerBody>,
    option: impl FnOnce(PlanBuilder) -> Result<PlanBuilder, ArgumentError>,
) -> Result<(), Failure> {
    let body = planner.get("planner")?;
    let mut wanted = body.0.take(PlannerBody::NAME)?;
    wanted.builder = option(wanted.builder.clone())?;
    Ok(())
}

/// Takes one more property of the machine.
fn set_machine(
    planner: Handle<PlannerBody>,
    property: impl FnOnce(MachineModel) -> MachineModel,
) -> Result<(), Failure> {
    let body = planner.get("planner")?;
    let mut wanted = body.0.take(PlannerBody::NAME)?;
    let machine = property(wanted.machine.unwrap_or_else(MachineModel::detect));
    wanted.machine = Some(machine);
    wanted.builder = wanted.builder.clone().machine(machine);
    Ok(())
}

exports! {
    fn crease_planner_new(kernel: Handle<KernelBody>, planner: Out<Handle<PlannerBody>>) {
        planner.make("planner", || {
            let builder = kernel.get("kernel")?.kernel.plan();
            Ok(PlannerBody(Alone::new(Wanted { builder, machine: None })))
        })
    }

    fn crease_planner_size(planner: Handle<PlannerBody>, name: Text, value: i64) {
        set(planner, |builder| Ok(builder.size(name.get("name")?, value)))
    }

    fn crease_planner_schedule(planner: Handle<PlannerBody>, name: Text) {
        set(planner, |builder| Ok(builder.schedule(name.get("name")?)))
    }

    fn crease_planner_strategy(planner: Handle<PlannerBody>, name: Text) {
        set(planner, |builder| Ok(builder.strategy(named("name", &name)?)))
    }

    fn crease_planner_objective(planner: Handle<PlannerBody>, name: Text) {
        set(planner, |builder| Ok(builder.objective(named("name", &name)?)))
    }

    fn crease_planner_rounding(planner: Handle<PlannerBody>, name: Text) {
        set(planner, |builder| Ok(builder.rounding(named("name", &name)?)))
    }

    fn crease_planner_rings(planner: Handle<PlannerBody>, name: Text) {
        set(planner, |builder| Ok(builder.rings(named("name", &name)?)))
    }

    fn crease_planner_storage_view(planner: Handle<PlannerBody>, name: Text) {
        set(planner, |builder| Ok(builder.storage_view(named("name", &name)?)))
    }

    fn crease_planner_mapping(planner: Handle<PlannerBody>, text: Text) {
        set(planner, |builder| Ok(builder.mapping(text.get("text")?)))
    }

    fn crease_planner_horizon(planner: Handle<PlannerBody>, steps: u64) {
        set(planner, |builder| Ok(builder.horizon(steps)))
    }

    fn crease_planner_threads(planner: Handle<PlannerBody>, threads: u64) {
        set(planner, |builder| Ok(builder.threads(positive("threads", threads)?)))
    }

    fn crease_planner_memory_cap(planner: Handle<PlannerBody>, bytes: u64) {
        set(planner, |builder| Ok(builder.memory_cap_bytes(bytes)))
    }

    fn crease_planner_caches(planner: Handle<PlannerBody>, second_level_bytes: u64, last_level_bytes: u64) {
        set_machine(planner, |machine| machine.caches(second_level_bytes, last_level_bytes))
    }

    fn crease_planner_double_map(planner: Handle<PlannerBody>, page_bytes: u64) {
        set_machine(planner, |machine| machine.double_map_bytes((page_bytes > 0).then_some(page_bytes)))
    }

    fn crease_planner_operation_quota(planner: Handle<PlannerBody>, operations: u64) {
        set(planner, |builder| Ok(builder.operation_quota(operations)))
    }

    fn crease_planner_work_limit(planner: Handle<PlannerBody>, operations: u64) {
        set(planner, |builder| Ok(builder.work_limit(operations)))
    }

    fn crease_planner_run_opaque_functions(planner: Handle<PlannerBody>, allowed: i32) {
        set(planner, |builder| Ok(builder.run_opaque_functions(allowed != 0)))
    }

    fn crease_planner_cache(planner: Handle<PlannerBody>, directory: Text) {
        set(planner, |builder| {
            let cache = directory.optional("directory")?.map_or_else(PlanCache::of_user, PlanCache::in_directory);
            Ok(builder.cache(cache))
        })
    }

    fn crease_planner_build(planner: Handle<PlannerBody>, plan: Out<Handle<PlanBody>>) {
        plan.make("plan", || {
            let body = planner.get("planner")?;
            // Planning takes seconds, in which nobody need wait for this planner.
            let builder = body.0.take(PlannerBody::NAME)?.builder.clone();
            Ok::<_, Failure>(PlanBody::new(builder.build()?))
        })
    }
}
