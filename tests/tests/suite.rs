//! Every test in one program, but for that of memory, which measures its own: to compile the random problems and to
//! link 17 times over takes minutes.

mod batches;
mod certificate_limits;
mod certificates;
mod choices;
mod extreme_observations;
mod failing_systems;
mod known_answers;
mod limits;
mod queries;
mod regressions;
mod resume;
mod split;
mod threads;
mod wall;
mod wrong_certificates;
