//! What a text says of every line: currencies, date and validity, hours of a month, tax, how far it may be believed.

use super::facts::{self, Tax};
use super::fold::{clip_bytes, fold};
use super::header::any;
use super::lex;
use super::names::Names;
use super::validity::{self, Valid};
use lessee_model::{AsOf, Confidence, Currency};

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
    // most lines name no currency: one look at the bytes tells
    let code = |w: &[u8]| {
        matches!(
            w,
            b"RMB" | b"rmb" | b"CNY" | b"cny" | b"USD" | b"usd" | b"EUR" | b"GBP" | b"JPY"
        )
    };
    let signs = raw.bytes().any(|b| b == b'$' || !b.is_ascii());
    if !signs && !raw.as_bytes().windows(3).any(code) {
        return;
    }
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
