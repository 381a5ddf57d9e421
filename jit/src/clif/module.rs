//! From a program to functions in a code memory.
//!
//! In: a verified program.   Out: its main function and one function for each outermost parallel loop.
//!
//! The main function is `extern "C" fn(frame, runtime)`; the body of a parallel loop is [`crate::loop_body::LoopBody`].

use crease_program::{Program, Var};

use super::emitter::{Emitter, Functions, Imports, Num, Outlined, Scratch, Shared, StripCode};
use crate::frame::FrameLayout;

use super::function_image::FunctionImage;
use super::shared_code::SharedCode;
use crate::listing::{OperationNames, StripListing};
use crate::memory::CodeMemory;
use crate::options::CompileOptions;
use crate::strip::{Continued, Definitions, single_iteration_strips};
use crate::symbols::{END_FRONTS, FRONT_FOR, MUL_MOD, PARALLEL_FOR, REM, REMF};
use crate::target::wide_target;
use crate::vector::{StripFacts, WideCode, WideOptions};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, InstBuilder, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, ModuleReloc};
use rustc_hash::FxHashMap;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::time::{Duration, Instant};

/// What emission gives.
pub(crate) struct Emitted {
    /// The main function.
    pub(crate) main: FuncId,
    /// Machine code, in bytes.
    pub(crate) code_bytes: usize,
    /// Of all machine code, in the order of emission.
    pub(crate) code_hash: DefaultHasher,
    /// Cranelift's text form of all functions, if it was asked for.
    pub(crate) clif_text: String,
    /// Machine code of Cranelift's functions as text, if it was asked for.
    pub(crate) functions_text: String,
    /// Memory that each worker of a call needs besides its stack, in bytes.
    pub(crate) scratch_bytes: usize,
    /// How each strip was compiled, if texts were asked for.
    pub(crate) strips: Vec<StripListing>,
    /// Time spent in building Cranelift's form; the rest went into its machine code.
    pub(crate) build_time: Duration,
    /// Time spent on wide strips, a part of the former.
    pub(crate) wide_time: Duration,
    /// How many were compiled; those that do the same share their code.
    pub(crate) wide_strips: u32,
    /// All functions in the order of emission, if that was asked for; else a reference that cannot be recorded.
    pub(super) recorded: Option<Result<Vec<FunctionImage>, String>>,
}

impl Emitted {
    /// Nothing yet.
    pub(super) fn new(main: FuncId, records: bool) -> Emitted {
        Emitted {
            main,
            code_bytes: 0,
            code_hash: DefaultHasher::new(),
            clif_text: String::new(),
            functions_text: String::new(),
            scratch_bytes: 0,
            strips: Vec::new(),
            build_time: Duration::ZERO,
            wide_time: Duration::ZERO,
            wide_strips: 0,
            recorded: records.then(|| Ok(Vec::new())),
        }
    }

    /// Counts the bytes of a function that is defined.
    pub(super) fn count(&mut self, bytes: &[u8]) {
        self.code_bytes += bytes.len();
        self.code_hash.write(bytes);
    }

    /// Counts the bytes of a function that is defined, and records it where that was asked for.
    fn add(&mut self, id: FuncId, alignment: u64, bytes: &[u8], references: impl Iterator<Item = ModuleReloc>) {
        self.count(bytes);
        if let Some(Ok(functions)) = &mut self.recorded {
            match FunctionImage::new(id, alignment, bytes, references) {
                Ok(function) => functions.push(function),
                Err(reference) => self.recorded = Some(Err(reference)),
            }
        }
    }
}

/// Most bytes of stack that a function of compiled code takes. Functions nest at most three deep: the main one, the
/// body of a parallel loop, and the wide code of a strip, which takes less than a page; so a call takes less than 72
/// KiB of a thread's stack, besides what the run time needs to hand out loops. Functions of the catalogue take 1.7 KiB
/// at most (`crease explain lbm-d3q27-periodic --isa v128 --dump asm`).
///
/// Larger frames would not only be unkind to small stacks. A frame is entered by moving the stack pointer, and below a
/// stack lies a single guard page; so all frames of a page and more touch each page in turn first (`enable_probestack`
/// in `isa`), and a stack that is too small ends in the fault that it should.
pub(crate) const MOST_FRAME_BYTES: u32 = 32 << 10;
/// The return address and the frame pointer, which Cranelift does not count.
const FRAME_LINK_BYTES: u32 = 16;

