//! Any text is survived, and exact quotes come back exactly. Not here: what hostile size costs (`quote_growth.rs`).

mod quote_support;

use proptest::prelude::*;
use quote_support::{codes, import, import_as, offers};

/// Pieces of quotes, so that random texts get past the first check.
const PIECES: &[&str] = &[
    "H100",
    "RTX 4090",
    "昇腾 910B",
    "8卡",
    "整机",
    "8x",
    "×",
    "单价",
    "(万元/台/月)",
    "¥",
    "$",
    "1.2",
    "-",
    "~",
    "约",
    "起",
    "元",
    "/卡",
    "/时",
    "/h",
    " per GPU",
    "|",
    ",",
    "；",
    "：",
    "\n",
    "\t",
    "|---|---|",
    "# ",
    "**",
    "~~",
    "](",
    "http://",
    "1e400",
    "9999999999999999999999999999999",
    "，",
    "80GB",
    "显存",
    "12个月",
    "年",
    "折",
    "% off",
    "<!--",
    "-->",
    "- gpu: ",
    "price: ",
    "{",
    "[",
    "\"",
    "税",
    "合计",
    "2026-07-15",
    "０",
    "\u{200b}",
    "十二",
    "万",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        import(&text);
        import_as(&text, "q.yaml");
    }

    #[test]
    fn any_heap_of_pieces_is_survived(picks in prop::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = picks.iter().map(|i| PIECES[*i]).collect();
        for file in ["q.txt", "q.yaml", "q.json"] {
            for offer in import_as(&text, file).offers {
                prop_assert!(offer.price.amount > lessee_model::Fixed::ZERO, "{text}");
                prop_assert!(offer.gpu.count >= 1);
            }
        }
    }

    #[test]
    fn an_exact_quote_comes_back(
        gpu in prop::sample::select(vec!["RTX 4090", "L20", "H100 SXM 80G", "A100 SXM4 80GB", "昇腾 910B", "MI300X"]),
        provider in prop::sample::select(vec!["阿里云", "RunPod", "腾讯云", "Lambda"]),
        count in prop::sample::select(vec![1u32, 2, 4, 8]),
        cents in 100u32..3000,
    ) {
        // cents per GPU-hour; every style below states the same price of the whole machine
        let each = format!("{}.{:02}", cents / 100, cents % 100);
        let all = cents * count;
        let whole = format!("{}.{:02}", all / 100, all % 100);
        let month = format!("{}.{}", all * 73 / 10, all * 73 % 10);
        let styles = [
            format!("供应商,型号,卡数,单价(元/卡/时)\n{provider},{gpu},{count},{each}"),
            format!("| 平台 | GPU | 卡数 | 整机价格 |\n|---|---|---|---|\n| {provider} | {gpu} | {count} | ¥{whole}/h |"),
            format!("provider\tgpu\tgpu_count\tprice_per_hour\tcurrency\n{provider}\t{gpu}\t{count}\t{whole}\tCNY"),
            format!("厂商；显卡；卡数；月租(元/台)\n{provider}；{gpu}；{count}；{month}"),
            format!("{provider} {count}卡 {gpu} 整机，{each}元/卡/时"),
            format!("{provider}: {count}x {gpu} RMB {whole} per node-hour"),
            format!("- provider: {provider}\n  gpu: {gpu}\n  gpu_count: {count}\n  price: {each}\n  unit: 元/卡/时\n"),
        ];
        let want: lessee_model::Fixed = whole.parse().expect("number");
        for text in styles {
            let q = import(&text);
            prop_assert_eq!(q.offers.len(), 1, "{}\n{:?}", &text, codes(&q));
            prop_assert!(q.questions.is_empty(), "{}\n{:?}", &text, codes(&q));
            let o = &q.offers[0];
            prop_assert_eq!(o.price.amount.round(6), want.round(6), "{}\n{:?}", &text, offers(&q));
            prop_assert_eq!(o.gpu.count, count);
            prop_assert!(!text.contains('\n') || text.contains(o.original.trim()));
        }
    }
}

/// A place name that goes on and on once took one stack frame for each dash.
#[test]
fn a_place_of_a_hundred_thousand_parts_is_survived() {
    let long = format!("{}华东", "华东-".repeat(100_000));
    for text in [
        long.clone(),
        format!("L20 {long} 3元/时"),
        format!("地域：{long}，L4 3元/时"),
        format!("型号,地域,单价(元/卡/时)\nL4,{long},3.00\n"),
    ] {
        import(&text);
        import_as(&text, "q.csv");
    }
}

/// Nesting without end is read without one stack frame a level.
#[test]
fn deep_nesting_is_survived() {
    for deep in ["[", "{\"a\":", "- "] {
        import_as(&deep.repeat(20_000), "q.json");
        import_as(&deep.repeat(20_000), "q.yaml");
    }
}
