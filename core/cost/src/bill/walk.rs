//! The order of the lines: the one path that both screening and the itemised bill take.

use super::clock::Times;
use super::ledger::Ledger;
use super::sink::Sink;
use super::{Case, compute, extras, storage, traffic};

/// Returns the durations that the lines were made from.
pub(crate) fn walk<S: Sink>(case: &Case<'_>, out: &mut Ledger<'_, S>) -> Times {
    let times = Times::of(case);
    let groups = compute::groups(case, times);
    let mut node_seconds: u64 = 0;
    for group in &groups {
        compute::lines(case, group, out);
        let together = group.times.running().saturating_mul(u64::from(group.nodes));
        node_seconds = node_seconds.saturating_add(together);
    }
    storage::block(case, &times, node_seconds, out);
    storage::objects(case, &times, out);
    traffic::request_lines(case, &times, out);
    traffic::inbound(case, out);
    traffic::outbound(case, &times, out);
    traffic::public_ip(case, &times, node_seconds, out);
    extras::licences(case, &times, out);
    extras::support(case, &times, out);
    extras::labour(case, &times, out);
    extras::tax(case, out);
    extras::exchange(case, out);
    times
}
