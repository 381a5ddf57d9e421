use crease::kernel::graph::Kernel;
use crease::{Stage, StrategyChoice};
use crease_isl::Context;
#[test]
fn scratch() {
    let text = std::fs::read_to_string(std::env::var("F").unwrap()).unwrap();
    let k = Kernel::parse(&text).unwrap();
    let mut b = k.plan().strategy(StrategyChoice::SuccessiveModulo);
    for kv in std::env::var("S").unwrap_or_default().split(',').filter(|x| !x.is_empty()) { let (n, v) = kv.split_once('=').unwrap(); b = b.size(n, v.parse().unwrap()); }
    let p = b.build().unwrap();
    let c = Context::new(1 << 30).unwrap();
    for line in p.dump(Stage::Conflicts).unwrap().lines() {
        println!("{line}");
        for m in c.union_map(line).unwrap().maps().unwrap() {
            let d = m.deltas().unwrap().coalesce().unwrap();
            println!("deltas {d:?}");
            for b in d.basic_sets().unwrap() { println!("  {b:?}"); }
        }
    }
}
