//! Reading numbers from arguments, with messages that say what is accepted.

use std::ops::RangeInclusive;
use std::time::Duration;

use broccoli_export::number::grouped;

/// A parser of whole numbers in a range.
pub fn whole<T>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<u64>,
{
    move |text| {
        let number: Option<u64> = text.trim().parse().ok();
        let number = number.filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            format!("it must be a whole number from {} to {}", grouped(*range.start()), grouped(*range.end()))
        })
    }
}

/// Finite numbers separated by commas.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

/// A parser of numbers separated by commas; its message shows an example.
pub fn numbers(example: &'static str) -> impl Fn(&str) -> Result<Numbers, String> + Clone {
    move |text| {
        let numbers = text.split(',').map(str::trim).map(|piece| match piece.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(format!("{piece:?} is not a finite number")),
            Err(_) if piece.is_empty() => Err("a number is missing".to_owned()),
            Err(_) => Err(format!("{piece:?} is not a number")),
        });
        let numbers: Result<Vec<f64>, String> = numbers.collect();
        numbers.map(Numbers).map_err(|what| {
            format!("{what}: it must be finite numbers separated by commas, such as {example}")
        })
    }
}

/// A name and a price, with `=` between them.
pub fn price(text: &str) -> Result<(String, f64), String> {
    let (name, number) =
        text.rsplit_once('=').ok_or("it must be a name and a number, such as velocity=2.5")?;
    match number.trim().parse::<f64>() {
        Ok(price) if price.is_finite() && price >= 0.0 => Ok((name.trim().to_owned(), price)),
        _ => Err("the price must be a finite number of at least 0, such as velocity=2.5".to_owned()),
    }
}

/// A number with a unit of time behind it.
pub fn time_span(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit = match unit {
        "ms" => Some(0.001),
        "s" => Some(1.0),
        "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = number.trim_end().parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
        "it must be a number and a unit (ms, s, min or h), such as 500ms, 30s, 5min or 2h".to_owned()
    })
}

/// A number with a unit of memory behind it, in bytes.
pub fn memory(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit = match unit {
        "kB" => Some(1e3),
        "MB" => Some(1e6),
        "GB" => Some(1e9),
        "KiB" => Some(f64::from(1 << 10)),
        "MiB" => Some(f64::from(1 << 20)),
        "GiB" => Some(f64::from(1 << 30)),
        _ => None,
    };
    let bytes = number.trim_end().parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
    let bytes = bytes.filter(|bytes| (0.0..=isize::MAX as f64).contains(bytes));
    bytes.map(|bytes| bytes as usize).ok_or_else(|| {
        "it must be a number and a unit (kB, MB, GB, KiB, MiB or GiB), such as 64MiB, 500MB or 1GiB"
            .to_owned()
    })
}

/// A finite number.
pub fn finite(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{text:?} is no finite number"))
}

/// A number of at least 0, or a percentage.
pub fn fraction(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let number = number.ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "it must be a number of at least 0, such as 5% or 0.05".to_owned())
}

/// A number from above 0 to 1, or a percentage.
pub fn percentage(text: &str) -> Result<f64, String> {
    let share = fraction(text).ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "it must be above 0 and at most 100 %, such as 90% or 0.9".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans() {
        let seconds =
            ["500ms", "30s", " 1.5 min", "2h", "0s"].map(|text| time_span(text).unwrap().as_secs_f64());
        assert_eq!(seconds, [0.5, 30.0, 90.0, 7200.0, 0.0]);
        for bad in ["", "30", "s", "-1s", "nans", "infs", "1e300h", "5m", "1h30min", "1 s s"] {
            assert!(time_span(bad).is_err(), "{bad:?} is accepted");
        }
    }

    #[test]
    fn sizes_of_memory() {
        let bytes = ["64MiB", "500MB", " 1.5 GiB", "0kB"].map(memory);
        assert_eq!(bytes, [Ok(64 << 20), Ok(500_000_000), Ok(3 << 29), Ok(0)]);
        for bad in ["", "64", "GiB", "-1MiB", "nanMB", "infGB", "1e300GiB", "1g", "1GiB1MiB", "1 B"] {
            assert!(memory(bad).is_err(), "{bad:?} is accepted");
        }
    }

    #[test]
    fn fractions() {
        assert_eq!(["5%", "0.05", "0", "250 %"].map(fraction), [Ok(0.05), Ok(0.05), Ok(0.0), Ok(2.5)]);
        for bad in ["", "%", "-1%", "nan", "inf", "5%%", "1/2"] {
            assert!(fraction(bad).is_err(), "{bad:?} is accepted");
        }
    }

    #[test]
    fn lists_of_numbers() {
        let parse = numbers("1,2");
        assert_eq!(parse("-0.51, 0"), Ok(Numbers(vec![-0.51, 0.0])));
        assert_eq!(parse("1e-3"), Ok(Numbers(vec![0.001])));
        for bad in ["", ",", "1,", "nan,0", "1;2", "1e999", "-inf", "--json", "0x1"] {
            assert!(parse(bad).is_err(), "{bad:?} is accepted");
        }
    }

    #[test]
    fn whole_numbers() {
        let parse = whole::<u32>(0..=16);
        assert_eq!([parse("0"), parse("16")], [Ok(0), Ok(16)]);
        for bad in ["17", "-1", "", "1.0", "4294967296", "99999999999999999999", "two"] {
            assert!(parse(bad).is_err(), "{bad:?} is accepted");
        }
    }
}
