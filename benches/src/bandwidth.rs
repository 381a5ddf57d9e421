//! The roofline: how fast this machine updates memory in place.
//!
//! Memory far larger than the caches is walked through, by one or several threads, in two ways:
//! - update in place, `a[i] *= c`: the traffic of a kernel that keeps its state once, 16 bytes an element;
//! - triad, `a[i] = b[i] + c * d[i]`: that of one that reads some arrays and writes others. The line that is written is
//!   read first (write-allocate), which makes 32 bytes an element.
//!
//! Shared machines give 60 GB/s one minute and 110 the next, so the probe runs in every round of every comparison,
//! between the variants.

use std::io;
use std::thread;
use std::time::Instant;

use memmap2::MmapMut;

/// Bytes the probe walks through: several times the largest last-level caches in use.
const PROBE_BYTES: usize = 256 << 20;

/// Gigabytes (10^9) per second, reads, writes and write-allocates counted.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bandwidth {
    /// One array, read and overwritten.
    pub update_in_place: f64,
    /// Two arrays read, a third written.
    pub triad: f64,
}

/// Memory to measure bandwidth with.
pub struct Probe {
    memory: MmapMut,
}

impl Probe {
    /// Maps and touches the probe's memory.
    ///
    /// # Errors
    /// What the system says if there is none.
    pub fn new() -> io::Result<Probe> {
        let mut memory = MmapMut::map_anon(PROBE_BYTES)?;
        // Huge pages, as the kernels' fields have them; without them the probe measures small pages, which is true too.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        let cells: &mut [f64] = bytemuck::cast_slice_mut(&mut memory);
        cells.fill(1.0);
        Ok(Probe { memory })
    }

    /// Measures both, each once.
    pub fn measure(&mut self, threads: usize) -> Bandwidth {
        Bandwidth { update_in_place: self.update_in_place(threads), triad: self.triad(threads) }
    }

    fn update_in_place(&mut self, threads: usize) -> f64 {
        let cells: &mut [f64] = bytemuck::cast_slice_mut(&mut self.memory);
        let share = cells.len().div_ceil(threads.max(1));
        let started = Instant::now();
        thread::scope(|scope| {
            let mut shares = cells.chunks_mut(share);
            let own = shares.next();
            for other in shares {
                scope.spawn(|| scale(other));
            }
            if let Some(own) = own {
                scale(own);
            }
        });
        2.0 * PROBE_BYTES as f64 / started.elapsed().as_secs_f64() * 1e-9
    }

    fn triad(&mut self, threads: usize) -> f64 {
        let cells: &mut [f64] = bytemuck::cast_slice_mut(&mut self.memory);
        let third = cells.len() / 3;
        let (target, sources) = cells.split_at_mut(third);
        let (one, other) = (&sources[..third], &sources[third..2 * third]);
        let share = third.div_ceil(threads.max(1));
        let started = Instant::now();
        thread::scope(|scope| {
            let mut shares = target.chunks_mut(share).zip(one.chunks(share).zip(other.chunks(share)));
            let own = shares.next();
            for (target, (one, other)) in shares {
                scope.spawn(|| add_scaled(target, one, other));
            }
            if let Some((target, (one, other))) = own {
                add_scaled(target, one, other);
            }
        });
        32.0 * third as f64 / started.elapsed().as_secs_f64() * 1e-9
    }
}

/// The factor is one short step above 1: after 10^6 passes values are still near 1.
fn scale(cells: &mut [f64]) {
    for cell in cells {
        *cell *= 1.0 + f64::EPSILON;
    }
}

fn add_scaled(target: &mut [f64], one: &[f64], other: &[f64]) {
    for ((cell, a), b) in target.iter_mut().zip(one).zip(other) {
        *cell = a + f64::EPSILON * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_gives_a_bandwidth_that_memory_can_have() {
        let mut probe = Probe::new().unwrap();
        let Bandwidth { update_in_place, triad } = probe.measure(2);
        for gb_per_s in [update_in_place, triad] {
            assert!(gb_per_s > 0.1 && gb_per_s < 10_000.0, "{gb_per_s}");
        }
    }
}
