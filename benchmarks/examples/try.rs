use std::time::Instant;
use broccoli_core::problem::*;
use broccoli_core::search::*;
use broccoli_environments::{find};
use broccoli_problem::ProblemFile;

fn env(name: &str, depth: u32, count: usize, samples: usize) -> (Problem, std::sync::Arc<dyn SystemFactory>) {
    let e = find(name).unwrap();
    let grids: Vec<Thresholds> = e.dimensions.iter().map(|d| Thresholds::count(d.range.0, d.range.1, count).unwrap()).collect();
    let init = if samples == 1 { vec![InitialState::new(e.initial)] } else { e.sample(samples, 0) };
    (e.problem_with(grids, init).depth(depth).build().unwrap(), std::sync::Arc::new(E(e)))
}
fn step(name: &str, depth: u32, step: &[f64], samples: usize) -> (Problem, std::sync::Arc<dyn SystemFactory>) {
    let e = find(name).unwrap();
    let grids = e.grids(Some(step)).map_err(|(_, e)| e).unwrap();
    let init = if samples == 1 { vec![InitialState::new(e.initial)] } else { e.sample(samples, 0) };
    (e.problem_with(grids, init).depth(depth).build().unwrap(), std::sync::Arc::new(E(e)))
}
struct E(&'static broccoli_environments::Environment);
impl SystemFactory for E { fn make(&self) -> Result<Box<dyn System>, SystemError> { self.0.make() } fn is_quick(&self) -> bool { self.0.is_quick() } }
fn file(text: &str) -> (Problem, std::sync::Arc<dyn SystemFactory>) {
    let t: &'static broccoli_problem::Target = Box::leak(Box::new(ProblemFile::parse(text, "x.toml".as_ref()).unwrap().open().unwrap()));
    let p = t.problem().unwrap();
    (p, std::sync::Arc::new(F(t)))
}
struct F(&'static broccoli_problem::Target);
impl SystemFactory for F {
    fn make(&self) -> Result<Box<dyn System>, SystemError> { self.0.factory.make() }
    fn is_quick(&self) -> bool { self.0.factory.is_quick() }
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let limit: u64 = args[0].parse().unwrap();
    let set = &args[1];
    let off = std::env::var("OFF").is_ok();
    let names: Vec<&str> = args[2..].iter().map(String::as_str).collect();
    let mut all: Vec<(&str, Box<dyn Fn() -> (Problem, std::sync::Arc<dyn SystemFactory>)>)> = Vec::new();
    if set == "hard" {
        all.push(("pend4", Box::new(|| env("pendulum", 4, 20, 20))));
        all.push(("cart4x10", Box::new(|| env("cartpole", 4, 10, 20))));
        all.push(("cart3x9", Box::new(|| env("cartpole", 3, 9, 20))));
        all.push(("cart3x19", Box::new(|| env("cartpole", 3, 19, 100))));
        all.push(("ball", Box::new(|| file("[system]\nenvironment=\"bouncing-ball\"\nnoise=3\n[predicates]\nheight={low=0,high=12,count=30}\nvelocity={low=-16,high=16,count=30}\n[initial]\nsamples=20\nseeds=5\n[tree]\ndepth=3\n"))));
        all.push(("acro3", Box::new(|| env("acrobot", 3, 19, 10))));
        all.push(("mcar4", Box::new(|| env("mountain-car", 4, 40, 1))));
        all.push(("cruise", Box::new(|| file("[system]\nenvironment=\"cruise-control\"\n[[features]]\nname=\"closing\"\nexpression=\"velocity - front\"\n[predicates]\ndistance={low=5,high=60,step=5}\nvelocity=[]\nfront=[]\nclosing={low=-10,high=10,step=2}\n[initial]\nsamples=100\n[tree]\ndepth=3\n"))));
        all.push(("pendret", Box::new(|| file(&std::fs::read_to_string("/tmp/pendret.toml").unwrap()))));
    }
    if set == "rows" {
        let t1: [(&str, &[f64]); 3] = [("cartpole", &[0.1; 4]), ("mountain-car", &[0.05, 0.005]), ("pendulum", &[0.2, 0.2])];
        for s in [1usize, 100] { for (n, st) in t1 {
            all.push((Box::leak(format!("{n}-d2-{s}").into_boxed_str()), Box::new(move || step(n, 2, st, s))));
        } }
        let t2: [(&str, [&[f64]; 4]); 3] = [
            ("cartpole", [&[0.96, 0.4, 0.16, 0.4], &[0.48, 0.2, 0.33, 0.2], &[0.32, 0.13, 0.08, 0.13], &[0.24, 0.1, 0.04, 0.1]]),
            ("mountain-car", [&[0.36, 0.028], &[0.18, 0.014], &[0.12, 0.01], &[0.09, 0.007]]),
            ("pendulum", [&[0.4, 3.2], &[0.2, 1.6], &[0.13, 1.0], &[0.1, 0.8]])];
        for (n, steps) in t2 { for (i, st) in steps.into_iter().enumerate() {
            all.push((Box::leak(format!("{n}-d3-X{}", 5 * (i + 1)).into_boxed_str()), Box::new(move || step(n, 3, st, 1))));
        } }
        for c in [160usize, 320] { all.push((Box::leak(format!("cartpole-d2-{c}").into_boxed_str()), Box::new(move || env("cartpole", 2, c, 1)))); }
    }
    for (name, make) in &all {
        if !names.is_empty() && !names.iter().any(|n| name.contains(n)) { continue; }
        let (problem, factory) = make();
        let objective = problem.objective();
        let mut history: Vec<(u64, f64, u64)> = Vec::new();
        let mut now = 0;
        let mut observer = |event: Event<'_>| match event {
            Event::Considered(s) => now = s.queries + s.replayed,
            Event::Improved(i) => history.push((now, objective.number(i.value), i.size)),
            _ => {}
        };
        let mut tuning = Tuning::of(&*factory);
        if off { tuning = tuning.without_hints(); }
        if let Ok(t) = std::env::var("TUNE") { let v: Vec<u64> = t.split(',').map(|x| x.parse().unwrap()).collect(); tuning.hint_first = v[0]; tuning.hint_patience = v[1]; tuning.hint_share = v[2]; }
        let start = Instant::now();
        let o = Search::new(&problem, &*factory).observer(&mut observer).query_limit(limit).tuning(tuning).run().unwrap();
        let at = |q: u64| history.iter().filter(|h| h.0 <= q).last().map_or("-".into(), |h| format!("{:.6}/{}", h.1, h.2).replace(".000000", ""));
        let s = o.statistics;
        println!("{name:20} 1e4 {:10} 1e5 {:10} 1e6 {:10} end {:12} {:?} q {} hints {} nec {:?} ratio {:.2} best@{} {:.1}s",
            at(10_000), at(100_000), at(1_000_000), at(u64::MAX), o.status, s.queries, s.queries_hints, s.necessary_queries, s.necessary_queries.map_or(0.0, |n| s.queries as f64 / n as f64), history.last().map_or(0, |h| h.0), start.elapsed().as_secs_f64());
    }
}
