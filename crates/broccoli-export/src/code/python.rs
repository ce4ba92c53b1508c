//! Python 3: one function on any sequence of numbers, without imports.

use super::{Program, Syntax, commented, decimal, statements};

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
    text += &format!("\nACTION_NAMES = [{}]\n", names.join(", "));
    text += &format!("ACTION_VALUES = [{}]\n", values.join(", "));
    text += "\n\ndef policy(x):\n    \"\"\"Return the index of the action for the observation x.\"\"\"\n";
    for (i, input) in program.inputs.iter().enumerate().filter(|(_, input)| input.used) {
        text += &format!("    {} = x[{i}]\n", input.identifier);
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
