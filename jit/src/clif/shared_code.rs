//! Functions of wide code that several strips run.
//!
//! In: strips, as [`StripFacts`].   Out: for each a function of [`crate::vector`], and which of them still has to be
//! defined.
//!
//! A kernel with walls has a strip for each kind of row and column, and nearly all of them compute the same from other
//! addresses, which are not part of wide code. Strips with equal operations, places and facts share a function. One of
//! a single iteration takes any function of no fixed length, with its operations and places, that is as careful about
//! what may alias: its own function is kept back, and left out if such a strip comes later.

use crease_program::{BufferId, Cold, Op, StoreHint, Stream, Var};

use super::emitter::StripCode;
use crate::listing::StripListing;
use crate::options::CompileOptions;
use crate::vector::{Pitches, StreamAddress, StripFacts, WideCode, WideOptions, emit, prefetched};
use cranelift_module::FuncId;
use std::time::{Duration, Instant};

/// What the code of a strip depends on.
#[derive(PartialEq, Eq)]
struct Key {
    ops: Vec<Op>,
    addresses: Vec<StreamAddress>,
    /// For each stream the first one of the same buffer.
    buffers: Vec<usize>,
    /// For each load and each store whether they may meet.
    aliases: Vec<bool>,
    /// For each of these pairs whether the load may be made earlier than it stands.
    early: Vec<bool>,
    hints: Vec<StoreHint>,
    order: Vec<usize>,
    invariant: Vec<bool>,
    lanes: u32,
    cold: Vec<Option<Cold>>,
    /// Of tables, the ranges of their axes, and what is known of how far apart cells are.
    tables: Vec<Table>,
    length: Option<i64>,
    is_whole: bool,
}

impl Key {
    fn new(facts: &StripFacts<'_>, options: &CompileOptions) -> Self {
        let strip = facts.strip;
        let buffer = |stream: usize| -> BufferId { strip.streams[stream].buffer };
        let first = |stream: usize| (0..stream).find(|other| buffer(*other) == buffer(stream)).unwrap_or(stream);
        let ats = |is: fn(&Op) -> bool| (0..strip.ops.len()).filter(move |at| is(&strip.ops[*at]));
        let loads = ats(|op| matches!(op, Op::Load { .. }));
        let stores: Vec<usize> = ats(|op| matches!(op, Op::Store { .. })).collect();
        let pairs: Vec<_> = loads.flat_map(|load| stores.iter().map(move |store| (load, *store))).collect();
        Key {
            ops: strip.ops.clone(),
            addresses: facts.addresses.to_vec(),
            buffers: (0..strip.streams.len()).map(first).collect(),
            aliases: pairs.iter().map(|(load, store)| facts.aliases.may_meet(*load, *store)).collect(),
            early: pairs.iter().map(|(load, store)| facts.aliases.reads_before(*load, *store)).collect(),
            hints: facts.hints.to_vec(),
            order: facts.order.to_vec(),
            invariant: facts.invariant.to_vec(),
            lanes: strip.lanes,
            cold: strip.streams.iter().map(|stream| prefetched(stream, facts.rows_read, options)).collect(),
            tables: strip.streams.iter().map(ranges).zip(facts.tables.iter().copied()).collect(),
            length: facts.length,
            is_whole: facts.is_whole,
        }
    }

    /// Whether code for strips like this one also runs `single`, of one iteration. How streams move means nothing
    /// there.
    fn runs(&self, single: &Key) -> bool {
        let place = |place: &StreamAddress| (place.pointer, place.offset, place.element);
        self.ops == single.ops
            && self.addresses.iter().map(place).eq(single.addresses.iter().map(place))
            && self.buffers == single.buffers
            && self.tables == single.tables
            && self.hints == single.hints
            && self.hints.iter().all(|hint| *hint == StoreHint::Cached)
            && self.aliases.iter().zip(&single.aliases).all(|(careful, needed)| *careful || !needed)
    }
}

