//! Reading numbers from arguments, with messages that say what is accepted.

use std::ops::RangeInclusive;

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
            format!(
                "{what}: it must be finite numbers separated by commas, one per dimension, such as {example}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
