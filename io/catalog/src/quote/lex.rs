//! Folded text to tokens: numbers, dates, known words, GPUs. Linear in the length of the text.
//!
//! Not here: what the tokens mean together (`price` and `facts`).

use super::names::Names;
use super::vocab::{self, Kw};
use lessee_model::{AsOf, Fixed, GpuRef};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum T {
    /// `None`: written like a number but not one that can be read for sure (`1.2.3`, `1e400`, `1,00,0`).
    Num(Option<Fixed>),
    Date(AsOf),
    Kw(Kw),
    Gpu(GpuRef),
    /// Key of a known provider.
    Provider(String),
    /// A word that means nothing here; `true` if it looks like the name of a model (`s60`, `bw1000`).
    Word(bool),
    Region,
    Sym(char),
    /// Other Chinese text.
    Text,
}

#[derive(Clone, Debug)]
pub(crate) struct Tok {
    pub(crate) t: T,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Written in Chinese (or another script wider than ASCII).
    pub(crate) wide: bool,
}

impl Tok {
    pub(crate) fn kw(&self) -> Option<Kw> {
        match self.t {
            T::Kw(kw) => Some(kw),
            _ => None,
        }
    }
    pub(crate) fn is_sym(&self, c: char) -> bool {
        self.t == T::Sym(c)
    }
}

pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Words that begin like a unit but are none.
const OTHER_WORDS: &[&str] = &[
    "天垓", "天数", "时间", "时长", "日志", "日期", "日常", "周期", "周边", "月初", "月底", "年底",
    "年初", "年度", "卡顿", "元旦", "机房", "机构", "机会",
];

/// Cuts folded text into tokens. `bare_gpu`: a name of digits only (`4090`) counts as a GPU even
/// without `RTX` before it, as in a column of GPUs.
pub(crate) fn lex(text: &str, names: &Names<'_>, bare_gpu: bool) -> Vec<Tok> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (t, len) = next(text, at, c, names, bare_gpu, &out);
        // `天垓100`: text that runs into a number is a name, unless the number counts or costs something
        if let (T::Num(_), Some(last)) = (&t, out.last_mut())
            && last.t == T::Text
            && last.end == at
            && let Some(more) = names_a_model(&text[at..])
        {
            last.t = T::Word(true);
            last.end = at + more;
            at += more;
            continue;
        }
        // neighbouring text of no meaning is one token
        let joined = match (&t, out.last_mut()) {
            (T::Text, Some(last)) if last.t == T::Text && last.end == at => {
                last.end = at + len;
                true
            }
            _ => false,
        };
        if !joined {
            out.push(Tok {
                t,
                start: at,
                end: at + len,
                wide: !c.is_ascii(),
            });
        }
        at += len;
    }
    out
}

fn next(
    text: &str,
    at: usize,
    c: char,
    names: &Names<'_>,
    bare_gpu: bool,
    before: &[Tok],
) -> (T, usize) {
    let rest = &text[at..];
    let touching = before.last().filter(|t| t.end == at);
    let boundary = touching.is_none_or(|t| t.kw() == Some(Kw::Times))
        || text[..at]
            .chars()
            .next_back()
            .is_none_or(|p| !p.is_ascii_alphanumeric());
    // the `x` of `8xH100`
    if c == 'x'
        && touching.is_some_and(|t| matches!(t.t, T::Num(_)))
        && names.gpu_at(&rest[1..]).is_some()
    {
        return (T::Kw(Kw::Times), 1);
    }
    if let Some((currency, len)) = vocab::currency_sign(rest)
        && (boundary || !c.is_ascii_alphabetic())
    {
        return (T::Kw(Kw::Currency(currency)), len);
    }
    if (boundary || !c.is_ascii_alphanumeric())
        && let Some((gpu, len)) = names.gpu_at(rest)
    {
        let digits_only = rest[..len].chars().all(|c| c.is_ascii_digit());
        if !digits_only || bare_gpu && before.is_empty() || digits_are_gpu(rest, len, before) {
            return (T::Gpu(gpu), len);
        }
    }
    if let Some(len) = names.unknown_model_at(rest, boundary) {
        return (T::Word(true), len);
    }
    if let Some((key, len)) = names.provider_at(rest, boundary) {
        return (T::Provider(key), len);
    }
    if let Some(len) = names.region_at(rest, boundary) {
        return (T::Region, len);
    }
    if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
        if let Some((date, len)) = date_at(rest) {
            return (T::Date(date), len);
        }
        return number_at(rest);
    }
    if c.is_ascii_alphabetic() {
        return word_at(rest, touching.is_some_and(|t| matches!(t.t, T::Num(_))));
    }
    if let Some(word) = OTHER_WORDS.iter().find(|w| rest.starts_with(**w)) {
        return (T::Text, word.len());
    }
    if is_cjk(c) || c == '円' {
        return match vocab::chinese(rest) {
            Some((kw, len)) => (T::Kw(kw), len),
            None => (T::Text, c.len_utf8()),
        };
    }
    let t = match c {
        '×' | '*' => T::Kw(Kw::Times),
        '≈' => T::Kw(Kw::Approx),
        '≥' => T::Kw(Kw::AtLeast),
        '≤' => T::Kw(Kw::AtMost),
        _ if c.is_alphanumeric() => T::Text,
        _ => T::Sym(c),
    };
    (t, c.len_utf8())
}

