//! Derived dimensions in programs: which languages compute them, and how.

use broccoli_core::problem::Problem;
use broccoli_expression::{Expression, ExpressionError, Function, Language};

use super::{Input, Program, decimal};
use crate::names::comment;

/// A derived dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// An identifier in every language, different from all others.
    pub identifier: String,
    /// What people call it.
    pub name: String,
    /// How it is computed from the inputs.
    pub expression: Expression,
    /// Whether any predicate asks for it.
    pub used: bool,
}

/// Why a program cannot have its derived dimensions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FeatureError {
    /// An expression cannot be read.
    #[error("the expression of {name:?}: {error}")]
    Expression {
        /// The dimension's name.
        name: String,
        /// What is wrong.
        error: ExpressionError,
    },
    /// The language has no arithmetic that would give the same.
    #[error("{language} cannot compute {name:?}, which the tree asks for; c, rust and python can")]
    Language {
        /// The name of the format.
        language: &'static str,
        /// The dimension's name.
        name: String,
    },
}

/// Takes the derived dimensions off the end of `inputs`, and notes what they take from the rest.
pub(super) fn split(problem: &Problem, inputs: &mut Vec<Input>) -> Result<Vec<Feature>, FeatureError> {
    let dimensions = problem.dimensions();
    let observed = dimensions.iter().take_while(|d| d.expression.is_none()).count();
    let names: Vec<&str> = dimensions[..observed].iter().map(|d| d.name.as_str()).collect();
    let derived = inputs.split_off(observed);
    let mut features = Vec::new();
    for (Input { identifier, used }, dimension) in derived.into_iter().zip(&dimensions[observed..]) {
        let name = dimension.name.clone();
        let text = dimension.expression.as_deref().unwrap_or_default();
        let expression = Expression::parse(text, &names)
            .map_err(|error| FeatureError::Expression { name: name.clone(), error })?;
        for input in expression.inputs().into_iter().filter(|_| used) {
            inputs[input].used = true;
        }
        features.push(Feature { identifier, name, expression, used });
    }
    Ok(features)
}

/// What the derived dimensions are, for the header.
pub(super) fn table(features: &[Feature]) -> Vec<String> {
    let used: Vec<&Feature> = features.iter().filter(|feature| feature.used).collect();
    let mut lines = Vec::new();
    if !used.is_empty() {
        lines.push("Derived from the observation:".to_owned());
    }
    for Feature { identifier, name, expression, .. } in &used {
        lines.push(format!("  {}: {} ({identifier})", comment(name), comment(expression.text())));
    }
    if used.iter().any(|feature| feature.expression.functions().iter().any(|f| !f.is_exact())) {
        lines.push(
            "Its functions are those of the language, which may differ from Broccoli's in the last".into(),
        );
        lines.push("bit: this close to a threshold the answer may not be that of the tree.".into());
    }
    lines
}

impl<T> Program<T> {
    /// The derived dimensions that are needed.
    pub(super) fn used_features(&self) -> impl Iterator<Item = &Feature> {
        self.features.iter().filter(|feature| feature.used)
    }

    /// Whether a needed one calls a function, or takes a power (`None`).
    pub(super) fn calls(&self, function: Option<Function>) -> bool {
        self.used_features().any(|feature| match function {
            Some(function) => feature.expression.functions().contains(&function),
            None => feature.expression.has_power(),
        })
    }

    /// Refuses a program with derived dimensions for a language that cannot compute them.
    pub(super) fn without_features(&self, language: &'static str) -> Result<(), FeatureError> {
        match self.used_features().next() {
            Some(feature) => Err(FeatureError::Language { language, name: feature.name.clone() }),
            None => Ok(()),
        }
    }
}

/// How a language calls what IEEE 754 does not settle; the rest is alike.
pub(super) struct Arithmetic<'p> {
    pub(super) inputs: &'p [Input],
    /// The name of a function, and whether its arguments are folded two by two.
    pub(super) function: fn(Function) -> &'static str,
    /// The quotient, where it is not `a / b`.
    pub(super) quotient: Option<&'static str>,
}

impl Language for Arithmetic<'_> {
    fn number(&self, value: f64) -> String {
        decimal(&value)
    }

    fn value(&self, index: usize) -> String {
        self.inputs[index].identifier.clone()
    }

    fn call(&self, function: Function, arguments: &[String]) -> String {
        let name = (self.function)(function);
        match (function, arguments) {
            (Function::Min | Function::Max, [first, rest @ ..]) => {
                rest.iter().fold(first.clone(), |text, argument| format!("{name}({text}, {argument})"))
            }
            _ => format!("{name}({})", arguments.join(", ")),
        }
    }

    fn power(&self, base: &str, exponent: u32) -> String {
        format!("power({base}, {exponent})")
    }

    fn quotient(&self, over: &str, under: &str) -> String {
        match self.quotient {
            Some(name) => format!("{name}({over}, {under})"),
            None => format!("{over} / {under}"),
        }
    }
}
