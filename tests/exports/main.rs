// Runs an exported policy: a line of observations in, an action out. Numbers come as their bits.

mod policy;

fn main() {
    for line in std::io::stdin().lines() {
        let line = line.expect("text");
        let numbers = line.split_whitespace().map(|word| u64::from_str_radix(word, 16).expect("bits"));
        let x: Vec<f64> = numbers.map(f64::from_bits).collect();
        let action = policy::policy(x.as_slice().try_into().expect("one number per dimension"));
        assert!(action < policy::ACTION_NAMES.len() && action < policy::ACTION_VALUES.len());
        println!("{action}");
    }
}