/// Length of the digits (and letters) that end a name such as `天垓100` or `壁砺106M`.
fn names_a_model(rest: &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let len = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let letters = &rest[digits..len];
    let after = &rest[len..];
    let counts = vocab::chinese(after.trim_start()).is_some()
        || vocab::currency_sign(after.trim_start()).is_some()
        || after.starts_with(['.', ',', '/', '%', '-', '~', '+', '*', '×'])
        || vocab::english(letters).is_some_and(|k| letters != "m" || k != Kw::Thing);
    ((2..=5).contains(&digits) && letters.len() <= 2 && !counts).then_some(len)
}

/// `4090` between words is a GPU; `4090 元` and `¥4090` are money.
fn digits_are_gpu(rest: &str, len: usize, before: &[Tok]) -> bool {
    // `RTX 3060/3070`
    let beside = matches!(before, [.., a, b] if matches!(a.t, T::Gpu(_)) && b.is_sym('/'));
    if !beside
        && before.last().is_some_and(|t| {
            matches!(
                t.t,
                T::Kw(Kw::Currency(_) | Kw::Label(_) | Kw::Price | Kw::Total)
                    | T::Sym('-' | '~' | '/' | '.')
            )
        })
    {
        return false;
    }
    let after = rest[len..].trim_start();
    !(after.starts_with(['/', '.', ',', '-', '~', '%', '+'])
        || vocab::currency_sign(after)
            .is_some_and(|(_, n)| !after[n..].starts_with(|c: char| c.is_ascii_digit()))
        || matches!(
            vocab::chinese(after),
            Some((
                Kw::Currency(_)
                    | Kw::Scale(_)
                    | Kw::Period(_)
                    | Kw::Per
                    | Kw::To
                    | Kw::Core
                    | Kw::Thing
                    | Kw::AtLeast,
                _
            ))
        )
        || after
            .split(|c: char| !c.is_ascii_alphabetic())
            .next()
            .and_then(vocab::english)
            .is_some_and(|kw| {
                !matches!(
                    kw,
                    Kw::Times | Kw::Scope(_) | Kw::Buy(_) | Kw::Price | Kw::Label(_)
                )
            }))
}

fn word_at(rest: &str, after_number: bool) -> (T, usize) {
    let letters = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    // `x8`, `x 8`, `w/`: only letters count as a word unless digits follow at once
    let whole = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let word = &rest[..letters];
    if whole > letters {
        if word == "x" && rest[letters..whole].chars().all(|c| c.is_ascii_digit()) {
            return (T::Kw(Kw::Times), letters);
        }
        if let Some((currency @ Kw::Currency(_), len)) = vocab::english(word).map(|k| (k, letters))
        {
            return (T::Kw(currency), len);
        }
        let modelish = letters <= 6 && whole <= 16;
        return (T::Word(modelish), whole);
    }
    if rest.starts_with("gb/s") {
        return (T::Kw(Kw::Gbps), 4);
    }
    match vocab::english(word) {
        // `5 g` is memory, `k` and `w` scale only when they touch their number
        Some(Kw::Scale(_)) if !after_number => (T::Word(false), letters),
        Some(kw) => (T::Kw(kw), letters),
        None => (T::Word(false), letters),
    }
}

