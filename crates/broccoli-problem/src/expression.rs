//! Small expressions over observation names, for verdicts: `abs(x) > 2.4 or abs(theta) > 0.2`.
//!
//! ```text
//! condition  = conjunction { "or" conjunction }
//! conjunction= negation { "and" negation }
//! negation   = "not" negation | comparison
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | number | name | function "(" sum { "," sum } ")" | "(" condition ")"
//! ```
//!
//! Functions are `abs`, `sqrt`, `min` and `max`, `pi` is a number, and a name that is none of letters,
//! digits and `_` is written between backquotes. Numbers are IEEE doubles, and every operation is
//! rounded on its own, so that a condition gives the same on every machine. A comparison with NaN is
//! false, `!=` is true.

mod parser;

use std::fmt;
use std::ops::Range;

use self::parser::Parser;

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
/// use broccoli_problem::Condition;
/// let fallen = Condition::parse("abs(x) > 2.4 or not y < 1", &["x", "y"])?;
/// assert!(fallen.holds(&[-2.5, 0.0]) && fallen.holds(&[0.0, 1.0]) && !fallen.holds(&[2.4, 0.5]));
/// let error = Condition::parse("speed > 1", &["x"]).unwrap_err();
/// assert_eq!(error.to_string(), "there is no observation \"speed\"; there is: x");
/// # Ok::<(), broccoli_problem::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Value(usize),
    Negative(Box<Node>),
    Not(Box<Node>),
    Call(Function, Vec<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Abs,
    Sqrt,
    Min,
    Max,
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
        let root = Parser::new(text, Some(&names))?.whole()?;
        Ok(Condition { text: text.to_owned(), root })
    }

    /// Whether text can be a condition at all, whatever the observations are called.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check_syntax(text: &str) -> Result<(), ExpressionError> {
        Parser::new(text, None)?.whole().map(|_| ())
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

impl Node {
    fn is_condition(&self) -> bool {
        use Operator::*;
        match self {
            Node::Not(_) => true,
            Node::Binary(operator, ..) => !matches!(operator, Plus | Minus | Times | Over),
            _ => false,
        }
    }

    fn truth(&self, x: &[f64]) -> bool {
        match self {
            Node::Not(inner) => !inner.truth(x),
            Node::Binary(Operator::Or, a, b) => a.truth(x) || b.truth(x),
            Node::Binary(Operator::And, a, b) => a.truth(x) && b.truth(x),
            Node::Binary(operator, a, b) => {
                let (a, b) = (a.number(x), b.number(x));
                match operator {
                    Operator::Less => a < b,
                    Operator::AtMost => a <= b,
                    Operator::Greater => a > b,
                    Operator::AtLeast => a >= b,
                    Operator::Equal => a == b,
                    _ => a != b,
                }
            }
            number => number.number(x) != 0.0,
        }
    }

    fn number(&self, x: &[f64]) -> f64 {
        match self {
            Node::Number(number) => *number,
            Node::Value(index) => x.get(*index).copied().unwrap_or(f64::NAN),
            Node::Negative(inner) => -inner.number(x),
            Node::Call(function, arguments) => {
                let mut numbers = arguments.iter().map(|argument| argument.number(x));
                let first = numbers.next().unwrap_or(f64::NAN);
                match function {
                    Function::Abs => first.abs(),
                    Function::Sqrt => first.sqrt(),
                    Function::Min => numbers.fold(first, |a, b| if b < a || b.is_nan() { b } else { a }),
                    Function::Max => numbers.fold(first, |a, b| if b > a || b.is_nan() { b } else { a }),
                }
            }
            Node::Binary(operator, a, b) => {
                let (a, b) = (a.number(x), b.number(x));
                match operator {
                    Operator::Plus => a + b,
                    Operator::Minus => a - b,
                    Operator::Times => a * b,
                    _ => a / b,
                }
            }
            Node::Not(_) => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests;
