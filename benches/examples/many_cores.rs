//! What limits time tiles on 64 and 128 cores, and on two sockets: their tile graphs, by simulation.
//!
//! `cargo run --release -p crease-bench --example many_cores`
//!
//! A cube of heat in 64 steps by rows, in steps at once and in diagonals of blocks. Graphs are those of the programs
//! that run, storage included, with rows of a sixteenth of their cells; work, bytes and caches are taken sixteen times.
//! The machine is made up, of round numbers: 64 cores a socket. See docs/MANY-CORES.md.

use std::error::Error;

use crease::{Kernel, TileGraph};
use crease_bench::many_cores::{Machine, Waiting, critical_path_ns, memory_ns, simulate};

/// Cells of a row for each that the graph has.
const ROW_SCALE: f64 = 16.0;
/// Cells along the other dimensions of the cube.
const SIDE: i64 = 256;
/// Steps of the run.
const STEPS: i64 = 64;
/// Bytes of a socket's last-level cache: what is touched again before so much else does not come from memory.
const CACHE_BYTES: f64 = (64 << 20) as f64;
/// The machine: a cell takes a core two thirds of a nanosecond, about what a cube of 100 by 100 by 100 takes in whole
/// tiles on two threads of a shared machine (`cargo run --release --example times_of_short_calls`); memory and the time
/// from core to core are of the order of servers of recent years.
const MACHINE: Machine = Machine {
    cores: 1,
    cores_per_socket: 64,
    site_ns: 0.66 * ROW_SCALE,
    core_rate: 12.0 / ROW_SCALE,
    socket_rate: 250.0 / ROW_SCALE,
    near_ns: 100.0,
    far_ns: 300.0,
};

const KERNEL: &str = "kernel cube(size N, M; run T) for N >= 3 and M >= 3 {
    state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < M
    S[t, z, y, x] for 1 <= t <= T and 1 <= z < N-1 and 1 <= y < N-1 and 1 <= x < M-1 {
      u[t,z,y,x] = 0.125 * (u[t-1,z-1,y,x] + u[t-1,z+1,y,x] + u[t-1,z,y-1,x] + u[t-1,z,y+1,x]
                            + u[t-1,z,y,x-1] + u[t-1,z,y,x+1] + 2.0 * u[t-1,z,y,x]) }
    E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < M
        and (z = 0 or z = N-1 or y = 0 or y = N-1 or x = 0 or x = M-1) { u[t,z,y,x] = u[t-1,z,y,x] }
    schedule rows { S, E -> [t, z parallel, y, x vector(8)] }
    schedule at_once_16 { S, E -> [floor(t/16), z + 2*t, t parallel, y, x vector(8)] }
    schedule at_once_64 { S, E -> [floor(t/64), z + 2*t, t parallel, y, x vector(8)] }
    schedule blocks_16 { S, E -> [floor(t/16), floor((z+t)/16) + floor((y+t)/16), floor((z+t)/16) parallel, t, z, y,
                                  x vector(8)] }
    schedule blocks_8 { S, E -> [floor(t/8), floor((z+t)/8) + floor((y+t)/8), floor((z+t)/8) parallel, t, z, y,
                                 x vector(8)] }
  }";

fn main() -> Result<(), Box<dyn Error>> {
    let kernel = Kernel::parse(KERNEL)?;
    println!("speed against one core by rows; of one socket up to 64 cores, of two with 128");
    let mut one_core = None;
    for schedule in ["rows", "at_once_16", "at_once_64", "blocks_16", "blocks_8"] {
        let plan = kernel.plan().size("N", SIDE).size("M", SIDE / ROW_SCALE as i64).schedule(schedule).threads(2);
        let plan = plan.build()?;
        let graph = plan.program().tile_graph(&[0, STEPS], (CACHE_BYTES / ROW_SCALE) as u64, 1 << 28)?;
        describe(schedule, &graph);
        let first = simulate(&graph, &MACHINE, Waiting::Counters).ns;
        let base = *one_core.get_or_insert(first);
        println!("  cores   barrier  in barriers    tree   counters   longest chain   memory");
        for cores in [1, 2, 4, 8, 16, 32, 64, 128] {
            let machine = Machine { cores, ..MACHINE };
            let of = |waiting| simulate(&graph, &machine, waiting);
            let [barrier, tree, counters] = [Waiting::Barrier, Waiting::Tree, Waiting::Counters].map(of);
            let speed = |ns: f64| base / ns;
            println!(
                "  {cores:5}   {:7.1}  {:9.0} %  {:6.1}   {:8.1}   {:13.1}   {:6.1}",
                speed(barrier.ns),
                barrier.in_barriers * 100.0,
                speed(tree.ns),
                speed(counters.ns),
                speed(critical_path_ns(&graph, &machine)),
                speed(memory_ns(&graph, &machine)),
            );
        }
    }
    Ok(())
}

/// What there is to share out.
fn describe(schedule: &str, graph: &TileGraph) {
    let parallel: Vec<u32> = graph.loops.iter().filter(|found| found.is_parallel).map(|found| found.count).collect();
    let (most, loops) = (parallel.iter().max().copied().unwrap_or(0), parallel.len());
    let mean = f64::from(parallel.iter().sum::<u32>()) / loops.max(1) as f64;
    let bytes: u64 = graph.tiles.iter().map(|tile| tile.memory_bytes).sum();
    let sites: u64 = graph.tiles.iter().map(|tile| tile.sites).sum();
    let bytes_per_site = bytes as f64 / sites.max(1) as f64;
    println!(
        "{schedule}: {loops} loops of {mean:.0} tiles, at most {most}; {bytes_per_site:.2} bytes of memory a cell"
    );
}
