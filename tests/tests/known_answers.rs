//! The answers and tree counts that `EXPERIMENTS.md` of the project's design records, and the trees
//! printed in the paper.

use broccoli_core::problem::{
    InitialState, Objective, Problem, Reply, System, SystemError, SystemFactory, Thresholds, Verdict,
};
use broccoli_core::search::{Engine, Outcome, Search, Status};
use broccoli_core::tree::{Trace, Tree};
use broccoli_environments::{CARTPOLE, Environment, MOUNTAIN_CAR, PENDULUM};

const PRUNING: Engine = Engine::Backtracking { pruning: true };
const NO_PRUNING: Engine = Engine::Backtracking { pruning: false };

fn with_steps(environment: &Environment, steps: &[f64]) -> broccoli_core::problem::ProblemBuilder {
    let initial = vec![InitialState::new(environment.initial)];
    environment.problem_with(environment.grids(Some(steps)).unwrap(), initial)
}

fn solve(problem: &Problem, factory: &dyn SystemFactory, engine: Engine) -> Outcome {
    Search::new(problem, factory).engine(engine).run().unwrap()
}

/// The value and size found, and that the tree, run again, has this value.
fn answer(problem: &Problem, factory: &dyn SystemFactory, engine: Engine) -> Option<(u64, u64)> {
    let outcome = solve(problem, factory, engine);
    let best = outcome.best?;
    assert_eq!(outcome.status, Status::Optimal);
    assert_eq!(rerun(problem, factory, &best.tree), Some(best.value));
    Some((best.value, best.tree.size()))
}

/// The value of a tree by its whole trace from the only initial state.
fn rerun(problem: &Problem, factory: &dyn SystemFactory, tree: &Tree) -> Option<u64> {
    Trace::run(problem, factory, tree, 0).unwrap().value(problem.objective())
}

fn depth_2(root: (usize, f64), yes: (usize, f64), no: (usize, f64), actions: [usize; 4]) -> Tree {
    let leaf = Tree::Leaf;
    let yes = Tree::node(yes.0, yes.1, leaf(actions[0]), leaf(actions[1]));
    let no = Tree::node(no.0, no.1, leaf(actions[2]), leaf(actions[3]));
    Tree::node(root.0, root.1, yes, no)
}

#[test]
fn mountain_car_depth_2() {
    let problem = MOUNTAIN_CAR.problem().build().unwrap();
    assert_eq!(answer(&problem, &MOUNTAIN_CAR, PRUNING), Some((104, 3)));
    let printed = depth_2((0, -0.45), (1, 0.01), (1, -0.005), [1, 0, 1, 0]);
    assert_eq!(rerun(&problem, &MOUNTAIN_CAR, &printed), Some(104));
}

#[test]
fn cartpole_depth_2() {
    let problem = CARTPOLE.problem().build().unwrap();
    assert_eq!(answer(&problem, &CARTPOLE, PRUNING), Some((3082, 3)));
    let printed = depth_2((3, -0.3), (2, -0.018), (1, 0.0), [1, 0, 0, 1]);
    assert_eq!(rerun(&problem, &CARTPOLE, &printed), Some(3082));
}

#[test]
fn pendulum_depth_2() {
    let printed = depth_2((1, -5.2), (0, -0.8), (1, -5.6), [0, 1, 0, 1]);
    let problem = PENDULUM.problem().build().unwrap();
    for factory in [&PENDULUM as &dyn SystemFactory, &AuthorsPendulum::factory] {
        assert_eq!(answer(&problem, factory, PRUNING), Some((46, 3)));
        assert_eq!(rerun(&problem, factory, &printed), Some(46));
    }
}

#[test]
fn mountain_car_depth_3() {
    let problem = with_steps(&MOUNTAIN_CAR, &[0.18, 0.014]).depth(3).build().unwrap();
    assert_eq!(answer(&problem, &MOUNTAIN_CAR, PRUNING), Some((108, 4)));
}

#[test]
fn mountain_car_depth_3_coarse_has_no_tree() {
    let problem = with_steps(&MOUNTAIN_CAR, &[0.36, 0.028]).depth(3).build().unwrap();
    assert_eq!(solve(&problem, &MOUNTAIN_CAR, PRUNING).status, Status::Infeasible);
}

/// The three rows of the paper's "not prune" column, tree by tree.
#[test]
fn tree_counts_without_pruning_are_the_papers() {
    let counts = [(&CARTPOLE, 2_199_228), (&MOUNTAIN_CAR, 518_074), (&PENDULUM, 845_154)];
    for (environment, trees) in counts {
        let problem = environment.problem().build().unwrap();
        let outcome = solve(&problem, environment, NO_PRUNING);
        assert_eq!(outcome.statistics.trees, trees, "{}", environment.name);
        let pruned = solve(&problem, environment, PRUNING);
        let found = |outcome: Outcome| outcome.best.map(|best| (best.value, best.tree.size()));
        assert_eq!(found(outcome), found(pruned));
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
