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

use std::fmt;
use std::ops::Range;

/// How deep parentheses may be nested.
const DEEPEST: usize = 64;

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

#[derive(Clone, Debug, PartialEq)]
enum Token<'t> {
    Number(f64),
    Name(&'t str),
    Sign(&'static str),
    End,
}

struct Parser<'t, 'n> {
    tokens: Vec<(Token<'t>, Range<usize>)>,
    position: usize,
    nesting: usize,
    names: Option<&'n [&'n str]>,
}

impl<'t, 'n> Parser<'t, 'n> {
    fn new(text: &'t str, names: Option<&'n [&'n str]>) -> Result<Self, ExpressionError> {
        Ok(Parser { tokens: tokens(text)?, position: 0, nesting: 0, names })
    }

    fn whole(mut self) -> Result<Node, ExpressionError> {
        let root = self.condition()?;
        self.expect_kind(&root, true, 0)?;
        match self.peek() {
            Token::End => Ok(root),
            Token::Sign(sign @ ("<" | "<=" | ">" | ">=" | "==" | "!=")) => {
                let sign = *sign;
                self.error(format!("comparisons do not chain: write `a {sign} b and b {sign} c`"))
            }
            _ => self.error("an operator such as `and`, `or`, `<` or `+` is missing before this"),
        }
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
            Token::End => self.error("the condition ends too early"),
            Token::Sign(sign) => self.error(format!("a number or a name is missing before `{sign}`")),
        }
    }

    fn name(&mut self, name: &str) -> Result<Node, ExpressionError> {
        let is_call = self.tokens.get(self.position + 1).is_some_and(|next| next.0 == Token::Sign("("));
        if is_call {
            let (function, least, most) = match name {
                "abs" => (Function::Abs, 1, 1),
                "sqrt" => (Function::Sqrt, 1, 1),
                "min" => (Function::Min, 2, 16),
                "max" => (Function::Max, 2, 16),
                _ => {
                    return self
                        .error(format!("there is no function `{name}`; there are: abs, sqrt, min, max"));
                }
            };
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
                let wanted =
                    if most == 1 { "one value".to_owned() } else { format!("{least} to {most} values") };
                return self.error(format!("`{name}` takes {wanted}, not {}", arguments.len()));
            }
            return Ok(Node::Call(function, arguments));
        }
        let node = match self.names {
            _ if name == "pi" => Node::Number(std::f64::consts::PI),
            None => Node::Value(0),
            Some(names) => match names.iter().position(|known| *known == name) {
                Some(index) => Node::Value(index),
                None => {
                    let message =
                        format!("there is no observation {name:?}{}", crate::nearest::hint(name, names));
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
    const SIGNS: [&str; 13] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ","];
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
        tokens.push((token, at..at + length));
        at += length;
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 3] = ["x", "y", "+2"];

    fn holds(text: &str, values: [f64; 3]) -> bool {
        Condition::parse(text, &NAMES).unwrap_or_else(|error| panic!("{text}: {error}")).holds(&values)
    }

    #[test]
    fn operators_bind_as_they_do_everywhere() {
        assert!(holds("1 + 2 * 3 == 7", [0.0; 3]));
        assert!(holds("(1 + 2) * 3 == 9", [0.0; 3]));
        assert!(holds("8 / 2 / 2 == 2 and 8 - 2 - 2 == 4", [0.0; 3]));
        assert!(holds("- 2 * - 3 == 6", [0.0; 3]));
        assert!(holds("x > 1 or x < 0 and y > 5", [2.0, 0.0, 0.0]));
        assert!(!holds("(x > 1 or x < 0) and y > 5", [2.0, 0.0, 0.0]));
        assert!(holds("not x > 1 and not (y == 1)", [0.0; 3]));
        assert!(holds("not not x == 0", [0.0; 3]));
        assert!(holds("max(x, y, 3) - min(1e0, 2) == 2", [0.0; 3]));
        assert!(holds("abs(x) <= 2.5e-1 and sqrt(y) == 3", [-0.25, 9.0, 0.0]));
        assert!(holds("`+2` >= 1_000", [0.0, 0.0, 1000.0]));
        assert!(holds("abs(x) > 12 * 2 * pi / 360", [0.21, 0.0, 0.0]));
    }

    #[test]
    fn nan_satisfies_nothing_but_differs() {
        for sign in ["<", "<=", ">", ">=", "=="] {
            assert!(!holds(&format!("x {sign} x"), [f64::NAN; 3]));
        }
        assert!(holds("x != x", [f64::NAN; 3]));
        assert!(!holds("min(x, y) < 9 or max(y, x) > 0", [f64::NAN, 1.0, 0.0]));
    }

    #[test]
    fn mistakes_are_named_and_placed() {
        for (text, message, place) in [
            ("", "the condition ends too early", 0..0),
            ("x", "this is a number", 0..1),
            ("x > ", "the condition ends too early", 4..4),
            ("x = 1", "`=` means nothing here; equality is `==`", 2..3),
            ("x > 1 && y > 1", "`&` means nothing here; write `and`", 6..7),
            ("0 < x < 1", "comparisons do not chain", 6..7),
            ("(x > 1", "a closing `)` is missing", 6..6),
            ("x > 1)", "an operator such as", 5..6),
            ("z > 1", "there is no observation \"z\"", 0..1),
            ("sin(x) > 1", "there is no function `sin`", 0..3),
            ("abs(x, y) > 1", "`abs` takes one value, not 2", 10..11),
            ("(x > 1) + 2 > 3", "this is a condition, not a number", 0..7),
            ("x and y > 1", "this is a number, not a condition", 0..1),
            ("not x", "this is a number, not a condition", 4..5),
            ("x > 1e999", "`1e999` is not a finite number", 4..9),
            ("x > 1.2.3", "`1.2.3` is not a finite number", 4..9),
            ("`x > 1", "a closing backquote is missing", 0..6),
        ] {
            let error = Condition::parse(text, &NAMES).unwrap_err();
            assert!(error.message.starts_with(message), "{text:?}: {}", error.message);
            assert_eq!(error.place, place, "{text:?}: {}", error.message);
        }
    }

    #[test]
    fn nesting_ends_somewhere() {
        for open in ["(", "-", "not ", "abs("] {
            let error = Condition::parse(&open.repeat(100_000), &NAMES).unwrap_err();
            assert!(error.message.contains("nested more than"), "{open}: {}", error.message);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-xyz0-9.()<>=!+*/, eandortp`|é]{0,30}") {
            if let Err(error) = Condition::parse(&text, &NAMES) {
                prop_assert!(text.get(error.place.clone()).is_some(), "{:?}", error);
            }
        }
    }
}
