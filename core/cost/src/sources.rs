//! Sources of lessee's own that stand beside a number: fixed English identifiers, listed for people in
//! `docs/reference/sources.md` (a test holds the two together). Not here: the sources of data rows, which are
//! the rows' own words, and paths of the user's fields such as `money.tax`.

/// Bounds of an unknown price.
pub(crate) const ELSEWHERE: &str = "range of what other providers publish";
/// Upper bound beyond the last tier.
pub(crate) const LAST_TIER: &str = "last published tier as upper bound";
/// Upper bound for a spot machine without published figures.
pub(crate) const WORK_AGAIN: &str = "the whole work once more as upper bound";
/// Upper bound for stopped time.
pub(crate) const STOPPED_AS_RUNNING: &str = "stopped time billed like running time as upper bound";
/// Upper bound of rounding.
pub(crate) const STEPS_ELSEWHERE: &str = "billing steps of other providers";
/// What interruptions cost.
pub(crate) const INTERRUPTIONS: &str = "expected interruptions x time repeated per interruption";
/// The same from a replay.
pub(crate) const REPLAYED: &str = "replay of the job on recorded availability";
/// A disk inside the machine.
pub(crate) const LOCAL_DISK: &str = "machine specification: local disk included in the price";
/// Beside a list price: `LIST; own discount 15 %`.
pub(crate) const OWN_DISCOUNT: &str = "own discount";
/// An exchange rate got by way of a third currency.
pub(crate) const THIRD_CURRENCY: &str = "money.rates, through a third currency";
/// Followed by the source of the middle row.
pub(crate) const BOOT_ELSEWHERE: &str = "median and slowest boot time of other providers";
/// Defaults of buy or rent that no row holds.
pub(crate) const ONE_NODE: &str = "one node";
pub(crate) const EIGHT_GPUS: &str = "eight GPUs per server";
pub(crate) const NONE: &str = "none";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_listed_for_people() {
        let page = include_str!("../../../docs/reference/sources.md");
        for source in [
            ELSEWHERE,
            LAST_TIER,
            WORK_AGAIN,
            STOPPED_AS_RUNNING,
            STEPS_ELSEWHERE,
            INTERRUPTIONS,
            REPLAYED,
            LOCAL_DISK,
            OWN_DISCOUNT,
            THIRD_CURRENCY,
            BOOT_ELSEWHERE,
            ONE_NODE,
            EIGHT_GPUS,
            NONE,
        ] {
            assert!(page.contains(source), "{source}");
        }
    }
}
