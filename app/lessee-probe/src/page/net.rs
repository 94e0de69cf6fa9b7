//! The way to the machine.

use super::rows::Rows;
use lessee_model::probe::Reading;
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Report, Texts};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(net) = &doc.net else {
        return;
    };
    let mut rows = Rows::new(texts);
    if let Some(host) = &net.host {
        let what = |id| texts.msg(&Msg::new(id).arg("target", host.target.clone()));
        rows.reading(what("probe-row-rtt"), Some(&host.rtt_ms), "ms");
        let once = |value: Option<f64>| value.map(Reading::once);
        rows.reading(texts.get("probe-row-p95"), once(host.p95_ms).as_ref(), "ms");
        rows.reading(
            texts.get("probe-row-jitter"),
            once(host.jitter_ms).as_ref(),
            "ms",
        );
        let loss = host.failures as f64 / (host.attempts.max(1)) as f64 * 100.0;
        rows.reading(texts.get("probe-row-loss"), Some(&Reading::once(loss)), "%");
    }
    if let Some(s3) = &net.s3 {
        let rate = |id, reading| {
            (
                texts.msg(
                    &Msg::new(id)
                        .arg("bucket", s3.bucket.clone())
                        .arg("streams", s3.streams),
                ),
                reading,
            )
        };
        for (what, reading) in [
            rate("probe-row-s3-put", &s3.put_mbs),
            rate("probe-row-s3-put-parallel", &s3.put_parallel_mbs),
            rate("probe-row-s3-get", &s3.get_mbs),
            rate("probe-row-s3-get-parallel", &s3.get_parallel_mbs),
        ] {
            rows.reading(what, Some(reading), "MB/s");
        }
    }
    // outside of SSH there is nothing to be missed
    if let Some(ssh) = &net.ssh
        && ssh.rtt_ms.reason() != Some("not_in_ssh")
    {
        rows.reading(texts.get("probe-row-ssh"), Some(&ssh.rtt_ms), "ms");
    }
    if !rows.is_empty() {
        report.heading(texts.get("probe-net-title"));
        report.table(rows.table());
    }
}
