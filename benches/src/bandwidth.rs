//! The roofline: how fast this machine updates memory in place.
//!
//! One array far larger than the caches is read and overwritten, `a[i] *= c`, by one or several threads. That is the
//! traffic of a kernel that keeps its state once: 16 bytes an element, no write-allocate to count. Shared machines give
//! 60 GB/s one minute and 110 the next, so the probe runs in every round of every contest, between the contestants.

use std::io;
use std::thread;
use std::time::Instant;

use memmap2::MmapMut;

/// Bytes the probe walks through: several times the largest last-level caches in use.
const PROBE_BYTES: usize = 256 << 20;

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

    /// Updates everything once with `threads` threads; gigabytes (10^9) per second, reads and writes counted.
    pub fn update_in_place(&mut self, threads: usize) -> f64 {
        let cells: &mut [f64] = bytemuck::cast_slice_mut(&mut self.memory);
        let share = cells.len().div_ceil(threads.max(1));
        let started = Instant::now();
        thread::scope(|scope| {
            let mut shares = cells.chunks_mut(share);
            let own = shares.next();
            for other in shares {
                scope.spawn(|| scale(other));
            }
            own.map(scale);
        });
        2.0 * PROBE_BYTES as f64 / started.elapsed().as_secs_f64() * 1e-9
    }
}

/// The factor is one short step above 1: after 10^6 passes values are still near 1.
fn scale(cells: &mut [f64]) {
    for cell in cells {
        *cell *= 1.0 + f64::EPSILON;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_gives_a_bandwidth_that_memory_can_have() {
        let mut probe = Probe::new().unwrap();
        let gb_per_s = probe.update_in_place(2);
        assert!(gb_per_s > 0.1 && gb_per_s < 10_000.0, "{gb_per_s}");
    }
}
