//! A message of the catalogue in the reader's language. [`Texts`] is what turns a [`Msg`] into a sentence;
//! an identifier that is missing shows as `[id]` and fails a test.

use crate::quantity::{self, Span};
use crate::{Lang, clean, sources};
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use lessee_model::{Arg, Money, Msg};
use std::borrow::Cow;

/// The texts of one language.
pub struct Texts {
    lang: Lang,
    bundle: FluentBundle<FluentResource>,
}

impl Texts {
    pub fn new(lang: Lang) -> Texts {
        let mut bundle = FluentBundle::new_concurrent(vec![lang.identifier()]);
        // terminals show the isolation marks as boxes
        bundle.set_use_isolating(false);
        bundle.set_formatter(Some(|value, _| match value {
            FluentValue::Number(n) => Some(quantity::number(n.value)),
            _ => None,
        }));
        for (_, source) in sources(lang) {
            // a broken entry is left out here and found by the tests of this crate
            let resource = match FluentResource::try_new((*source).to_owned()) {
                Ok(whole) => whole,
                Err((rest, _)) => rest,
            };
            bundle.add_resource_overriding(resource);
        }
        Texts { lang, bundle }
    }

    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// A text without arguments.
    pub fn get(&self, id: &'static str) -> String {
        self.msg(&Msg::new(id))
    }

    /// The word for a code such as a purchase or a line kind: `term("purchase", "on_demand")` reads
    /// `purchase-on-demand`. A code without a word is shown as it is.
    pub fn term(&self, family: &'static str, code: &str) -> String {
        let id = format!("{family}-{}", code.replace('_', "-"));
        self.find(&id).unwrap_or_else(|| clean(code).into_owned())
    }

    /// As [`Texts::term`], of so many: `2 are spot only`.
    pub fn counted(&self, family: &'static str, code: &str, n: f64) -> String {
        let id = format!("{family}-{}", code.replace('_', "-"));
        let message = self.bundle.get_message(&id).and_then(|m| m.value());
        let Some(pattern) = message else {
            return format!("{} {}", quantity::number(n), clean(code));
        };
        let mut args = FluentArgs::new();
        args.set("n", FluentValue::from(n));
        self.bundle
            .format_pattern(pattern, Some(&args), &mut Vec::new())
            .into_owned()
    }

    /// A source as people read it. What lessee itself computes or assumes has words in each language; the words of
    /// a data row and paths of the user's fields stay as they are, and so do sources in documents.
    pub fn source(&self, source: &str) -> String {
        let part = |part: &str| {
            let (words, rest) = match part.strip_prefix("own discount ") {
                Some(percent) => ("own discount", format!(" {percent}")),
                None => (part, String::new()),
            };
            let code = slug(words);
            match self.term("source", &code) {
                same if same == code => clean(part).into_owned(),
                known => known + &rest,
            }
        };
        source.split("; ").map(part).collect::<Vec<_>>().join("; ")
    }

    /// The unit of a term of a derivation.
    pub(crate) fn term_unit(&self, unit: &str) -> String {
        let code = slug(unit);
        match self.term("term-unit", &code) {
            same if same == code => clean(unit).into_owned(),
            known => known,
        }
    }

    /// A text that may be absent (help of flags).
    pub fn find(&self, id: &str) -> Option<String> {
        let pattern = self.bundle.get_message(id)?.value()?;
        Some(
            self.bundle
                .format_pattern(pattern, None, &mut Vec::new())
                .into_owned(),
        )
    }

    /// The sentence for a message, its arguments formatted for the language.
    pub fn msg(&self, msg: &Msg) -> String {
        let Some(pattern) = self.bundle.get_message(&msg.id).and_then(|m| m.value()) else {
            return format!("[{}]{}", clean(&msg.id), self.bare_arguments(msg));
        };
        let mut args = FluentArgs::new();
        for (name, value) in &msg.args {
            args.set(name.to_string(), self.value(value));
        }
        let text = self
            .bundle
            .format_pattern(pattern, Some(&args), &mut Vec::new());
        joined(&text)
    }

    /// A missing text must not hide what happened.
    fn bare_arguments(&self, msg: &Msg) -> String {
        msg.args
            .iter()
            .map(|(name, value)| format!(" {name}={}", self.plain(value)))
            .collect()
    }