/// Why nothing was emitted.
#[derive(Debug)]
pub(crate) enum EmitError {
    /// Cranelift gave up.
    Module(Box<ModuleError>),
    /// A function takes more stack than [`MOST_FRAME_BYTES`].
    Frame {
        /// The variable of the parallel loop whose body it is; none for the main function.
        loop_: Option<Var>,
        /// What it takes.
        frame_bytes: u32,
    },
}

impl From<Box<ModuleError>> for EmitError {
    fn from(error: Box<ModuleError>) -> Self {
        EmitError::Module(error)
    }
}

impl From<ModuleError> for EmitError {
    fn from(error: ModuleError) -> Self {
        EmitError::Module(Box::new(error))
    }
}

/// A function that is declared and not yet emitted.
struct Pending<'a> {
    id: FuncId,
    /// `None` for the main function.
    outlined: Option<Outlined<'a>>,
}

/// Emits all functions of `program` into `memory`.
pub(crate) fn emit(
    program: &Program,
    layout: &FrameLayout,
    (options, names): (&CompileOptions, &OperationNames),
    records: bool,
    memory: &mut CodeMemory,
) -> Result<Emitted, EmitError> {
    let is_wide = wide_target(options.choice).is_some();
    let lets = Definitions::of(program);
    let single_iteration = if is_wide { single_iteration_strips(program, &lets) } else { HashMap::new() };
    let continued = Continued::of(program, &lets);
    let coalesced = program.coalesced();
    let shared = Shared {
        program,
        layout,
        options,
        names,
        single_iteration: &single_iteration,
        continued: &continued,
        coalesced: &coalesced,
        lets: &lets,
    };
    let mut wide = SharedCode::default();
    let module = memory.module();
    let Declared { signatures, imports, main } = Declared::new(program, module)?;
    let mut emitted = Emitted::new(main, records);
    let mut pending = VecDeque::from([Pending { id: main, outlined: None }]);
    let (mut context, mut builder_context) = (module.make_context(), FunctionBuilderContext::new());
    while let Some(next) = pending.pop_front() {
        let start = Instant::now();
        context.func.signature = if next.outlined.is_some() { &signatures.body } else { &signatures.main }.clone();
        let mut declare = Declare {
            module,
            signatures: &signatures,
            imports: &imports,
            bodies: Vec::new(),
            wide: &mut wide,
            emitted: &mut emitted,
            error: None,
        };
        let (found, scratch) = build(&shared, &mut context, &mut builder_context, next.outlined.as_ref(), &mut declare);
        let Declare { bodies, error, .. } = declare;
        error.map_or(Ok(()), Err)?;
        emitted.scratch_bytes = emitted.scratch_bytes.max(scratch);
        let next_loop = next.outlined.as_ref().map(|outlined| outlined.var);
        pending.extend(bodies.into_iter().zip(found).map(|(id, loop_)| Pending { id, outlined: Some(loop_) }));
        emitted.build_time += start.elapsed();
        let frame_bytes = define(module, &mut context, next.id, options.texts, &mut emitted)?;
        if frame_bytes > MOST_FRAME_BYTES {
            return Err(EmitError::Frame { loop_: next_loop, frame_bytes });
        }
    }
    for (function, code) in wide.take_kept_back() {
        define_wide(module, function, &code, &mut emitted)?;
    }
    (emitted.wide_time, emitted.wide_strips) = (wide.time, wide.emitted);
    emitted.strips.extend(wide.listings());
    list_parts(&continued, &mut emitted.strips);
    emitted.strips.sort_by_key(|listing| listing.strip);
    Ok(emitted)
}

/// Adds the strips that are parts of longer ones to how strips were compiled.
fn list_parts(continued: &Continued, listings: &mut Vec<StripListing>) {
    for (strip, of) in continued.parts() {
        let whole: Vec<_> = listings.iter().filter(|listing| listing.strip == of).cloned().collect();
        listings.extend(whole.into_iter().map(|whole| {
            let runs = whole.runs.or(Some(of));
            StripListing { strip, runs, text: String::new(), ..whole }
        }));
    }
}

/// What is declared before any function is built, in this order: the functions of the run time, and the main one.
pub(super) struct Declared {
    pub(super) signatures: Signatures,
    imports: ImportIds,
    pub(super) main: FuncId,
}