/// The ranges of a table's axes, and how far apart its cells are.
type Table = (Vec<(i64, i64)>, Option<Pitches>);

/// The ranges of a table's axes.
fn ranges(stream: &Stream) -> Vec<(i64, i64)> {
    stream.table.iter().map(|axis| (axis.first, axis.last)).collect()
}

struct Known {
    key: Key,
    code: StripCode,
    /// The code of a strip of one iteration, which no function has yet.
    kept_back: Option<WideCode>,
    /// How it was compiled, if texts are kept.
    listing: Option<StripListing>,
    /// The strips that run it.
    strips: Vec<Var>,
}

/// The wide code of a program.
#[derive(Default)]
pub(super) struct SharedCode {
    known: Vec<Known>,
    /// Time spent on emitting it.
    pub(super) time: Duration,
    /// How often that was done.
    pub(super) emitted: u32,
}

impl SharedCode {
    /// The code of a strip, and what its function is to be defined as, if that is known now; `None` if the strip has to
    /// be compiled otherwise. `declare` makes functions.
    ///
    /// # Errors
    /// That of `declare`.
    pub(super) fn of<E>(
        &mut self,
        facts: &StripFacts<'_>,
        options: &WideOptions<'_>,
        declare: impl FnOnce() -> Result<FuncId, E>,
    ) -> Result<Option<(StripCode, Option<WideCode>)>, E> {
        let key = Key::new(facts, options.options);
        let fits = |known: &&mut Known| match facts.is_single_iteration {
            true => known.code.fixed_length.is_none() && known.key.runs(&key),
            false => known.key == key,
        };
        if let Some(known) = self.known.iter_mut().find(fits) {
            known.strips.push(facts.strip.var);
            return Ok(Some((known.code.clone(), None)));
        }
        let start = Instant::now();
        let code = emit(facts, options);
        self.time += start.elapsed();
        let Some(code) = code else { return Ok(None) };
        self.emitted += 1;
        let is_waiting = |known: &&mut Known| {
            let is_like =
                known.code.indices == code.indices && known.code.lookups == code.lookups && key.runs(&known.key);
            known.kept_back.is_some() && code.fixed_length.is_none() && is_like
        };
        if let Some(known) = self.known.iter_mut().find(is_waiting) {
            (known.key, known.kept_back, known.listing) = (key, None, code.listing.clone());
            known.strips.push(facts.strip.var);
            return Ok(Some((known.code.clone(), Some(code))));
        }
        let WideCode { streams, fixed_length, .. } = code;
        let strip = StripCode {
            function: declare()?,
            indices: code.indices.clone(),
            lookups: code.lookups.clone(),
            streams,
            fixed_length,
        };
        let mut known = Known {
            key,
            code: strip.clone(),
            kept_back: None,
            listing: code.listing.clone(),
            strips: vec![facts.strip.var],
        };
        if facts.is_single_iteration {
            known.kept_back = Some(code);
            self.known.push(known);
            return Ok(Some((strip, None)));
        }
        self.known.push(known);
        Ok(Some((strip, Some(code))))
    }

    /// The functions of single iterations that nothing else has defined, with their code.
    pub(super) fn take_kept_back(&mut self) -> Vec<(FuncId, WideCode)> {
        self.known.iter_mut().filter_map(|known| Some((known.code.function, known.kept_back.take()?))).collect()
    }

    /// How the strips were compiled, if texts were kept.
    pub(super) fn listings(&self) -> Vec<StripListing> {
        let mut listings = Vec::new();
        for known in &self.known {
            let Some(code) = &known.listing else { continue };
            for &strip in &known.strips {
                listings.push(match strip == code.strip {
                    true => code.clone(),
                    false => StripListing { strip, runs: Some(code.strip), text: String::new(), ..code.clone() },
                });
            }
        }
        listings
    }
}
