//! Units of both languages in one line each: the same machine, the same price per instance-hour.

mod quote_support;

use quote_support::{codes, context, import, offers, only_asks, sure, sure_line};

#[test]
fn chinese_units() {
    for (text, expected) in [
        (
            "RTX 4090 24GB 1.88元/小时",
            "RTX 4090 x1 on_demand 1.88 CNY",
        ),
        ("RTX 4090 24GB ¥1.88/h", "RTX 4090 x1 on_demand 1.88 CNY"),
        (
            "单卡 RTX 4090：1.88 元/时",
            "RTX 4090 x1 on_demand 1.88 CNY",
        ),
        (
            "8卡 RTX 4090 整机，2元/卡/时",
            "RTX 4090 x8 on_demand 16.00 CNY",
        ),
        (
            "8卡 RTX 4090 整机，2元/卡时",
            "RTX 4090 x8 on_demand 16.00 CNY",
        ),
        (
            "8卡 RTX 4090 整机，2元/时/卡",
            "RTX 4090 x8 on_demand 16.00 CNY",
        ),
        (
            "8卡 RTX 4090 整机 16元/台/时",
            "RTX 4090 x8 on_demand 16.00 CNY",
        ),
        (
            "八卡 RTX 4090 整机 16元/台/时",
            "RTX 4090 x8 on_demand 16.00 CNY",
        ),
        ("RTX 4090 48元/卡/天", "RTX 4090 x1 on_demand 2.00 CNY"),
        ("RTX 4090 每卡每天48元", "RTX 4090 x1 on_demand 2.00 CNY"),
        (
            "8卡 H100 SXM 80G 整机 7.3万元/台/月",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "8*H100 SXM 80G 裸金属 7.3万元/月",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 73,000 元/台/月",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G，9125元/卡/月，8卡",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "Ｈ１００ ＳＸＭ ８０Ｇ　８卡整机　￥７３，０００／月",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 包月 73000元",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 87.6万元/年",
            "H100 x8 year_1 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 7.3万元/月，租期12个月",
            "H100 x8 year_1 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 7.3万元/月，签三年",
            "H100 x8 year_3 100.00 CNY",
        ),
        (
            "H100 SXM 80G 7.3万元/8卡整机/月",
            "H100 x8 month 100.00 CNY",
        ),
        ("A10 抢占式 2.5元/小时", "A10 x1 spot 2.50 CNY"),
        (
            "双卡 RTX 4090 整机 4元/小时",
            "RTX 4090 x2 on_demand 4.00 CNY",
        ),
        ("RTX 4090 每小时 2 元", "RTX 4090 x1 on_demand 2.00 CNY"),
        ("4090 单卡 1.88元/时", "RTX 4090 x1 on_demand 1.88 CNY"),
    ] {
        let text = &format!("{text}\n");
        let got = sure_line(text);
        assert_eq!(got, expected, "{text}");
    }
}

#[test]
fn english_units() {
    for (text, expected) in [
        ("RTX 4090: $0.69/hr", "RTX 4090 x1 on_demand 0.69 USD"),
        (
            "8x H100 SXM 80GB $2.49/GPU-hr",
            "H100 x8 on_demand 19.92 USD",
        ),
        (
            "8 x H100 SXM5 80GB at $2.49/hr per GPU",
            "H100 x8 on_demand 19.92 USD",
        ),
        (
            "8x H100 SXM, USD 2.49 per GPU per hour",
            "H100 x8 on_demand 19.92 USD",
        ),
        (
            "H100 SXM x8, $19.92 per node-hour",
            "H100 x8 on_demand 19.92 USD",
        ),
        ("8xH100 SXM $19.92/hr", "H100 x8 on_demand 19.92 USD"),
        ("H100-80GB-SXM:8 $19.92/hr", "H100 x8 on_demand 19.92 USD"),
        (
            "8-GPU node H100 SXM: $14,600 per node per month",
            "H100 x8 month 20.00 USD",
        ),
        (
            "HGX H100 SXM 8-GPU, $14.6k/month",
            "H100 x8 month 20.00 USD",
        ),
        (
            "8x H100 SXM, monthly price $14,600",
            "H100 x8 month 20.00 USD",
        ),
        (
            "8x H100 SXM node, $14,600/mo, 12-month term",
            "H100 x8 year_1 20.00 USD",
        ),
        (
            "8x H100 SXM node, $14,600/mo, 3-year commitment",
            "H100 x8 year_3 20.00 USD",
        ),
        (
            "8x H100 SXM node $175,200 per year",
            "H100 x8 year_1 20.00 USD",
        ),
        ("L4 spot $0.20 per hour", "L4 x1 spot 0.20 USD"),
        ("L4 €0,45/h", "L4 x1 on_demand 0.45 EUR"),
        ("8x MI300X at 15.92 USD/hr", "MI300X x8 on_demand 15.92 USD"),
    ] {
        assert_eq!(sure_line(text), expected, "{text}");
    }
}

