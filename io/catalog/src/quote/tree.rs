//! YAML and JSON quotes: lists of maps, or maps by provider and by GPU.

use super::ask;
use super::fold::{clip_bytes, fold};
use super::header::{self, Column, Role};
use super::prose;
use super::row::{self, Around};
use super::settle::{Doc, Found, settle};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use std::fmt;

const DEEPEST: usize = 20;

/// A value with the line on which it stands; scalars stay text, so that `3.20` and `NaN` are kept.
#[derive(Debug)]
enum Node {
    Empty,
    Scalar(String),
    List(Vec<Spanned<Node>>),
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map, a list or a value")
    }
    fn visit_str<E>(self, v: &str) -> Result<Node, E> {
        Ok(Node::Scalar(v.to_owned()))
    }
    fn visit_bool<E>(self, v: bool) -> Result<Node, E> {
        Ok(Node::Scalar(v.to_string()))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Node, E> {
        Ok(Node::Scalar(v.to_string()))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Node, E> {
        Ok(Node::Scalar(v.to_string()))
    }
    fn visit_i128<E>(self, v: i128) -> Result<Node, E> {
        Ok(Node::Scalar(v.to_string()))
    }
    fn visit_u128<E>(self, v: u128) -> Result<Node, E> {
        Ok(Node::Scalar(v.to_string()))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Node, E> {
        Ok(Node::Scalar(v.to_string()))
    }
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Empty)
    }
    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Empty)
    }
    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Node, D::Error> {
        Node::deserialize(d)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut out = Vec::new();
        while let Some(node) = seq.next_element()? {
            out.push(node);
        }
        Ok(Node::List(out))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut out = Vec::new();
        while let Some(pair) = map.next_entry()? {
            out.push(pair);
        }
        Ok(Node::Map(out))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Node, D::Error> {
        d.deserialize_any(NodeVisitor)
    }
}

/// A key and a value of a record.
#[derive(Clone, Debug)]
struct Field {
    column: Column,
    value: String,
    line: u64,
}

/// Does the text look like YAML or JSON? The name of the file says so, or nearly every line does.
pub(crate) fn looks_like(text: &str, file: &str) -> bool {
    let named = [".yaml", ".yml", ".json"]
        .iter()
        .any(|e| file.to_ascii_lowercase().ends_with(e));
    let start = text.trim_start();
    if named || start.starts_with('{') || start.starts_with("[{") || start.starts_with("---\n") {
        return true;
    }
    let (mut all, mut keyed, mut nested) = (0, 0, false);
    for line in text.lines().take(400) {
        let t = line.trim();
        if t.is_empty() || t.starts_with('#') {
            continue;
        }
        all += 1;
        let key = t.strip_prefix("- ").unwrap_or(t);
        let is_key = key.split_once(':').is_some_and(|(k, v)| {
            (v.is_empty() || v.starts_with(' ')) && !k.contains('|') && k.len() <= 60
        });
        keyed += usize::from(is_key);
        nested |= line.starts_with(' ') || t.starts_with("- ");
    }
    all >= 3 && nested && keyed * 10 >= all * 9
}

/// Reads a tree; `false` if it is none, so that the text is read as running text instead.
pub(crate) fn read(text: &str, lines: &[&str], doc: &Doc<'_>, found: &mut Found) -> bool {
    let mut options = serde_saphyr::Options::default();
    if let Some(budget) = &mut options.budget {
        // quotes are flat; depth costs stack
        budget.max_depth = DEEPEST;
    }
    let root: Spanned<Node> = match serde_saphyr::from_str_with_options(text, options) {
        Ok(root) => root,
        Err(error) => {
            let line = error.location().map_or(0, |l| l.line());
            let shown = lines
                .get((line as usize).saturating_sub(1))
                .copied()
                .unwrap_or("");
            found.questions.push(
                ask::broken_tree()
                    .arg("why", clip_bytes(&error.to_string(), 200))
                    .at(line, shown, false),
            );
            return false;
        }
    };
    if matches!(root.value, Node::Scalar(_) | Node::Empty) {
        return false;
    }
    let mut reader = Reader { lines, doc, found };
    reader.walk(&root, &[], &Around::default());
    true
}

struct Reader<'a, 'b> {
    lines: &'a [&'a str],
    doc: &'a Doc<'a>,
    found: &'b mut Found,
}

impl Reader<'_, '_> {
    fn walk(&mut self, node: &Spanned<Node>, above: &[Field], around: &Around) {
        match &node.value {
            Node::Empty => {}
            Node::Scalar(text) => {
                let facts = row::draft(&pairs(above), 0, "", around, self.doc.names).facts;
                let mut here = around.clone();
                row::fill(&mut here.facts, &facts);
                prose::line(
                    text,
                    node.referenced.line(),
                    &mut here,
                    self.doc,
                    self.found,
                );
            }
            Node::List(list) => {
                for item in list {
                    self.walk(item, above, around);
                }
            }
            Node::Map(map) => self.map(map, above, around),
        }
    }

