//! What a GPU's own values state to be wrong with it: no expectation of a model, no comparison with siblings.

use super::{Gpu, Read};

/// Adds the problems that follow from the values, whatever kind of capture they come from.
pub(crate) fn wrong_with(gpu: &Gpu, subject: &str, out: &mut Read) {
    let mut say = |code: &'static str, detail: String| out.problem(code, subject, detail);
    match gpu.ecc_uncorrectable_volatile {
        Some(n) if n > 0 => say(
            "ecc_uncorrectable",
            format!("{n} since the driver was loaded"),
        ),
        _ => {}
    }
    match gpu.ecc_uncorrectable_aggregate {
        Some(n) if n > 0 => say("ecc_uncorrectable", format!("{n} in the card's life")),
        _ => {}
    }
    if let Some(rows) = &gpu.remapped_rows {
        if rows.failed == Some(true) {
            say("row_remap_failed", "no spare row left".to_owned());
        }
        if rows.pending == Some(true) {
            say("row_remap_pending", "waits for a reset".to_owned());
        }
        if let Some(n) = rows.uncorrectable.filter(|n| *n > 0) {
            say("rows_remapped", format!("{n} after uncorrectable errors"));
        }
    }
    if let Some(n) = gpu.retired_pages.filter(|n| *n > 0) {
        say("pages_retired", n.to_string());
    }
    if let (Some(now), Some(max)) = (gpu.pcie_width, gpu.pcie_width_max)
        && now < max
    {
        say("link_narrow", format!("{now} of {max} lanes"));
    }
    if let (Some(limit), Some(default)) = (gpu.power_limit_w, gpu.default_power_limit_w)
        && limit < default
    {
        say("power_capped", format!("{limit} W of {default} W"));
    }
    for name in gpu.throttle_reasons.iter().flatten() {
        match name.as_str() {
            "hw_thermal_slowdown" | "sw_thermal_slowdown" => {
                say("throttled_thermal", name.clone());
            }
            "hw_power_brake_slowdown" => say("throttled_power_brake", name.clone()),
            "hw_slowdown" => say("throttled_hardware", name.clone()),
            _ => {}
        }
    }
}
