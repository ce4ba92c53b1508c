//! The answers and tree counts that `EXPERIMENTS.md` of the project's design records, and the trees
//! printed in the paper.

use broccoli_core::problem::{
    InitialState, Objective, Problem, Reply, System, SystemError, SystemFactory, Thresholds, Verdict,
};
use broccoli_core::search::{Engine, Outcome, Search, Status};
use broccoli_core::tree::{Trace, Tree};
use broccoli_environments::{
    ACROBOT, CARTPOLE, Environment, MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS, PENDULUM, Variant,
};

const BEHAVIOUR: Engine = Engine::Behaviour;
const PRUNING: Engine = Engine::Backtracking { pruning: true };
const NO_PRUNING: Engine = Engine::Backtracking { pruning: false };

/// A row of the table: the problem of an environment at depth `depth` with a grid of these steps, from
/// its default initial state.
fn row(environment: &Environment, steps: &[f64], depth: u32) -> Problem {
    let initial = vec![InitialState::new(environment.initial)];
    let grids = environment.grids(Some(steps)).expect("the steps of the paper make grids");
    environment.problem_with(grids, initial).depth(depth).build().expect("a row is a problem")
}

/// Whether there is time for what takes long.
fn is_long() -> bool {
    std::env::var_os("BROCCOLI_LONG").is_some_and(|value| !value.is_empty())
}

/// The engines for a row that takes backtracking minutes: it joins in only if `BROCCOLI_LONG` is set.
fn quick_engines() -> Vec<Engine> {
    let long = is_long();
    if long { vec![BEHAVIOUR, PRUNING] } else { vec![BEHAVIOUR] }
}

/// Checks that every engine gives this value and size, or proves that no tree exists, and that the
/// tree it returns has this value when it is run again.
fn check(
    problem: &Problem,
    factory: &dyn SystemFactory,
    engines: impl IntoIterator<Item = Engine>,
    expected: Option<(u64, u64)>,
) {
    for engine in engines {
        let outcome = solve(problem, factory, engine);
        let best = outcome.best.as_ref();
        assert_eq!(best.map(|best| (best.value, best.tree.size())), expected, "{engine:?}");
        let status = if expected.is_some() { Status::Optimal } else { Status::Infeasible };
        assert_eq!(outcome.status, status, "{engine:?}");
        assert_eq!(outcome.bound, expected.map(|(value, _)| value), "{engine:?}");
        if let Some(best) = best {
            assert_eq!(rerun(problem, factory, &best.tree), Some(best.value), "{engine:?}");
        }
    }
}

fn solve(problem: &Problem, factory: &dyn SystemFactory, engine: Engine) -> Outcome {
    Search::new(problem, factory).engine(engine).run().expect("the environments never fail")
}

/// The value of a tree by its whole trace from the only initial state.
fn rerun(problem: &Problem, factory: &dyn SystemFactory, tree: &Tree) -> Option<u64> {
    let trace = Trace::run(problem, factory, tree, 0).expect("the environments never fail");
    trace.value(problem.objective())
}

fn depth_2(root: (usize, f64), yes: (usize, f64), no: (usize, f64), actions: [usize; 4]) -> Tree {
    let leaf = Tree::Leaf;
    let yes = Tree::node(yes.0, yes.1, leaf(actions[0]), leaf(actions[1]));
    let no = Tree::node(no.0, no.1, leaf(actions[2]), leaf(actions[3]));
    Tree::node(root.0, root.1, yes, no)
}

#[test]
fn mountain_car_depth_2() {
    let problem = row(&MOUNTAIN_CAR, &[0.05, 0.005], 2);
    check(&problem, &MOUNTAIN_CAR, [BEHAVIOUR, PRUNING], Some((104, 3)));
    let printed = depth_2((0, -0.45), (1, 0.01), (1, -0.005), [1, 0, 1, 0]);
    assert_eq!(rerun(&problem, &MOUNTAIN_CAR, &printed), Some(104));
}

#[test]
fn cartpole_depth_2() {
    let problem = row(&CARTPOLE, &[0.1; 4], 2);
    check(&problem, &CARTPOLE, [BEHAVIOUR, PRUNING], Some((3082, 3)));
    let printed = depth_2((3, -0.3), (2, -0.018), (1, 0.0), [1, 0, 0, 1]);
    assert_eq!(rerun(&problem, &CARTPOLE, &printed), Some(3082));
}

