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
    // the same way to pay at two prices: which of them holds?
    let text = "H100 SXM 80G 8卡整机 120元/台/时\nH100 SXM 80G 8卡整机 110元/台/时\n";
    let read = through(text, "q.txt").expect("quote");
    assert!(read.catalog.offers.is_empty());
    let asked = read
        .doc
        .questions
        .iter()
        .filter(|q| q.code == "duplicate_offer");
    assert_eq!(asked.map(|q| q.line).collect::<Vec<_>>(), [1, 2]);
    // at one price they are one offer
    let text = text.replace("110", "120");
    assert_eq!(through(&text, "q.txt").expect("quote").doc.offers.len(), 1);
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

const HEAD: &str = "Provider,Region,GPU,Memory per GPU,GPUs,vCPU,RAM,Price,Unit,Term,Tax";

fn row_of(memory: &str, gpus: &str, price: &str, unit: &str) -> String {
    format!("{HEAD}\nacme,eu-1,H100 SXM,{memory},{gpus},192,2048 GiB,{price},{unit},,excluded\n")
}

#[test]
fn thousands_are_never_cut_off() {
    for (price, expected) in [
        ("13 900 USD", "19.04109589041095890"),
        ("13\u{a0}900 USD", "19.04109589041095890"),
        ("13\u{2009}900 USD", "19.04109589041095890"),
        ("USD 13 900", "19.04109589041095890"),
        ("$13 900.00", "19.04109589041095890"),
        ("13_900 USD", "19.04109589041095890"),
        ("100 000 USD", "136.98630136986301369"),
        ("7 300 USD", "10"),
        ("1_460 USD", "2"),
    ] {
        let o = sure(&row_of("80 GB", "8", price, "per node per month"));
        let (got, expected) = (
            o.price.amount.to_f64(),
            expected.parse::<f64>().expect("figure"),
        );
        assert!((got - expected).abs() < 1e-6, "{price} {got}");
    }
}

#[test]
fn prices_that_are_no_single_price() {
    for price in [
        "13 90 USD",
        "1_00 USD",
        "13 9000 USD",
        "0x10 USD",
        "(2.65) USD",
        "($2.65)",
        "up to 3 USD",
        "最高 3 USD",
        "不超过 3 USD",
        "不超过3美元",
        "最多 3 USD",
        "max 3 USD",
        "max. 3 USD",
        "3 USD max",
        "no more than 3 USD",
        "less than 3 USD",
        "within 3 USD",
        "3 USD (max)",
        "3 USD or less",
        "2·65 USD",
        "13’900 USD",
        "2 USD 65",
        "1/2 USD",
        "8 2.65 USD",
        "2.65 USD 8",
        "<= 3 USD",
        "2.65 USD EUR",
        "USD 2.65 EUR",
        "EUR USD 2.65",
        "2.65 USD (EUR)",
        "2.65 USD/EUR",
        "-2.65 USD",
    ] {
        for unit in ["per GPU per hour", "per node per hour"] {
            let q = import(&row_of("80 GB", "8", price, unit));
            assert!(q.offers.is_empty(), "{price} {:?}", offers(&q));
            assert_eq!(q.questions.len(), 1, "{price} {:?}", codes(&q));
        }
    }
    only_asks(
        "GPU,GPUs,Price,Currency\nH100 SXM,8,26.50 USD/h,EUR\n",
        &["currency_conflict"],
    );
    only_asks("8x H100 SXM node, AUD $26.50/hr", &["unit_unclear"]);
    for unit in [
        "per 8 nodes per month",
        "8台/月",
        "USD / 8 nodes / month",
        "per 3 months",
        "month (8 nodes)",
        "node-month x 8",
        "per eight nodes per month",
        "per cluster per month",
        "元/两台/月",
    ] {
        let q = import(&row_of("80 GB", "8", "14600 USD", unit));
        assert!(q.offers.is_empty(), "{unit} {:?}", offers(&q));
        assert_eq!(q.questions.len(), 1, "{unit} {:?}", codes(&q));
    }
    for gpus in ["-8", "- 8", "(8)", ">4", "-8 GPUs", "8?"] {
        let q = import(&row_of("80 GB", gpus, "26.50 USD", "per node per hour"));
        assert!(q.offers.is_empty(), "{gpus} {:?}", offers(&q));
        assert_eq!(codes(&q), ["count_conflict"], "{gpus}");
    }
    for text in [
        "acme H100 SXM 80GB x8 per GPU-hour USD",
        "acme H100 SXM 80GB x8 per GPU-hour USD 26.50",
        "acme H100 SXM 80GB x8 13 900 USD per month",
    ] {
        let q = import(text);
        let wrong = q.offers.iter().find(|o| o.price.exact() != "212.00");
        assert!(wrong.is_none(), "{text} {:?}", offers(&q));
        assert!(!q.questions.is_empty(), "{text}");
    }
    assert_eq!(
        sure_line("H100 SXM 80GB*8 7.3万元/月"),
        "H100 x8 month 100.00 CNY"
    );
    assert_eq!(
        sure_line("acme H100 SXM 80GB x8 USD 26.50 per node per hour"),
        "H100 x8 on_demand 26.50 USD"
    );
}

#[test]
fn a_memory_that_is_no_size() {
    for memory in ["NaN", "-80 GB", "0 GB", "1e400", "(80)", "80 MB"] {
        let text = row_of(memory, "8", "26.50 USD", "per node per hour");
        only_asks(&text, &["memory_unreadable"]);
    }
    sure(&row_of("80 GB", "8", "26.50 USD", "per node per hour"));
    sure(&row_of("-", "8", "26.50 USD", "per node per hour"));
}

