//! Quotes as people paste them: short terms, counts beside machines, dates that expire, sellers above a table.

mod quote_support;

use lessee_catalog::quote::import_quote;
use lessee_catalog::{Facts, ImportContext, ImportError, Imported, builtin};
use lessee_model::Purchase;
use quote_support::{codes, context, import, offers, only_asks, sure, sure_line};
use std::sync::LazyLock;

static FACTS: LazyLock<Facts> = LazyLock::new(|| builtin().expect("built-in facts"));

fn through(text: &str, name: &str) -> Result<Imported, ImportError> {
    let cx = ImportContext {
        facts: &FACTS,
        provider: None,
        as_of: "2026-11-29".parse().ok(),
        currency: None,
    };
    lessee_catalog::import(text.as_bytes(), name, &cx, None)
}

#[test]
fn a_term_between_one_month_and_a_year_is_a_question() {
    for text in [
        "H100 SXM 80G 8卡整机 7.3万元/月，租期3个月",
        "H100 SXM 80G 8卡整机 7.3万元/月，租期6个月",
        "H100 SXM 80G 8卡整机 7.3万元/台/月，三个月起租",
        "H100 SXM 80G 8卡整机 7.3万元/台/月，半年起",
        "H100 SXM 80G 8卡整机 7.3万元/台/月，一季度起租",
        "H100 SXM 80G 8卡整机 20万元/季度",
        "H100 SXM 80G 8卡整机 20万元/季度，租期一个季度",
        "H100 SXM 80G 8卡整机 40万元/半年",
        "8x H100 SXM node, $14,600/mo, 3-month minimum",
        "8x H100 SXM node, $14,600/mo, 6-month term",
        "型号,卡数,租期,价格\nH100 SXM 80G,8,3个月,7.3万元/台/月\n",
        "型号,卡数,租期(月),价格\nH100 SXM 80G,8,6,7.3万元/台/月\n",
        "型号,卡数,租期,价格\nH100 SXM 80G,8,季度,7.3万元/台/月\n",
        "租期：三个月\n合同\n\nH100 SXM 80G 8卡整机 7.3万元/月\n",
    ] {
        only_asks(text, &["term_unsupported"]);
    }
    let q = import("H100 SXM 80G 8卡整机 7.3万元/月，租期3个月");
    let price = q.questions[0].why.args.iter().find(|a| a.0 == "price");
    assert!(format!("{price:?}").contains("100"), "{price:?}");
    // only the rhythm of payment
    for (text, expected) in [
        (
            "H100 SXM 80G 8卡整机 7.3万元/月，季付",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 7.3万元/月，押一付三",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 7.3万元/月，押金2个月",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 季付 21.9万元",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 7.3万元/月，租期1个月",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "H100 SXM 80G 8卡整机 21.9万元/季度，租期12个月，季付",
            "H100 x8 year_1 100.00 CNY",
        ),
        (
            "型号,卡数,付款方式,价格\nH100 SXM 80G,8,季付,7.3万元/台/月\n",
            "H100 x8 month 100.00 CNY",
        ),
        (
            "型号,卡数,付款方式,价格\nH100 SXM 80G,8,押一付三,7.3万元/台/月\n",
            "H100 x8 month 100.00 CNY",
        ),
    ] {
        assert_eq!(sure_line(text), expected, "{text}");
    }
}

#[test]
fn a_quantity_beside_the_gpu_counts_cards_where_machines_are_priced() {
    for (text, expected) in [
        ("型号,数量,价格\nL20,8,2.92万元/台/月\n", 8),
        (
            "GPU,显存,数量,价格(元/台/时)\nL20,48G,8,40\nL20,48G,4,20\n",
            8,
        ),
        (
            "型号 | 数量 | 单价(元/台/月)\n--|--|--\nL20 | 8 | 29200\n",
            8,
        ),
    ] {
        let q = import(text);
        assert_eq!(codes(&q), Vec::<&str>::new(), "{text}");
        assert_eq!(q.offers[0].gpu.count, expected, "{text}");
        assert_eq!(q.offers[0].price.exact(), "40.00", "{text}");
        assert_eq!(
            q.offers[0].confidence,
            lessee_model::Confidence::Verified,
            "{text}"
        );
    }
    // 10 machines, or a machine of 10 cards? And not a column of the GPU's at all
    only_asks(
        "型号,数量,价格\nL20,10,2.92万元/台/月\n",
        &["count_unknown"],
    );
    only_asks(
        "型号,数量,价格\nL20,8,2.92万元/台/月\nL20,3,1万元/台/月\n",
        &["count_unknown", "count_unknown"],
    );
    only_asks(
        "型号,地域,数量,价格\nL20,北京,8,2.92万元/台/月\n",
        &["count_unknown"],
    );
    // per card the number does not change the price of one
    let q = import("型号,数量,价格\nL20,8,3650元/卡/月\n");
    assert_eq!(offers(&q), ["- L20 PCIe 48 x8 month 40.00 CNY"]);
    assert_eq!(codes(&q), Vec::<&str>::new());
    // the machine counts its own cards
    let q = import("机型,数量,价格\n8卡 L20 整机,2,2.92万元/台/月\n");
    assert_eq!(offers(&q), ["- L20 PCIe 48 x8 month 40.00 CNY"]);
    assert_eq!(codes(&q), Vec::<&str>::new());
}

