//! One spelling for what people type in many: full-width signs, Chinese numerals, dashes, markdown marks.
//!
//! The folded text is only for reading; what is kept and shown is always the line as it was written.

/// Lower case, half-width signs, `八卡` as `8卡`, without markdown emphasis, links, struck-out and
/// invisible characters.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut wide_digit = false;
    for c in text.chars() {
        let was_wide_digit = std::mem::replace(&mut wide_digit, false);
        match c {
            '，' if was_wide_digit => out.push(','),
            '，' => out.push_str(", "),
            '。' => out.push('。'),
            '【' | '〔' | '「' => out.push('('),
            '】' | '〕' | '」' => out.push(')'),
            '\u{ff01}'..='\u{ff5e}' => {
                let plain = char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c);
                wide_digit = plain.is_ascii_digit();
                out.push(plain.to_ascii_lowercase());
            }
            '￥' => out.push('¥'),
            '\u{3000}' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' => {
                out.push(' ');
            }
            '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{2060}' | '`' => {}
            '—' | '–' | '−' | '‐' | '‑' | '﹣' => out.push('-'),
            '×' | '✕' | '✖' | '╳' | '⨉' => out.push('×'),
            '〜' | '∼' => out.push('~'),
            '≈' | '≃' => out.push('≈'),
            '·' | '・' | '⋅' => out.push('·'),
            '∕' | '⁄' => out.push('/'),
            '“' | '”' => out.push('"'),
            '萬' => out.push('万'),
            '顯' => out.push('显'),
            '價' => out.push('价'),
            '時' => out.push('时'),
            '單' => out.push('单'),
            '機' => out.push('机'),
            '數' => out.push('数'),
            '區' => out.push('区'),
            '費' => out.push('费'),
            '張' => out.push('张'),
            '臺' => out.push('台'),
            '稅' => out.push('税'),
            '個' => out.push('个'),
            '節' => out.push('节'),
            '點' => out.push('点'),
            '雲' => out.push('云'),
            _ => out.push(c.to_ascii_lowercase()),
        }
    }
    let out = drop_marks(&out);
    if out.is_ascii() {
        out
    } else {
        chinese_numerals(&out)
    }
}

/// Emphasis goes, struck-out text goes with its contents, of a link the words stay, an address goes.
fn drop_marks(text: &str) -> String {
    if !text.contains(['*', '~', ']', '<']) && !text.contains("://") && !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // searched once: a second unmatched mark must not scan the rest of the line again
    let mut struck_possible = true;
    while let Some(c) = rest.chars().next() {
        let step = c.len_utf8();
        if let Some(after) = rest.strip_prefix("**") {
            rest = after;
            continue;
        }
        if struck_possible && let Some(after) = rest.strip_prefix("~~") {
            match after.find("~~") {
                Some(end) => {
                    out.push(' ');
                    rest = &after[end + 2..];
                    continue;
                }
                None => struck_possible = false,
            }
        }
        if let Some(after) = rest.strip_prefix("](") {
            let window = clip_bytes(after, 400);
            if let Some(end) = window.find(')') {
                out.push(']');
                rest = &after[end + 1..];
                continue;
            }
        }
        if rest.starts_with("https://") || rest.starts_with("http://") {
            let end = rest
                .find(|c: char| c.is_whitespace() || matches!(c, '|' | ')' | '>' | ',' | ';' | '"'))
                .unwrap_or(rest.len());
            rest = &rest[end..];
            continue;
        }
        let tag = ["<br>", "<br/>", "<br />", "&nbsp;"]
            .into_iter()
            .find(|t| rest.starts_with(t));
        if let Some(tag) = tag {
            out.push(' ');
            rest = &rest[tag.len()..];
            continue;
        }
        out.push(c);
        rest = &rest[step..];
    }
    out
}

fn numeral(c: char) -> Option<u32> {
    Some(match c {
        '零' | '〇' => 0,
        '一' | '壹' => 1,
        '二' | '两' | '贰' => 2,
        '三' | '叁' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陆' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        '十' | '拾' => 10,
        '百' | '佰' => 100,
        '千' | '仟' => 1000,
        _ => return None,
    })
}

/// `十二个月` as `12个月`, but only before a word that is counted: `统一` and `一般` stay.
fn chinese_numerals(text: &str) -> String {
    const COUNTED: &str = "卡张台块年个月天周折路节元万季";
    let mut out = String::with_capacity(text.len());
    let mut run: Vec<(char, u32)> = Vec::new();
    let flush = |run: &mut Vec<(char, u32)>, next: Option<char>, out: &mut String| {
        if run.is_empty() {
            return;
        }
        let counted = next.is_some_and(|c| COUNTED.contains(c)) && run.len() <= 7;
        let after_digit = out.ends_with(|c: char| c.is_ascii_digit());
        match counted.then(|| value_of(run)).flatten() {
            Some(n) if !after_digit => out.push_str(&n.to_string()),
            // `h100八卡`: the name ends in a digit, the count begins
            Some(n) if run[0].1 < 10 => {
                out.push(' ');
                out.push_str(&n.to_string());
            }
            _ => out.extend(run.iter().map(|(c, _)| *c)),
        }
        run.clear();
    };
    for c in text.chars() {
        if let Some(n) = numeral(c) {
            run.push((c, n));
        } else {
            flush(&mut run, Some(c), &mut out);
            out.push(c);
        }
    }
    flush(&mut run, None, &mut out);
    out
}

/// Either digit by digit (`八五` = 85, `二零二六` = 2026) or positional (`十二` = 12, `三百` = 300).
fn value_of(run: &[(char, u32)]) -> Option<u32> {
    if run.iter().all(|(_, n)| *n < 10) {
        return run
            .iter()
            .try_fold(0u32, |sum, (_, n)| sum.checked_mul(10)?.checked_add(*n));
    }
    let (mut sum, mut digit) = (0u32, None);
    for (_, n) in run {
        if *n < 10 {
            digit = Some(*n);
        } else {
            sum = sum.checked_add(digit.take().unwrap_or(1).checked_mul(*n)?)?;
        }
    }
    sum.checked_add(digit.unwrap_or(0))
}

/// At most `max` bytes of a text, cut at a character.
pub(crate) fn clip_bytes(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn one_spelling() {
        for (text, folded) in [
            ("￥１２，３４５．６０", "¥12,345.60"),
            ("Ｈ１００：８卡，含税", "h100:8卡, 含税"),
            ("八卡整机，十二个月，三年", "8卡整机, 12个月, 3年"),
            ("统一报价，一般不退", "统一报价, 一般不退"),
            ("八五折", "85折"),
            ("**¥10** ~~¥12~~ [价格](https://a.b/1)", "¥10   [价格]"),
            ("单價 3.5 萬元", "单价 3.5 万元"),
            ("二零二六年", "2026年"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }
}
