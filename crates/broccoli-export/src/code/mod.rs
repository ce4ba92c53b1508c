//! Trees as programs. All languages are written from one intermediate form, [`Program`], and tested by
//! one harness (`tests/programs.rs`), which runs every program on thousands of observations.
//!
//! In every language the comparison is the exact `x >= t` of the tree. NaN, which no observation may
//! hold, takes the false child, as it does in [`Tree::action`].

mod c;
mod features;
mod fixed;
mod onnx;
mod python;
mod rust;
mod structured_text;

pub use c::{c, c_fixed};
pub use features::{Feature, FeatureError};
pub use fixed::{FixedError, MAX_FRACTION_BITS};
pub use onnx::onnx;
pub use python::python;
pub use rust::rust;
pub use structured_text::structured_text;

use broccoli_core::problem::Problem;
use broccoli_core::tree::Tree;

use crate::names::{comment, identifiers};
use crate::policy::Policy;
use crate::text::wrapped;

/// What every language is written from. Text in it is safe in comments of any language.
#[derive(Clone, Debug, PartialEq)]
pub struct Program<T> {
    /// What it is and what is proved, line by line.
    pub header: Vec<String>,
    /// The observed dimensions.
    pub inputs: Vec<Input>,
    /// The derived dimensions that predicates ask for.
    pub features: Vec<Feature>,
    /// The names of the actions, as the user wrote them.
    pub action_names: Vec<String>,
    /// The values that the system is given.
    pub action_values: Vec<f64>,
    /// What to do.
    pub root: Block<T>,
}

/// An observed dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// An identifier in every language, different from all others.
    pub identifier: String,
    /// Whether any predicate or feature asks for it.
    pub used: bool,
}

/// A decision, with thresholds of type `T`.
#[derive(Clone, Debug, PartialEq)]
pub enum Block<T> {
    /// This action.
    Return(usize),
    /// Ask whether the input is at least the threshold.
    Test {
        /// Index of the dimension: the inputs first, then the features.
        input: usize,
        /// The threshold.
        at_least: T,
        /// Where that is true.
        yes: Box<Block<T>>,
        /// Where it is not.
        no: Box<Block<T>>,
    },
}

impl Program<f64> {
    /// The program of a policy.
    ///
    /// # Errors
    /// When the expression of a derived dimension cannot be read.
    pub fn new(policy: &Policy) -> Result<Self, FeatureError> {
        let problem = &policy.problem;
        let names: Vec<&str> = problem.dimensions().iter().map(|d| d.name.as_str()).collect();
        let mut inputs: Vec<Input> =
            identifiers(&names).into_iter().map(|identifier| Input { identifier, used: false }).collect();
        let root = block(&policy.tree, &mut inputs);
        let features = features::split(problem, &mut inputs)?;
        let paragraphs = policy.about();
        let mut header: Vec<String> = Vec::new();
        for paragraph in paragraphs {
            header.extend(wrapped(&comment(&paragraph)).lines().map(str::to_owned));
            header.push(String::new());
        }
        header.extend(tables(problem, &inputs));
        header.extend(features::table(&features));
        Ok(Program {
            header,
            inputs,
            features,
            action_names: problem.actions().iter().map(|a| a.name.clone()).collect(),
            action_values: problem.actions().iter().map(|a| a.value).collect(),
            root,
        })
    }
}

impl<T> Program<T> {
    /// The identifier of a dimension.
    fn variable(&self, dimension: usize) -> &str {
        match self.inputs.get(dimension) {
            Some(input) => &input.identifier,
            None => &self.features[dimension - self.inputs.len()].identifier,
        }
    }
}

fn block(tree: &Tree, inputs: &mut [Input]) -> Block<f64> {
    match tree {
        Tree::Leaf(action) => Block::Return(*action),
        Tree::Node { dimension, threshold, yes, no } => {
            inputs[*dimension].used = true;
            Block::Test {
                input: *dimension,
                at_least: *threshold,
                yes: Box::new(block(yes, inputs)),
                no: Box::new(block(no, inputs)),
            }
        }
    }
}

/// What the inputs are and what the answer means.
fn tables(problem: &Problem, inputs: &[Input]) -> Vec<String> {
    let mut lines = vec!["The observation, in this order:".to_owned()];
    for (i, (dimension, input)) in problem.dimensions().iter().zip(inputs).enumerate() {
        lines.push(format!("  {i}: {} ({})", comment(&dimension.name), input.identifier));
    }
    lines.push("The answer is the index of an action:".to_owned());
    for (i, action) in problem.actions().iter().enumerate() {
        lines.push(format!("  {i}: {} (value {:?})", comment(&action.name), action.value));
    }
    lines
}

/// How a language writes a decision; `{x}` stands for the input and `{t}` for the threshold.
struct Syntax {
    test: &'static str,
    otherwise: &'static str,
    end: Option<&'static str>,
    answer: fn(usize) -> String,
}

/// Nested tests, indented from `level` on.
fn statements<T>(
    program: &Program<T>,
    block: &Block<T>,
    syntax: &Syntax,
    literal: &dyn Fn(&T) -> String,
    level: usize,
) -> String {
    let indent = "    ".repeat(level);
    match block {
        Block::Return(action) => format!("{indent}{}\n", (syntax.answer)(*action)),
        Block::Test { input, at_least, yes, no } => {
            let test = syntax.test.replace("{x}", program.variable(*input));
            let inner = |block| statements(program, block, syntax, literal, level + 1);
            let mut text = format!("{indent}{}\n", test.replace("{t}", &literal(at_least)));
            text += &format!("{}{indent}{}\n{}", inner(yes), syntax.otherwise, inner(no));
            if let Some(end) = syntax.end {
                text += &format!("{indent}{end}\n");
            }
            text
        }
    }
}

/// The header, each line behind `mark`.
fn commented<T>(program: &Program<T>, mark: &str) -> String {
    program.header.iter().map(|line| format!("{}\n", format!("{mark} {line}").trim_end())).collect()
}

/// A number that comes back bit for bit in every language, always with a point.
fn decimal(value: &f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}
