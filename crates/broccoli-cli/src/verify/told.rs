//! What came of a check, in words and as JSON.

use broccoli_checker::{Certificate, Checked, Claim, Objective, Refutation};
use broccoli_core::problem::Problem;
use broccoli_core::search::Solution;
use broccoli_core::shown::shown;
use broccoli_core::tree::Tree;
use broccoli_environments::Choice;
use broccoli_export::json::{ProblemJson, StatusJson};
use broccoli_export::number::{counted, duration, grouped};
use broccoli_export::text;
use serde_json::json;

/// A check and what it was about.
pub(super) struct Told<'a> {
    pub(super) certificate: &'a Certificate,
    pub(super) json: &'a ProblemJson,
    pub(super) problem: &'a Problem,
    pub(super) choices: Vec<Choice>,
    /// How the system is not what it was.
    pub(super) changes: Vec<String>,
    pub(super) checked: Result<Checked, Refutation>,
    pub(super) seconds: f64,
}

impl Told<'_> {
    /// For people. The sentence of a proof is there only if every answer that it rests on is the system's.
    pub(super) fn as_text(&self) -> String {
        let Told { certificate, problem, .. } = self;
        let (status, best, bound) = claim(certificate);
        let drawing = best.as_ref().map(|best| format!("{}\n", best.tree.drawing(problem)));
        let drawing = drawing.unwrap_or_default();
        let claimed = text::wrapped(&claimed(problem, status, best.as_ref(), bound));
        let about = self.about();
        let mut text = match &self.checked {
            Err(refutation) => {
                let opening =
                    "Refuted: the certificate does not prove what it claims. The first wrong step is:";
                let wrong = text::wrapped(&refutation.to_string());
                format!("{}\n{wrong}\n\n{claimed}\n\n{about}", text::wrapped(opening))
            }
            Ok(checked) if checked.recorded == 0 => {
                let proved = text::verdict(problem, status, best.as_ref(), bound);
                format!("{drawing}{}\n\n{about}", text::wrapped(&format!("Verified. {proved}")))
            }
            Ok(checked) => {
                let opening = match checked.answers - checked.recorded {
                    0 => "Verified for the recorded answers; the system was not run.".to_owned(),
                    asked => format!(
                        "Verified for the recorded answers; the system was asked again for {} of {} of them.",
                        grouped(asked),
                        grouped(checked.answers)
                    ),
                };
                format!("{}\n\n{claimed}\n\n{drawing}{about}", text::wrapped(&opening))
            }
        };
        if let Ok(checked) = &self.checked {
            text += &format!(
                "checked  {}, {}, {}\n",
                counted(checked.behaviours, "behaviour"),
                counted(checked.labels, "label"),
                counted(checked.transitions, "transition"),
            );
            text += &match checked.asked {
                0 => "         the system was not run\n".to_owned(),
                asked => format!("         {} of them asked of the system\n", grouped(asked)),
            };
        }
        let form = if certificate.is_full { "full" } else { "light" };
        text + &format!("time     {} ({form} certificate)\n", duration(self.seconds))
    }

    /// The problem in short, and where it is not the default one.
    fn about(&self) -> String {
        let problem = self.problem;
        let mut text = format!(
            "system   {}, {}, {}, horizon {}\n",
            self.json.system.name(),
            problem
                .predicate_count()
                .map_or("all thresholds".to_owned(), |count| counted(count, "threshold")),
            counted(problem.initial_states().len() as u64, "initial state"),
            grouped(problem.objective().horizon()),
        );
        let mut margin = "choices";
        for choice in &self.choices {
            text += &format!("{margin:9}{choice}\n");
            margin = "";
        }
        let mut margin = "changed";
        for change in &self.changes {
            text += &format!("{margin:9}{}\n", shown(change));
            margin = "";
        }
        text
    }

    /// For scripts.
    pub(super) fn as_json(&self) -> serde_json::Value {
        let Told { certificate, checked, .. } = self;
        let (status, best, bound) = claim(certificate);
        let claim = if status == StatusJson::Stopped { "bound" } else { status.name() };
        let objective = match certificate.problem.objective {
            Objective::Reach => "reach",
            Objective::Survive => "survive",
        };
        let choice = |choice: &Choice| {
            let Choice { what, here, default } = choice;
            json!({"what": what, "here": here, "default": default})
        };
        json!({
            "version": 1,
            "status": match checked {
                Ok(checked) if checked.recorded == 0 => "verified",
                Ok(_) => "recorded",
                Err(_) => "refuted",
            },
            "form": if certificate.is_full { "full" } else { "light" },
            "claim": claim,
            "objective": objective,
            "value": best.as_ref().map(|best| best.value),
            "bound": bound,
            "size": best.as_ref().map(|best| best.tree.size()),
            "checked": checked.as_ref().ok().map(|checked| json!({
                "behaviours": checked.behaviours,
                "labels": checked.labels,
                "size_tests": checked.tests,
                "transitions": checked.transitions,
                "transitions_asked": checked.asked,
                "answers": checked.answers,
                "answers_asked": checked.answers - checked.recorded,
                "work": checked.work,
            })),
            "refutation": checked.as_ref().err().map(|wrong| json!({
                "what": wrong.what,
                "initial_state": wrong.initial,
                "step": wrong.step,
                "cell": wrong.cell,
                "labels": wrong.labels,
            })),
            "seconds": self.seconds,
            "changed": self.changes,
            "choices": self.choices.iter().map(choice).collect::<Vec<_>>(),
            "problem": self.json,
        })
    }
}

