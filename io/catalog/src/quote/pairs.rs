//! Lines of `key: value` that together describe one machine with its price.
//!
//! A long text may hold nothing but such lines without ever completing a machine, and each of them could
//! begin one: what is learnt of a run that failed is kept, so that its lines are not tried again one by one.

use super::header::{self, Column, Role};
use super::names::Names;
use std::collections::HashMap;

/// Lines that one machine may take.
const LONGEST: usize = 60;

/// Titles that are remembered; a text with more different ones is read all the same.
const MOST_TITLES: usize = 4096;

#[derive(Default)]
pub(crate) struct Pairs {
    /// What the title of each line stands for, once it was looked at: reading a title costs most, and lines are
    /// looked at from each line before them.
    roles: Vec<Option<Option<Role>>>,
    titles: HashMap<String, Option<Role>>,
    /// No machine begins before this line: a run that failed ends here for all that begin within it.
    dead_until: usize,
    /// The next line with a price, and the next that names a machine; what lies before is not known.
    price_at: Option<usize>,
    name_at: Option<usize>,
}

fn is_price(role: Role) -> bool {
    matches!(role, Role::Price | Role::Total)
}

fn is_name(role: Role) -> bool {
    matches!(role, Role::Gpu | Role::Instance | Role::Item)
}

/// Key and value of a line; `None` where it is no such line.
fn pair(line: &str) -> Option<(String, &str)> {
    let t = line.trim().trim_start_matches(['-', '*', '•', '>']).trim();
    let (key, value) = t
        .split_once([':', '：'])
        .filter(|(k, v)| k.len() <= 60 && !v.trim().is_empty())?;
    let plain = value.len() <= 300 && !value.contains([';', '；', '|']);
    plain.then(|| (key.replace("**", ""), value))
}

impl Pairs {
    /// The fields of the machine that begins at this line, and the line behind it.
    pub(crate) fn at(
        &mut self,
        lines: &[&str],
        at: usize,
        names: &Names<'_>,
    ) -> Option<(Vec<(Column, String)>, usize)> {
        if at < self.dead_until || pair(lines[at]).is_none() {
            return None;
        }
        // both must stand in reach, else nothing that begins here is complete
        let end = lines.len().min(at + LONGEST);
        if self.next(lines, at, names, true) >= end || self.next(lines, at, names, false) >= end {
            return None;
        }
        let mut fields: Vec<(usize, Role, &str)> = Vec::new();
        let mut here = at;
        let mut broken = false;
        while here < end {
            let Some((_, value)) = pair(lines[here]) else {
                broken = true;
                break;
            };
            match self.role(lines, here, names) {
                Some(role) => {
                    let once = is_name(role) || role == Role::Provider;
                    if once && fields.iter().any(|(_, r, _)| *r == role) {
                        break;
                    }
                    let value = value.trim().trim_start_matches("**");
                    fields.push((here, role, value));
                }
                None if fields.is_empty() => return None,
                None => {}
            }
            here += 1;
        }
        let has = |is: fn(Role) -> bool| fields.iter().any(|(_, role, _)| is(*role));
        if fields.len() < 2 || !has(is_price) || !has(is_name) {
            // a later beginning has fewer fields before the same end
            if broken || here == lines.len() {
                self.dead_until = here;
            }
            return None;
        }
        let fields = fields
            .into_iter()
            .filter_map(|(line, _, value)| {
                let (key, _) = pair(lines[line])?;
                Some((header::column(&key, names)?, value.to_owned()))
            })
            .collect();
        Some((fields, here))
    }

    /// The first line from `at` on whose title is a price (or names a machine).
    fn next(&mut self, lines: &[&str], at: usize, names: &Names<'_>, price: bool) -> usize {
        let (known, is): (Option<usize>, fn(Role) -> bool) = match price {
            true => (self.price_at, is_price),
            false => (self.name_at, is_name),
        };
        if let Some(line) = known.filter(|line| *line >= at) {
            return line;
        }
        let found = (at..lines.len())
            .find(|i| self.role(lines, *i, names).is_some_and(is))
            .unwrap_or(usize::MAX);
        match price {
            true => self.price_at = Some(found),
            false => self.name_at = Some(found),
        }
        found
    }

    /// What the title of a line stands for; a title that states a GPU itself is no title.
    fn role(&mut self, lines: &[&str], line: usize, names: &Names<'_>) -> Option<Role> {
        if self.roles.len() < lines.len() {
            self.roles.resize(lines.len(), None);
        }
        if let Some(known) = self.roles[line] {
            return known;
        }
        let role = pair(lines[line]).and_then(|(key, _)| self.title(key, names));
        self.roles[line] = Some(role);
        role
    }

    /// What a title stands for: the same few come again and again in a long text.
    fn title(&mut self, key: String, names: &Names<'_>) -> Option<Role> {
        if let Some(known) = self.titles.get(&key) {
            return *known;
        }
        let column = header::column(&key, names).filter(|c| c.facts.gpus.is_empty());
        let role = column.map(|c| c.role);
        if self.titles.len() < MOST_TITLES {
            self.titles.insert(key, role);
        }
        role
    }
}
