//! Tables in every cut, with titles of both languages.

mod quote_support;

use quote_support::{codes, import, import_as, offers, show};

const EIGHT: &str = "coreweave H100 SXM 80 x8 month 100.00 CNY";

#[test]
fn one_table_in_many_cuts() {
    let rows = [
        ["供应商", "型号", "卡数", "单价(万元/台/月)"],
        ["CoreWeave", "H100 SXM 80G", "8", "7.3"],
    ];
    let join = |sep: &str| rows.map(|r| r.join(sep)).join("\n");
    let bars = |l: &str, r: &str| {
        rows.map(|row| format!("{l}{}{r}", row.join(" | ")))
            .join("\n")
    };
    let ruled = format!(
        "| {} |\n|---|:-:|---|--:|\n| {} |",
        rows[0].join(" | "),
        rows[1].join(" | ")
    );
    for text in [
        join(","),
        join("\t"),
        join(";"),
        join("，"),
        join("；"),
        join("    "),
        bars("", ""),
        bars("| ", " |"),
        ruled,
    ] {
        let q = import(&format!("报价单\n\n{text}\n\n以上为报价。\n"));
        assert_eq!(offers(&q), [EIGHT], "{text}\n{:?}", q.questions);
        assert_eq!(codes(&q), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn titles_of_both_languages() {
    for (text, expected) in [
        (
            "provider,region,gpu,count,price_per_hour,currency\nlambda,us-east-1,H100 SXM,8,23.92,USD",
            "lambda H100 SXM 80 x8 on_demand 23.92 USD",
        ),
        (
            "Vendor,GPU Model,GPUs,VRAM,$/GPU-hr\nLambda,H100 SXM,8,80GB,2.99",
            "lambda H100 SXM 80 x8 on_demand 23.92 USD",
        ),
        (
            "Vendor,Instance type,GPU,GPU count,Price,Unit\nAWS,p5.48xlarge,H100 SXM,8,98.32,USD per instance hour",
            "aws H100 SXM 80 x8 on_demand 98.32 USD",
        ),
        (
            "GPU,Qty,Price (USD per node per month)\n8x H100 SXM,1,14600",
            "- H100 SXM 80 x8 month 20.00 USD",
        ),
        (
            "厂商,显卡,显存,月租(元)\n阿里云,L20,48G,3650",
            "alicloud L20 PCIe 48 x1 month 5.00 CNY",
        ),
        (
            "厂商,机型,计费方式,价格\n阿里云,8卡 L20 整机,包年包月,29200元/月",
            "alicloud L20 PCIe 48 x8 month 40.00 CNY",
        ),
        (
            "云厂商,卡型,付费方式,小时价格\n腾讯云,A10,竞价,¥2.5",
            "tencent A10 PCIe 24 x1 spot 2.50 CNY",
        ),
        (
            "GPU型号,数量,租期,单价\nL20,8卡,12个月,3650元/卡/月",
            "- L20 PCIe 48 x8 year_1 40.00 CNY",
        ),
        (
            "GPU,Term,GPU count,Price ($/GPU-hr)\nH100 SXM,3 years,8,1.50",
            "- H100 SXM 80 x8 year_3 12.00 USD",
        ),
        (
            "GPU,Memory,RAM,vCPU,GPU count,$/hr\nA100,80 GB,960,96,8,12.00",
            "- A100 - 80 x8 on_demand 12.00 USD",
        ),
        (
            "GPU;Preis;Price (EUR/h)\nL4;x;0,45",
            "- L4 PCIe 24 x1 on_demand 0.45 EUR",
        ),
        (
            "型号,报价\nRTX 4090,\"1,460.00 元/月\"",
            "- RTX 4090 PCIe 24 x1 month 2.00 CNY",
        ),
        (
            "机型,月租（万元）\n8×L20 整机,2.92",
            "- L20 PCIe 48 x8 month 40.00 CNY",
        ),
        (
            "GPU型号,数量,单价(元/卡/月),租期(月),总价(元)\nL20,8,3650,12,350400",
            "- L20 PCIe 48 x8 year_1 40.00 CNY",
        ),
        (
            "GPU,Form,GPU count,$/hr\nH100,PCIe,1,1.99",
            "- H100 PCIe 80 x1 on_demand 1.99 USD",
        ),
    ] {
        let q = import(text);
        assert_eq!(offers(&q), [expected], "{text}\n{:?}", q.questions);
        assert_eq!(codes(&q), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn hour_and_month_columns_are_two_offers() {
    let q = import(
        "| GPU | 显存 | 时租 | 月租 |\n|--|--|--|--|\n| RTX 4090 | 24GB | ¥2 | ¥1,095 |\n| H20 | 96GB | ¥7.6 | - |\n",
    );
    assert_eq!(
        offers(&q),
        [
            "- RTX 4090 PCIe 24 x1 on_demand 2.00 CNY",
            "- RTX 4090 PCIe 24 x1 month 1.50 CNY",
            "- H20 SXM 96 x1 on_demand 7.60 CNY",
        ],
        "{:?}",
        q.questions
    );
    let q = import(
        "GPU,On-Demand ($/hr),Spot ($/hr),1-year reserved ($/hr),3-year reserved ($/hr)\nL4,0.80,0.30,0.50,0.35\n",
    );
    let got: Vec<String> = q
        .offers
        .iter()
        .map(|o| format!("{} {}", o.purchase, o.price.exact()))
        .collect();
    assert_eq!(
        got,
        ["on_demand 0.80", "spot 0.30", "year_1 0.50", "year_3 0.35"],
        "{:?}",
        q.questions
    );
    // the period stands in one title for both, and in none for neither
    let q = import("gpu,count,price per hour,spot price\nL4,1,0.80 USD,0.30 USD\n");
    assert_eq!(
        offers(&q),
        [
            "- L4 PCIe 24 x1 on_demand 0.80 USD",
            "- L4 PCIe 24 x1 spot 0.30 USD",
        ],
        "{:?}",
        q.questions
    );
    let q = import("gpu,count,on-demand price,spot price\nL4,1,0.80 USD,0.30 USD\n");
    assert!(offers(&q).is_empty());
    assert_eq!(codes(&q), ["unit_unknown"], "{:?}", q.questions);
}

#[test]
fn headings_lend_the_provider_to_their_tables() {
    let q = import(
        "## 阿里云\n\n| GPU | 价格 |\n|--|--|\n| A10 | ¥3/h |\n\n## 海外\n\n| 平台 | GPU | 价格 |\n|--|--|--|\n| RunPod | L4 | $0.39/h (~¥2.8) |\n| Foo Cloud | L4 | $0.41/h |\n",
    );
    assert_eq!(
        offers(&q),
        [
            "alicloud A10 PCIe 24 x1 on_demand 3.00 CNY",
            "runpod L4 PCIe 24 x1 on_demand 0.39 USD",
            "Foo Cloud L4 PCIe 24 x1 on_demand 0.41 USD",
        ],
        "{:?}",
        q.questions
    );
}

#[test]
fn rows_that_cannot_be_read_are_questions() {
    let text = "型号,数量,单价,合计\n\
L20,8,3650元/卡/月,29200元\n\
L20,8,3650元/卡/月,30000元\n\
H900,8,3650元/卡/月,29200元\n\
L20,8,面议,\n\
L20,8,-,\n\
对象存储,1,0.12元/GB/月,\n\
L20,8,3650元/卡/月,1,2,3\n\
L20,8,NaN,\n\
L20,0,3650元/卡/月,\n\
L20,8,-3650元/卡/月,\n";
    let q = import(text);
    assert_eq!(
        offers(&q),
        ["- L20 PCIe 48 x8 month 40.00 CNY"],
        "{:?}",
        q.questions
    );
    let asked: Vec<(u64, &str)> = q.questions.iter().map(|k| (k.line, k.code)).collect();
    assert_eq!(
        asked,
        [
            (3, "total_mismatch"),
            (4, "gpu_unknown"),
            (5, "on_request"),
            (7, "not_a_machine"),
            (8, "row_shape"),
            (9, "number_unreadable"),
            (10, "count_conflict"),
            (11, "price_negative"),
        ]
    );
}

#[test]
fn cards_or_machines() {
    // a unit price beside a number: of a card or of the machine?
    let q = import("型号,卡数,单价(元/小时)\nL20,8,4\n");
    assert_eq!(codes(&q), ["scope_unclear"]);
    // the total tells
    let q = import("型号,卡数,单价(元/小时),合计\nL20,8,4,32\n");
    assert_eq!(
        offers(&q),
        ["- L20 PCIe 48 x8 on_demand 32.00 CNY"],
        "{:?}",
        q.questions
    );
    // two machines of eight cards
    let q = import("机型,数量,价格\n8卡 L20 整机,2台,2.92万元/台/月\n");
    assert_eq!(
        offers(&q),
        ["- L20 PCIe 48 x8 month 40.00 CNY"],
        "{:?}",
        q.questions
    );
    // an instance type without a count may hold any number
    let q = import("Instance,GPU,$/hr\np5.48xlarge,H100 SXM,98.32\n");
    assert_eq!(codes(&q), ["count_unknown"]);
    // 640 GB are the eight together
    let q = import("GPU,GPU count,VRAM,$/hr\nH100 SXM,8,640GB,20\nH100 SXM,8,48GB,20\n");
    assert_eq!(offers(&q), ["- H100 SXM 80 x8 on_demand 20.00 USD"]);
    assert_eq!(codes(&q), ["memory_mismatch"]);
}

#[test]
fn the_host_is_read_too() {
    let q = import(
        "GPU,GPU count,vCPU,RAM,Disk,Network,Region,$/hr\nH100 SXM,8,192,2TB,8x3.84TB NVMe,3200Gbps,eu-north1,20\n",
    );
    let o = &q.offers[0];
    assert_eq!(
        (o.vcpus, o.memory_gib, o.network_gbps),
        (Some(192.0), Some(2048.0), Some(3200.0))
    );
    assert_eq!(o.local_disk_gb.map(f64::round), Some(30720.0));
    assert_eq!(o.region.as_deref(), Some("eu-north1"));
    assert_eq!(
        o.original,
        "H100 SXM,8,192,2TB,8x3.84TB NVMe,3200Gbps,eu-north1,20"
    );
    assert_eq!(o.line, 2);
}

#[test]
fn yaml_and_json() {
    let list = "\
provider: Lambda
currency: USD
offers:
  - gpu: H100 SXM
    count: 8
    price: 2.99
    unit: GPU-hour
  - gpu: {model: A10, count: 1}
    price: {amount: 0.75, per: hour}
  - gpu: H100 SXM
    count: 8
    price: 2-3
    unit: GPU-hour
";
    let q = import_as(list, "quote.yaml");
    assert_eq!(
        offers(&q),
        [
            "lambda H100 SXM 80 x8 on_demand 23.92 USD",
            "lambda A10 PCIe 24 x1 on_demand 0.75 USD"
        ],
        "{:?}",
        q.questions
    );
    assert_eq!(codes(&q), ["range"]);
    assert_eq!(q.offers[0].line, 4);
    assert!(q.offers[0].original.contains("gpu: H100 SXM"));

    let nested = "腾讯云:\n  - 型号: L20\n    卡数: 8\n    价格: 2.92万元/台/月\nRunPod:\n  L4: $0.39/hr\n  RTX 4090: $0.69/hr\n";
    let q = import_as(nested, "q.yml");
    assert_eq!(
        offers(&q),
        [
            "tencent L20 PCIe 48 x8 month 40.00 CNY",
            "runpod L4 PCIe 24 x1 on_demand 0.39 USD",
            "runpod RTX 4090 PCIe 24 x1 on_demand 0.69 USD",
        ],
        "{:?}",
        q.questions
    );
    assert_eq!(offers(&import(nested)).len(), 3, "without the ending too");

    let json = r#"[{"provider": "RunPod", "gpu": "L4", "price_per_hour": 0.39, "currency": "USD"},
 {"provider": "RunPod", "gpu": "L4", "purchase": "spot", "price_per_hour": 0.19, "currency": "USD"}]"#;
    let q = import_as(json, "q.json");
    assert_eq!(
        offers(&q),
        [
            "runpod L4 PCIe 24 x1 on_demand 0.39 USD",
            "runpod L4 PCIe 24 x1 spot 0.19 USD"
        ],
        "{:?}",
        q.questions
    );

    let broken = "offers:\n  - gpu: L4\n    price: [0.39\nL4 $0.39/hr\n";
    let q = import_as(broken, "q.yaml");
    assert_eq!(q.questions[0].code, "broken_yaml");
    assert_eq!(
        q.offers.iter().map(show).collect::<Vec<_>>().len(),
        1,
        "the lines are read all the same"
    );
}

#[test]
fn items_that_are_no_machines() {
    let q = import(
        "| Item | Qty | Unit price | Total |\n|--|--|--|--|\n| 8x H100 SXM node | 2 | $14,600/month | $29,200 |\n| 100Gbps uplink | 1 | $500/month | $500 |\n| Setup fee | 1 | $1000 | $1000 |\n| **Total** | | | $30,700 |\n\nAll prices exclude VAT.\n",
    );
    assert_eq!(
        offers(&q),
        ["- H100 SXM 80 x8 month 20.00 USD"],
        "{:?}",
        q.questions
    );
    assert_eq!(q.offers[0].tax, "excluded");
    assert_eq!(codes(&q), ["not_a_machine", "not_a_machine"]);
}
