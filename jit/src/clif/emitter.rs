//! The state while one function is emitted, and the few shapes every part of it needs: frame loads, counted loops,
//! calls into the run time.

use crease_program::{Coalesced, Copies, Int, Needs, Node, Program, Strip, Var};

use crate::frame::FrameLayout;
use crate::listing::{OperationNames, StripListing};
use crate::options::CompileOptions;
use crate::strip::{Continued, Definitions, Linear};
use crate::vector::{StripFacts, WideOptions};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, FuncRef, Function, InstBuilder, MemFlagsData, StackSlot, Type, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// What all functions of a program share.
pub(super) struct Shared<'a> {
    /// The verified program.
    pub(super) program: &'a Program,
    /// Where literals, arguments and buffer addresses are.
    pub(super) layout: &'a FrameLayout,
    /// How to compile; the choice of instructions is not `Auto`.
    pub(super) options: &'a CompileOptions,
    /// Names of operations, for texts.
    pub(super) names: &'a OperationNames,
    /// What stands for strips of one iteration, by their variables.
    pub(super) single_iteration: &'a HashMap<Var, Strip>,
    /// What stands for strips that continue each other.
    pub(super) continued: &'a Continued,
    /// What stands for loops of short strips that go on from iteration to iteration.
    pub(super) coalesced: &'a Coalesced,
    /// What variables stand for.
    pub(super) lets: &'a Definitions<'a>,
}

/// Functions of the run time, as one function refers to them.
pub(super) struct Imports {
    /// See [`crate::parallel::parallel_for`].
    pub(super) parallel_for: FuncRef,
    /// See [`crate::parallel::front_for`].
    pub(super) front_for: FuncRef,
    /// See [`crate::parallel::end_fronts`].
    pub(super) end_fronts: FuncRef,
    /// See [`crate::parallel::mul_mod`].
    pub(super) mul_mod: FuncRef,
    /// The remainder of doubles.
    pub(super) rem: FuncRef,
    /// The remainder of floats.
    pub(super) remf: FuncRef,
}

/// A parallel loop whose iterations become a function of their own.
pub(super) struct Outlined<'a> {
    /// The loop variable.
    pub(super) var: Var,
    /// Its increment.
    pub(super) step: i64,
    /// One iteration.
    pub(super) body: &'a [Node],
    /// Variables of the surrounding code, in the order of the environment.
    pub(super) captures: Vec<Var>,
    /// Variables of the surrounding code whose values are known.
    pub(super) constants: Vec<(Var, i64)>,
}

/// Wide code of a strip, `fn(table, frame, start, end)`.
#[derive(Clone)]
pub(super) struct StripCode {
    /// To be called.
    pub(super) function: FuncId,
    /// The index operations whose value at iteration 0 follows the pointers in the table.
    pub(super) indices: Vec<usize>,
    /// The lookups of which the table tells behind those.
    pub(super) lookups: Vec<usize>,
    /// Whether some store may be non-temporal.
    pub(super) streams: bool,
    /// The only end that it can be given, from the start 0; none if both are free.
    pub(super) fixed_length: Option<i64>,
}

/// Makes functions while another one is being emitted, which refers to them.
pub(super) trait Functions {
    /// The function of the next parallel loop, to be emitted later.
    fn outlined(&mut self, function: &mut Function) -> FuncRef;

    /// Wide code for a strip; `None` if it has to be compiled otherwise.
    fn wide(
        &mut self,
        facts: &StripFacts<'_>,
        options: &WideOptions<'_>,
        function: &mut Function,
    ) -> Option<(FuncRef, StripCode)>;

    /// Takes note of how a strip was compiled.
    fn listed(&mut self, listing: StripListing);
}

/// An integer that may be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Num {
    /// Known now.
    Const(i64),
    /// Computed.
    Value(Value),
}

/// The memory of a call, as one function uses it.
#[derive(Default)]
pub(super) struct Scratch {
    /// The address of this worker's, in strips that use it.
    pub(super) base: Option<Value>,
    /// Bytes that the current strip has taken.
    pub(super) taken: usize,
    /// Bytes that any strip takes.
    pub(super) most: usize,
}

/// Emits one function.
pub(super) struct Emitter<'a, 'f> {
    /// Where instructions go.
    pub(super) b: FunctionBuilder<'f>,
    /// What all functions share.
    pub(super) shared: &'a Shared<'a>,
    /// Functions this one may call.
    pub(super) imports: Imports,
    /// Address of the frame.
    pub(super) frame: Value,
    /// Address of the run time, handed through to `parallel_for`.
    pub(super) runtime: Value,
    /// The worker that runs this function, if it is an iteration of a parallel loop; inner ones are then sequential.
    pub(super) worker: Option<Value>,
    /// What fronts need of each other, in a loop of these.
    pub(super) needs: Option<Needs>,
    /// Whether strips run for all iterations of the loop around them, which `coalesced` makes of them.
    pub(super) is_coalesced: bool,
    /// The variables in scope.
    pub(super) vars: FxHashMap<Var, Num>,
    /// Expressions already computed on the straight line that leads here.
    pub(super) computed: FxHashMap<&'a Int, Num>,
    /// Residues among them, by a hash of their terms and the modulus: what each is the residue of.
    pub(super) residues: FxHashMap<(u64, i64), (Linear<'a>, Value)>,
    /// Both in the order in which they were computed.
    pub(super) at_hand: Vec<AtHand<'a>>,
    /// How often all of it was forgotten.
    pub(super) era: usize,
    /// Where strips keep the state of their rings.
    pub(super) ring_slot: Option<StackSlot>,
    /// Where strips have tables of addresses, above all for their wide code.
    pub(super) address_slot: Option<StackSlot>,
    /// The memory of the call.
    pub(super) scratch: Scratch,
    /// Whether some strip so far may write with non-temporal stores.
    pub(super) has_streamed: bool,
    /// Parallel loops met so far, each with the function that is to hold it.
    pub(super) outlined: Vec<Outlined<'a>>,
    /// Makes other functions.
    pub(super) functions: &'f mut dyn Functions,
}

/// Something computed.
pub(super) enum AtHand<'a> {
    Int(&'a Int),
    Residue((u64, i64)),
}

/// How much was at hand at some place, and when.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    count: usize,
    era: usize,
}

