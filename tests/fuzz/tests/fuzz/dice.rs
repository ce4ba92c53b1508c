//! Random choices that a seed repeats, and what is done to bytes and JSON with them.

use serde_json::{Map, Value, json};

/// Numbers that look random (SplitMix64).
pub struct Dice(u64);

impl Dice {
    /// The dice of one case.
    pub fn new(seed: u64, reader: &str, case: u64) -> Self {
        let name =
            reader.bytes().fold(seed, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Dice(name.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound.max(1) as u64) as usize
    }

    /// Whether something happens that does so once in a while.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Mostly a few, sometimes very many.
    pub fn amount(&mut self) -> usize {
        match self.below(20) {
            0 => 1 << self.below(17),
            1..4 => self.below(300),
            _ => 1 + self.below(4),
        }
    }
}

/// Changes, drops, doubles or inserts some bytes.
pub fn bytes(dice: &mut Dice, from: &[u8], words: &[&str]) -> Vec<u8> {
    let mut bytes = from.to_vec();
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + 1 + dice.below(9)).min(bytes.len());
        match dice.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 if at < bytes.len() => {
                bytes[at] = *dice.pick(&[0, 1, 0x7f, 0x80, 0xff, 0xfe, b'"', b'\n', b'-'])
            }
            2 if at < bytes.len() => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let part = bytes[at.min(end)..end].to_vec();
                let many = part.repeat(dice.amount());
                bytes.splice(at..at, many);
            }
            5 if at < bytes.len() => {
                let other = dice.below(bytes.len());
                bytes.swap(at, other);
            }
            _ => {
                let word = dice.pick(words).as_bytes();
                let count = dice.amount();
                bytes.splice(at..at, word.repeat(count.min(200_000 / word.len().max(1))));
            }
        }
        bytes.truncate(1 << 20);
    }
    bytes
}

/// Changes something at some places of a JSON value.
pub fn json(dice: &mut Dice, value: &mut Value) {
    for _ in 0..1 + dice.below(3) {
        let count = places(value);
        let mut place = dice.below(count);
        let other = nth(value, &mut dice.below(count)).cloned().unwrap_or_default();
        if let Some(meant) = nth_mut(value, &mut place) {
            change(dice, meant, other);
        }
    }
}

fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(places).sum(),
        Value::Object(all) => all.values().map(places).sum(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v Value, place: &mut usize) -> Option<&'v Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(all) => all.iter().find_map(|value| nth(value, place)),
        Value::Object(all) => all.values().find_map(|value| nth(value, place)),
        _ => None,
    }
}

fn nth_mut<'v>(value: &'v mut Value, place: &mut usize) -> Option<&'v mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(all) => all.iter_mut().find_map(|value| nth_mut(value, place)),
        Value::Object(all) => all.values_mut().find_map(|value| nth_mut(value, place)),
        _ => None,
    }
}

fn change(dice: &mut Dice, value: &mut Value, other: Value) {
    match (dice.below(8), &mut *value) {
        (0, value) => *value = other,
        (1..4, Value::Array(all)) if !all.is_empty() => {
            let at = dice.below(all.len());
            match dice.below(4) {
                0 => drop(all.remove(at)),
                1 => all.insert(at, other),
                2 => all.swap(at, 0),
                _ => {
                    let many = vec![all[at].clone(); dice.amount().min(20_000)];
                    all.splice(at..at, many);
                }
            }
        }
        (1..4, Value::Object(all)) if !all.is_empty() => {
            let key = all.keys().nth(dice.below(all.len())).cloned().unwrap_or_default();
            match dice.below(4) {
                0 => drop(all.remove(&key)),
                1 => drop(all.insert(hostile_text(dice), other)),
                _ => drop(all.insert(key, hostile(dice))),
            }
        }
        (1..6, Value::Number(number)) => {
            let near = number.as_f64().unwrap_or(0.0);
            let whole = number.as_u64().unwrap_or(0);
            *value = match dice.below(6) {
                0 => json!(whole.wrapping_add(1)),
                1 => json!(whole.saturating_sub(1)),
                2 => json!(-near),
                3 => json!(near.next_up()),
                4 => json!(near * 1e10),
                _ => hostile(dice),
            };
        }
        (1..6, Value::String(text)) => match dice.below(3) {
            0 => *text = hostile_text(dice),
            1 => *text = text.repeat(dice.amount().min(5_000)),
            _ => *text += &hostile_text(dice),
        },
        (_, value) => *value = hostile(dice),
    }
}

/// A value that no reader asked for.
fn hostile(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!(*dice.pick(&[0, 1, 2, 255, 65_535, 65_536, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX])),
        3 => json!(*dice.pick(&[-1_i64, i64::MIN])),
        4 => json!(*dice.pick(&[0.5, -0.0, 1e308, -1e308, 5e-324, 1e17, 0.1])),
        5 => json!(dice.draw()),
        6 => json!(f64::from_bits(dice.draw())),
        7 => json!(vec![0; dice.amount().min(20_000)]),
        8 => Value::Object(Map::new()),
        9 => {
            let mut nested = json!([]);
            for _ in 0..*dice.pick(&[5, 60, 120, 130, 300]) {
                nested = if dice.once_in(2) { json!([nested]) } else { json!({ "true": nested }) };
            }
            nested
        }
        _ => json!(hostile_text(dice)),
    }
}

/// Text that no reader asked for.
pub fn hostile_text(dice: &mut Dice) -> String {
    const TEXTS: [&str; 14] = [
        "",
        " ",
        "x",
        "\u{1b}[2J",
        "a\nVerified.",
        "\u{202e}",
        "\0",
        "-",
        "return",
        "{{title}}",
        "</script>",
        "`",
        "é",
        "1e999",
    ];
    let text = *dice.pick(&TEXTS);
    text.repeat(dice.amount().min(3_000))
}
