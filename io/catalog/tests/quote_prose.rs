//! Running text: price lists on one line, contracts, invoices, e-mails.

mod quote_support;

use quote_support::{codes, import, offers};

#[test]
fn one_line_many_sellers() {
    let q = import(
        "A100 80G：阿里云9.80元/时；火山引擎单卡12.4元/时；腾讯云 8卡整机 5.84万元/月；华为云约7.90元/时\n",
    );
    assert_eq!(
        offers(&q),
        [
            "alicloud A100 - 80 x1 on_demand 9.80 CNY",
            "volcengine A100 - 80 x1 on_demand 12.40 CNY",
            "tencent A100 - 80 x8 month 80.00 CNY",
        ]
    );
    assert_eq!(codes(&q), ["approximate"]);
    assert!(
        q.offers
            .iter()
            .all(|o| o.original.starts_with("A100 80G：")),
        "the whole line is kept"
    );
}

#[test]
fn one_line_many_gpus() {
    let q = import("RunPod: RTX 4090 $0.69/hr, L4 $0.39/hr, H100 SXM $2.69/hr");
    assert_eq!(
        offers(&q),
        [
            "runpod RTX 4090 PCIe 24 x1 on_demand 0.69 USD",
            "runpod L4 PCIe 24 x1 on_demand 0.39 USD",
            "runpod H100 SXM 80 x1 on_demand 2.69 USD",
        ],
        "{:?}",
        q.questions
    );
    let q = import("AutoDL RTX 4090：按量 2元/时，包月 1095元/月，竞价 0.9元/时");
    assert_eq!(
        offers(&q),
        [
            "autodl RTX 4090 PCIe 24 x1 on_demand 2.00 CNY",
            "autodl RTX 4090 PCIe 24 x1 month 1.50 CNY",
            "autodl RTX 4090 PCIe 24 x1 spot 0.90 CNY",
        ],
        "{:?}",
        q.questions
    );
}

#[test]
fn contract_clauses_are_one_machine() {
    let text = "\
算力租赁合同
1.1 租赁标的：GPU型号 H800 SXM；数量 8 张；租赁期限 36 个月；月租 ¥7.30 万元
2.1 合同总金额：¥262.80 万元
3.1 月可用率不低于 99.5%，每月不可用时间不超过 219 分钟
";
    let q = import(text);
    assert_eq!(
        offers(&q),
        ["- H800 SXM 80 x8 year_3 100.00 CNY"],
        "{:?}",
        q.questions
    );
    assert_eq!(codes(&q), Vec::<&str>::new());
    let wrong = text.replace("262.80", "200.00");
    assert_eq!(codes(&import(&wrong)), ["total_mismatch"]);
}

#[test]
fn key_value_blocks() {
    let q = import(
        "供应商：腾讯云\nGPU型号：L20\n卡数：8\n月租：29200元\n是否含税：是\n\nGPU: A10\nCount: 4\nPrice: $2.00/hr\n",
    );
    assert_eq!(
        offers(&q),
        [
            "tencent L20 PCIe 48 x8 month 40.00 CNY",
            "- A10 PCIe 24 x4 on_demand 2.00 USD",
        ],
        "{:?}",
        q.questions
    );
    assert_eq!(q.offers[0].tax, "included");
}

#[test]
fn a_mail_names_the_machine_before_the_price() {
    let q = import(
        "Hi,\nwe can offer 8x H200 SXM nodes in eu-north1.\n\nThe price is $24.00 per node-hour on demand.\nBest regards",
    );
    assert_eq!(
        offers(&q),
        ["- H200 SXM 141 x8 on_demand 24.00 USD"],
        "{:?}",
        q.questions
    );
    assert!(q.offers[0].derivation.iter().any(|d| d == "GPU: line 2"));
    // with two machines before it, the price belongs to neither for sure
    let q = import(
        "We have 8x H200 SXM nodes.\nAlso 8x B200 nodes.\nThe price is $24.00 per node-hour.",
    );
    assert!(q.offers.is_empty());
    assert_eq!(codes(&q), ["gpu_missing"]);
}

#[test]
fn invoices_and_services() {
    let q = import(
        "1. GPU服务器租赁 2台，每台15000元/月\n2. 技术咨询服务 1次，8000元\n3. 数据标注 5000条，单价0.5元/条\n",
    );
    assert!(q.offers.is_empty());
    assert_eq!(codes(&q), ["gpu_missing"]);
    let q = import("GPU服务器租赁费（4×L40S） 12000.00 含税 税率0.06");
    assert!(q.offers.is_empty());
    assert_eq!(codes(&q), ["unit_unknown"]);
    let q = import(
        "DeepSeek 输入 ¥3/百万token，输出 ¥6/百万token\n对象存储 0.12元/GB/月\nCPU 0.3元/核时",
    );
    assert!(q.offers.is_empty(), "{:#?}", offers(&q));
}

