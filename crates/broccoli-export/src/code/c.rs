//! C99: one function without allocation or global state, with one exit, in the subset that MISRA C
//! accepts; on floating-point observations, or on fixed-point ones.

use broccoli_expression::Function;

use super::features::Arithmetic;
use super::{Feature, FixedError, Program, Syntax, commented, decimal, statements};

const SYNTAX: Syntax = Syntax {
    test: "if ({x} >= {t}) {",
    otherwise: "} else {",
    end: Some("}"),
    answer: |action| format!("action = {action};"),
};

/// The program in C, on `double`.
pub fn c(program: &Program<f64>) -> String {
    write(program, "double", "", &decimal)
}

/// The program in C, on 32-bit integers that stand for multiples of `2^-fraction_bits`.
///
/// Every threshold is rounded up to the next multiple. That changes nothing: a multiple is at least
/// the threshold exactly if it is at least the rounded one.
///
/// # Errors
/// When a threshold does not fit into 32 bits, or two of one dimension become equal.
pub fn c_fixed(program: &Program<f64>, fraction_bits: u32) -> Result<String, FixedError> {
    let fixed = program.fixed(fraction_bits)?;
    let note = format!(
        " *\n * Fixed point: the integer n stands for n / 2^{fraction_bits}. On every such number the\n \
         * answer is that of the tree.\n"
    );
    let literal = |t: &i32| if *t == i32::MIN { "INT32_MIN".to_owned() } else { t.to_string() };
    Ok(write(&fixed, "int32_t", &note, &literal))
}

fn write<T>(program: &Program<T>, number: &str, note: &str, literal: &dyn Fn(&T) -> String) -> String {
    let has_features = program.used_features().next().is_some();
    let about_features =
        " *\n * Build it so that products and sums are rounded one by one: gcc -ffp-contract=off, and -lm.\n";
    let note = if has_features { about_features } else { note };
    let mathematics = if has_features { "#include <math.h>\n" } else { "" };
    let mut text =
        format!("/*\n{}{note} */\n\n{mathematics}#include <stdint.h>\n\n", commented(program, " *"));
    let count = program.inputs.len();
    text += &helpers(program);
    text += &format!("int32_t policy(const {number} x[{count}]);\n\n");
    text += &format!("int32_t policy(const {number} x[{count}])\n{{\n");
    for (i, input) in program.inputs.iter().enumerate().filter(|(_, input)| input.used) {
        text += &format!("    const {number} {} = x[{i}];\n", input.identifier);
    }
    let arithmetic = Arithmetic { inputs: &program.inputs, function, quotient: None };
    for Feature { identifier, expression, .. } in program.used_features() {
        text += &format!("    const double {identifier} = {};\n", expression.write(&arithmetic));
    }
    text += "    int32_t action;\n\n";
    if program.inputs.iter().all(|input| !input.used) {
        text += "    (void)x;\n";
    }
    text + &statements(program, &program.root, &SYNTAX, literal, 1) + "    return action;\n}\n"
}

fn function(function: Function) -> &'static str {
    match function {
        Function::Abs => "fabs",
        Function::Atan2 => "atan2",
        Function::Cos => "cos",
        Function::Exp => "exp",
        Function::Ln => "log",
        Function::Max => "maximum",
        Function::Min => "minimum",
        Function::Sin => "sin",
        Function::Sqrt => "sqrt",
        Function::Tan => "tan",
    }
}

/// The functions that C does not have; a NaN stays one.
fn helpers<T>(program: &Program<T>) -> String {
    let mut text = String::new();
    for (which, name, sign) in [(Function::Min, "minimum", '<'), (Function::Max, "maximum", '>')] {
        if program.calls(Some(which)) {
            text += &format!(
                "static double {name}(double a, double b)\n{{\n    \
                 return ((b {sign} a) || (b != b)) ? b : a;\n}}\n\n"
            );
        }
    }
    if program.calls(None) {
        text += "static double power(double base, int32_t exponent)\n{\n    double product = 1.0;\n    \
                 int32_t i;\n\n    for (i = 0; i < exponent; i++) {\n        \
                 product = product * base;\n    }\n    return product;\n}\n\n";
    }
    text
}
