//! Targets: what an instruction set is asked for, so that strips can be compiled for it.
//!
//! In: what is known about a strip.   Out: machine code for `fn(table, frame, start, end)`, with `start < end`.
//!
//! Everything that all instruction sets share is decided before, by what the target says it has: which vectors, which
//! values in which registers, which loads share vectors, how many copies. What is left to it is the function around
//! blocks of instructions, and bytes.

use crease_program::{MOST_AXES, ScalarId};

use super::cost::{WideStrip, choose};
use super::facts::StripFacts;
use super::prefetch::Ahead;
use super::shape::{Features, LINE_BYTES};
use crate::listing::StripListing;
use crate::options::CompileOptions;

/// An instruction set with vectors wider than 128 bits.
pub(crate) trait Target {
    /// What it has.
    fn features(&self) -> &'static Features;

    /// The code of a strip, whose blocks call for what `ahead` says; the text is empty unless texts are asked for.
    fn encode(&self, strip: &WideStrip<'_>, ahead: Ahead, options: &WideOptions<'_>) -> Encoded;
}

/// Machine code.
pub(crate) struct Encoded {
    /// Position-independent.
    pub(crate) bytes: Vec<u8>,
    /// The same for people.
    pub(crate) text: String,
}

/// What to emit.
pub(crate) struct WideOptions<'o> {
    /// The instruction set.
    pub(crate) target: &'o dyn Target,
    /// How to compile.
    pub(crate) options: &'o CompileOptions,
    /// For each operation what to call its result there.
    pub(crate) names: &'o [String],
    /// Bytes from the frame's start to a scalar.
    pub(crate) scalar_offset: &'o dyn Fn(ScalarId) -> i32,
}

/// What the table of a function says of a lookup, in eight bytes each.
pub(crate) struct LookupEntry;

impl LookupEntry {
    /// Address of the corner; of narrow cells that of the word that it is in, of [`LookupEntry::WORD`] bytes.
    pub(crate) const CORNER: usize = 0;
    /// Bytes from there to where each value is 0, in its lower half.
    pub(crate) const ZERO: usize = 1;
    /// For each axis the bytes from one value to the next, in the lower half.
    pub(crate) const PITCHES: usize = 2;
    /// How many there are.
    pub(crate) const NUMBERS: usize = 2 + MOST_AXES;
    /// Bytes of the smallest cells that instructions gather.
    pub(crate) const WORD: u64 = 4;
}

/// A function of machine code.
pub(crate) struct WideCode {
    /// Position-independent.
    pub(crate) bytes: Vec<u8>,
    /// The same for people, if it was asked for.
    pub(crate) listing: Option<StripListing>,
    /// Whether some store may be non-temporal, which nothing but a fence orders.
    pub(crate) streams: bool,
    /// The index operations whose value at iteration 0 follows the pointers in the table.
    pub(crate) indices: Vec<usize>,
    /// The lookups for which a [`LookupEntry`] each follows those.
    pub(crate) lookups: Vec<usize>,
    /// The only end that it can be given, from the start 0; none if both are free.
    pub(crate) fixed_length: Option<i64>,
}

impl WideCode {
    /// Where the code may lie: at multiples of this many bytes.
    pub(crate) const ALIGNMENT: u64 = LINE_BYTES as u64;
}

/// Emits a strip; `None` if it has to be compiled otherwise, or if joining its pointers shares no loads.
pub(crate) fn emit(facts: &StripFacts<'_>, options: &WideOptions<'_>) -> Option<WideCode> {
    let strip = choose(facts, options.target.features(), options.options)?;
    if facts.is_joined && strip.allocation.shared.is_none() {
        return None;
    }
    let ahead = Ahead::new(facts, &strip.body, options.options);
    let Encoded { bytes, text } = options.target.encode(&strip, ahead, options);
    let listing = options.options.texts.then(|| strip.listing(facts.is_joined, text));
    let (streams, fixed_length) = (strip.streams(), strip.fixed_length);
    Some(WideCode { bytes, listing, streams, indices: strip.indices, lookups: strip.lookups, fixed_length })
}
