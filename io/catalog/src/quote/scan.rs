//! Where tables, lists and sentences begin in a text that is no tree, and what they say together.

use super::ask::{self, QuoteQuestion};
use super::facts::Facts;
use super::fold::{clip_bytes, fold};
use super::header::{self, Column, Role, any};
use super::lex;
use super::names::Names;
use super::pairs::Pairs;
use super::prose::{self, Spoken};
use super::row::{self, Around};
use super::settle::{Doc, Found, settle};
use super::table;
use super::unit::Unit;
use lessee_model::quote::QuotedOffer;
use std::collections::{HashMap, HashSet};

/// Reads a text that is no tree: tables, blocks of keys and values, headings, sentences.
pub(crate) fn blocks(lines: &[&str], doc: &Doc<'_>, found: &mut Found) {
    let mut headings: Vec<(usize, Facts, Unit)> = Vec::new();
    let mut around = Around::default();
    let mut spoken = Spoken::default();
    // recognising titles costs most; a text without a table in 20,000 tries has none
    let mut tries = 20_000u32;
    let mut comment = false;
    let mut pairs = Pairs::default();
    let mut i = 0;
    while i < lines.len() {
        let raw = lines[i];
        let trimmed = raw.trim();
        if trimmed.is_empty() {
            i += 1;
            continue;
        }
        if comment || trimmed.starts_with("<!--") {
            comment = !trimmed.contains("-->");
            i += 1;
            continue;
        }
        if let Some((level, words)) = heading(trimmed) {
            // `# kind: ...` is a remark about the text
            if let Some(provider) = seller(words, doc.names) {
                sold_by(provider, &mut headings, &mut around);
            } else if !words.starts_with("kind:") {
                let (facts, unit) = prose::heading(&fold(words), doc);
                headings.retain(|(l, ..)| *l < level);
                headings.push((level, facts, unit));
                around = under(&headings);
                spoken = Spoken::default();
            }
            i += 1;
            continue;
        }
        if tries > 0 && trimmed.contains(['|', '\t', ',', ';', '，', '；', '、', ' ']) {
            tries -= 1;
            if let Some(head) = table::head(lines, i, doc.names) {
                i = table::read(lines, i, &head, &around, doc, found).max(i + 1);
                continue;
            }
        }
        if let Some((fields, end)) = pairs.at(lines, i, doc.names) {
            let original: Vec<&str> = lines[i..end]
                .iter()
                .map(|l| l.trim())
                .filter(|l| !l.is_empty())
                .collect();
            let pairs: Vec<(&Column, &str)> = fields.iter().map(|(c, v)| (c, v.as_str())).collect();
            let draft = row::draft(
                &pairs,
                i as u64 + 1,
                clip_bytes(&original.join("\n"), 2_000),
                &around,
                doc.names,
            );
            settle(draft, doc, found);
            i = end;
            continue;
        }
        if let Some(provider) = seller(trimmed, doc.names) {
            sold_by(provider, &mut headings, &mut around);
            found.ignored_lines += 1;
            i += 1;
            continue;
        }
        prose::read(raw, i as u64 + 1, &mut around, &mut spoken, doc, found);
        i += 1;
    }
}

const SELLER: &[&str] = &[
    "供应商",
    "厂商",
    "服务商",
    "报价方",
    "报价单位",
    "出租方",
    "provider",
    "vendor",
    "supplier",
    "seller",
];

/// `供应商：智算云`, `Provider: X`, `供应商,智算云,,`: who sells what stands below.
fn seller(line: &str, names: &Names<'_>) -> Option<String> {
    if line.len() > 300 {
        return None;
    }
    let line = line.trim_matches(['*', '|', '-', '>', ' ']);
    let (key, rest) = line.split_once([':', '：', ',', '，', '\t', '|'])?;
    let key = key.trim().trim_matches('*');
    let folded_key = fold(key);
    // `甲方（出租方）：... 乙方（承租方）：...` is the head of a contract, 平台 and 渠道 may be anything
    let seller = any(&folded_key, SELLER) && !folded_key.contains('(') && key.len() <= 40;
    if !seller || header::column(key, names)?.role != Role::Provider {
        return None;
    }
    let rest = rest.trim().trim_matches(['*', ' ']);
    let end = [",", "，", ";", "；", "\t", "|", "  ", "\u{3000}", "。"]
        .iter()
        .filter_map(|cut| rest.find(cut))
        .min()
        .unwrap_or(rest.len());
    // `智算云 联系人：张三`
    let end = match rest[..end].find([':', '：']) {
        Some(colon) => rest[..colon].rfind(' ').unwrap_or(end),
        None => end,
    };
    let name = rest[..end].trim();
    let folded = fold(name);
    // a price in the same line is an offer, not a heading
    let more = fold(&rest[end..]);
    let whole = lex::lex(&more, names, false);
    let named =
        !name.is_empty() && name.len() <= 80 && super::price::amounts(&whole, false).is_empty();
    let read = row::read(&folded, names, false);
    (named && read.gpus.is_empty() && read.counts.is_empty()).then(|| {
        names
            .provider_named(&folded)
            .or(read.provider)
            .unwrap_or_else(|| name.to_owned())
    })
}

