//! Text for people, before it is put into words: an identifier of the two-language catalogue
//! (`app/report/locales`) and its arguments. Core never builds sentences.

use crate::Money;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A message to be rendered in the reader's language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Msg {
    pub id: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<(Cow<'static, str>, Arg)>,
}

/// A typed argument, so that the renderer can format numbers and money for the language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    Text(String),
    Number(f64),
    Money(Money),
    /// Seconds, shown as e.g. "3 h 20 min".
    Seconds(f64),
    /// Bytes, shown as e.g. "1.5 TB".
    Bytes(f64),
    /// A text that a table of facts holds in both languages.
    Both {
        en: String,
        zh: String,
    },
    /// A nested message, rendered first.
    Msg(Box<Msg>),
}

impl Msg {
    pub fn new(id: &'static str) -> Msg {
        Msg {
            id: Cow::Borrowed(id),
            args: Vec::new(),
        }
    }

    #[must_use]
    pub fn arg(mut self, name: &'static str, value: impl Into<Arg>) -> Msg {
        self.args.push((Cow::Borrowed(name), value.into()));
        self
    }

    #[must_use]
    pub fn seconds(self, name: &'static str, value: f64) -> Msg {
        self.arg(name, Arg::Seconds(value))
    }

    #[must_use]
    pub fn bytes(self, name: &'static str, value: f64) -> Msg {
        self.arg(name, Arg::Bytes(value))
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Arg {
        Arg::Text(text.to_owned())
    }
}
impl From<String> for Arg {
    fn from(text: String) -> Arg {
        Arg::Text(text)
    }
}
impl From<f64> for Arg {
    fn from(x: f64) -> Arg {
        Arg::Number(x)
    }
}
impl From<u32> for Arg {
    fn from(x: u32) -> Arg {
        Arg::Number(f64::from(x))
    }
}
impl From<usize> for Arg {
    fn from(x: usize) -> Arg {
        Arg::Number(x as f64)
    }
}
impl From<Money> for Arg {
    fn from(x: Money) -> Arg {
        Arg::Money(x)
    }
}
impl From<Msg> for Arg {
    fn from(x: Msg) -> Arg {
        Arg::Msg(Box::new(x))
    }
}

/// How the program ends; the numbers are a public contract (see `docs/reference/exit-codes.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    No = 1,
    Usage = 2,
    Unreachable = 3,
    Credentials = 4,
    Budget = 5,
    Preempted = 6,
    CannotTell = 7,
    Stuck = 8,
    Bug = 70,
}

/// An error that people can act upon: what happened, and how to mend it. `Display` of the error itself
/// stays a short English fragment for developers and logs.
pub trait Explain {
    /// What was attempted, where, and what went wrong.
    fn msg(&self) -> Msg;
    /// How to mend it, most likely remedy first.
    fn hints(&self) -> Vec<Msg> {
        Vec::new()
    }
    /// The exit status that this error leads to.
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}
