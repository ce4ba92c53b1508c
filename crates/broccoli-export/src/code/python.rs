//! Python 3: one function on any sequence of numbers, without imports unless a feature needs one.

use broccoli_expression::Function;

use super::features::Arithmetic;
use super::{Feature, Program, Syntax, commented, decimal, statements};

const SYNTAX: Syntax = Syntax {
    test: "if {x} >= {t}:",
    otherwise: "else:",
    end: None,
    answer: |action| format!("return {action}"),
};

/// The program in Python.
pub fn python(program: &Program<f64>) -> String {
    let names: Vec<String> = program.action_names.iter().map(|name| string(name)).collect();
    let values: Vec<String> = program.action_values.iter().map(decimal).collect();
    // Declared, since Python would take an encoding from a name in the first two lines.
    let mut text = "# -*- coding: utf-8 -*-\n".to_owned() + &commented(program, "#");
    let mut features = program.used_features().peekable();
    if features.peek().is_some() {
        text += "\nimport math\n";
    }
    text += &format!("\nACTION_NAMES = [{}]\n", names.join(", "));
    text += &format!("ACTION_VALUES = [{}]\n", values.join(", "));
    if features.peek().is_some() {
        text += HELPERS;
    }
    text += "\n\ndef policy(x):\n    \"\"\"Return the index of the action for the observation x.\"\"\"\n";
    for (i, input) in program.inputs.iter().enumerate().filter(|(_, input)| input.used) {
        text += &format!("    {} = x[{i}]\n", input.identifier);
    }
    let arithmetic = Arithmetic { inputs: &program.inputs, function, quotient: Some("quotient") };
    for Feature { identifier, expression, .. } in features {
        text += &format!("    {identifier} = {}\n", expression.write(&arithmetic));
    }
    text + &statements(program, &program.root, &SYNTAX, &decimal, 1)
}

/// A string literal.
fn string(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            c if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() => literal.push(c),
            c => literal += &format!("\\U{:08x}", c as u32),
        }
    }
    literal + "\""
}

fn function(function: Function) -> &'static str {
    match function {
        Function::Abs => "abs",
        Function::Atan2 => "math.atan2",
        Function::Cos => "cos",
        Function::Exp => "exp",
        Function::Ln => "ln",
        Function::Max => "maximum",
        Function::Min => "minimum",
        Function::Sin => "sin",
        Function::Sqrt => "sqrt",
        Function::Tan => "tan",
    }
}

/// Arithmetic as IEEE 754 has it, where Python would raise an exception.
const HELPERS: &str = r#"

def quotient(a, b):
    """Divide, also by zero."""
    if b == 0.0 and a == a:
        return math.nan if a == 0.0 else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def power(base, exponent):
    """Multiply from left to right."""
    product = 1.0
    for _ in range(exponent):
        product = product * base
    return product


def minimum(a, b):
    """Return the smaller one; a NaN stays one."""
    return b if b < a or b != b else a


def maximum(a, b):
    """Return the larger one; a NaN stays one."""
    return b if b > a or b != b else a


def sqrt(a):
    """Return the root, or NaN."""
    return math.sqrt(a) if a >= 0.0 else math.nan


def ln(a):
    """Return the logarithm, or -inf or NaN."""
    return math.log(a) if a > 0.0 else -math.inf if a == 0.0 else math.nan


def exp(a):
    """Return the exponential, or inf."""
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def sin(a):
    """Return the sine, or NaN."""
    return math.sin(a) if abs(a) < math.inf else math.nan


def cos(a):
    """Return the cosine, or NaN."""
    return math.cos(a) if abs(a) < math.inf else math.nan


def tan(a):
    """Return the tangent, or NaN."""
    return math.tan(a) if abs(a) < math.inf else math.nan
"#;