/// Holds until another seller is named; a heading that names one is nearer.
fn sold_by(provider: String, headings: &mut Vec<(usize, Facts, Unit)>, around: &mut Around) {
    let facts = Facts {
        provider: Some(provider.clone()),
        ..Facts::default()
    };
    headings.retain(|(level, ..)| *level > 0);
    headings.insert(0, (0, facts, Unit::default()));
    around.facts.provider = Some(provider);
}

/// `## text`, or a short line that ends in a colon or stands in bold alone.
fn heading(line: &str) -> Option<(usize, &str)> {
    let marks = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&marks) {
        return Some((marks, line[marks..].trim()));
    }
    if line.len() > 120 {
        return None;
    }
    let bare = line.trim_end_matches("**").trim_end();
    let colon = bare.strip_suffix([':', '：']);
    let bold = line.strip_prefix("**").and_then(|l| l.strip_suffix("**"));
    let boxed = line.strip_prefix('【').and_then(|l| l.strip_suffix('】'));
    colon
        .or(bold)
        .or(boxed)
        .filter(|words| !words.contains('|'))
        .map(|words| (7, words))
}

fn under(headings: &[(usize, Facts, Unit)]) -> Around {
    let mut around = Around::default();
    for (_, facts, unit) in headings.iter().rev() {
        row::fill(&mut around.facts, facts);
        around.unit = around.unit.or(unit);
    }
    around
}

/// The same machine at the same price, stated twice, is one offer; the lines are kept in its derivation.
/// One machine in one place, paid for in one way, at two prices: which of them holds is asked, line by
/// line, and none is kept.
fn contradictions(kept: &mut Vec<QuotedOffer>, questions: &mut Vec<QuoteQuestion>) {
    let key = |o: &QuotedOffer| {
        format!(
            "{:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{:?}|{}",
            o.provider,
            o.region,
            o.instance_type,
            o.gpu,
            o.vcpus,
            o.memory_gib,
            o.local_disk_gb,
            o.network_gbps,
            o.interconnect,
            o.purchase
        )
    };
    let mut lines: HashMap<String, Vec<u64>> = HashMap::new();
    for offer in kept.iter() {
        lines.entry(key(offer)).or_default().push(offer.line);
    }
    lines.retain(|_, at| at.len() > 1);
    kept.retain(|offer| {
        let Some(at) = lines.get(&key(offer)) else {
            return true;
        };
        let at: Vec<String> = at.iter().take(20).map(u64::to_string).collect();
        let why = ask::duplicate_offer().arg("lines", at.join(", "));
        questions.push(why.at(offer.line, &offer.original, false));
        false
    });
}

pub(crate) fn merge_same(found: &mut Found) {
    let offers = &mut found.offers;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<QuotedOffer> = Vec::with_capacity(offers.len());
    for offer in offers.drain(..) {
        let key = format!(
            "{:?}|{:?}|{:?}|{}|{:?}|{}|{:?}|{}|{}|{}",
            offer.provider,
            offer.region,
            offer.instance_type,
            offer.gpu.model,
            offer.gpu.form,
            offer.gpu.count,
            offer.gpu.memory_gb_each,
            offer.purchase,
            offer.price.exact(),
            offer.price.currency
        );
        match seen.get(&key) {
            Some(i) => {
                if kept[*i].derivation.len() < 20 {
                    let again = format!("= line {}", offer.line);
                    kept[*i].derivation.push(again);
                }
            }
            None => {
                seen.insert(key, kept.len());
                kept.push(offer);
            }
        }
    }
    contradictions(&mut kept, &mut found.questions);
    let lines: HashSet<u64> = kept.iter().map(|o| o.line).collect();
    *offers = kept;
    // a confirmation is asked for once
    found
        .questions
        .retain(|q| !q.confirms_offer || lines.contains(&q.line));
}
