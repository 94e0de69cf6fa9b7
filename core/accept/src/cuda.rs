//! The CUDA toolkit itself: does the driver carry what it compiles, and can it compile for the cards?

use crate::facts::{Pair, Toolkit};
use crate::finding::{Answer, Check, Verdict, verdict};
use crate::judge::{Host, no_version, on_nvidia, works};
use crate::need::Need;
use crate::version::Version;
use crate::{driver, gpu};
use lessee_model::Msg;

pub(crate) fn judge(need: &Need, host: &Host<'_>) -> Answer {
    let toolkits = &host.compat.toolkits;
    let known: Vec<Version> = toolkits
        .iter()
        .filter_map(|t| t.cuda.to_string().parse().ok())
        .collect();
    // 12.4.1 is an update of 12.4
    let chosen = match need.exact() {
        Some(exact) => Some(Pair(exact.part(0), exact.part(1))),
        None => need
            .newest(known.iter())
            .map(|v| Pair(v.part(0), v.part(1))),
    };
    let Some(toolkit) = toolkits.iter().find(|t| Some(t.cuda) == chosen) else {
        return no_version(need, known.iter());
    };
    let checks = of(toolkit, host);
    let mut newest: Vec<&Toolkit> = match works(verdict(&checks)) {
        true => vec![toolkit],
        false => toolkits.iter().collect(),
    };
    newest.sort_by_key(|t| std::cmp::Reverse(t.cuda));
    let found = newest.into_iter().find(|t| works(verdict(&of(t, host))));
    let install = found.map(|t| format!("apt-get install cuda-toolkit-{}-{}", t.cuda.0, t.cuda.1));
    let judged = need
        .exact()
        .is_none()
        .then(|| format!("CUDA {}", toolkit.cuda));
    Answer {
        checks,
        install,
        judged,
    }
}

fn of(toolkit: &Toolkit, host: &Host<'_>) -> Vec<Check> {
    let mut out = Vec::new();
    if !on_nvidia(host, &mut out) {
        return out;
    }
    let cuda = toolkit.cuda;
    driver::carries(cuda, host, &mut out);
    for (name, card) in host.nvidia() {
        if let Some(driver) = &host.driver {
            gpu::driven(card, name, driver, &mut out);
        }
        let say = |id: &'static str| {
            Msg::new(id)
                .arg("gpu", name)
                .arg("cc", card.cc.to_string())
                .arg("cuda", cuda.to_string())
        };
        if let Some(last) = card.last_cuda.filter(|last| cuda > *last) {
            let reason = say("accept-gpu-dropped").arg("last", last.to_string());
            out.push(Check::new("gpu-code", Verdict::Fail, reason).from(&card.origin));
        }
        let first = host.compat.first_code(card);
        if cuda < first {
            let reason = say("accept-gpu-early").arg("first", first.to_string());
            out.push(Check::new("gpu-code", Verdict::Fail, reason).from(&card.origin));
        } else if cuda < card.first_cuda {
            let reason = say("accept-gpu-kin").arg("first", card.first_cuda.to_string());
            out.push(Check::new("gpu-code", Verdict::Warn, reason).from(&card.origin));
        }
    }
    out
}
