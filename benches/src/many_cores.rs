//! A tile graph on more cores than there are here, by simulation: what limits 64 and 128 cores, and two sockets.
//!
//! In: the tiles of a run with what each needs ([`TileGraph`]), a machine, how threads wait for each other.   Out: the
//! time that the run would take, and what the cores' time went into.
//!
//! A discrete-event simulation. A tile computes for so long, and moves so many bytes from memory at the same time; the
//! cores of a socket that move bytes share what the socket can, and none moves more than a core can. Tiles are shared
//! out as the library does it: each loop in equal parts, who is done takes from others. With barriers, a loop begins
//! when the one before has ended; with counters, a tile begins when those that it needs are done.
//!
//! Left out: what caches of single cores hold, bytes that one core takes from another's cache, and where memory lies,
//! so that two sockets look better here than they are.

use std::collections::BTreeSet;

use crease::TileGraph;

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Cores that are used, at least one.
    pub cores: usize,
    /// Cores of a socket: as many are used before another socket is.
    pub cores_per_socket: usize,
    /// Nanoseconds of an iteration of a strip.
    pub site_ns: f64,
    /// Bytes a nanosecond that a core moves from memory, and back.
    pub core_rate: f64,
    /// Bytes a nanosecond that a socket's memory gives to all its cores.
    pub socket_rate: f64,
    /// Nanoseconds until a core sees what another one of its socket has written.
    pub near_ns: f64,
    /// The same of another socket.
    pub far_ns: f64,
}

/// How threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A barrier after each loop: one word, in which all count themselves in and out, as the library has it.
    Barrier,
    /// A barrier after each loop, whose arrivals and departures go along a tree of pairs.
    Tree,
    /// A counter a tile, and no barrier.
    Counters,
}

/// What a run would take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Simulated {
    /// Nanoseconds of the run.
    pub ns: f64,
    /// Of the cores' time, the part in tiles.
    pub busy: f64,
    /// Of the run's time, the part in barriers.
    pub in_barriers: f64,
}

impl Machine {
    fn sockets(&self) -> usize {
        self.cores.div_ceil(self.cores_per_socket.max(1))
    }

    fn socket_of(&self, core: usize) -> usize {
        core / self.cores_per_socket.max(1)
    }

    /// Nanoseconds of opening a loop for all cores and of closing it behind the last one.
    fn barrier_ns(&self, waiting: Waiting) -> f64 {
        if self.cores == 1 {
            return 0.0;
        }
        let near = (self.cores.min(self.cores_per_socket) - 1) as f64;
        let far = self.cores.saturating_sub(self.cores_per_socket) as f64;
        match waiting {
            // Each helper writes the word once to come in and once to leave, one after the other.
            Waiting::Barrier => 2.0 * (near * self.near_ns + far * self.far_ns),
            Waiting::Tree => {
                let levels = (near + 1.0).log2().ceil() * self.near_ns;
                2.0 * (levels + (self.sockets() as f64).log2().ceil() * self.far_ns)
            }
            Waiting::Counters => 0.0,
        }
    }
}

/// The longest chain of tiles of which each needs the one before, in nanoseconds: no number of cores is faster.
pub fn critical_path_ns(graph: &TileGraph, machine: &Machine) -> f64 {
    let mut done: Vec<f64> = Vec::with_capacity(graph.tiles.len());
    for tile in &graph.tiles {
        let begin = tile.needs.iter().map(|need| done[*need as usize]).fold(0.0, f64::max);
        let moving = tile.memory_bytes as f64 / machine.core_rate;
        done.push(begin + (tile.sites as f64 * machine.site_ns).max(moving));
    }
    done.into_iter().fold(0.0, f64::max)
}

/// Nanoseconds in which the sockets' memories give all that tiles take.
pub fn memory_ns(graph: &TileGraph, machine: &Machine) -> f64 {
    let bytes: f64 = graph.tiles.iter().map(|tile| tile.memory_bytes as f64).sum();
    bytes / (machine.socket_rate * machine.sockets() as f64).min(machine.core_rate * machine.cores as f64)
}