    fn field(&self, key: &str, value: &str, line: u64) -> Option<Field> {
        Some(Field {
            column: header::column(key, self.doc.names)?,
            value: value.to_owned(),
            line,
        })
    }

    fn map(&mut self, map: &[(Spanned<String>, Spanned<Node>)], above: &[Field], around: &Around) {
        let mut own: Vec<Field> = Vec::new();
        let mut deeper: Vec<(&Spanned<String>, &Spanned<Node>)> = Vec::new();
        // GPUs as keys: `H100 80GB: $2.49/hr`
        let mut by_gpu: Vec<(&Spanned<String>, &str)> = Vec::new();
        for (key, node) in map {
            let line = key.referenced.line();
            match &node.value {
                Node::Empty => {}
                Node::Scalar(value) => match self.field(&key.value, value, line) {
                    Some(field) if field.column.facts.gpus.is_empty() => own.push(field),
                    _ if self.doc.names.resolve(&key.value).is_some() => by_gpu.push((key, value)),
                    _ => {}
                },
                Node::Map(inner) if self.part_of_record(&key.value) => {
                    self.flatten(&key.value, inner, &mut own)
                }
                _ => deeper.push((key, node)),
            }
        }
        let inherited: Vec<Field> = above
            .iter()
            .filter(|f| own.iter().all(|o| o.column.role != f.column.role))
            .cloned()
            .collect();
        let all: Vec<Field> = own.iter().chain(&inherited).cloned().collect();
        let role =
            |list: &[Field], roles: &[Role]| list.iter().any(|f| roles.contains(&f.column.role));
        if role(&own, &[Role::Price, Role::Total]) {
            self.record(&own, &all, around);
        } else {
            for (key, node) in &deeper {
                let mut below = all.clone();
                if let Some(name) = self.name_of(&key.value, key.referenced.line()) {
                    below.retain(|f| f.column.role != name.column.role);
                    below.push(name);
                }
                self.walk(node, &below, around);
            }
        }
        for (key, value) in by_gpu {
            let line = key.referenced.line();
            let fields: Vec<Field> = [
                self.field("gpu", &key.value, line),
                self.field("price", value, line),
            ]
            .into_iter()
            .flatten()
            .collect();
            let all: Vec<Field> = fields.iter().chain(&all).cloned().collect();
            self.record(&fields, &all, around);
        }
    }

    /// `gpu: {model: H100, count: 8}` and `price: {amount: 3, currency: USD}` belong to their record.
    fn part_of_record(&self, key: &str) -> bool {
        header::column(key, self.doc.names).is_some_and(|c| {
            c.facts.gpus.is_empty()
                && matches!(
                    c.role,
                    Role::Gpu
                        | Role::Price
                        | Role::Instance
                        | Role::GpuMemory
                        | Role::Term
                        | Role::Billing
                )
                && !header::title(key).ends_with('s')
        })
    }

    fn flatten(&self, key: &str, inner: &[(Spanned<String>, Spanned<Node>)], own: &mut Vec<Field>) {
        for (sub, node) in inner {
            let Node::Scalar(value) = &node.value else {
                continue;
            };
            let name = header::title(&sub.value);
            let period = [
                "hour", "hr", "day", "week", "month", "year", "小时", "天", "月", "年",
            ]
            .contains(&name.as_str());
            let title = if period {
                format!("{key} per {name}")
            } else {
                format!("{key} {name}")
            };
            let line = sub.referenced.line();
            // `model: {name: ...}`: the joined title first, then each word alone
            let field = self
                .field(&title, value, line)
                .or_else(|| self.field(&name, value, line));
            own.extend(field);
        }
    }

    /// A key that is a name: of a provider or of a GPU.
    fn name_of(&self, key: &str, line: u64) -> Option<Field> {
        let folded = fold(key);
        if self.doc.names.resolve(&folded).is_some() {
            return self.field("gpu", key, line);
        }
        self.doc.names.provider_named(&folded)?;
        self.field("provider", key, line)
    }

    fn record(&mut self, own: &[Field], all: &[Field], around: &Around) {
        let from = own.iter().map(|f| f.line).min().unwrap_or(1).max(1);
        let to = own.iter().map(|f| f.line).max().unwrap_or(from);
        let original: Vec<&str> = self
            .lines
            .get(from as usize - 1..(to as usize).min(self.lines.len()))
            .unwrap_or_default()
            .iter()
            .take(40)
            .map(|l| l.trim_end())
            .collect();
        let original = original.join("\n");
        let draft = row::draft(
            &pairs(all),
            from,
            clip_bytes(original.trim(), 2_000),
            around,
            self.doc.names,
        );
        settle(draft, self.doc, self.found);
    }
}

fn pairs(fields: &[Field]) -> Vec<(&Column, &str)> {
    fields
        .iter()
        .map(|f| (&f.column, f.value.as_str()))
        .collect()
}
