//! Wordings that no single word carries: `excl. VAT`, `on request`, `20% off`, and words that count
//! wherever they stand.

use super::facts::{Before, Facts, Tax};
use lessee_model::{Fixed, Purchase};

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|w| text.contains(w))
}

/// Wordings of several words, and those that stand anywhere.
pub(crate) fn read(text: &str, f: &mut Facts) {
    if text.len() > 20_000 {
        return;
    }
    f.whole |= has(
        text,
        &[
            "整机",
            "裸金属",
            "per node",
            "per machine",
            "per server",
            "bare metal",
            "baremetal",
            "whole machine",
            "whole node",
            "/node",
            "/台",
            "每台",
        ],
    );
    if !has(text, &["税", "vat", "tax"]) {
        // nothing said
    } else if has(
        text,
        &[
            "不含税",
            "未税",
            "未含税",
            "税前",
            "excl. vat",
            "excl vat",
            "ex vat",
            "ex. vat",
            "excluding vat",
            "exclude vat",
            "exclude tax",
            "exclusive of vat",
            "exclusive of tax",
            "excluding tax",
            "excl. tax",
            "excl tax",
            "tax excluded",
            "before tax",
            "plus vat",
            "+ vat",
            "+vat",
            "net of vat",
            "vat excluded",
        ],
    ) {
        f.tax = Some(Tax::Excluded);
    } else if has(
        text,
        &[
            "含税",
            "税后",
            "incl. vat",
            "incl vat",
            "including vat",
            "include vat",
            "include tax",
            "inclusive of vat",
            "including tax",
            "incl. tax",
            "incl tax",
            "tax included",
            "vat included",
            "inc. vat",
            "inc vat",
        ],
    ) {
        f.tax = Some(Tax::Included);
    }
    f.on_request = has(
        text,
        &[
            "面议",
            "询价",
            "电询",
            "另议",
            "待定",
            "面谈",
            "联系销售",
            "联系客服",
            "请咨询",
            "价格咨询",
            "on request",
            "poa",
            "contact us",
            "contact sales",
            "call for",
            "tbd",
            "to be quoted",
            "please inquire",
            "please enquire",
        ],
    );
    if f.purchase.is_none() {
        f.purchase = if has(
            text,
            &[
                "on-demand",
                "on demand",
                "pay as you go",
                "pay-as-you-go",
                "按时付费",
            ],
        ) {
            Some(Purchase::OnDemand)
        } else {
            None
        };
    }
    f.subscription |= has(
        text,
        &["包年包月", "包年/包月", "预付费", "prepaid", "monthly plan"],
    );
    for (words, name) in [(&["nvswitch"][..], "nvswitch"), (&["nvlink"][..], "nvlink")] {
        if f.interconnect.is_none() && has(text, words) {
            f.interconnect = Some(name);
        }
    }
    f.not_machine = has(
        text,
        &[
            "咨询服务",
            "技术咨询",
            "数据标注",
            "标注",
            "授权",
            "对象存储",
            "云硬盘",
            "文件存储",
            "公网ip",
            "公网带宽",
            "流量包",
            "软件",
            "维保",
            "运维服务",
            "实施费",
            "consult",
            "licence",
            "license",
            "object storage",
            "egress",
            "support plan",
            "colocation",
            "机柜",
            "token",
        ],
    );
    discount(text, f);
}

/// `7折`, `20% off`, `discount 15%`.
fn discount(text: &str, f: &mut Facts) {
    let hundred = Fixed::from_int(100);
    let number_before = |at: usize| -> Option<Fixed> {
        let head = text[..at].trim_end();
        let from = head
            .rfind(|c: char| !(c.is_ascii_digit() || c == '.'))
            .map_or(0, |i| {
                i + head[i..].chars().next().map_or(1, char::len_utf8)
            });
        head[from..].parse().ok()
    };
    // 折合 and 折算 convert, they do not discount
    let fold = text
        .match_indices('折')
        .find(|(at, _)| !text[at + '折'.len_utf8()..].starts_with(['合', '算', '旧']));
    let factor = if let Some((at, _)) = fold {
        match number_before(at) {
            Some(n) if n >= Fixed::from_int(10) => n.over(hundred),
            Some(n) => n.over(Fixed::from_int(10)),
            None => None,
        }
    } else if let Some(at) = text.find("% off").or_else(|| text.find("% discount")) {
        number_before(at).and_then(|n| (hundred - n).over(hundred))
    } else {
        None
    };
    let Some(factor) = factor.filter(|x| *x > Fixed::ZERO && *x < Fixed::ONE) else {
        return;
    };
    let before = if has(
        text,
        &[
            "折后",
            "已打折",
            "已优惠",
            "优惠后",
            "after discount",
            "discounted",
            "already",
            "现价",
        ],
    ) {
        Before::AlreadyTaken
    } else if has(
        text,
        &[
            "列表价",
            "刊例价",
            "目录价",
            "原价",
            "标准价",
            "官网价",
            "list",
            "折前",
            "before discount",
        ],
    ) {
        Before::ListPrice
    } else {
        Before::Unsaid
    };
    f.discount = Some((factor, before));
}
