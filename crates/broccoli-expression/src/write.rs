//! Expressions as text: in other languages, and in their own.

use super::{Expression, Function, Node, Operator};

/// How a language writes the parts of an expression. Operations inside of operations get parentheses, so
/// that nothing depends on how operators bind.
pub trait Language {
    /// A number.
    fn number(&self, value: f64) -> String;
    /// The value of the observation with this index.
    fn value(&self, index: usize) -> String;
    /// A function of arguments that are written already.
    fn call(&self, function: Function, arguments: &[String]) -> String;
    /// A whole power, 0 to 16, by multiplication from left to right.
    fn power(&self, base: &str, exponent: u32) -> String;
    /// A quotient.
    fn quotient(&self, over: &str, under: &str) -> String {
        format!("{over} / {under}")
    }
}

impl Expression {
    /// The expression in another language.
    pub fn write(&self, language: &dyn Language) -> String {
        written(&self.root, language)
    }

    /// The values of the observation that it takes, by index, each once.
    pub fn inputs(&self) -> Vec<usize> {
        let mut inputs = Vec::new();
        visit(&self.root, &mut |node| {
            if let Node::Value(index) = node {
                inputs.push(*index);
            }
        });
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// The functions that it calls, each once.
    pub fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        visit(&self.root, &mut |node| {
            if let Node::Call(function, _) = node
                && !functions.contains(function)
            {
                functions.push(*function);
            }
        });
        functions
    }

    /// Whether it takes a power.
    pub fn has_power(&self) -> bool {
        let mut found = false;
        visit(&self.root, &mut |node| found |= matches!(node, Node::Power(..)));
        found
    }

    /// The expression in its own language, over observations with these names.
    ///
    /// ```
    /// use broccoli_expression::Expression;
    /// let text = Expression::parse("-v^2*max(h, 1) - 2", &["h", "v"])?.normal(&["h", "the speed"]);
    /// assert_eq!(text, "((-(`the speed`)^2) * max(h, 1.0)) - 2.0");
    /// # Ok::<(), broccoli_expression::ExpressionError>(())
    /// ```
    pub fn normal(&self, names: &[impl AsRef<str>]) -> String {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        self.write(&Own(&names))
    }
}

fn visit(node: &Node, see: &mut dyn FnMut(&Node)) {
    see(node);
    match node {
        Node::Number(_) | Node::Value(_) => {}
        Node::Negative(inner) | Node::Not(inner) | Node::Power(inner, _) => visit(inner, see),
        Node::Call(_, arguments) => arguments.iter().for_each(|argument| visit(argument, see)),
        Node::Binary(_, a, b) => {
            visit(a, see);
            visit(b, see);
        }
    }
}

fn written(node: &Node, language: &dyn Language) -> String {
    match node {
        Node::Number(value) => language.number(*value),
        Node::Value(index) => language.value(*index),
        Node::Negative(inner) => format!("-{}", operand(inner, language)),
        Node::Power(base, exponent) => language.power(&written(base, language), *exponent),
        Node::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(|a| written(a, language)).collect();
            language.call(*function, &arguments)
        }
        Node::Binary(operator, a, b) => {
            let a = if goes_on(*operator, a) { written(a, language) } else { operand(a, language) };
            let b = operand(b, language);
            match operator {
                Operator::Plus => format!("{a} + {b}"),
                Operator::Minus => format!("{a} - {b}"),
                Operator::Times => format!("{a} * {b}"),
                // An expression is a number, and holds no condition.
                _ => language.quotient(&a, &b),
            }
        }
        Node::Not(inner) => written(inner, language),
    }
}

/// Whether the left operand needs no parentheses: sums and products are read from left to right everywhere, and
/// long ones would have more parentheses than a compiler takes.
fn goes_on(operator: Operator, left: &Node) -> bool {
    use Operator::{And, Minus, Or, Plus, Times};
    match left {
        Node::Binary(And, ..) => operator == And,
        Node::Binary(Or, ..) => operator == Or,
        Node::Binary(Plus | Minus, ..) => matches!(operator, Plus | Minus),
        Node::Binary(Times, ..) => operator == Times,
        _ => false,
    }
}

impl Node {
    /// How deep parentheses are nested when it is written, at most.
    pub(super) fn levels(&self) -> usize {
        match self {
            Node::Number(_) | Node::Value(_) => 0,
            Node::Negative(inner) | Node::Not(inner) | Node::Power(inner, _) => 1 + inner.levels(),
            Node::Call(_, arguments) => {
                // The smallest of several is written as calls inside of calls.
                let levels = arguments.iter().map(Node::levels).max().unwrap_or(0);
                levels + arguments.len().saturating_sub(1).max(1)
            }
            Node::Binary(operator, a, b) => {
                let left = a.levels() + usize::from(!goes_on(*operator, a));
                left.max(1 + b.levels())
            }
        }
    }
}

fn operand(node: &Node, language: &dyn Language) -> String {
    let text = written(node, language);
    if matches!(node, Node::Binary(..) | Node::Negative(_)) { format!("({text})") } else { text }
}

/// The language of expressions itself.
struct Own<'n>(&'n [&'n str]);

impl Language for Own<'_> {
    fn number(&self, value: f64) -> String {
        format!("{value:?}")
    }

    fn value(&self, index: usize) -> String {
        let name = self.0.get(index).copied().unwrap_or_default();
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if is_plain { name.to_owned() } else { format!("`{name}`") }
    }

    fn call(&self, function: Function, arguments: &[String]) -> String {
        let name = Function::ALL.iter().find(|(_, f)| *f == function).map_or("", |(name, _)| name);
        format!("{name}({})", arguments.join(", "))
    }

    fn power(&self, base: &str, exponent: u32) -> String {
        let is_plain = base.chars().all(|c| c.is_alphanumeric() || "_.`".contains(c));
        if is_plain { format!("{base}^{exponent}") } else { format!("({base})^{exponent}") }
    }
}
