mod quote_support;
use std::time::Instant;
#[test]
fn perf() {
    let n: usize = 100_000;
    let rep = |s: &str| s.repeat(n / s.len() + 1);
    for (name, text) in [
        (
            "chat",
            rep("华东-苏州 8卡 H100 SXM 80G 整机 7.3万元/月，租期12个月，含税\n"),
        ),
        (
            "csv",
            format!(
                "供应商,型号,数量,价格\n{}",
                rep("智算云,L20,8,2.92万元/台/月\n")
            ),
        ),
        (
            "csvq",
            format!(
                "供应商,型号,数量,价格\n{}",
                rep("智算云,L20,8,\"2.92万元/台/月\"\n")
            ),
        ),
        ("kv", rep("供应商：智算云\n备注: x\n型号：H100\n")),
        ("kv2", rep("备注: x\n")),
        ("oneline", rep("H100 2元/时，")),
        ("oneline2", rep("H100 ")),
        ("heads", rep("型号,价格\n")),
        ("heads2", rep("GPU,价格\nL4,3元/时\n\n")),
        ("valid", rep("报价日期：2026-11-20，有效期 30 天\n")),
        ("validline", rep("报价日期：2026-11-20 有效期 30 天")),
        ("seller", rep("供应商：智算云\n")),
        ("quotes", rep("\"")),
        ("quotes2", rep("\"a,\n")),
        (
            "prose",
            rep("We offer 8x H100 SXM at $2.49/hr per GPU. Please contact us.\n"),
        ),
        ("blank", rep("a  b\n")),
        ("digits", rep("1")),
        ("cjk", rep("华东-")),
        ("heading", rep("## 供应商：x\n# a\n")),
        ("dup", rep("L4 3元/时\n")),
        (
            "md",
            format!(
                "| GPU | 数量 | 价格 |\n|--|--|--|\n{}",
                rep("| L20 | 8 | 2元/卡/时 |\n")
            ),
        ),
        ("yaml", rep("- gpu: L4\n  price: $0.39/hr\n")),
    ] {
        for (len, t) in [
            (
                1,
                &text[..{
                    let mut e = text.len() / 2;
                    while !text.is_char_boundary(e) {
                        e -= 1
                    }
                    e
                }],
            ),
            (2, &text[..]),
        ] {
            let at = Instant::now();
            let q = quote_support::import(t);
            println!(
                "{name} x{len}: {:.2}s {} {}",
                at.elapsed().as_secs_f64(),
                q.offers.len(),
                q.questions.len()
            );
        }
    }
}
