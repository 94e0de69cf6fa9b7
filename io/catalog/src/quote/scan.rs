//! The text as a whole: what its remarks say of every line, and where tables, lists and sentences begin.

use super::ask::{self, QuoteQuestion};
use super::facts::{self, Facts, Tax};
use super::fold::{clip_bytes, fold};
use super::header::{self, Column, Role};
use super::lex;
use super::names::Names;
use super::pairs::Pairs;
use super::price::Unit;
use super::prose::{self, Spoken};
use super::row::{self, Around};
use super::settle::{Doc, Found, settle};
use super::table;
use super::validity::{self, Valid};
use lessee_model::quote::QuotedOffer;
use lessee_model::{AsOf, Confidence, Currency};
use std::collections::{HashMap, HashSet};

/// Remarks that hold for every line.
pub(crate) struct Scan {
    pub(crate) month_hours: Option<u32>,
    pub(crate) currencies: Vec<Currency>,
    pub(crate) as_of: Option<AsOf>,
    /// Index of a line that should date the quote and cannot be read.
    pub(crate) date_unread: Option<usize>,
    pub(crate) valid: Option<Valid>,
    pub(crate) confidence: Confidence,
    pub(crate) term: Option<u32>,
    pub(crate) tax: Option<&'static str>,
}

fn any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|w| text.contains(w))
}

pub(crate) fn scan(lines: &[&str], file: &str, names: &Names<'_>) -> Scan {
    let mut out = Scan {
        month_hours: None,
        currencies: Vec::new(),
        as_of: None,
        date_unread: None,
        valid: None,
        confidence: Confidence::Verified,
        term: None,
        tax: None,
    };
    let mut terms: Vec<u32> = Vec::new();
    let mut taxes: Vec<Tax> = Vec::new();
    // one clause of a contract states the term of all; lines of a price list do not
    let mut contract = false;
    for (i, raw) in lines.iter().enumerate() {
        let raw = clip_bytes(raw, 4_000);
        currencies(raw, &mut out.currencies);
        let month = any(raw, &["月", "month", "Month"])
            && any(raw, &["72", "73", "74", "67", "30", "31", "28", "29"]);
        let dated = any(
            raw,
            &[
                "日期",
                "date",
                "Date",
                "as of",
                "As of",
                "collected",
                "更新",
                "截至",
                "20",
                "有效",
                "valid",
                "Valid",
            ],
        );
        let taxed = any(raw, &["税", "VAT", "vat", "tax", "Tax"]);
        let termed = i < 200 || any(raw, &["租期", "期限", "合同期", "服务期", "Term", "term"]);
        let kind = i < 5 || any(raw, &["仅供参考", "以官网为准", "for reference", "参考价"]);
        if !(month || dated || taxed || termed || kind) {
            continue;
        }
        let folded = fold(raw);
        if kind {
            out.confidence = out.confidence.max(trust(&folded, i));
        }
        let toks = lex::lex(&folded, names, false);
        let amounts = super::price::amounts(&toks, false);
        let f = facts::read(&folded, &toks, &amounts);
        // beside a price it holds for that price alone
        if amounts.is_empty() {
            out.month_hours = out.month_hours.or(f.month_hours);
        }
        if f.date.is_none() && amounts.is_empty() && names_its_date(&folded) {
            out.date_unread = out.date_unread.or(Some(i));
        }
        if dated && amounts.is_empty() {
            date_and_validity(&folded, names, &mut out);
        } else if out.as_of.is_none() && any(&folded, DATED) && !any(&folded, &["valid", "有效期"])
        {
            out.as_of = f.date;
        }
        let labelled_term = [
            "租赁期限",
            "租赁期",
            "租期",
            "合同期",
            "服务期",
            "term:",
            "term of",
        ];
        if termed && any(&folded, &labelled_term) && amounts.len() <= 1 {
            terms.extend(&f.terms);
        }
        let remark = amounts.is_empty()
            && f.gpus.is_empty()
            && !folded.contains(['|', '\t'])
            && folded.matches(',').count() < 3;
        if termed && remark && f.term_word && f.terms.len() == 1 {
            terms.extend(f.terms);
            contract = true;
        }
        contract |= amounts.is_empty() && any(&folded, &["合同", "协议", "agreement"]);
        if let Some(tax) = f.tax
            && amounts.is_empty()
            && any(
                &folded,
                &["价", "price", "以上", "均", "all", "费用", "quote", "rates"],
            )
            && f.gpus.is_empty()
            && !folded.contains('|')
            && !folded.contains('\t')
            && folded.matches(',').count() < 3
        {
            taxes.push(tax);
        }
    }
    terms.sort_unstable();
    terms.dedup();
    if let ([only], true) = (terms.as_slice(), contract) {
        out.term = Some(*only);
    }
    taxes.dedup();
    if let [only] = taxes.as_slice() {
        out.tax = Some(match only {
            Tax::Included => "included",
            Tax::Excluded => "excluded",
        });
    }
    // another line may date it all the same
    out.date_unread = out.date_unread.filter(|_| out.as_of.is_none());
    if out.as_of.is_none() && out.date_unread.is_none() {
        let name = fold(clip_bytes(file, 400)).replace('_', " ");
        out.as_of = facts::read(&name, &lex::lex(&name, names, false), &[]).date;
    }
    out
}

