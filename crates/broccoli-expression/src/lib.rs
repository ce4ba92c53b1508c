//! Small expressions over observation names: conditions, `abs(x) > 2.4 or abs(theta) > 0.2`, and numbers,
//! `0.5*v^2 + 9.8*h`.
//!
//! ```text
//! condition  = conjunction { "or" conjunction }
//! conjunction= negation { "and" negation }
//! negation   = "not" negation | comparison
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | power
//! power      = operand [ "^" exponent ]
//! operand    = number | name | function "(" sum { "," sum } ")" | "(" condition ")"
//! ```
//!
//! An expression has at most 2,000 numbers, names and signs, nested at most 64 levels deep: what is accepted can be
//! worked on by recursion. An exponent is a whole number from 0 to 16, and `x^3` is `x*x*x`. The functions are those of
//! [`Function`], `pi` is a number, and a name that is not made of letters, digits and `_` is written
//! between backquotes. Numbers are IEEE doubles, every operation is rounded on its own, and sines and the
//! like come from `libm`, so that an expression gives the same bits on every machine. A comparison with
//! NaN is false, `!=` is true; `min` and `max` of a NaN are NaN.

mod evaluate;
pub mod nearest;
mod parser;
mod write;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self::parser::Parser;
pub use self::write::Language;

/// What is wrong with an expression, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the text that are meant.
    pub place: Range<usize>,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for ExpressionError {}

/// A condition over the values of an observation.
///
/// ```
/// use broccoli_expression::Condition;
/// let fallen = Condition::parse("abs(x) > 2.4 or not y < 1", &["x", "y"])?;
/// assert!(fallen.holds(&[-2.5, 0.0]) && fallen.holds(&[0.0, 1.0]) && !fallen.holds(&[2.4, 0.5]));
/// let error = Condition::parse("speed > 1", &["x"]).unwrap_err();
/// assert_eq!(error.to_string(), "there is no observation \"speed\"; there is: x");
/// # Ok::<(), broccoli_expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: Arc<str>,
    root: Arc<Node>,
}

/// A number made of the values of an observation.
///
/// ```
/// use broccoli_expression::Expression;
/// let energy = Expression::parse("0.5*v^2 + 9.8*h", &["h", "v"])?;
/// assert_eq!(energy.value(&[1.0, 2.0]), 0.5 * (2.0 * 2.0) + 9.8 * 1.0);
/// let error = Expression::parse("sine(v)", &["h", "v"]).unwrap_err();
/// assert_eq!(error.to_string(), "there is no function \"sine\"; did you mean \"sin\"?");
/// # Ok::<(), broccoli_expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: Arc<str>,
    root: Arc<Node>,
}

/// An expression as a tree.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Value(usize),
    Negative(Box<Node>),
    Not(Box<Node>),
    Power(Box<Node>, u32),
    Call(Function, Vec<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
}

/// A function of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "their names say it")]
pub enum Function {
    Abs,
    Atan2,
    Cos,
    Exp,
    Ln,
    Max,
    Min,
    Sin,
    Sqrt,
    Tan,
}

impl Function {
    /// Every function with its name.
    pub const ALL: [(&'static str, Function); 10] = [
        ("abs", Function::Abs),
        ("atan2", Function::Atan2),
        ("cos", Function::Cos),
        ("exp", Function::Exp),
        ("ln", Function::Ln),
        ("max", Function::Max),
        ("min", Function::Min),
        ("sin", Function::Sin),
        ("sqrt", Function::Sqrt),
        ("tan", Function::Tan),
    ];

    /// Whether IEEE 754 settles the last bit of its result, so that every language gives the same.
    pub fn is_exact(self) -> bool {
        matches!(self, Function::Abs | Function::Max | Function::Min | Function::Sqrt)
    }

    /// The fewest and the most arguments.
    fn arguments(self) -> (usize, usize) {
        match self {
            Function::Min | Function::Max => (2, 16),
            Function::Atan2 => (2, 2),
            _ => (1, 1),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Differs,
    Plus,
    Minus,
    Times,
    Over,
}

impl Condition {
    /// Reads a condition about observations with these names.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, names: &[impl AsRef<str>]) -> Result<Self, ExpressionError> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let root = Parser::new(text, Some(&names))?.whole(true)?;
        Ok(Condition { text: text.into(), root: Arc::new(root) })
    }

    /// Whether text can be a condition at all, whatever the observations are called.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check_syntax(text: &str) -> Result<(), ExpressionError> {
        Parser::new(text, None)?.whole(true).map(|_| ())
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is true of an observation, which has a value for every name.
    pub fn holds(&self, observation: &[f64]) -> bool {
        self.root.truth(observation)
    }
}

impl Expression {
    /// Reads an expression over observations with these names.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, names: &[impl AsRef<str>]) -> Result<Self, ExpressionError> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let root = Parser::new(text, Some(&names))?.whole(false)?;
        Ok(Expression { text: text.into(), root: Arc::new(root) })
    }

    /// Whether text can be an expression at all, whatever the observations are called.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check_syntax(text: &str) -> Result<(), ExpressionError> {
        Parser::new(text, None)?.whole(false).map(|_| ())
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value for an observation, which has a value for every name.
    pub fn value(&self, observation: &[f64]) -> f64 {
        self.root.number(observation)
    }
}

#[cfg(test)]
mod tests;
