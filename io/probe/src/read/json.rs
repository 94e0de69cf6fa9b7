//! JSON inside a capture: whole or broken off, with the lines of other programs around it.
//!
//! Bounded on purpose: a few bytes of JSON can become a hundred in memory, so the number of values is limited, and
//! nesting is limited by `serde_json` itself.

use super::Read;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// Most values of all documents of a capture together: some 800 jobs of fio.
const MAX_VALUES: usize = 200_000;
/// Most places at which a document is tried in vain; each try may read to the end of the text.
const MAX_FAILURES: usize = 8;

/// What was found.
pub(crate) struct Found {
    pub(crate) documents: Vec<Value>,
    /// A document had no end: it was closed after its last whole value.
    pub(crate) broken_off: bool,
    /// More values than are kept: documents were left out.
    pub(crate) too_large: bool,
}

impl Found {
    /// Says what of the documents is not there.
    pub(crate) fn say(&self, out: &mut Read) {
        if self.too_large {
            let detail = "more values than are kept: the rest is left out";
            out.problem("input_too_large", "file", detail);
        }
        if self.broken_off {
            out.problem("incomplete_capture", "file", "the JSON has no end");
        }
    }
}

/// Finds the JSON objects that begin at the start of a line. The lines outside of them that are not blank go to
/// `other`, with their numbers.
pub(crate) fn find(text: &str, other: &mut dyn FnMut(u64, &str)) -> Found {
    let mut found = Found {
        documents: Vec::new(),
        broken_off: false,
        too_large: false,
    };
    let left = Cell::new(MAX_VALUES);
    let mut failures = 0;
    let mut rest = text;
    let mut number = 1;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = &rest[..end];
        if line.trim_start().starts_with('{') && failures < MAX_FAILURES {
            match document(rest, &left) {
                Ok((value, used, whole)) => {
                    found.documents.push(value);
                    found.broken_off |= !whole;
                    number += newlines(&rest[..used]);
                    rest = &rest[used..];
                    continue;
                }
                Err(_) => failures += 1,
            }
        }
        if !line.trim().is_empty() {
            other(number, line.trim_end());
        }
        number += newlines(line);
        rest = &rest[end..];
    }
    found.too_large = left.get() == 0;
    found
}

fn newlines(text: &str) -> u64 {
    text.bytes().map(|b| u64::from(b == b'\n')).sum()
}

/// The value at the start, the bytes it takes, and whether it was whole. Of one that breaks off, or in which another
/// program wrote, the part before that is kept.
fn document(text: &str, left: &Cell<usize>) -> Result<(Value, usize, bool), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    match json.next() {
        Some(Ok(_)) => {
            let used = json.byte_offset();
            Ok((parse(&text[..used], left)?, used, true))
        }
        Some(Err(error)) => {
            let (sound, used) = match error.is_eof() {
                true => (text, text.len()),
                false => before(text, &error),
            };
            let closed = close(sound).ok_or(error)?;
            match parse(&closed, left)? {
                Value::Object(map) if map.is_empty() => Err(Error::custom("nothing in it")),
                value => Ok((value, used, false)),
            }
        }
        None => Err(Error::custom("no document")),
    }
}

/// The text before the place of an error, and the bytes to the start of that line: it is another program's. Where it
/// is the first line, to its end.
fn before<'t>(text: &'t str, error: &serde_json::Error) -> (&'t str, usize) {
    let mut start = 0;
    for line in text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
    {
        start += line.len();
    }
    let rest = &text[start..];
    let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
    // the column counts bytes
    let sound = rest.floor_char_boundary(error.column().saturating_sub(1).min(end));
    let used = if start > 0 { start } else { end };
    (&text[..start + sound], used)
}

fn parse(text: &str, left: &Cell<usize>) -> Result<Value, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    Bounded(left).deserialize(&mut json)
}

/// The text up to its last whole value, with the brackets closed that are then open.
fn close(text: &str) -> Option<String> {
    let mut open: Vec<u8> = Vec::new();
    // where the text can be cut, and how many brackets are open there
    let mut cut = None;
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' => {
                open.push(if byte == b'{' { b'}' } else { b']' });
                cut = Some((at + 1, open.len()));
            }
            b',' => cut = Some((at, open.len())),
            b'}' | b']' => {
                open.pop();
                cut = Some((at + 1, open.len()));
            }
            _ => {}
        }
        // deeper than `serde_json` goes
        if open.len() > 128 {
            return None;
        }
    }
    let (at, depth) = cut?;
    let mut closed = text.get(..at)?.to_owned();
    closed.extend(open.iter().take(depth).rev().map(|b| char::from(*b)));
    Some(closed)
}

/// Builds a [`Value`] as long as values are left.
#[derive(Clone, Copy)]
struct Bounded<'l>(&'l Cell<usize>);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        let left = self.0.get().checked_sub(1);
        self.0
            .set(left.ok_or_else(|| D::Error::custom("too many values"))?);
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = seq.next_element_seed(self)? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            all.insert(key, map.next_value_seed(self)?);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::close;
    use serde_json::{Value, json};

    struct Found {
        documents: Vec<Value>,
        broken_off: bool,
        others: Vec<(u64, String)>,
    }

    fn find(text: &str) -> Found {
        let mut others = Vec::new();
        let found = super::find(text, &mut |n, line| others.push((n, line.to_owned())));
        Found {
            documents: found.documents,
            broken_off: found.broken_off,
            others,
        }
    }

    #[test]
    fn documents_stand_between_other_lines() {
        let found = find("fio: note\n{\"a\": 1}\n\n{\n\"b\": [1, {\"c\": 2}]}\nbye\n");
        assert_eq!(
            found.documents,
            [json!({"a": 1}), json!({"b": [1, {"c": 2}]})]
        );
        assert_eq!(
            found.others,
            [(1, "fio: note".to_owned()), (6, "bye".to_owned())]
        );
        assert!(!found.broken_off);
    }

    #[test]
    fn a_document_without_its_end_is_closed() {
        let found = find("{\"a\": [1, 2, {\"b\": 3, \"c\": \"x");
        assert!(found.broken_off);
        assert_eq!(found.documents, [json!({"a": [1, 2, {"b": 3}]})]);
        // the paste ended inside of a word, a line end followed
        let found = find("{\"a\": [1, {\"b\": \"x\n");
        assert_eq!(found.documents, [json!({"a": [1, {}]})]);
        assert!(find("{word} other\n").documents.is_empty());
        let found = find("{\"a\": 1,\n noise\n \"b\": 2}\n");
        assert_eq!(found.documents, [json!({"a": 1})]);
        assert_eq!(
            found.others,
            [(2, " noise".to_owned()), (3, " \"b\": 2}".to_owned())]
        );
        assert_eq!(close("{\"a\": \"}\\\"").as_deref(), Some("{}"));
    }

    #[test]
    fn hostile_json_is_refused() {
        assert!(find(&"{\"a\":".repeat(100_000)).documents.is_empty());
        assert!(find(&"[".repeat(100_000)).documents.is_empty());
        let wide = format!("{{\"a\": [{}1]}}", "1,".repeat(1_000_000));
        assert!(find(&wide).documents.is_empty());
        assert!(find("{\"a\": tru}").documents.is_empty());
    }
}
