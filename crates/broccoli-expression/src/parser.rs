//! From text to an expression: tokens, then one function per level of the grammar.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{ExpressionError, Function, Node, Operator};
use crate::nearest::hint;

/// How deep parentheses may be nested, in the text and in what is written from it.
const DEEPEST: usize = 64;
/// The most tokens. A sum of so many terms is as deep as it is long, and all that is done with an expression is
/// recursive.
const MOST_PARTS: usize = 2_000;
/// The largest exponent.
const MOST_POWER: u32 = 16;

#[derive(Clone, Debug, PartialEq)]
enum Token<'t> {
    Number(f64),
    Name(&'t str),
    Sign(&'static str),
    End,
}

pub(super) struct Parser<'t, 'n> {
    tokens: Vec<(Token<'t>, Range<usize>)>,
    position: usize,
    nesting: usize,
    names: Option<&'n [&'n str]>,
    /// Where each of the names is.
    places: BTreeMap<&'n str, usize>,
}

impl<'t, 'n> Parser<'t, 'n> {
    pub(super) fn new(text: &'t str, names: Option<&'n [&'n str]>) -> Result<Self, ExpressionError> {
        // The first of several that are alike.
        let places = names.unwrap_or_default().iter().enumerate().rev().map(|(i, name)| (*name, i)).collect();
        Ok(Parser { tokens: tokens(text)?, position: 0, nesting: 0, names, places })
    }

    /// Reads the whole text as one condition, or one number.
    pub(super) fn whole(mut self, condition: bool) -> Result<Node, ExpressionError> {
        let root = self.condition()?;
        self.expect_kind(&root, condition, 0)?;
        match self.peek() {
            Token::End if root.levels() > DEEPEST => {
                let message = format!("its operations are nested more than {DEEPEST} levels deep");
                Err(ExpressionError { message, place: self.whole_place() })
            }
            Token::End => Ok(root),
            Token::Sign(sign @ ("<" | "<=" | ">" | ">=" | "==" | "!=")) => {
                let sign = *sign;
                self.error(format!("comparisons do not chain: write `a {sign} b and b {sign} c`"))
            }
            _ => self.error("an operator such as `and`, `or`, `<` or `+` is missing before this"),
        }
    }

    fn whole_place(&self) -> Range<usize> {
        self.tokens[0].1.start..self.tokens[self.tokens.len() - 1].1.start
    }

    fn peek(&self) -> &Token<'t> {
        &self.tokens[self.position].0
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.tokens[self.position].0.clone();
        self.position = (self.position + 1).min(self.tokens.len() - 1);
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let there = match self.peek() {
            Token::Sign(found) => *found == sign,
            Token::Name(found) => *found == sign,
            _ => false,
        };
        if there {
            self.next();
        }
        there
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ExpressionError> {
        Err(ExpressionError { message: message.into(), place: self.tokens[self.position].1.clone() })
    }

    /// Checks that what was read from token `start` on is a condition, or a number.
    fn expect_kind(&self, node: &Node, condition: bool, start: usize) -> Result<(), ExpressionError> {
        if node.is_condition() == condition {
            return Ok(());
        }
        let message = if condition {
            "this is a number, not a condition: compare it with something, as in `x >= 0.5`"
        } else {
            "this is a condition, not a number"
        };
        let end = self.tokens[self.position.saturating_sub(1)].1.end;
        let start = self.tokens[start].1.start;
        Err(ExpressionError { message: message.to_owned(), place: start..end.max(start) })
    }

    /// Reads operands between operators of one level, all of one kind, from left to right.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        conditions: bool,
        operand: fn(&mut Self) -> Result<Node, ExpressionError>,
    ) -> Result<Node, ExpressionError> {
        let start = self.position;
        let mut left = operand(self)?;
        while let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.takes(sign)) {
            self.expect_kind_before(&left, conditions, start)?;
            let start = self.position;
            let right = operand(self)?;
            self.expect_kind(&right, conditions, start)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// As [`Parser::expect_kind`], but the operator behind it was read already.
    fn expect_kind_before(
        &mut self,
        node: &Node,
        condition: bool,
        start: usize,
    ) -> Result<(), ExpressionError> {
        self.position -= 1;
        let checked = self.expect_kind(node, condition, start);
        self.position += 1;
        checked
    }

    fn condition(&mut self) -> Result<Node, ExpressionError> {
        self.chain(&[("or", Operator::Or)], true, Self::conjunction)
    }

    fn conjunction(&mut self) -> Result<Node, ExpressionError> {
        self.chain(&[("and", Operator::And)], true, Self::negation)
    }

    fn negation(&mut self) -> Result<Node, ExpressionError> {
        if !self.takes("not") {
            return self.comparison();
        }
        let start = self.position;
        let inner = self.nested(Self::negation)?;
        self.expect_kind(&inner, true, start)?;
        Ok(Node::Not(Box::new(inner)))
    }

    fn comparison(&mut self) -> Result<Node, ExpressionError> {
        const SIGNS: [(&str, Operator); 6] = [
            ("<=", Operator::AtMost),
            (">=", Operator::AtLeast),
            ("==", Operator::Equal),
            ("!=", Operator::Differs),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let start = self.position;
        let left = self.sum()?;
        let Some(&(_, operator)) = SIGNS.iter().find(|(sign, _)| self.takes(sign)) else { return Ok(left) };
        self.expect_kind_before(&left, false, start)?;
        let start = self.position;
        let right = self.sum()?;
        self.expect_kind(&right, false, start)?;
        Ok(Node::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        self.chain(&[("+", Operator::Plus), ("-", Operator::Minus)], false, Self::product)
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        self.chain(&[("*", Operator::Times), ("/", Operator::Over)], false, Self::factor)
    }

    fn factor(&mut self) -> Result<Node, ExpressionError> {
        if self.takes("-") {
            let start = self.position;
            let inner = self.nested(Self::factor)?;
            self.expect_kind(&inner, false, start)?;
            return Ok(Node::Negative(Box::new(inner)));
        }
        self.power()
    }

    fn power(&mut self) -> Result<Node, ExpressionError> {
        let start = self.position;
        let base = self.operand()?;
        if !self.takes("^") {
            return Ok(base);
        }
        self.expect_kind_before(&base, false, start)?;
        let exponent = match self.peek() {
            Token::Number(number) => (0..=MOST_POWER).find(|whole| f64::from(*whole) == *number),
            _ => None,
        };
        let Some(exponent) = exponent else {
            return self.error(format!(
                "an exponent is a whole number from 0 to {MOST_POWER}; for another, write exp(b * ln(a))"
            ));
        };
        self.next();
        if self.takes("^") {
            self.position -= 1;
            return self.error("powers do not chain: write `(a^b)^c`");
        }
        Ok(Node::Power(Box::new(base), exponent))
    }

    fn operand(&mut self) -> Result<Node, ExpressionError> {
        if self.takes("(") {
            let inner = self.nested(Self::condition)?;
            return if self.takes(")") { Ok(inner) } else { self.error("a closing `)` is missing") };
        }
        match self.peek().clone() {
            Token::Number(number) => {
                self.next();
                Ok(Node::Number(number))
            }
            Token::Name(name) => self.name(name),
            Token::End => self.error("the expression ends too early"),
            Token::Sign("*") => self.error("a number or a name is missing before `*`; a power is `a^b`"),
            Token::Sign(sign) => self.error(format!("a number or a name is missing before `{sign}`")),
        }
    }

    fn name(&mut self, name: &str) -> Result<Node, ExpressionError> {
        let is_call = self.tokens.get(self.position + 1).is_some_and(|next| next.0 == Token::Sign("("));
        if is_call {
            let Some(&(_, function)) = Function::ALL.iter().find(|(known, _)| *known == name) else {
                let hint = hint(name, &Function::ALL.map(|(known, _)| known));
                return self.error(format!("there is no function {name:?}{hint}"));
            };
            let (least, most) = function.arguments();
            self.next();
            self.next();
            let mut arguments = Vec::new();
            loop {
                let start = self.position;
                let argument = self.nested(Self::sum)?;
                self.expect_kind(&argument, false, start)?;
                arguments.push(argument);
                if self.takes(")") {
                    break;
                }
                if !self.takes(",") {
                    return self.error("a `,` or a closing `)` is missing");
                }
            }
            if !(least..=most).contains(&arguments.len()) {
                let wanted = match (least, most) {
                    (_, 1) => "one value".to_owned(),
                    (least, most) if least == most => format!("{least} values"),
                    (least, most) => format!("{least} to {most} values"),
                };
                return self.error(format!("`{name}` takes {wanted}, not {}", arguments.len()));
            }
            return Ok(Node::Call(function, arguments));
        }
        let node = match self.names {
            _ if name == "pi" => Node::Number(std::f64::consts::PI),
            None => Node::Value(0),
            Some(names) => match self.places.get(name) {
                Some(index) => Node::Value(*index),
                None => {
                    let message = format!("there is no observation {name:?}{}", hint(name, names));
                    return self.error(message);
                }
            },
        };
        self.next();
        Ok(node)
    }

    /// Reads something inside something else, but not without end.
    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Node, ExpressionError>,
    ) -> Result<Node, ExpressionError> {
        if self.nesting == DEEPEST {
            return self.error(format!("this is nested more than {DEEPEST} levels deep"));
        }
        self.nesting += 1;
        let node = read(self);
        self.nesting -= 1;
        node
    }
}

/// Cuts text into tokens; the last one is the end.
fn tokens(text: &str) -> Result<Vec<(Token<'_>, Range<usize>)>, ExpressionError> {
    const SIGNS: [&str; 14] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ","];
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length_of = |allowed: fn(char) -> bool| rest.find(|c| !allowed(c)).unwrap_or(rest.len());
        let error = |length: usize, message: String| Err(ExpressionError { message, place: at..at + length });
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else if first.is_ascii_digit() || first == '.' {
            let mut length = length_of(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
            if rest[..length].ends_with(['e', 'E']) && rest[length..].starts_with(['+', '-']) {
                let sign = length + 1;
                length = sign + rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
            }
            match rest[..length].replace('_', "").parse::<f64>() {
                Ok(number) if number.is_finite() => (Token::Number(number), length),
                _ => return error(length, format!("`{}` is not a finite number", &rest[..length])),
            }
        } else if first == '`' {
            match rest[1..].find('`') {
                Some(end) => (Token::Name(&rest[1..=end]), end + 2),
                None => return error(rest.len(), "a closing backquote is missing".to_owned()),
            }
        } else if first.is_alphabetic() || first == '_' {
            let length = length_of(|c| c.is_alphanumeric() || c == '_');
            (Token::Name(&rest[..length]), length)
        } else {
            let hint = match first {
                '=' => "; equality is `==`",
                '&' => "; write `and`",
                '|' => "; write `or`, and abs(x) for an absolute value",
                '!' => "; write `not`",
                _ => "",
            };
            return error(first.len_utf8(), format!("`{first}` means nothing here{hint}"));
        };
        if tokens.len() == MOST_PARTS {
            let message = format!("an expression has at most {MOST_PARTS} numbers, names and signs");
            return error(length, message);
        }
        tokens.push((token, at..at + length));
        at += length;
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}
