//! Plans: proved storage, what a run will take, reports, and code made of it.

use std::sync::Arc;

use crease::kernel::graph::Kernel;
use crease::plan::report::Report;
use crease::{Kept, Plan, Stage, TuningMemory};

use crate::choices::named;
use crate::code::{CodeBody, CompilerBody, options};
use crate::explain::explain;
use crate::handle::Handle;
use crate::raw::{Out, Text, exports};
use crate::status::Failure;
use crate::text::OwnedText;

/// A plan and its kernel, which runs ask for shapes and types.
pub(crate) struct PlanBody {
    plan: Plan,
    kernel: Arc<Kernel>,
}

/// What a run keeps in memory, in bytes.
#[repr(C)]
pub(crate) struct FootprintInfo {
    folded_bytes: u64,
    copied_bytes: u64,
    folded_memory_bytes: u64,
    copied_memory_bytes: u64,
    always_copies: i32,
}

impl PlanBody {
    pub(crate) fn new(plan: Plan) -> PlanBody {
        PlanBody { kernel: Arc::new(plan.kernel().clone()), plan }
    }

    pub(crate) fn kept(&self) -> &Kept {
        self.plan.kept()
    }

    fn report(&self, with_bounds: i32) -> Result<&Report, Failure> {
        if with_bounds == 0 { Ok(self.plan.report()) } else { Ok(self.plan.report_with_bounds()?) }
    }

    fn code(&self, code: crease::Code) -> CodeBody {
        CodeBody { code, kernel: Arc::clone(&self.kernel), threads: self.plan.report().threads }
    }
}

exports! {
    fn crease_plan_threads(plan: Handle<PlanBody>, threads: Out<usize>) {
        threads.verify("threads")?;
        threads.put(plan.get("plan")?.plan.threads());
        Ok(())
    }

    fn crease_plan_footprint(plan: Handle<PlanBody>, footprint: Out<FootprintInfo>) {
        footprint.verify("footprint")?;
        let found = plan.get("plan")?.plan.footprint();
        footprint.put(FootprintInfo {
            folded_bytes: found.folded_bytes,
            copied_bytes: found.copied_bytes,
            folded_memory_bytes: found.folded_memory_bytes,
            copied_memory_bytes: found.copied_memory_bytes,
            always_copies: i32::from(found.always_copies),
        });
        Ok(())
    }

    fn crease_plan_explain(plan: Handle<PlanBody>, with_bounds: i32, text: Out<OwnedText>) {
        text.make("text", || Ok(explain(plan.get("plan")?.report(with_bounds)?)))
    }

    fn crease_plan_report_json(plan: Handle<PlanBody>, with_bounds: i32, text: Out<OwnedText>) {
        text.make("text", || {
            let json = serde_json::to_string_pretty(plan.get("plan")?.report(with_bounds)?);
            Ok(json.expect("reports have names for keys, and no errors of their own"))
        })
    }

    fn crease_plan_dump(plan: Handle<PlanBody>, stage: Text, text: Out<OwnedText>) {
        text.make("text", || {
            let stage: Stage = named("stage", &stage)?;
            Ok(plan.get("plan")?.plan.dump(stage)?)
        })
    }

    fn crease_plan_compile(
        plan: Handle<PlanBody>,
        compiler: Handle<CompilerBody>,
        code: Out<Handle<CodeBody>>,
    ) {
        code.make("code", || {
            let body = plan.get("plan")?;
            Ok::<_, Failure>(body.code(body.plan.compile_with(&options(compiler)?)?))
        })
    }

    fn crease_plan_compile_tuned(
        plan: Handle<PlanBody>,
        compiler: Handle<CompilerBody>,
        directory: Text,
        code: Out<Handle<CodeBody>>,
    ) {
        code.make("code", || {
            let body = plan.get("plan")?;
            let memory = directory.optional("directory")?.map_or(TuningMemory::none(), TuningMemory::in_directory);
            Ok::<_, Failure>(body.code(body.plan.compile_tuned(&options(compiler)?, &memory)?.code))
        })
    }
}