/// Runs the graph on the machine.
pub fn simulate(graph: &TileGraph, machine: &Machine, waiting: Waiting) -> Simulated {
    let mut cores = Cores { machine: *machine, now: 0.0, busy: 0.0, running: vec![None; machine.cores.max(1)] };
    let in_barriers = match waiting {
        Waiting::Counters => {
            by_counters(graph, &mut cores);
            0.0
        }
        Waiting::Barrier | Waiting::Tree => by_barriers(graph, &mut cores, machine.barrier_ns(waiting)),
    };
    let ns = cores.now;
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let busy = share(cores.busy, ns * machine.cores.max(1) as f64);
    Simulated { ns, busy, in_barriers: share(in_barriers, ns) }
}

/// Cores with what each of them runs.
struct Cores {
    machine: Machine,
    now: f64,
    /// Nanoseconds in tiles, of all cores.
    busy: f64,
    running: Vec<Option<Running>>,
}

/// A tile in progress.
#[derive(Clone, Copy)]
struct Running {
    tile: u32,
    compute_ns: f64,
    bytes: f64,
}

impl Cores {
    fn begin(&mut self, core: usize, tile: u32, graph: &TileGraph, waiting_ns: f64) {
        let found = &graph.tiles[tile as usize];
        let compute_ns = found.sites as f64 * self.machine.site_ns + waiting_ns;
        self.running[core] = Some(Running { tile, compute_ns, bytes: found.memory_bytes as f64 });
    }

    /// Goes on to the next end of a tile, and gives the core and the tile; none if nothing runs.
    fn next_end(&mut self) -> Option<(usize, u32)> {
        loop {
            let rates = self.rates();
            let left = |core: usize, running: &Running| {
                let moving =
                    if running.bytes > 0.0 { running.bytes / rates[self.machine.socket_of(core)] } else { 0.0 };
                (moving, running.compute_ns.max(moving))
            };
            // Up to the first end of a tile, or of its bytes, when rates change.
            let mut step = f64::INFINITY;
            let mut ends = None;
            for (core, running) in self.running.iter().enumerate().filter_map(|(core, r)| Some((core, r.as_ref()?))) {
                let (moving, end) = left(core, running);
                if end < step {
                    (step, ends) = (end, Some((core, running.tile)));
                }
                if moving > 0.0 && moving < step {
                    (step, ends) = (moving, None);
                }
            }
            if step.is_infinite() {
                return None;
            }
            self.pass(step, &rates);
            if let Some((core, tile)) = ends {
                self.running[core] = None;
                return Some((core, tile));
            }
        }
    }

    /// Bytes a nanosecond of each core that moves any, by socket.
    fn rates(&self) -> Vec<f64> {
        let mut moving = vec![0_usize; self.machine.sockets().max(1)];
        for (core, running) in self.running.iter().enumerate() {
            if running.is_some_and(|running| running.bytes > 0.0) {
                moving[self.machine.socket_of(core)] += 1;
            }
        }
        let rate = |count: &usize| (self.machine.socket_rate / (*count).max(1) as f64).min(self.machine.core_rate);
        moving.iter().map(rate).collect()
    }

    fn pass(&mut self, step: f64, rates: &[f64]) {
        self.now += step;
        for (core, running) in self.running.iter_mut().enumerate() {
            if let Some(running) = running {
                self.busy += step;
                running.compute_ns = (running.compute_ns - step).max(0.0);
                let moved = step * rates[self.machine.socket_of(core)];
                // What is left of a byte is an error of rounding.
                running.bytes = if running.bytes - moved < 0.5 { 0.0 } else { running.bytes - moved };
            }
        }
    }
}