#[test]
fn a_month_is_what_the_text_says() {
    let q = import("一个月按30天计算\nH100 SXM 80G 8卡整机 7.2万元/月");
    assert_eq!(
        offers(&q),
        ["- H100 SXM 80 x8 month 100.00 CNY"],
        "{:?}",
        q.questions
    );
    assert!(
        q.offers[0].derivation[0].contains("720 h, stated in the text"),
        "{:?}",
        q.offers[0].derivation
    );
    let q = import("Prices are per month of 720 hours per month.\n8x H100 SXM node $14,400/month");
    assert_eq!(q.offers[0].price.exact(), "20.00", "{:?}", q.questions);
    let mut cx = context();
    cx.month_hours = 744;
    let q = lessee_catalog::quote::import_quote("8x H100 SXM node $14,880/month", "q.txt", &cx);
    assert_eq!(q.offers[0].price.exact(), "20.00");
}

#[test]
fn tax_is_kept_as_quoted() {
    let o = sure("H100 SXM 80G 8卡整机 7.3万元/台/月（含税）");
    assert_eq!(
        (o.tax.as_str(), o.price.exact().as_str()),
        ("included", "100.00")
    );
    assert!(
        o.derivation.iter().any(|d| d.contains("94.339623")),
        "{:?}",
        o.derivation
    );
    let o = sure("H100 SXM 80G 8卡整机 7.3万元/台/月，不含税");
    assert_eq!(o.tax, "excluded");
    assert_eq!(sure("L4 €0.45/h excl. VAT").tax, "excluded");
    assert_eq!(sure("L4 $0.45/h").tax, "unknown");
    let q = import("以上价格均不含税\n\nL4 3元/时\n");
    assert_eq!(q.offers[0].tax, "excluded");
}

#[test]
fn what_is_no_point_is_a_question() {
    for (text, code) in [
        ("RTX 3090 ¥1.2-1.3/时", "range"),
        ("RTX 3090 5~8元/时", "range"),
        ("RTX 3090 ¥2至3元/小时", "range"),
        ("8x H100 SXM $2 to $3 per GPU-hour", "range"),
        ("RTX 5090：$0.42/时起", "from_price"),
        ("RTX 4090 低至¥1.2/小时", "from_price"),
        ("RTX 4090 from $0.34/hr", "from_price"),
        ("RTX 4090 starting at $0.34/hr", "from_price"),
        ("RTX 4090 约¥2/小时", "approximate"),
        ("RTX 4090 ¥2/小时左右", "approximate"),
        ("RTX 4090 ~$0.34/hr", "approximate"),
        ("RTX 4090 about $0.34/hr", "approximate"),
        ("H200 SXM 8卡整机 价格面议", "on_request"),
        ("H200 SXM: price on request", "on_request"),
        ("H200 SXM 8卡整机 单价 8万元", "unit_unknown"),
        ("RTX 4090 ¥15", "unit_unknown"),
        ("H100 40GB $2.00/hr", "memory_mismatch"),
        ("H100 SXM 80G 整机 7.6万元/月", "count_unknown"),
        ("H900 $2.00/hr", "gpu_unknown"),
        ("RTX 3060/3070 ¥1/时", "gpu_several"),
        ("RTX 4090 0元/时", "price_zero"),
        ("RTX 4090 ¥0.001/时", "implausible"),
        ("RTX 4090 $900/hr", "implausible"),
        ("RTX 4090 15/hour", "currency_unknown"),
        ("8*H100 SXM 80G 裸金属 7.3万/月", "currency_unknown"),
        ("A10 8折 ¥10/时", "discount_unclear"),
        ("8x H100 SXM $14,600/mo, 24-month term", "term_unsupported"),
        (
            "H100 SXM 8卡整机 7.6万元/月 或 8.2万元/月",
            "price_conflict",
        ),
        ("RTX 4090 8 元/时/月", "unit_unclear"),
        ("RTX 4090 ¥1e400/h", "number_unreadable"),
    ] {
        only_asks(text, &[code]);
    }
}

#[test]
fn a_discount_counts_where_the_text_says_before_what() {
    assert_eq!(
        sure_line("A10 原价10元/小时，7折"),
        "A10 x1 on_demand 7.00 CNY"
    );
    assert_eq!(
        sure_line("A10 list price $1.00/hr, 20% off"),
        "A10 x1 on_demand 0.80 USD"
    );
    assert_eq!(
        sure_line("A10 折后价 7元/小时（7折）"),
        "A10 x1 on_demand 7.00 CNY"
    );
}

#[test]
fn two_currencies_and_confirmations() {
    assert_eq!(
        sure_line("RTX 4090 $0.69/h (~¥4.9)"),
        "RTX 4090 x1 on_demand 0.69 USD"
    );
    only_asks("RTX 4090 ~$0.20/h (~¥1.4)", &["approximate"]);
    let q = import("A100 $1.39/hr");
    assert_eq!(codes(&q), ["gpu_ambiguous"]);
    assert_eq!(offers(&q), ["- A100 - - x1 on_demand 1.39 USD"]);
    assert!(q.questions[0].confirms_offer);
    assert_eq!(q.offers[0].confidence, lessee_model::Confidence::Unverified);
    // ¥ is yen where the text speaks of yen
    let q = import("価格 JPY\nL4 100 JPY/h");
    assert_eq!(
        offers(&q),
        ["- L4 PCIe 24 x1 on_demand 100.00 JPY"],
        "{:?}",
        q.questions
    );
}