impl Declared {
    pub(super) fn new(program: &Program, module: &mut impl Module) -> Result<Declared, Box<ModuleError>> {
        let signatures = Signatures::new(module);
        let imports = signatures.declare_imports(module)?;
        // A prefix that no identifier has keeps it apart from the imports, whatever the program is called.
        let main = module.declare_function(&format!("program.{}", program.name), Linkage::Export, &signatures.main)?;
        Ok(Declared { signatures, imports, main })
    }
}

/// The signatures that occur.
pub(super) struct Signatures {
    main: Signature,
    pub(super) body: Signature,
    parallel_for: Signature,
    front_for: Signature,
    end_fronts: Signature,
    mul_mod: Signature,
    rem: Signature,
    remf: Signature,
    wide: Signature,
}

/// The run time's functions, by identity.
struct ImportIds {
    parallel_for: FuncId,
    front_for: FuncId,
    end_fronts: FuncId,
    mul_mod: FuncId,
    rem: FuncId,
    remf: FuncId,
}

impl Signatures {
    fn new(module: &impl Module) -> Self {
        let of = |params: usize, results: usize| {
            let mut signature = module.make_signature();
            signature.params = vec![AbiParam::new(types::I64); params];
            signature.returns = vec![AbiParam::new(types::I64); results];
            signature
        };
        let of_numbers = |ty| {
            let mut signature = module.make_signature();
            signature.params = vec![AbiParam::new(ty); 2];
            signature.returns = vec![AbiParam::new(ty)];
            signature
        };
        // Wide code knows one convention, whatever that of the system.
        let wide = Signature { call_conv: CallConv::SystemV, ..of(4, 0) };
        Signatures {
            main: of(2, 0),
            body: of(5, 0),
            parallel_for: of(7, 0),
            front_for: of(10, 0),
            end_fronts: of(1, 0),
            mul_mod: of(3, 1),
            rem: of_numbers(types::F64),
            remf: of_numbers(types::F32),
            wide,
        }
    }

    fn declare_imports(&self, module: &mut impl Module) -> Result<ImportIds, Box<ModuleError>> {
        Ok(ImportIds {
            parallel_for: module.declare_function(PARALLEL_FOR, Linkage::Import, &self.parallel_for)?,
            front_for: module.declare_function(FRONT_FOR, Linkage::Import, &self.front_for)?,
            end_fronts: module.declare_function(END_FRONTS, Linkage::Import, &self.end_fronts)?,
            mul_mod: module.declare_function(MUL_MOD, Linkage::Import, &self.mul_mod)?,
            rem: module.declare_function(REM, Linkage::Import, &self.rem)?,
            remf: module.declare_function(REMF, Linkage::Import, &self.remf)?,
        })
    }
}

/// Declares functions while another one is being built.
struct Declare<'m, M: Module> {
    module: &'m mut M,
    signatures: &'m Signatures,
    imports: &'m ImportIds,
    bodies: Vec<FuncId>,
    wide: &'m mut SharedCode,
    /// Where sizes and texts go.
    emitted: &'m mut Emitted,
    error: Option<ModuleError>,
}

impl<M: Module> Functions for Declare<'_, M> {
    fn outlined(&mut self, function: &mut Function) -> FuncRef {
        let id = self.module.declare_anonymous_function(&self.signatures.body);
        let id = self.declared(id);
        self.bodies.push(id);
        self.reference(id, function)
    }

    fn wide(
        &mut self,
        facts: &StripFacts<'_>,
        options: &WideOptions<'_>,
        function: &mut Function,
    ) -> Option<(FuncRef, StripCode)> {
        let declare = || self.module.declare_anonymous_function(&self.signatures.wide).map_err(Box::new);
        let (strip, code) = match self.wide.of(facts, options, declare) {
            Ok(found) => found?,
            Err(error) => {
                self.error = Some(*error);
                return None;
            }
        };
        if let Some(code) = code {
            let defined = define_wide(self.module, strip.function, &code, self.emitted);
            self.error = self.error.take().or(defined.err().map(|error| *error));
        }
        Some((self.reference(strip.function, function), strip))
    }

    fn listed(&mut self, listing: StripListing) {
        self.emitted.strips.push(listing);
    }
}

