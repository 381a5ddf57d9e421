use crease::prelude::*;
use crease::Stage;
fn main() {
    let text = r#"
kernel heat_2d(size N; run T) {
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
    u[t,y,x] = u[t-1,y,x] + k * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] - 4 * u[t-1,y,x]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
    u[t,y,x] = u[t-1,y,x] }
  schedule rows { S, E -> [t, y, x vector(8)] }
  schedule parallel { S, E -> [t, y parallel, x vector(8)] }
}"#;
    let args: Vec<String> = std::env::args().collect();
    let text = args.get(4).filter(|f| f.len()>0).map(|f| std::fs::read_to_string(f).unwrap()).unwrap_or(text.to_string());
    let kernel = Kernel::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let n: i64 = args[1].parse().unwrap();
    let strategy = StrategyChoice::by_name(&args[2]).unwrap();
    let start = std::time::Instant::now();
    let plan = kernel.plan().size("N", n).schedule(&args[3]).strategy(strategy).horizon(4).build();
    let plan = match plan { Ok(p) => p, Err(e) => { println!("error: {e}"); return } };
    println!("plan {:?}", start.elapsed());
    for s in &plan.report().stages { println!("  {:12} {:.4}", s.name, s.seconds); }
    println!("{}", plan.dump(Stage::Mapping).unwrap());
    for b in &plan.report().buffers { println!("{} cells {} lb {:?} {}", b.name, b.cells, b.lower_bound_cells, b.strategy); }
    for n in &plan.report().notes { println!("note: {n}"); }
    if args.len() > 5 { for d in args[5].split(',') { println!("{}", plan.dump(Stage::by_name(d).unwrap()).unwrap()); } }
    let start = std::time::Instant::now();
    let code = plan.compile().unwrap();
    println!("compile {:?}", start.elapsed());
    let mut run = code.instantiate().unwrap();
    if kernel.array_id("u").is_none() { return }
    let n = n as usize;
    let init = ndarray::Array2::from_shape_fn((n, n), |(y, x)| ((y * 31 + x * 17) % 101) as f64 / 7.0);
    run.set("k", 0.1).unwrap();
    run.write("u", init.view()).unwrap();
    run.advance(3).unwrap();
    run.advance(4).unwrap();
    let mut out = ndarray::Array2::zeros((n, n));
    run.read("u", out.view_mut()).unwrap();
    let mut a = init.clone();
    for _ in 0..7 {
        let mut b = a.clone();
        for y in 1..n-1 { for x in 1..n-1 {
            b[[y,x]] = a[[y,x]] + 0.1 * (a[[y-1,x]] + a[[y+1,x]] + a[[y,x-1]] + a[[y,x+1]] - 4.0 * a[[y,x]]);
        } }
        a = b;
    }
    println!("equal: {}", a == out);
    let start = std::time::Instant::now();
    run.advance(20).unwrap();
    println!("{:.1} M/s", (n*n*20) as f64 / start.elapsed().as_secs_f64()/1e6);
}