/// Words beside the date of a quote.
const DATED: &[&str] = &[
    "日期",
    "date",
    "as of",
    "as-of",
    "collected",
    "更新",
    "截至",
    "kind:",
];

/// `报价日期：昨天`, `Date: 01/02/2025`: a label of the quote's own date with something behind it.
fn names_its_date(folded: &str) -> bool {
    let line = folded.trim_start_matches(['#', '*', '-', '>', ' ']);
    line.split_once(':').is_some_and(|(label, value)| {
        let own = [
            "报价日期",
            "日期",
            "报价时间",
            "quote date",
            "date",
            "date of quote",
            "quoted on",
            "as of",
        ];
        own.contains(&label.trim()) && value.contains(char::is_alphanumeric)
    })
}

fn date_and_validity(folded: &str, names: &Names<'_>, out: &mut Scan) {
    for (part, validity) in validity::parts(folded) {
        if validity {
            out.valid = out.valid.or_else(|| validity::read(part, names));
        } else if out.as_of.is_none() && any(folded, DATED) {
            out.as_of = facts::read(part, &lex::lex(part, names, false), &[]).date;
        }
    }
}

fn currencies(raw: &str, seen: &mut Vec<Currency>) {
    let yen = any(raw, &["JPY", "日元", "円", "JP¥"]);
    for (words, code) in [
        (
            &["¥", "￥", "元", "RMB", "rmb", "CNY", "cny", "人民币"][..],
            "CNY",
        ),
        (&["$", "USD", "usd", "美元", "美金"][..], "USD"),
        (&["€", "EUR", "欧元"][..], "EUR"),
        (&["£", "GBP"][..], "GBP"),
        (&["JPY", "日元", "円", "JP¥"][..], "JPY"),
    ] {
        let code = match code.parse::<Currency>() {
            Ok(code) if !(yen && code == Currency::CNY) => code,
            _ => continue,
        };
        if !seen.contains(&code) && any(raw, words) {
            seen.push(code);
        }
    }
}

/// How far a text may be believed by what it says of itself.
fn trust(folded: &str, line: usize) -> Confidence {
    let own = line < 5 && any(folded, &["kind:", "来源", "source:", "可信", "trust"]);
    if own
        && any(
            folded,
            &[
                "low trust",
                "content-farm",
                "content farm",
                "machine-written",
                "price-index",
                "price index",
                "低可信",
                "ai生成",
                "ai 生成",
                "vague",
            ],
        )
    {
        return Confidence::Unverified;
    }
    if own
        && any(
            folded,
            &[
                "third-party",
                "third party",
                "copy",
                "第三方",
                "转载",
                "汇总",
                "guide",
            ],
        )
    {
        return Confidence::Secondary;
    }
    if any(
        folded,
        &["仅供参考", "以官网为准", "for reference", "参考价"],
    ) {
        return Confidence::Secondary;
    }
    Confidence::Verified
}

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