/// Accesses to memory that exists: buffers were checked before the call, the frame is ours.
pub(super) fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'a> Emitter<'a, '_> {
    /// Ends the current block with a jump and goes on in `block`. What was computed before may no longer be at hand.
    pub(super) fn enter(&mut self, block: Block) {
        self.era += 1;
        self.enter_behind(block, Mark { count: 0, era: self.era });
    }

    /// What is at hand here, and still is wherever one comes to only from here.
    pub(super) fn mark(&self) -> Mark {
        Mark { count: self.at_hand.len(), era: self.era }
    }

    /// Ends the current block with a jump and goes on in `block`, where what had been computed at a mark is at hand.
    pub(super) fn enter_behind(&mut self, block: Block, mark: Mark) {
        let kept = if mark.era == self.era { mark.count } else { 0 };
        for lost in self.at_hand.drain(kept..) {
            match lost {
                AtHand::Int(int) => _ = self.computed.remove(int),
                AtHand::Residue(key) => _ = self.residues.remove(&key),
            }
        }
        self.b.switch_to_block(block);
    }

    /// Loads an integer argument.
    pub(super) fn load_arg(&mut self, arg: usize) -> Value {
        self.load_frame(types::I64, self.shared.layout.arg_offset(arg))
    }

    /// Loads the address of a buffer; of one with copies, that of this worker's.
    pub(super) fn load_buffer(&mut self, buffer: usize) -> Value {
        let first = self.load_frame(types::I64, self.shared.layout.buffer_offset(buffer));
        let decl = &self.shared.program.buffers[buffer];
        match (decl.copies, self.worker) {
            (Copies::One, _) | (_, None) => first,
            (Copies::PerWorker { pitch }, Some(worker)) => {
                // The program has verified, so the product fits 63 bits.
                let pitch_bytes = (pitch * decl.element.bytes()) as i64;
                let offset = self.b.ins().imul_imm_s(worker, pitch_bytes);
                self.b.ins().iadd(first, offset)
            }
        }
    }

    /// Loads the bytes between neighbours along an axis of an array.
    pub(super) fn load_stride(&mut self, array: usize, axis: usize) -> Value {
        self.load_frame(types::I64, self.shared.layout.stride_offset(array, axis))
    }

    /// Loads from the frame; never changes during a call.
    pub(super) fn load_frame(&mut self, ty: Type, offset: i32) -> Value {
        let flags = plain().with_aligned();
        // Addresses are at hand from row to row; a literal costs nothing where it is used, and a register elsewhere.
        let flags = if ty == types::I64 { flags.with_readonly().with_can_move() } else { flags };
        self.b.ins().load(ty, flags, self.frame, offset)
    }

    /// A block with one integer parameter.
    pub(super) fn block_with_param(&mut self) -> (Block, Value) {
        let block = self.b.create_block();
        let param = self.b.append_block_param(block, types::I64);
        (block, param)
    }

    /// Branches on `a < b`.
    pub(super) fn branch_if_less(&mut self, a: Value, b: Value, then: (Block, &[BlockArg]), or: (Block, &[BlockArg])) {
        let less = self.b.ins().icmp(IntCC::SignedLessThan, a, b);
        self.b.ins().brif(less, then.0, then.1, or.0, or.1);
    }

    /// `for i in lo..hi step step { body }`, tested at the bottom; the first test falls away where it is known.
    pub(super) fn counted_loop(&mut self, lo: Num, hi: Num, step: i64, body: impl FnOnce(&mut Self, Value)) {
        if matches!((lo, hi), (Num::Const(lo), Num::Const(hi)) if lo >= hi) {
            return;
        }
        let (block, index) = self.block_with_param();
        let exit = self.b.create_block();
        let (first, last) = (self.value(lo), self.value(hi));
        if matches!((lo, hi), (Num::Const(_), Num::Const(_))) {
            self.b.ins().jump(block, &[first.into()]);
        } else {
            self.branch_if_less(first, last, (block, &[first.into()]), (exit, &[]));
        }
        self.enter(block);
        body(self, index);
        let next = self.b.ins().iadd_imm_s(index, step);
        self.branch_if_less(next, last, (block, &[next.into()]), (exit, &[]));
        self.enter(exit);
    }

    /// `(factor * b) mod modulus` by the run time.
    pub(super) fn call_mul_mod(&mut self, factor: i64, b: Value, modulus: i64) -> Value {
        let (factor, modulus) = (self.b.ins().iconst(types::I64, factor), self.b.ins().iconst(types::I64, modulus));
        let call = self.b.ins().call(self.imports.mul_mod, &[factor, b, modulus]);
        self.b.inst_results(call)[0]
    }

    /// The remainder of two numbers by the run time, whose result is exact.
    pub(super) fn call_rem(&mut self, a: Value, b: Value) -> Value {
        let is_double = self.b.func.dfg.value_type(a) == types::F64;
        let function = if is_double { self.imports.rem } else { self.imports.remf };
        let call = self.b.ins().call(function, &[a, b]);
        self.b.inst_results(call)[0]
    }
}
