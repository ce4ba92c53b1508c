//! What expressions mean, and what is said of mistakes in them.

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
    assert!(holds("-2^2 == -4 and (-2)^2 == 4 and 2*3^2 == 18 and x^0 == 1", [0.0; 3]));
    assert!(holds("sin(0) == 0 and cos(0) == 1 and exp(0) == 1 and ln(1) == 0 and tan(0) == 0", [0.0; 3]));
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
        ("", "the expression ends too early", 0..0),
        ("x", "this is a number", 0..1),
        ("x > ", "the expression ends too early", 4..4),
        ("x = 1", "`=` means nothing here; equality is `==`", 2..3),
        ("x > 1 && y > 1", "`&` means nothing here; write `and`", 6..7),
        ("0 < x < 1", "comparisons do not chain", 6..7),
        ("(x > 1", "a closing `)` is missing", 6..6),
        ("x > 1)", "an operator such as", 5..6),
        ("z > 1", "there is no observation \"z\"", 0..1),
        ("sinh(x) > 1", "there is no function \"sinh\"; did you mean \"sin\"?", 0..4),
        ("log10(x) > 1", "there is no function \"log10\"; there are: abs, atan2, cos", 0..5),
        ("atan2(x) > 1", "`atan2` takes 2 values, not 1", 9..10),
        ("abs(x, y) > 1", "`abs` takes one value, not 2", 10..11),
        ("(x > 1) + 2 > 3", "this is a condition, not a number", 0..7),
        ("x and y > 1", "this is a number, not a condition", 0..1),
        ("not x", "this is a number, not a condition", 4..5),
        ("x > 1e999", "`1e999` is not a finite number", 4..9),
        ("x > 1.2.3", "`1.2.3` is not a finite number", 4..9),
        ("x^y > 1", "an exponent is a whole number from 0 to 16", 2..3),
        ("x^17 > 1", "an exponent is a whole number from 0 to 16", 2..4),
        ("x^2^3 > 1", "powers do not chain", 3..4),
        ("(x > 1)^2 > 1", "this is a condition, not a number", 0..7),
        ("x**2 > 1", "a number or a name is missing before `*`; a power is", 2..3),
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
        let error = Condition::parse(&open.repeat(500), &NAMES).unwrap_err();
        assert!(error.message.contains("nested more than"), "{open}: {}", error.message);
    }
}