/// `2026-07-15`, `2026/7/15`, `2026.7.15`, `2026年7月15日`, `2026-07`, `2026年7月`.
fn date_at(rest: &str) -> Option<(AsOf, usize)> {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    if digits(rest) != 4 {
        return None;
    }
    let mut parts = vec![&rest[..4]];
    let mut at = 4;
    let sep = rest[at..].chars().next()?;
    if !matches!(sep, '-' | '/' | '.' | '年') {
        return None;
    }
    for _ in 0..2 {
        let Some(tail) = rest.get(at + sep.len_utf8()..) else {
            break;
        };
        let here = rest[at..].chars().next();
        let fits = here == Some(sep) || (sep == '年' && here == Some('月'));
        let tail = if here == Some('月') {
            &rest[at + 3..]
        } else {
            tail
        };
        let n = digits(tail);
        if !fits || !(1..=2).contains(&n) {
            break;
        }
        at = rest.len() - tail.len();
        parts.push(&rest[at..at + n]);
        at += n;
    }
    if parts.len() == 1 && sep != '年' {
        return None;
    }
    if sep == '年' {
        for mark in ['年', '月', '日'] {
            if rest[at..].starts_with(mark) {
                at += mark.len_utf8();
                break;
            }
        }
    } else if rest[at..].starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    // `2000-10` alone is a range as likely as a month
    if parts.len() == 2 && sep != '年' && parts[1].len() != 2 || parts.len() == 2 && sep == '.' {
        return None;
    }
    parts.join("-").parse().ok().map(|date| (date, at))
}

/// A number with thousands separators, decimal point or decimal comma, exponent.
pub(crate) fn number_at(rest: &str) -> (T, usize) {
    let bytes = rest.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while digit(end)
        || (matches!(bytes.get(end), Some(b',' | b'.' | b'\'' | b'_')) && digit(end + 1))
    {
        end += 1;
    }
    // `0x10`: a price in another base is no price
    if &rest[..end] == "0"
        && bytes.get(1) == Some(&b'x')
        && bytes.get(2).is_some_and(u8::is_ascii_hexdigit)
    {
        let word = bytes.iter().take_while(|b| b.is_ascii_alphanumeric());
        return (T::Num(None), word.count());
    }
    let mut number = &rest[..end];
    let mut len = end;
    // an exponent, but not `2e` of a word
    if matches!(bytes.get(end), Some(b'e')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let mut exp = end + 1 + sign;
        let from = exp;
        while digit(exp) {
            exp += 1;
        }
        if exp > from && !bytes.get(exp).is_some_and(u8::is_ascii_alphabetic) {
            number = &rest[..exp];
            len = exp;
        }
    }
    (T::Num(plain_number(number)), len)
}

/// `13 900 USD` as `13900 USD`, where the text begins with the amount or its currency: groups of three
/// digits behind one to three. Anywhere else a count may stand before the price.
pub(crate) fn join_groups(cell: &str) -> String {
    let from = cell
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(cell.len());
    let before = cell[..from].trim();
    let money = |t: &str| {
        vocab::currency_sign(t).is_some_and(|(_, len)| len == t.len())
            || matches!(vocab::english(t), Some(Kw::Currency(_)))
            || matches!(vocab::chinese(t), Some((Kw::Currency(_), len)) if len == t.len())
    };
    if !(before.is_empty() || money(before)) {
        return cell.to_owned();
    }
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &cell[from..];
    let mut at = digits(rest);
    let mut whole = rest[..at].to_owned();
    if !(1..=3).contains(&at) {
        return cell.to_owned();
    }
    while let Some(group) = rest[at..].strip_prefix(' ')
        && digits(group) == 3
    {
        whole.push_str(&group[..3]);
        at += 4;
    }
    format!("{}{whole}{}", &cell[..from], &rest[at..])
}

fn plain_number(text: &str) -> Option<Fixed> {
    if text.len() > 40 {
        return None;
    }
    let grouped = |s: &str, sep: char| {
        let mut parts = s.split(sep);
        let head = parts.next().unwrap_or("");
        (1..=3).contains(&head.len()) && parts.clone().count() > 0 && parts.all(|p| p.len() == 3)
    };
    let (commas, dots) = (text.matches(',').count(), text.matches('.').count());
    for mark in ['\'', '_'] {
        let whole = text.split(['.', ',']).next().unwrap_or(text);
        if text.contains(mark) && (!grouped(whole, mark) || text[whole.len()..].contains(mark)) {
            return None;
        }
    }
    let text = text.replace(['\'', '_'], "");
    let plain = match (commas, dots) {
        (0, 0 | 1) => text,
        (0, _) => return None,
        (_, 1) if text.rfind('.') > text.rfind(',') => {
            let (whole, part) = text.split_once('.')?;
            grouped(whole, ',').then(|| format!("{}.{part}", whole.replace(',', "")))?
        }
        (1, _) if dots > 0 => {
            let (whole, part) = text.split_once(',')?;
            grouped(whole, '.').then(|| format!("{}.{part}", whole.replace('.', "")))?
        }
        (_, 0) if grouped(&text, ',') => text.replace(',', ""),
        (1, 0) if text.split_once(',').is_some_and(|(_, p)| p.len() == 2) => text.replace(',', "."),
        _ => return None,
    };
    let plain = plain
        .strip_prefix('.')
        .map_or(plain.clone(), |p| format!("0.{p}"));
    plain.parse().ok()
}