#[test]
fn dates_that_cannot_be_read_are_asked_for() {
    let mut cx = context();
    cx.today = "2026-11-30".parse().ok();
    cx.as_of = "2026-11-30".parse().ok();
    let read = |title: &str, cell: &str| {
        let text = format!("GPU,GPUs,Price,{title}\nH100 SXM,8,26.50 USD/h,{cell}\n");
        let q = import_quote(&text, "q.csv", &cx);
        let o = &q.offers[0];
        let date = o.as_of.map(|d| d.to_string()).unwrap_or_default();
        (date, o.confidence, codes(&q))
    };
    use lessee_model::Confidence::{Unverified, Verified};
    for cell in [
        "2026-13-45",
        "yesterday",
        "01/02/2025",
        "昨天",
        "1970-01-01",
    ] {
        let got = read("Date", cell);
        assert_eq!(
            got,
            (String::new(), Unverified, vec!["date_unclear"]),
            "{cell}"
        );
    }
    let on = |date: &str| date.to_owned();
    assert_eq!(
        read("Date", "2025-01-20"),
        (on("2025-01-20"), Verified, vec![])
    );
    assert_eq!(
        read("报价日期", "2025年1月20日"),
        (on("2025-01-20"), Verified, vec![])
    );
    assert_eq!(
        read("Date", "2027-01-20"),
        (on("2027-01-20"), Unverified, vec!["date_in_future"])
    );
    let today = on("2026-11-30");
    assert_eq!(read("Date", ""), (today.clone(), Verified, vec![]));
    assert_eq!(
        read("Valid until", "2026-12-31"),
        (today.clone(), Verified, vec![])
    );
    assert_eq!(
        read("有效期至", "2026-10-31"),
        (today, Unverified, vec!["quote_expired"])
    );
    // a line that should date the whole
    for (line, code) in [
        ("报价日期：昨天", "date_unclear"),
        ("Quote date: 01/02/2025", "date_unclear"),
        ("Date: 2026-13-45", "date_unclear"),
        ("报价日期：2027-01-20", "date_in_future"),
    ] {
        let q = import_quote(&format!("{line}\n\nL4 3元/时\n"), "q.txt", &cx);
        assert_eq!(codes(&q), [code], "{line}");
        assert_eq!(q.offers[0].confidence, Unverified, "{line}");
        assert_eq!(
            q.offers[0].as_of.is_none(),
            code == "date_unclear",
            "{line}"
        );
    }
}

#[test]
fn a_last_row_that_stops_early() {
    let full = row_of("80 GB", "8", "26.50 USD", "per node per hour");
    for sep in [",", "\t", ";"] {
        let full = full.replace(',', sep);
        assert!(through(&full, "q.csv").is_ok());
        for cut in [
            "acme,eu-1,L4",
            "acme,eu-1,L4,24 GB,1,8,64 GiB,0.",
            "acme,eu-1,L4\n",
        ] {
            let text = format!("{full}{}", cut.replace(',', sep));
            assert!(
                matches!(
                    through(&text, "q.csv"),
                    Err(ImportError::OpenQuote { line: 3, .. })
                ),
                "{text}"
            );
        }
    }
    let unfinished = through(full.trim_end(), "q.csv").expect("quote");
    let q = &unfinished.doc.questions;
    assert_eq!(unfinished.doc.offers.len(), 1);
    assert_eq!(
        (q[0].line, q[0].code.as_str(), q.len()),
        (0, "last_line_unfinished", 1)
    );
    for end in [
        "合计,100\n",
        "备注：含税,不含带宽\n",
        "\nPrices in USD, tax excluded\n",
    ] {
        let read = through(&format!("{full}{end}"), "q.csv").expect(end);
        assert_eq!(read.doc.offers.len(), 1, "{end}");
    }
}

#[test]
fn a_pasted_text_that_stops_in_the_middle_of_a_row() {
    let asked = |text: &str| {
        let quote = import_quote(text, "paste.txt", &context());
        codes(&quote).contains(&"last_line_unfinished")
    };
    let rows = |sep: &str, last: &str| {
        let row = |gpu: &str, price: &str| [gpu, "8", price].join(sep);
        let head = ["GPU", "GPUs per node", "USD per GPU-hour"].join(sep);
        [
            head,
            row("H100 SXM 80GB", "2.49"),
            row("H200 SXM 141GB", "3.19"),
            last.replace(';', sep),
        ]
        .join("\n")
    };
    for sep in ["  ", "\t", " | ", ", "] {
        assert!(
            asked(&rows(sep, "B200 SXM 180GB;8;4.")),
            "{sep:?}: cut behind the point"
        );
        assert!(
            asked(&rows(sep, "B200 SXM 180GB;8;4")),
            "{sep:?}: cut before the point"
        );
        assert!(
            !asked(&rows(sep, "B200 SXM 180GB;8;4.99")),
            "{sep:?}: whole"
        );
        assert!(
            !asked(&rows(sep, "B200 SXM 180GB;8;4\n")),
            "{sep:?}: a line break ends it"
        );
    }
    assert!(asked(&rows("  ", "B200 SXM 180GB;8")), "a cell is missing");
    assert!(
        !asked("8x H100 SXM 80GB, 20.00 USD per hour"),
        "a sentence is no table"
    );
}