/// What is accepted can be worked on with little of a stack, however it is made of as many parts as there may be;
/// what has more is refused, and quickly.
#[test]
fn size_ends_somewhere() {
    let sums = |count: usize, sign: &str| vec!["x"; count].join(sign);
    let accepted = [
        sums(1_000, "+"),
        sums(1_000, "*"),
        sums(1_000, " - "),
        sums(64, "/"),
        format!("{}x{}", "(".repeat(64), ")".repeat(64)),
        format!("{}{}", "-".repeat(30), sums(900, "-")),
        format!("{}x{}", "x - (x*x + ".repeat(30), ")".repeat(30)),
    ];
    let refused = [sums(1_001, "+"), sums(60_000, " + "), "(".repeat(1 << 20), sums(1 << 20, ",")];
    let deep = [sums(100, "/"), sums(500, "/x*"), format!("{}x{}", "x - x*(".repeat(40), ")".repeat(40))];
    let work = move || {
        for text in accepted {
            let expression = Expression::parse(&text, &NAMES).unwrap_or_else(|error| panic!("{error}"));
            let copy = expression.clone();
            assert_eq!(expression.value(&[1.0, 2.0, 3.0]).to_bits(), copy.value(&[1.0, 2.0, 3.0]).to_bits());
            assert!(expression == copy && !format!("{copy:?}").is_empty() && copy.inputs().contains(&0));
            let normal = copy.normal(&NAMES);
            match Expression::parse(&normal, &NAMES) {
                Ok(again) => assert!(again.root == expression.root),
                // All its parentheses are written.
                Err(error) => assert!(error.message.contains("at most 2000"), "{error}"),
            }
        }
        for word in [" and ", " or "] {
            let condition = Condition::parse(&vec!["x > 1"; 500].join(word), &NAMES).unwrap();
            assert!(condition.holds(&[2.0; 3]) && !condition.clone().holds(&[0.0; 3]));
        }
        for text in refused {
            let error = Expression::parse(&text, &NAMES).unwrap_err();
            assert!(error.message.contains("at most 2000 numbers, names and signs"), "{}", error.message);
            assert!(Condition::check_syntax(&text).is_err());
        }
        for text in deep {
            let error = Expression::parse(&text, &NAMES).unwrap_err();
            assert!(error.message.contains("nested more than 64 levels deep"), "{}", error.message);
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn long_names_and_many_of_them_take_no_time() {
    let names: Vec<String> = (0..60_000).map(|i| format!("name {i}")).collect();
    let text = (0..900).map(|i| format!("`name {i}`")).collect::<Vec<_>>().join(" + ");
    assert!(Expression::parse(&text, &names).is_ok());
    let error = Expression::parse(&"y".repeat(1 << 20), &names).unwrap_err();
    assert!(
        error.message.ends_with("name 99 and 59900 more"),
        "{}",
        &error.message[error.message.len() - 99..]
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "[-xyz0-9.()<>=!+*/^, eandortpsic`|é]{0,30}") {
        let errors = [Condition::parse(&text, &NAMES).err(), Expression::parse(&text, &NAMES).err()];
        for error in errors.into_iter().flatten() {
            prop_assert!(text.get(error.place.clone()).is_some(), "{:?}", error);
        }
    }
}

fn value(text: &str, values: [f64; 3]) -> f64 {
    Expression::parse(text, &NAMES).unwrap_or_else(|error| panic!("{text}: {error}")).value(&values)
}

/// What Python's floats give, computed there with `math` (CPython 3.11, glibc): bit for bit where IEEE 754
/// settles the last bit, else within one unit in the last place.
#[test]
fn values_are_those_of_python() {
    let at = [0.7, -1.3, 2.5];
    for (text, bits) in EXACT {
        assert_eq!(value(text, at).to_bits(), bits, "{text}: {}", value(text, at));
    }
    for (text, bits) in NEARLY {
        assert!(value(text, at).to_bits().abs_diff(bits) <= 1, "{text}: {}", value(text, at));
    }
}

const EXACT: [(&str, u64); 8] = [
    ("0.5*x^2 + 9.8*y", 0xc028_fd70_a3d7_0a3f),
    ("x + 0.5*y - `+2`/3", 0xbfe9_1111_1111_1112),
    ("sqrt(x^2 + y^2)", 0x3ff7_9fab_e917_e2f5),
    ("x^3 - y^5", 0x4010_3945_b6c3_760d),
    ("max(x, y, `+2`) * min(x, y) + abs(y)", 0xbfff_3333_3333_3333),
    ("-x^2/(1 + x)", 0xbfd2_7272_7272_7272),
    ("1/3 - 0.1*`+2`", 0x3fb5_5555_5555_5554),
    ("2*pi*x", 0x4011_97c9_87c9_52c4),
];
const NEARLY: [(&str, u64); 6] = [
    ("sin(x)*cos(y)", 0x3fc6_0ed3_a658_e5d8),
    ("tan(x)", 0x3fea_f406_c2fc_78ae),
    ("exp(y)", 0x3fd1_7129_308c_e281),
    ("ln(x)", 0xbfd6_d3c3_24e1_3f50),
    ("atan2(y, x)", 0xbff1_3acc_43a9_c24e),
    ("exp(1.5 * ln(`+2`))", 0x400f_9f6e_4990_f228),
];

#[test]
fn inputs_and_functions_are_listed_once() {
    let expression = Expression::parse("sin(y) + y*sin(`+2`) - max(y, 1, sin(y))", &NAMES).unwrap();
    assert_eq!(expression.inputs(), [1, 2]);
    assert_eq!(expression.functions(), [Function::Sin, Function::Max]);
}

#[test]
fn numbers_and_conditions_are_told_apart() {
    let error = Expression::parse("x > 1", &NAMES).unwrap_err();
    assert_eq!((error.message.as_str(), error.place), ("this is a condition, not a number", 0..5));
    assert!(Expression::check_syntax("anything + 1").is_ok());
    assert!(Expression::check_syntax("anything + ").is_err());
}

/// Random expressions, as trees.
fn nodes() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        (0..3_usize).prop_map(Node::Value),
        (0.0..1e300_f64).prop_map(Node::Number),
        (0..100_u32).prop_map(|n| Node::Number(f64::from(n) / 8.0)),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let operator =
            prop::sample::select(vec![Operator::Plus, Operator::Minus, Operator::Times, Operator::Over]);
        let function = prop::sample::select(Function::ALL.map(|(_, function)| function).to_vec());
        prop_oneof![
            inner.clone().prop_map(|node| Node::Negative(Box::new(node))),
            (inner.clone(), 0..=16_u32).prop_map(|(node, n)| Node::Power(Box::new(node), n)),
            (operator, inner.clone(), inner.clone()).prop_map(|(operator, a, b)| Node::Binary(
                operator,
                Box::new(a),
                Box::new(b)
            )),
            (function, prop::collection::vec(inner, 2)).prop_map(|(function, mut arguments)| {
                arguments.truncate(function.arguments().1);
                Node::Call(function, arguments)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(root in nodes()) {
        let expression = Expression { text: "".into(), root: root.into() };
        let text = expression.normal(&NAMES);
        let again = Expression::parse(&text, &NAMES).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(&again.root, &expression.root, "{}", text);
    }
}