impl<M: Module> Declare<'_, M> {
    /// The function under construction is thrown away after an error; any reference will do.
    fn declared(&mut self, id: Result<FuncId, ModuleError>) -> FuncId {
        id.unwrap_or_else(|error| {
            self.error = Some(error);
            self.imports.parallel_for
        })
    }

    /// A reference that reaches any distance: pieces of code memory need not lie near each other.
    fn reference(&mut self, id: FuncId, function: &mut Function) -> FuncRef {
        let reference = self.module.declare_func_in_func(id, function);
        function.dfg.ext_funcs[reference].colocated = false;
        reference
    }
}

/// Builds one function in `context` and returns the parallel loops it met, and how much memory of the call it uses.
fn build<'a, M: Module>(
    shared: &'a Shared<'a>,
    context: &mut Context,
    builder_context: &mut FunctionBuilderContext,
    outlined: Option<&Outlined<'a>>,
    declare: &mut Declare<'_, M>,
) -> (Vec<Outlined<'a>>, usize) {
    let imports = Imports {
        parallel_for: declare.reference(declare.imports.parallel_for, &mut context.func),
        front_for: declare.reference(declare.imports.front_for, &mut context.func),
        end_fronts: declare.reference(declare.imports.end_fronts, &mut context.func),
        mul_mod: declare.reference(declare.imports.mul_mod, &mut context.func),
        rem: declare.reference(declare.imports.rem, &mut context.func),
        remf: declare.reference(declare.imports.remf, &mut context.func),
    };
    let config = declare.module.target_config();
    let mut b = FunctionBuilder::new(&mut context.func, builder_context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let params = b.block_params(entry).to_vec();
    let (frame, runtime) = if outlined.is_some() { (params[0], params[0]) } else { (params[0], params[1]) };
    let mut emitter = Emitter {
        b,
        shared,
        imports,
        frame,
        runtime,
        worker: outlined.map(|_| params[2]),
        needs: None,
        is_coalesced: false,
        vars: FxHashMap::default(),
        computed: FxHashMap::default(),
        residues: FxHashMap::default(),
        at_hand: Vec::new(),
        era: 0,
        ring_slot: None,
        outlined: Vec::new(),
        address_slot: None,
        scratch: Scratch::default(),
        has_streamed: false,
        functions: declare,
    };
    match outlined {
        None => emitter.nodes(&shared.program.body),
        Some(outlined) => {
            emitter.outlined_body(outlined, params[1], Num::Value(params[3]), Num::Value(params[4]));
        }
    }
    if emitter.has_streamed {
        // Non-temporal stores are ordered by nothing else: others read these cells when this function has returned.
        emitter.b.ins().fence();
    }
    emitter.b.ins().return_(&[]);
    emitter.b.seal_all_blocks();
    emitter.b.finalize(config);
    (emitter.outlined, emitter.scratch.most)
}

/// Takes wide code as that of a function.
fn define_wide(
    module: &mut impl Module,
    function: FuncId,
    code: &WideCode,
    emitted: &mut Emitted,
) -> Result<(), Box<ModuleError>> {
    emitted.add(function, WideCode::ALIGNMENT, &code.bytes, std::iter::empty());
    Ok(module.define_function_bytes(function, WideCode::ALIGNMENT, &code.bytes, &[])?)
}

/// Compiles the function in `context` and clears it; returns the bytes of its stack frame.
fn define(
    module: &mut impl Module,
    context: &mut Context,
    id: FuncId,
    texts: bool,
    emitted: &mut Emitted,
) -> Result<u32, Box<ModuleError>> {
    if texts {
        emitted.clif_text += &format!("{}\n", context.func.display());
    }
    context.set_disasm(texts);
    module.define_function(id, context)?;
    let code = context.compiled_code().expect("defining a function compiles it");
    let references = code.buffer.relocs().iter();
    let references = references.map(|reference| ModuleReloc::from_mach_reloc(reference, &context.func, id));
    emitted.add(id, code.buffer.alignment.into(), code.code_buffer(), references);
    if texts {
        emitted.functions_text += &format!("{}\n", code.vcode.as_deref().unwrap_or(""));
    }
    // Without a layout it would not be known that the stack suffices.
    let layout = code.buffer.frame_layout().expect("the code generator lays out the frame of every function");
    let frame_bytes = layout.frame_to_fp_offset.saturating_add(FRAME_LINK_BYTES);
    module.clear_context(context);
    Ok(frame_bytes)
}
