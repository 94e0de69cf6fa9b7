//! Spoils an answer: here and there a value becomes something that no feed should contain. The same
//! seed spoils the same way.

use serde_json::{Value, json};

/// A sequence of numbers that looks random enough here (Knuth's multiplicative constants).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

pub(super) fn spoil(text: &str, seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_add(1));
    match serde_json::from_str::<Value>(text) {
        Ok(mut answer) => {
            spoil_value(&mut answer, &mut dice);
            answer.to_string()
        }
        Err(_) => spoil_text(text, &mut dice),
    }
}

fn spoil_value(value: &mut Value, dice: &mut Dice) {
    if dice.below(60) == 0 {
        let bad = [
            Value::Null,
            json!(0),
            json!(-1.5),
            json!(1e300),
            json!(u64::MAX),
            json!(0.000_000_000_000_1),
            json!("NaN"),
            json!(""),
            json!("\u{0}\u{1b}[2J@/"),
            json!("价".repeat(3000)),
            json!([]),
            json!({}),
            json!([[[]]]),
            json!(true),
        ];
        *value = bad[dice.below(bad.len())].clone();
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| spoil_value(item, dice)),
        Value::Object(fields) => fields
            .iter_mut()
            .for_each(|(_, field)| spoil_value(field, dice)),
        _ => {}
    }
}

fn spoil_text(text: &str, dice: &mut Dice) -> String {
    let bad = ["\"", ",", "\n", "\u{0}", "价", "-", "e9", ""];
    text.chars()
        .map(|c| {
            if dice.below(400) == 0 {
                bad[dice.below(bad.len())].to_owned()
            } else {
                c.to_string()
            }
        })
        .collect()
}
