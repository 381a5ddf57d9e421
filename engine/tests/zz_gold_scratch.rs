use crease::kernel::graph::Kernel;
use crease::{Stage, StrategyChoice};
#[test]
fn scratch() {
    let text = std::fs::read_to_string(std::env::var("F").unwrap()).unwrap();
    let k = Kernel::parse(&text).unwrap();
    let strategy = StrategyChoice::by_name(&std::env::var("A").unwrap_or("successive-modulo".into())).unwrap();
    let mut b = k.plan().strategy(strategy);
    for kv in std::env::var("S").unwrap_or_default().split(',').filter(|x| !x.is_empty()) {
        let (n, v) = kv.split_once('=').unwrap();
        b = b.size(n, v.parse().unwrap());
    }
    if let Ok(s) = std::env::var("O") {
        b = b.schedule(&s);
    }
    let p = match b.build() {
        Ok(p) => p,
        Err(e) => {
            println!("ERR {e}");
            return;
        }
    };
    for s in &p.report().stages {
        println!("{s:?}");
    }
    if let Ok(s) = std::env::var("D") {
        println!("{}", p.dump(Stage::by_name(&s).unwrap()).unwrap());
    }
}