#[test]
fn trust_and_dates_of_the_text() {
    let q = import("<!-- kind: content-farm, low trust -->\nL4 $0.40/hr\n");
    assert_eq!(q.offers[0].confidence, lessee_model::Confidence::Unverified);
    let q = import("报价日期：2026年10月8日\nL4 $0.40/hr\n");
    assert_eq!(
        q.offers[0].as_of.map(|d| d.to_string()).as_deref(),
        Some("2026-10-08")
    );
    let q = import("L4 $0.40/hr（价格仅供参考）");
    assert_eq!(q.offers[0].confidence, lessee_model::Confidence::Secondary);
}

#[test]
fn a_number_after_a_name_is_a_price_or_a_count_never_both() {
    for (text, expected) in [
        ("L4：8元/卡时", vec!["- L4 PCIe 24 x1 on_demand 8.00 CNY"]),
        ("L4:8 $6.40/hr", vec!["- L4 PCIe 24 x8 on_demand 6.40 USD"]),
        (
            "L4 price: $0.80/hr. A10 price: $0.60/hr.",
            vec![
                "- L4 PCIe 24 x1 on_demand 0.80 USD",
                "- A10 PCIe 24 x1 on_demand 0.60 USD",
            ],
        ),
        (
            "L4 $0.80/hr, 1x; 8x $6.32/hr",
            vec![
                "- L4 PCIe 24 x1 on_demand 0.80 USD",
                "- L4 PCIe 24 x8 on_demand 6.32 USD",
            ],
        ),
        (
            "L4 1x $0.80/hr, 2x $1.60/hr (spot: $0.50/hr)",
            vec![
                "- L4 PCIe 24 x1 on_demand 0.80 USD",
                "- L4 PCIe 24 x2 on_demand 1.60 USD",
                "- L4 PCIe 24 x2 spot 0.50 USD",
            ],
        ),
        (
            "L20八卡整机月租金2.92万元，合同期一年",
            vec!["- L20 PCIe 48 x8 year_1 40.00 CNY"],
        ),
        (
            "L20 8卡 2.92万元/月 (约 5 元/卡/时)",
            vec!["- L20 PCIe 48 x8 month 40.00 CNY"],
        ),
    ] {
        let q = import(text);
        assert_eq!(offers(&q), expected, "{text}: {:?}", q.questions);
        assert_eq!(codes(&q), Vec::<&str>::new(), "{text}");
    }
    let q = import("RTX 4090 8卡 月付12000元 季付33000元 年付120000元");
    assert_eq!(
        offers(&q),
        ["- RTX 4090 PCIe 24 x8 year_1 13.698630136986 CNY"]
    );
    assert_eq!(codes(&q), ["price_conflict"]);
}

#[test]
fn the_length_of_a_month_beside_a_price_is_of_that_price() {
    let q = import("L20 8卡整机：2.88万元/台/月（按30天计）\nA10 8卡整机：2.92万元/台/月\n");
    assert_eq!(
        offers(&q),
        [
            "- L20 PCIe 48 x8 month 40.00 CNY",
            "- A10 PCIe 24 x8 month 40.00 CNY",
        ],
        "{:?}",
        q.questions
    );
}

#[test]
fn a_remark_holds_for_the_table_below_and_a_term_of_one_line_for_no_other() {
    let q = import("单位：万元/台/月（8卡整机，含税）\n\n型号\t一年期\t三年期\nL20\t2.92\t2.19\n");
    assert_eq!(
        offers(&q),
        [
            "- L20 PCIe 48 x8 year_1 40.00 CNY",
            "- L20 PCIe 48 x8 year_3 30.00 CNY",
        ],
        "{:?}",
        q.questions
    );
    assert!(q.offers.iter().all(|o| o.tax == "included"));
    let q = import("L4 $0.50/hr, 1-year reserved\nA10 $0.60/hr\n");
    let got: Vec<&str> = q.offers.iter().map(|o| o.purchase.as_str()).collect();
    assert_eq!(got, ["year_1", "on_demand"]);
}

/// A label belongs to the figure that it stands at, whichever side that is.
#[test]
fn sizes_go_to_their_labels() {
    for (text, memory, disk) in [
        (
            "8卡H100 SXM 80GB 内存2048G 硬盘 4*7.68T NVMe 62000元/月",
            2048.0,
            30_720.0,
        ),
        (
            "8卡H100 SXM 80GB 内存 2048G 硬盘 30T 62000元/月",
            2048.0,
            30_000.0,
        ),
        (
            "8卡H100 SXM 80GB，2048G内存，30T硬盘，62000元/月",
            2048.0,
            30_000.0,
        ),
        (
            "8卡H100 SXM 80GB 内存 2048G 系统盘 480G 数据盘 7.68T 62000元/月",
            2048.0,
            7_680.0,
        ),
        (
            "8 x H100 SXM 80GB, 2 TB RAM, 30 TB NVMe: 15.20 USD per hour",
            2048.0,
            30_000.0,
        ),
        (
            "8 x H100 SXM 80GB, 2 TB RAM 30 TB NVMe, 15.20 USD per hour",
            2048.0,
            30_000.0,
        ),
    ] {
        let q = import(text);
        let offer = q
            .offers
            .first()
            .unwrap_or_else(|| panic!("{text}: {:?}", q.questions));
        assert_eq!(
            (offer.memory_gib, offer.local_disk_gb),
            (Some(memory), Some(disk)),
            "{text}"
        );
    }
}