/// Loop after loop. Gives the nanoseconds that passed in barriers.
fn by_barriers(graph: &TileGraph, cores: &mut Cores, barrier_ns: f64) -> f64 {
    let count = cores.running.len();
    let mut in_barriers = 0.0;
    for found in &graph.loops {
        // Per core, the tiles of its share that nobody has begun.
        let bound = |core: usize| found.first + (u64::from(found.count) * core as u64 / count as u64) as u32;
        let mut shares: Vec<(u32, u32)> = (0..count).map(|core| (bound(core), bound(core + 1))).collect();
        let mut take = |core: usize| {
            let own = (0..count).map(|at| (core + at) % count).find(|&at| shares[at].0 < shares[at].1)?;
            shares[own].0 += 1;
            Some(shares[own].0 - 1)
        };
        for core in 0..count {
            if let Some(tile) = take(core) {
                cores.begin(core, tile, graph, 0.0);
            }
        }
        while let Some((core, _)) = cores.next_end() {
            if let Some(tile) = take(core) {
                cores.begin(core, tile, graph, 0.0);
            }
        }
        // A loop of one iteration is run by the thread that calls.
        if found.is_parallel && found.count > 1 {
            cores.now += barrier_ns;
            in_barriers += barrier_ns;
        }
    }
    in_barriers
}

/// Counters that a tile looks at, at most: those of its neighbours, which stand for all before them.
const COUNTERS: usize = 4;