/// What a certificate claims, told as what it claims and not as what is so.
fn claimed(problem: &Problem, status: StatusJson, best: Option<&Solution>, bound: Option<u64>) -> String {
    let limits = problem.limits();
    let within = format!("of depth at most {} and size at most {}", limits.depth(), grouped(limits.nodes()));
    let value = |value| match problem.objective() {
        broccoli_core::problem::Objective::Survive { .. } => format!("survives {}", counted(value, "step")),
        _ => format!("reaches the goal in {}", counted(value, "step")),
    };
    let of_best = best.map(|best| {
        let size = counted(best.tree.size(), "predicate");
        format!("a tree of {size} {}", value(best.value))
    });
    match (status, of_best, bound) {
        (StatusJson::Optimal, Some(of_best), _) => {
            format!("What it claims: {of_best}. No tree {within} does better, and no smaller tree as well.")
        }
        (StatusJson::Infeasible, ..) => format!("What it claims: no tree {within} does it at all."),
        (_, of_best, bound) => {
            let of_best = of_best.map(|of_best| format!("{of_best}. ")).unwrap_or_default();
            let bound = bound.map(|bound| format!("{}, or worse", value(bound))).unwrap_or_default();
            format!("What it claims: {of_best}Every tree {within} {bound}.")
        }
    }
}

/// The claim as the core's own types, to be told.
fn claim(certificate: &Certificate) -> (StatusJson, Option<Solution>, Option<u64>) {
    let solution = certificate.claim.solution().map(|solution| Solution {
        tree: tree(&certificate.problem.thresholds, &solution.tree),
        value: solution.value,
    });
    match &certificate.claim {
        Claim::Optimal(best) => (StatusJson::Optimal, solution, Some(best.value)),
        Claim::Infeasible => (StatusJson::Infeasible, None, None),
        Claim::Bound { bound, .. } => (StatusJson::Stopped, solution, Some(*bound)),
    }
}

fn tree(thresholds: &[broccoli_checker::Thresholds], from: &broccoli_checker::Tree) -> Tree {
    match from {
        broccoli_checker::Tree::Leaf(action) => Tree::Leaf(usize::from(*action)),
        broccoli_checker::Tree::Node { dimension, threshold, branches } => {
            let [yes, no] = [&branches[0], &branches[1]].map(|branch| tree(thresholds, branch));
            Tree::node(*dimension, thresholds[*dimension].threshold(*threshold).unwrap_or_default(), yes, no)
        }
    }
}
