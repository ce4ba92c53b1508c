//! What expressions are worth.

use super::{Function, Node, Operator};

impl Node {
    pub(super) fn is_condition(&self) -> bool {
        use Operator::*;
        match self {
            Node::Not(_) => true,
            Node::Binary(operator, ..) => !matches!(operator, Plus | Minus | Times | Over),
            _ => false,
        }
    }

    pub(super) fn truth(&self, x: &[f64]) -> bool {
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

    pub(super) fn number(&self, x: &[f64]) -> f64 {
        match self {
            Node::Number(number) => *number,
            Node::Value(index) => x.get(*index).copied().unwrap_or(f64::NAN),
            Node::Negative(inner) => -inner.number(x),
            Node::Power(base, exponent) => power(base.number(x), *exponent),
            Node::Call(function, arguments) => {
                let mut numbers = arguments.iter().map(|argument| argument.number(x));
                let first = numbers.next().unwrap_or(f64::NAN);
                match function {
                    Function::Abs => first.abs(),
                    Function::Atan2 => libm::atan2(first, numbers.next().unwrap_or(f64::NAN)),
                    Function::Cos => libm::cos(first),
                    Function::Exp => libm::exp(first),
                    Function::Ln => libm::log(first),
                    Function::Max => numbers.fold(first, |a, b| if b > a || b.is_nan() { b } else { a }),
                    Function::Min => numbers.fold(first, |a, b| if b < a || b.is_nan() { b } else { a }),
                    Function::Sin => libm::sin(first),
                    Function::Sqrt => first.sqrt(),
                    Function::Tan => libm::tan(first),
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

/// A power by multiplication, from left to right.
fn power(base: f64, exponent: u32) -> f64 {
    let more = exponent.saturating_sub(1);
    (0..more).fold(if exponent == 0 { 1.0 } else { base }, |product, _| product * base)
}
