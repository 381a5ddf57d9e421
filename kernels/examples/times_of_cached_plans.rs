//! How long plans and code take that an earlier process has kept: 20 sizes of a kernel of the catalogue, milliseconds
//! from the kernel to code that runs, without a cache, while it is filled, and from it; and those that reading its text
//! takes.
//!
//! `cargo run --release --example times_of_cached_plans [kernel] [size parameter]`

use std::time::Instant;

use crease::PlanCache;
use crease::prelude::*;
use crease_kernels::find;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (name, size) = (words.next(), words.next());
    let (name, size) = (name.as_deref().unwrap_or("lbm-d2q9-cavity"), size.as_deref().unwrap_or("N"));
    let text = find(name).ok_or("the catalogue has no kernel of that name")?.kernel()?.to_string();
    let begun = Instant::now();
    let kernel = Kernel::parse(&text)?;
    println!("{name}: the text is read in {:.2} ms", begun.elapsed().as_secs_f64() * 1e3);
    let directory = std::env::temp_dir().join(format!("crease-times-{}", std::process::id()));
    let caches = [PlanCache::none(), PlanCache::in_directory(&directory), PlanCache::in_directory(&directory)];
    for schedule in ["rows", "auto"] {
        println!("{name}, schedule {schedule}, 20 sizes: ms at best, in the middle, at worst");
        for (what, cache) in ["without a cache", "the first time", "from the cache"].iter().zip(&caches) {
            let (mut plans, mut codes) = (Vec::new(), Vec::new());
            for edge in (0..20).map(|k| 100 + 17 * k) {
                let begun = Instant::now();
                let plan = kernel.plan().size(size, edge).schedule(schedule).threads(1);
                let plan = plan.cache(cache.clone()).build()?;
                plans.push(begun.elapsed().as_secs_f64() * 1e3);
                let code = plan.compile()?;
                codes.push(begun.elapsed().as_secs_f64() * 1e3);
                drop(code);
            }
            plans.sort_by(f64::total_cmp);
            codes.sort_by(f64::total_cmp);
            let [plan, code] = [plans, codes].map(|t| format!("{:6.2} {:6.2} {:6.2}", t[0], t[10], t[19]));
            println!("  {what:<16} plan {plan}, with its code {code}");
        }
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}
