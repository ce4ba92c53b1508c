//! Numbers as people like to read them.

/// A whole number with thousands separators.
///
/// ```
/// use broccoli_export::number::grouped;
/// assert_eq!([0, 999, 1000, 7213507].map(grouped), ["0", "999", "1,000", "7,213,507"]);
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, in the singular or the plural.
///
/// ```
/// use broccoli_export::number::counted;
/// assert_eq!([0, 1, 1200].map(|n| counted(n, "step")), ["0 steps", "1 step", "1,200 steps"]);
/// ```
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A time span, with as many digits as one cares about.
///
/// ```
/// use broccoli_export::number::duration;
/// assert_eq!(
///     [0.0001234, 0.346, 12.34, 125.0, 7384.2].map(duration),
///     ["0.12 ms", "0.35 s", "12.3 s", "2 min 05 s", "2 h 03 min 04 s"]
/// );
/// ```
pub fn duration(seconds: f64) -> String {
    let whole = seconds as u64;
    match seconds {
        s if s < 0.01 => format!("{:.2} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min {:02} s", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// Values separated by commas, as the command line takes them; each comes back bit for bit.
///
/// ```
/// assert_eq!(broccoli_export::number::list(&[-0.51, 0.0]), "-0.51,0");
/// ```
pub fn list(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}