/// Each tile when those that it needs are done.
fn by_counters(graph: &TileGraph, cores: &mut Cores) {
    let (machine, count) = (cores.machine, cores.running.len());
    let mut open: Vec<u32> = graph.tiles.iter().map(|tile| tile.needs.len() as u32).collect();
    let mut needed_by: Vec<Vec<u32>> = vec![Vec::new(); graph.tiles.len()];
    for (tile, found) in (0..).zip(&graph.tiles) {
        found.needs.iter().for_each(|need| needed_by[*need as usize].push(tile));
    }
    let mut owners = vec![0; graph.tiles.len()];
    for found in &graph.loops {
        for at in 0..found.count {
            owners[(found.first + at) as usize] = (u64::from(at) * count as u64 / u64::from(found.count)) as usize;
        }
    }
    // Tiles that may begin, those of each owner apart.
    let mut ready: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count];
    (0..).zip(&open).filter(|(_, open)| **open == 0).for_each(|(tile, _)| {
        ready[owners[tile as usize]].insert(tile);
    });
    let mut ran_on = vec![0; graph.tiles.len()];
    let mut idle: BTreeSet<usize> = (0..count).collect();
    loop {
        for core in idle.clone() {
            let first = |at: usize| ready[at].first().copied().map(|tile| (at, tile));
            let of_others = || (0..count).filter_map(first).min_by_key(|(_, tile)| *tile);
            let Some((at, tile)) = first(core).or_else(of_others) else { break };
            ready[at].remove(&tile);
            idle.remove(&core);
            ran_on[tile as usize] = core;
            let needs = &graph.tiles[tile as usize].needs;
            let is_far = |need: &u32| machine.socket_of(ran_on[*need as usize]) != machine.socket_of(core);
            let others = needs.iter().filter(|need| ran_on[**need as usize] != core).count().min(COUNTERS) as f64;
            let each_ns = if needs.iter().any(is_far) { machine.far_ns } else { machine.near_ns };
            cores.begin(core, tile, graph, others * each_ns);
        }
        let Some((core, tile)) = cores.next_end() else { return };
        idle.insert(core);
        for next in &needed_by[tile as usize] {
            open[*next as usize] -= 1;
            if open[*next as usize] == 0 {
                ready[owners[*next as usize]].insert(*next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crease::Kernel;

    const MACHINE: Machine = Machine {
        cores: 1,
        cores_per_socket: 64,
        site_ns: 1.0,
        core_rate: 10.0,
        socket_rate: 40.0,
        near_ns: 0.0,
        far_ns: 0.0,
    };

    fn on(cores: usize) -> Machine {
        Machine { cores, ..MACHINE }
    }

    /// Rows of 64 cells in so many loops; each needs the one of its place in the loop before.
    fn graph(rows: i64, loops: i64, cache_bytes: u64) -> TileGraph {
        let kernel = Kernel::parse(
            "kernel decay(size N; run T) {
               state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < 64
               S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < 64 { u[t,y,x] = 0.5 * u[t-1,y,x] }
               schedule rows { S -> [t, y parallel, x vector(8)] }
             }",
        );
        let plan = kernel.unwrap().plan().size("N", rows).threads(2).build().unwrap();
        plan.program().tile_graph(&[0, loops], cache_bytes, 1 << 20).unwrap()
    }

    fn ns(graph: &TileGraph, machine: &Machine, waiting: Waiting) -> f64 {
        simulate(graph, machine, waiting).ns
    }

    #[test]
    fn what_computes_is_shared_out_among_the_cores_of_a_loop() {
        let graph = graph(8, 3, u64::MAX);
        let free = |machine: Machine| Machine { core_rate: 1e9, socket_rate: 1e9, ..machine };
        for waiting in [Waiting::Barrier, Waiting::Tree] {
            let taken = [1, 2, 4, 8, 16].map(|cores| ns(&graph, &free(on(cores)), waiting).round());
            assert_eq!(taken, [1536.0, 768.0, 384.0, 192.0, 192.0]);
            // Three cores have three tiles, three and two.
            assert_eq!(ns(&graph, &free(on(3)), waiting).round(), 3.0 * 3.0 * 64.0);
        }
        assert_eq!(critical_path_ns(&graph, &free(on(1))).round(), 192.0);
        assert_eq!(simulate(&graph, &free(on(8)), Waiting::Barrier).busy.round(), 1.0);
    }

    #[test]
    fn counters_fill_the_ends_of_loops() {
        let graph = graph(9, 40, u64::MAX);
        let machine = Machine { core_rate: 1e9, socket_rate: 1e9, ..on(4) };
        let (barriers, counters) = (ns(&graph, &machine, Waiting::Barrier), ns(&graph, &machine, Waiting::Counters));
        // Nine tiles on four cores take three rounds, and 9 / 4 without barriers.
        assert!(counters < 0.85 * barriers, "{counters} {barriers}");
        assert!(counters >= critical_path_ns(&graph, &machine) && counters >= 9.0 * 40.0 * 64.0 / 4.0 - 1.0);
    }

    #[test]
    fn memory_is_shared_by_the_cores_of_a_socket() {
        let graph = graph(64, 2, 0);
        let machine = |cores| Machine { site_ns: 0.0, cores_per_socket: 8, ..on(cores) };
        let taken = [1, 2, 4, 8, 16].map(|cores| ns(&graph, &machine(cores), Waiting::Barrier));
        let ratios = taken.map(|ns| (taken[0] / ns * 100.0).round() / 100.0);
        assert_eq!(
            ratios,
            [1.0, 2.0, 4.0, 4.0, 8.0],
            "four cores of a socket take all it gives; two sockets give twice"
        );
        assert!((taken[3] - memory_ns(&graph, &machine(8))).abs() < 1e-6 * taken[3]);
    }

    #[test]
    fn barriers_cost_more_the_more_cores_there_are() {
        let slow = |cores| Machine { near_ns: 100.0, far_ns: 300.0, cores_per_socket: 4, ..on(cores) };
        let costs = |waiting| [1, 2, 4, 8].map(|cores| slow(cores).barrier_ns(waiting));
        assert_eq!(costs(Waiting::Barrier), [0.0, 200.0, 600.0, 3000.0]);
        assert_eq!(costs(Waiting::Tree), [0.0, 200.0, 400.0, 1000.0]);
        let graph = graph(8, 3, u64::MAX);
        let found = simulate(&graph, &slow(8), Waiting::Barrier);
        assert!(found.in_barriers > 0.9 && found.busy < 0.1, "{found:?}");
    }
}