#[test]
fn only_an_ambiguous_gpu_is_both_offer_and_question() {
    for text in [
        "8*H100 SXM 80G 裸金属 7.3万/月",
        "型号,数量,价格\nL20,8,4元/时\n",
        "型号,数量,价格\nL20,10,2.92万元/台/月\n",
    ] {
        let q = import(text);
        assert!(q.offers.is_empty(), "{text} {:?}", offers(&q));
        assert_eq!(q.questions.len(), 1, "{text}");
        assert!(!q.questions[0].confirms_offer);
    }
    let q = import("8x A100 $12/hr");
    assert_eq!((q.offers.len(), codes(&q)), (1, vec!["gpu_ambiguous"]));
    assert!(q.questions[0].confirms_offer);
}

#[test]
fn a_date_with_its_validity() {
    let read = |text: &str, today: &str| {
        let mut cx = context();
        cx.today = today.parse().ok();
        let q = import_quote(text, "quote.txt", &cx);
        let date = q.offers[0].as_of.map(|d| d.to_string());
        (date.unwrap_or_default(), codes(&q))
    };
    let dated = |head: &str, today: &str| read(&format!("{head}\n\nL4 3元/时\n"), today);
    for head in [
        "报价日期：2026-11-20，有效期 30 天",
        "报价日期：2026年11月20日 有效期：30天",
        "报价有效期 30 天，报价日期：2026-11-20",
        "Quote date: 2026-11-20, valid for 30 days",
        "报价日期：2026-11-20，有效期至 2026-12-20",
        "报价日期：2026-11-20\n本报价 30 天内有效",
        "Quoted as of 2026-11-20; valid until 2026-12-20",
    ] {
        assert_eq!(
            dated(head, "2026-12-20"),
            ("2026-11-20".to_owned(), vec![]),
            "{head}"
        );
        assert_eq!(
            dated(head, "2026-12-21"),
            ("2026-11-20".to_owned(), vec!["quote_expired"]),
            "{head}"
        );
    }
    let q = {
        let mut cx = context();
        cx.today = "2027-01-01".parse().ok();
        import_quote("报价日期：2026-11-20，有效期 30 天\nL4 3元/时\n", "q", &cx)
    };
    assert_eq!((q.questions[0].line, q.offers.len()), (0, 1));
    // no date of the quote: nothing to count from
    assert_eq!(dated("有效期 30 天", "2027-01-01").1, Vec::<&str>::new());
}

#[test]
fn a_quote_cut_inside_a_cell_is_refused_whole() {
    for (text, line) in [
        (
            "供应商,型号,价格\nA,L20,\"1.9元/时\"\nA,RTX 4090,\"1.9元/时",
            3,
        ),
        ("报价单\n\n供应商,型号,价格\nA,RTX 4090,\"1.9元/时\n", 4),
        ("供应商\t型号\t价格\nA\tRTX 4090\t\"1.9元/时\n", 2),
    ] {
        assert!(
            matches!(
                through(text, "q.txt"),
                Err(ImportError::OpenQuote { line: at, .. }) if at == line
            ),
            "{text}"
        );
    }
    // closed, or in a sentence
    for text in [
        "供应商,型号,价格\nA,\"RTX \"\"4090\"\"\",\"1.9元/时\"\n",
        "他说\"RTX 4090 1.9元/时\n",
        "\"RTX 4090 1.9元/时\n",
    ] {
        assert_eq!(
            through(text, "q.txt").expect(text).catalog.offers.len(),
            1,
            "{text}"
        );
    }
}

#[test]
fn a_region_is_kept_whole() {
    for (text, region) in [
        ("华东-苏州 8卡 L20 整机 40元/台/时", "华东-苏州"),
        ("地域：华东-苏州，L4 3元/时", "华东-苏州"),
        ("L4 3元/时 华北-乌兰察布", "华北-乌兰察布"),
        ("L4 华东-昆山机房 3元/时", "华东-昆山"),
        ("华东 L4 3元/时", "华东"),
        ("华东-8卡 L20 整机 40元/台/时", "华东"),
        ("华北2 L4 3元/时", "华北2"),
    ] {
        assert_eq!(sure(text).region.as_deref(), Some(region), "{text}");
    }
}