#[test]
fn pendulum_depth_2() {
    let problem = row(&PENDULUM, &[0.2, 0.2], 2);
    let printed = depth_2((1, -5.2), (0, -0.8), (1, -5.6), [0, 1, 0, 1]);
    for factory in [&PENDULUM as &dyn SystemFactory, &AuthorsPendulum::factory] {
        check(&problem, factory, [BEHAVIOUR, PRUNING], Some((46, 3)));
        assert_eq!(rerun(&problem, factory, &printed), Some(46));
    }
}

#[test]
fn pendulum_depth_3() {
    let problem = row(&PENDULUM, &[0.2, 1.6], 3);
    for factory in [&PENDULUM as &dyn SystemFactory, &AuthorsPendulum::factory] {
        check(&problem, factory, quick_engines(), Some((47, 6)));
    }
}

#[test]
fn mountain_car_depth_3() {
    let problem = row(&MOUNTAIN_CAR, &[0.18, 0.014], 3);
    check(&problem, &MOUNTAIN_CAR, quick_engines(), Some((108, 4)));
}

#[test]
fn mountain_car_depth_3_coarse_has_no_tree() {
    let problem = row(&MOUNTAIN_CAR, &[0.36, 0.028], 3);
    check(&problem, &MOUNTAIN_CAR, quick_engines(), None);
}

#[test]
fn cartpole_depth_3_is_perfect() {
    for (steps, size) in
        [([0.96, 0.4, 0.16, 0.4], 6), ([0.48, 0.2, 0.33, 0.2], 4), ([0.24, 0.1, 0.04, 0.1], 3)]
    {
        check(&row(&CARTPOLE, &steps, 3), &CARTPOLE, quick_engines(), Some((10_000, size)));
    }
}

/// The queries that any proof needs are a property of the problem. Nothing that is left out by mistake goes
/// unnoticed, even if the answer happens to be right.
#[test]
fn nothing_that_a_proof_needs_is_left_out() {
    let rows: [(&Environment, &[f64], u32, u64); 6] = [
        (&MOUNTAIN_CAR, &[0.05, 0.005], 2, 113_765),
        (&CARTPOLE, &[0.1; 4], 2, 159_426),
        (&PENDULUM, &[0.2, 0.2], 2, 126_008),
        (&MOUNTAIN_CAR, &[0.18, 0.014], 3, 158_449),
        (&PENDULUM, &[0.2, 1.6], 3, 9_026),
        (&PENDULUM, &[0.1, 0.8], 3, 619_504),
    ];
    for (environment, steps, depth, necessary) in rows {
        let outcome = solve(&row(environment, steps, depth), environment, BEHAVIOUR);
        assert_eq!(outcome.statistics.necessary_queries, Some(necessary), "{} {steps:?}", environment.name);
        assert!(outcome.statistics.queries >= necessary);
    }
}

/// The problem of an environment with `actions`, and `count` thresholds in every dimension.
fn with_actions(variant: &Variant, count: usize) -> Problem {
    let environment = variant.environment();
    let mut builder = Problem::builder()
        .objective(Objective::reach(200))
        .depth(environment.depth)
        .initial(environment.initial.to_vec());
    for d in environment.dimensions {
        let (low, high) = d.range;
        builder = builder.dimension(d.name, Thresholds::count(low, high, count).expect("a good range"));
    }
    for action in variant.actions() {
        builder = builder.action(&action.name, action.value);
    }
    builder.build().expect("a problem")
}

/// More than two actions, and continuous ones from a list: all engines agree with brute force.
#[test]
fn more_actions() {
    let all = [BEHAVIOUR, PRUNING, NO_PRUNING, Engine::Exhaustive];
    let agree = |environment, actions: &[&str], count, expected| {
        let variant = Variant::choose(environment, actions).expect("actions of the environment");
        check(&with_actions(&variant, count), &variant, all, expected);
    };
    agree(&MOUNTAIN_CAR, &["left", "coast", "right"], 3, Some((115, 3)));
    agree(&MOUNTAIN_CAR, &["left", "coast", "right"], 4, None);
    agree(&PENDULUM, &["-2", "-1", "0", "1", "2"], 3, Some((49, 3)));
    agree(&MOUNTAIN_CAR_CONTINUOUS, &["-1", "-0.5", "0", "0.5", "1"], 3, Some((78, 3)));
    agree(&ACROBOT, &["negative", "none", "positive"], 1, Some((66, 2)));
}

