//! The names of the values of a full listing, in all spellings of text and XML: a new driver's new spelling is one more
//! string here.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The names of one value: paths as they end, in lower case, blanks as `_`, first the XML's, then the text's.
const FIELDS: &[(&str, &[&str])] = &[
    ("name", &["/product_name"]),
    ("uuid", &["/uuid", "/gpu_uuid"]),
    ("mem_total", &["/fb_memory_usage/total"]),
    ("mem_used", &["/fb_memory_usage/used"]),
    (
        "temp",
        &["/temperature/gpu_temp", "/temperature/gpu_current_temp"],
    ),
    (
        "power_draw",
        &[
            "/power_readings/power_draw",
            "/gpu_power_readings/power_draw",
        ],
    ),
    (
        "power_average",
        &[
            "/gpu_power_readings/average_power_draw",
            "/power_readings/average_power_draw",
        ],
    ),
    (
        "power_instant",
        &[
            "/gpu_power_readings/instant_power_draw",
            "/power_readings/instant_power_draw",
            "/gpu_power_readings/instantaneous_power_draw",
        ],
    ),
    (
        "power_limit",
        &[
            "/gpu_power_readings/current_power_limit",
            "/power_readings/current_power_limit",
            "/power_readings/power_limit",
            "/gpu_power_readings/power_limit",
        ],
    ),
    (
        "default_limit",
        &[
            "/power_readings/default_power_limit",
            "/gpu_power_readings/default_power_limit",
        ],
    ),
    (
        "pcie_gen_cur",
        &["/pcie_gen/current_link_gen", "/pcie_generation/current"],
    ),
    (
        "pcie_gen_max",
        &["/pcie_gen/max_link_gen", "/pcie_generation/max"],
    ),
    (
        "pcie_gen_devmax",
        &[
            "/pcie_gen/max_device_link_gen",
            "/pcie_generation/device_max",
        ],
    ),
    (
        "width_cur",
        &["/link_widths/current_link_width", "/link_width/current"],
    ),
    (
        "width_max",
        &["/link_widths/max_link_width", "/link_width/max"],
    ),
    ("mig", &["/mig_mode/current_mig", "/mig_mode/current"]),
    ("ecc", &["/ecc_mode/current_ecc", "/ecc_mode/current"]),
    ("virt", &["/gpu_virtualization_mode/virtualization_mode"]),
    ("util", &["/utilization/gpu_util", "/utilization/gpu"]),
    ("fabric", &["/fabric/state"]),
    ("fabric_status", &["/fabric/status"]),
    ("perf", &["/performance_state"]),
    ("recovery", &["/gpu_recovery_action"]),
    ("sm_clock", &["/clocks/sm_clock", "/clocks/sm"]),
    ("mem_clock", &["/clocks/mem_clock", "/clocks/memory"]),
    (
        "retired_sbe",
        &[
            "/multiple_single_bit_retirement/retired_count",
            "/retired_pages/single_bit_ecc",
        ],
    ),
    (
        "retired_dbe",
        &[
            "/double_bit_retirement/retired_count",
            "/retired_pages/double_bit_ecc",
        ],
    ),
    (
        "retired_pending",
        &[
            "/retired_pages/pending_blacklist",
            "/retired_pages/pending_retirement",
            "/retired_pages/pending_page_blacklist",
            "/retired_pages/pending",
        ],
    ),
    (
        "row_corr",
        &[
            "/remapped_rows/remapped_row_corr",
            "/remapped_rows/correctable_error",
        ],
    ),
    (
        "row_unc",
        &[
            "/remapped_rows/remapped_row_unc",
            "/remapped_rows/uncorrectable_error",
        ],
    ),
    (
        "row_pending",
        &[
            "/remapped_rows/remapped_row_pending",
            "/remapped_rows/pending",
        ],
    ),
    (
        "row_failure",
        &[
            "/remapped_rows/remapped_row_failure",
            "/remapped_rows/remapping_failure_occurred",
        ],
    ),
];

/// Keys of a GPU among the facts.
pub(super) const FACTS: [&str; 17] = [
    "mem_total",
    "mem_used",
    "temp",
    "power",
    "power_limit",
    "default_limit",
    "pcie_gen_cur",
    "pcie_gen_max",
    "pcie_gen_devmax",
    "width_cur",
    "width_max",
    "mig",
    "ecc",
    "virt",
    "util",
    "fabric",
    "perf",
];

/// Counts of memory errors, below `ecc_errors/volatile` or `ecc_errors/aggregate`, and whether one is correctable.
/// Cards before Turing print single and double bit with a total; later ones a line a memory.
pub(super) const ECC: &[(&str, bool)] = &[
    ("sram_uncorrectable", false),
    ("sram_uncorrectable_parity", false),
    ("sram_uncorrectable_secded", false),
    ("sram_uncorrectable_sec-ded", false),
    ("dram_uncorrectable", false),
    ("double_bit/total", false),
    ("sram_correctable", true),
    ("dram_correctable", true),
    ("single_bit/total", true),
];

/// The value that a path names. By the path's last name first: a listing has hundreds of paths a GPU.
pub(super) fn field(path: &str) -> Option<&'static str> {
    type Named = HashMap<&'static str, Vec<(&'static str, &'static str)>>;
    static BY_NAME: LazyLock<Named> = LazyLock::new(|| {
        let mut all = Named::new();
        for (key, path) in FIELDS
            .iter()
            .flat_map(|(key, paths)| paths.iter().map(move |p| (*key, *p)))
        {
            all.entry(last_name(path)).or_default().push((path, key));
        }
        all
    });
    let named = BY_NAME.get(last_name(path))?;
    named
        .iter()
        .find(|(end, _)| path.ends_with(end))
        .map(|(_, key)| *key)
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
