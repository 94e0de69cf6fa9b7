//! The verdict on single offers: `plan --why-not provider/instance_type`.

use crate::documents::{VerdictDoc, WhyNotDoc};
use crate::{Report, Texts};
use lessee_model::{Currency, Fixed, Money, Msg};
use lessee_plan::{Verdict, WhyNot};

pub fn why_not_report(verdicts: &[WhyNot], currency: Currency, texts: &Texts) -> Report {
    let money = |x: f64| Money::new(Fixed::from_f64(x).unwrap_or_default(), currency);
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for v in verdicts {
        let (code, msg) = match &v.verdict {
            Verdict::Rejected(reason) => (reason.code().to_owned(), reason.msg()),
            Verdict::Unranked { code, total, .. } => {
                let text = texts.term("unranked", code);
                let msg = match total {
                    Some(total) => Msg::new("why-not-unranked-total")
                        .arg("reason", text)
                        .arg("total", *total),
                    None => Msg::new("why-not-unranked").arg("reason", text),
                };
                ((*code).to_owned(), msg)
            }
            Verdict::Behind {
                purchase,
                nodes,
                total,
                best_total,
                wall_s,
                best_wall_s,
            } => (
                "behind".to_owned(),
                Msg::new("why-not-behind")
                    .arg("nodes", *nodes)
                    .arg("purchase", texts.term("purchase", purchase.as_str()))
                    .arg("total", money(*total))
                    .arg("factor", (total / best_total * 100.0).round() / 100.0)
                    .seconds("time", *wall_s)
                    .seconds("best_time", *best_wall_s),
            ),
            Verdict::Ranked {
                rank,
                purchase,
                nodes,
                total,
                ..
            } => (
                "ranked".to_owned(),
                Msg::new("why-not-ranked")
                    .arg("rank", *rank)
                    .arg("nodes", *nodes)
                    .arg("purchase", texts.term("purchase", purchase.as_str()))
                    .arg("total", money(*total)),
            ),
        };
        let text = texts.msg(&msg);
        lines.push(format!("{}: {text}", v.key));
        rows.push(VerdictDoc {
            key: v.key.to_string(),
            code,
            text,
        });
    }
    let data = serde_json::to_value(WhyNotDoc {
        schema: "lessee/why-not/v1".to_owned(),
        verdicts: rows,
    });
    let data = data.unwrap_or_default();
    let mut report = Report::new(texts.get("why-not-title"), data, "verdicts");
    report.list(lines);
    report
}