#[test]
fn defaults_with_three_actions() {
    let acrobot = ACROBOT.problem().build().expect("the defaults are a problem");
    check(&acrobot, &ACROBOT, [BEHAVIOUR, PRUNING], Some((63, 3)));
    let continuous = MOUNTAIN_CAR_CONTINUOUS.problem().build().expect("the defaults are a problem");
    check(&continuous, &MOUNTAIN_CAR_CONTINUOUS, [BEHAVIOUR, PRUNING], Some((66, 2)));
}

/// The rows of the paper are what `broccoli solve` does by default.
#[test]
fn the_rows_of_depth_2_are_the_defaults() {
    let rows: [(&Environment, &[f64]); 3] =
        [(&MOUNTAIN_CAR, &[0.05, 0.005]), (&CARTPOLE, &[0.1; 4]), (&PENDULUM, &[0.2, 0.2])];
    for (environment, steps) in rows {
        assert_eq!(environment.problem().build().unwrap(), row(environment, steps, 2));
    }
}

/// One row of the paper's "not prune" column, tree by tree.
fn count_trees(environment: &Environment, trees: u64) {
    let problem = environment.problem().build().expect("the defaults are a problem");
    let outcome = solve(&problem, environment, NO_PRUNING);
    assert_eq!(outcome.statistics.trees, trees);
    let found = |outcome: Outcome| outcome.best.map(|best| (best.value, best.tree.size()));
    assert_eq!(found(outcome), found(solve(&problem, environment, PRUNING)));
}

#[test]
fn trees_without_pruning_are_the_papers_in_cartpole() {
    count_trees(&CARTPOLE, 2_199_228);
}

#[test]
fn trees_without_pruning_are_the_papers_in_mountain_car() {
    count_trees(&MOUNTAIN_CAR, 518_074);
}

#[test]
fn trees_without_pruning_are_the_papers_in_pendulum() {
    if is_long() {
        count_trees(&PENDULUM, 845_154);
    }
}

/// The pendulum as in the program published with the paper: the angle moves with the velocity before
/// it is clipped to 8.
struct AuthorsPendulum([f64; 2]);

impl AuthorsPendulum {
    fn factory() -> Result<Box<dyn System>, SystemError> {
        Ok(Box::new(AuthorsPendulum([0.0; 2])))
    }

    fn reply(&self, observation: &mut [f64]) -> Result<Reply, SystemError> {
        observation.copy_from_slice(&self.0);
        let upright = self.0.iter().all(|value| value.abs() <= 0.1);
        Ok(if upright { Verdict::Satisfied } else { Verdict::Running }.into())
    }
}

impl System for AuthorsPendulum {
    fn reset(&mut self, initial: &InitialState, observation: &mut [f64]) -> Result<Reply, SystemError> {
        self.0.copy_from_slice(initial.values());
        self.reply(observation)
    }

    fn step(&mut self, action: usize, observation: &mut [f64]) -> Result<Reply, SystemError> {
        let [angle, velocity] = self.0;
        let torque = if action == 0 { -2.0 } else { 2.0 };
        let velocity = velocity + (3.0 * 10.0 / 2.0 * libm::sin(angle) + 3.0 * torque) * 0.05;
        self.0 = [angle + velocity * 0.05, velocity.clamp(-8.0, 8.0)];
        self.reply(observation)
    }
}

/// A count of thresholds and a list of them are other ways to the same grid.
#[test]
fn grids_counts_and_lists_agree() {
    let problem = |position: Thresholds, velocity: Thresholds| {
        let initial = vec![InitialState::new(MOUNTAIN_CAR.initial)];
        let builder = MOUNTAIN_CAR.problem_with(vec![position, velocity], initial);
        builder.objective(Objective::reach(200)).build().unwrap()
    };
    let grid =
        problem(Thresholds::grid(-1.2, 0.6, 0.18).unwrap(), Thresholds::grid(-0.07, 0.07, 0.014).unwrap());
    let count = problem(Thresholds::count(-1.2, 0.6, 9).unwrap(), Thresholds::count(-0.07, 0.07, 9).unwrap());
    assert_eq!(grid, count);
    let list = |i: usize| Thresholds::list(grid.dimensions()[i].thresholds.as_slice()).unwrap();
    assert_eq!(grid, problem(list(0), list(1)));
}