#[test]
fn a_seller_named_above_the_table() {
    let table = "型号,卡数,价格\nL20,8,40元/台/时\nL4,1,3元/时\n";
    for (head, provider) in [
        ("供应商：智算云", "智算云"),
        ("供应商: 智算云，报价日期：2026-11-20", "智算云"),
        ("Provider: Foo Cloud", "Foo Cloud"),
        ("供应商：阿里云", "alicloud"),
        ("# 供应商：智算云", "智算云"),
        ("供应商,智算云,", "智算云"),
        ("供应商：智算云 联系人：张三", "智算云"),
        ("供应商：智算云\n\n## 价格", "智算云"),
    ] {
        let q = import(&format!("{head}\n\n{table}"));
        let got: Vec<_> = q.offers.iter().map(|o| o.provider.as_deref()).collect();
        assert_eq!(got, [Some(provider); 2], "{head} {:?}", q.questions);
        assert_eq!(codes(&q), Vec::<&str>::new(), "{head}");
    }
    // a second one replaces the first
    let q = import(&format!("供应商：甲云\n\n{table}\n供应商：乙云\n\n{table}"));
    let got: Vec<_> = q
        .offers
        .iter()
        .filter_map(|o| o.provider.as_deref())
        .collect();
    assert_eq!(got, ["甲云", "甲云", "乙云", "乙云"]);
}

#[test]
fn the_name_of_the_file_as_seller_is_said() {
    let read = through("L4 3元/时\n", "老王报价.txt").expect("quote");
    assert_eq!(read.catalog.offers[0].key(), "老王报价/L4-PCIe-24GB-1x@*");
    let q = &read.doc.questions[0];
    assert_eq!((q.line, q.code.as_str()), (0, "provider_from_file_name"));
    let read = through("供应商：智算云\n\nL4 3元/时\n", "q.txt").expect("quote");
    assert!(read.doc.questions.is_empty(), "{:?}", read.doc.questions);
}

#[test]
fn ways_to_pay_for_one_machine_are_one_offer() {
    let text = "供应商,地域,型号,卡数,计费方式,价格\n\
智算云,北京,H100 SXM 80G,8,按量,120元/台/时\n\
智算云,北京,H100 SXM 80G,8,包月,73000元/台/月\n\
智算云,上海,H100 SXM 80G,8,包月,73000元/台/月\n";
    let read = through(text, "q.csv").expect("quote");
    let keys: Vec<String> = read.catalog.offers.iter().map(|o| o.key()).collect();
    assert_eq!(
        keys,
        [
            "智算云/H100-SXM-80GB-8x@北京",
            "智算云/H100-SXM-80GB-8x@上海"
        ]
    );
    let offer = &read.catalog.offers[0];
    let price = |p| offer.price(p).map(|p| p.per_hour.to_string());
    assert_eq!(price(Purchase::OnDemand).as_deref(), Some("120.00 CNY"));
    assert_eq!(price(Purchase::Month).as_deref(), Some("100.00 CNY"));
    let original = offer.original.as_deref().unwrap_or_default();
    assert!(original.contains("120元") && original.contains("73000元"));
    let note = offer.note.as_deref().unwrap_or_default();
    assert!(note.contains("120 CNY") && note.contains("730 h"), "{note}");
    assert_eq!(read.doc.offers.len(), 3, "the document shows every line");
    // the same way to pay at two prices stays two offers
    let text = "H100 SXM 80G 8卡整机 120元/台/时\nH100 SXM 80G 8卡整机 110元/台/时\n";
    let read = through(text, "q.txt").expect("quote");
    let keys: Vec<String> = read.catalog.offers.iter().map(|o| o.key()).collect();
    assert_eq!(keys, ["q/H100-SXM-80GB-8x@*", "q/H100-SXM-80GB-8x #2@*"]);
}

#[test]
fn memories_that_contradict_each_other() {
    for text in [
        "H20 96G 141G 8卡整机 60元/台/时",
        "H20 96G/141G 8卡整机 60元/台/时",
        "型号,卡数,价格\nH20 96G 141G,8,60元/台/时\n",
        "机型,价格\n8卡 H20 96GB 141GB 整机,60元/台/时\n",
    ] {
        only_asks(text, &["memory_conflict"]);
    }
    assert_eq!(
        sure_line("H20 96G 8卡整机 内存 1024G 60元/台/时"),
        "H20 x8 on_demand 60.00 CNY"
    );
    assert_eq!(
        sure_line("8卡 H20 96G 1024G内存 整机 60元/台/时"),
        "H20 x8 on_demand 60.00 CNY"
    );
}
