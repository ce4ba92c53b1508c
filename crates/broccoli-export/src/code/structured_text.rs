//! Structured Text (IEC 61131-3) for programmable logic controllers: a function with an input per
//! dimension.

use super::{FeatureError, Program, Syntax, commented, decimal, statements};

const SYNTAX: Syntax = Syntax {
    test: "IF {x} >= {t} THEN",
    otherwise: "ELSE",
    end: Some("END_IF;"),
    answer: |action| format!("policy := {action};"),
};

/// The program in Structured Text.
///
/// # Errors
/// When the tree asks for a derived dimension.
pub fn structured_text(program: &Program<f64>) -> Result<String, FeatureError> {
    program.without_features("st")?;
    let mut text = format!("(*\n{}*)\nFUNCTION policy : DINT\nVAR_INPUT\n", commented(program, " "));
    for input in &program.inputs {
        text += &format!("    {} : LREAL;\n", input.identifier);
    }
    let literal = |t: &f64| format!("LREAL#{}", decimal(t));
    text += "END_VAR\n\n";
    Ok(text + &statements(program, &program.root, &SYNTAX, &literal, 0) + "END_FUNCTION\n")
}