    fn value(&self, arg: &Arg) -> FluentValue<'static> {
        match arg {
            Arg::Number(x) => FluentValue::from(*x),
            Arg::Seconds(x) => {
                FluentValue::String(Cow::Owned(format!("{}{JOINT}", self.seconds(*x))))
            }
            other => FluentValue::String(Cow::Owned(self.plain(other))),
        }
    }

    fn plain(&self, arg: &Arg) -> String {
        match arg {
            Arg::Text(text) => clean(text).into_owned(),
            Arg::Number(x) => quantity::number(*x),
            Arg::Money(x) => quantity::money(*x),
            Arg::Seconds(x) => self.seconds(*x),
            Arg::Bytes(x) => quantity::bytes(*x),
            Arg::Both { en, zh } => match self.lang {
                Lang::En => clean(en).into_owned(),
                Lang::ZhCn => clean(zh).into_owned(),
            },
            Arg::Msg(inner) => self.msg(inner),
        }
    }

    /// `1,234.50 USD`, to the cent.
    pub fn money(&self, money: Money) -> String {
        quantity::money(money)
    }

    /// `1,234.50`, to the cent, where the currency stands elsewhere.
    pub fn amount(&self, money: Money) -> String {
        quantity::group_thousands(&money.to_cents())
    }

    /// A unit price, exact up to six decimals: `0.085 USD`.
    pub fn unit_price(&self, money: Money) -> String {
        quantity::unit_price(money)
    }

    /// `3 h 20 min` / `3 小时 20 分`.
    pub fn seconds(&self, seconds: f64) -> String {
        if !seconds.is_finite() {
            return "?".to_owned();
        }
        match quantity::span(seconds) {
            Span::Millis(ms) => self.msg(&Msg::new("span-ms").arg("n", ms)),
            Span::Seconds(s) => self.msg(&Msg::new("span-s").arg("n", s)),
            Span::MinSec(m, 0.0) => self.msg(&Msg::new("span-min").arg("n", m)),
            Span::MinSec(m, s) => self.msg(&Msg::new("span-min-s").arg("m", m).arg("s", s)),
            Span::HourMin(h, 0.0) => self.msg(&Msg::new("span-h").arg("n", h)),
            Span::HourMin(h, m) => self.msg(&Msg::new("span-h-min").arg("h", h).arg("m", m)),
            Span::DayHour(d, 0.0) => self.msg(&Msg::new("span-d").arg("n", d)),
            Span::DayHour(d, h) => self.msg(&Msg::new("span-d-h").arg("d", d).arg("h", h)),
        }
    }

    /// `1.5 TB`, decimal.
    pub fn bytes(&self, bytes: f64) -> String {
        quantity::bytes(bytes)
    }

    /// Grouped thousands, four significant digits.
    pub fn number(&self, x: f64) -> String {
        quantity::number(x)
    }
}

/// Marks the end of a duration until the sentence is whole: a Chinese unit takes no space before the next word, which the
/// sentence has for the sake of digits.
const JOINT: char = '\u{2060}';

fn joined(text: &str) -> String {
    let mut parts = text.split(JOINT);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let chinese = |c: Option<char>| c.is_some_and(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        let rest = part.strip_prefix(' ');
        let close =
            chinese(out.chars().next_back()) && chinese(rest.and_then(|r| r.chars().next()));
        out.push_str(if close { rest.unwrap_or(part) } else { part });
    }
    out
}

/// The words of a source as the end of an identifier: `money.rates, through` -> `money-rates-through`.
fn slug(words: &str) -> String {
    let lower = words.to_lowercase();
    let parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|p| !p.is_empty()).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_units_take_no_space_after_them() {
        let hours = |id: &'static str, lang: Lang| {
            let msg = Msg::new(id)
                .arg("reaction", Arg::Seconds(43_200.0))
                .arg("money", "1");
            Texts::new(lang).msg(&msg)
        };
        let chinese = hours("accept-worst-floor", Lang::ZhCn);
        assert!(chinese.contains("12 小时后"), "{chinese}");
        let english = hours("accept-worst-floor", Lang::En);
        assert!(english.contains("12 h may pass"), "{english}");
        assert_eq!(joined("a\u{2060} b"), "a b");
    }

    #[test]
    fn arguments_are_formatted_for_the_language() {
        let en = Texts::new(Lang::En);
        let zh = Texts::new(Lang::ZhCn);
        assert_eq!(en.seconds(12_000.0), "3 h 20 min");
        assert_eq!(zh.seconds(12_000.0), "3 小时 20 分");
        let nested = Msg::new("error-at").arg("place", "w.toml:3:1").arg(
            "problem",
            Msg::new("workload-unknown-field").arg("field", "precison"),
        );
        assert_eq!(
            en.msg(&nested),
            "w.toml:3:1: `precison` is not a known field"
        );
        assert!(
            zh.msg(&nested).starts_with("w.toml:3:1："),
            "{}",
            zh.msg(&nested)
        );
    }

    #[test]
    fn a_missing_text_is_visible_with_its_arguments() {
        let en = Texts::new(Lang::En);
        let shown = en.msg(&Msg::new("no-such-id").arg("price", "3 \x1b[1mUSD"));
        assert_eq!(shown, "[no-such-id] price=3 \u{FFFD}[1mUSD");
    }
}
