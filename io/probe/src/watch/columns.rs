//! Names of columns and metrics, and what their cells mean.

use lessee_supervise::curve::Sample;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    UtilGpu,
    UtilMem,
    Enc,
    Dec,
    Power,
    PowerLimit,
    SmClock,
    MemUsed,
    Temp,
    PcieRx,
    CpuCore,
    DiskWrite,
    GrActive,
    TensorActive,
    DramActive,
    /// One reason for a lower clock: active or not.
    Slowed,
    /// All reasons as the bits of NVML.
    Reasons,
}

/// A field and the factor that turns the column's unit into that of [`Sample`].
pub(super) type Column = (Field, f64);

const RATIO: f64 = 100.0;
const BYTES_TO_MIB: f64 = 1.0 / (1024.0 * 1024.0);

/// A column of a CSV: the names of this project and those of `nvidia-smi --query-gpu`, lower case, `_` for
/// everything that is no letter or digit, unit taken off.
pub(super) fn csv(name: &str) -> Option<Column> {
    Some(match name {
        "util_gpu_pct" | "gpu_util_pct" | "utilization_gpu" | "gpu_util" | "sm_pct" | "sm" => {
            (Field::UtilGpu, 1.0)
        }
        "util_mem_pct" | "mem_util_pct" | "utilization_memory" | "mem_util" => {
            (Field::UtilMem, 1.0)
        }
        "enc_pct" | "utilization_encoder" | "encoder_util_pct" | "enc" => (Field::Enc, 1.0),
        "dec_pct" | "utilization_decoder" | "decoder_util_pct" | "dec" => (Field::Dec, 1.0),
        "power_w" | "power_draw" | "power_draw_instant" | "power_draw_average" | "power" => {
            (Field::Power, 1.0)
        }
        "power_limit_w" | "power_limit" | "enforced_power_limit" | "power_default_limit" => {
            (Field::PowerLimit, 1.0)
        }
        "sm_clock_mhz"
        | "clocks_sm"
        | "clocks_current_sm"
        | "clocks_gr"
        | "clocks_current_graphics"
        | "sm_clock" => (Field::SmClock, 1.0),
        "mem_used_mib" | "memory_used" => (Field::MemUsed, 1.0),
        "mem_used_bytes" => (Field::MemUsed, BYTES_TO_MIB),
        "temp_c" | "temperature_gpu" | "gpu_temp_c" => (Field::Temp, 1.0),
        "pcie_rx_mb_s" => (Field::PcieRx, 1.0),
        "cpu_busiest_core_pct" => (Field::CpuCore, 1.0),
        "disk_write_mb_s" => (Field::DiskWrite, 1.0),
        "gr_active_pct" => (Field::GrActive, 1.0),
        "tensor_active_pct" => (Field::TensorActive, 1.0),
        "dram_active_pct" => (Field::DramActive, 1.0),
        "slowed" => (Field::Slowed, 1.0),
        _ => {
            let reason = ["clocks_throttle_reasons_", "clocks_event_reasons_"]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix))?;
            return reason_column(reason);
        }
    })
}

/// Heat, the power brake and the hardware's own protection; a power cap, an idle card or a set clock are none.
fn reason_column(reason: &str) -> Option<Column> {
    match reason {
        "hw_slowdown"
        | "hw_thermal_slowdown"
        | "hw_power_brake_slowdown"
        | "sw_thermal_slowdown" => Some((Field::Slowed, 1.0)),
        "active" => Some((Field::Reasons, 1.0)),
        _ => None,
    }
}

/// A column of `nvidia-smi dmon` or `pmon`.
pub(super) fn dmon(name: &str) -> Option<Column> {
    Some(match name {
        "sm" => (Field::UtilGpu, 1.0),
        "mem" => (Field::UtilMem, 1.0),
        "enc" => (Field::Enc, 1.0),
        "dec" => (Field::Dec, 1.0),
        "pwr" => (Field::Power, 1.0),
        "gtemp" | "temp" => (Field::Temp, 1.0),
        "pclk" => (Field::SmClock, 1.0),
        "fb" => (Field::MemUsed, 1.0),
        "rxpci" => (Field::PcieRx, 1.0),
        "tviol" => (Field::Slowed, 1.0),
        _ => return None,
    })
}

/// A column of `dcgmi dmon`, by the short name of the DCGM field. Profiling fields are shares of 1.
pub(super) fn dcgmi(name: &str) -> Option<Column> {
    Some(match name {
        "GPUTL" => (Field::UtilGpu, 1.0),
        "MCUTL" => (Field::UtilMem, 1.0),
        "ENCUT" | "ENCUTL" | "ECUTL" => (Field::Enc, 1.0),
        "DECUT" | "DECUTL" | "DCUTL" => (Field::Dec, 1.0),
        "POWER" | "POWINST" => (Field::Power, 1.0),
        "PMLMT" | "EPLMT" => (Field::PowerLimit, 1.0),
        "SMCLK" => (Field::SmClock, 1.0),
        "FBUSD" => (Field::MemUsed, 1.0),
        "TMPTR" => (Field::Temp, 1.0),
        "PCIRX" => (Field::PcieRx, 1e-6),
        "GRACT" => (Field::GrActive, RATIO),
        "TENSO" => (Field::TensorActive, RATIO),
        "DRAMA" => (Field::DramActive, RATIO),
        "DVCCTR" => (Field::Reasons, 1.0),
        _ => return None,
    })
}

/// A metric of Prometheus: DCGM exporter, nvidia_gpu_exporter, and the older exporter of duty cycles.
pub(super) fn metric(name: &str) -> Option<Column> {
    Some(match name {
        "DCGM_FI_DEV_GPU_UTIL" | "nvidia_gpu_duty_cycle" => (Field::UtilGpu, 1.0),
        "nvidia_smi_utilization_gpu_ratio" => (Field::UtilGpu, RATIO),
        "DCGM_FI_DEV_MEM_COPY_UTIL" => (Field::UtilMem, 1.0),
        "nvidia_smi_utilization_memory_ratio" => (Field::UtilMem, RATIO),
        "DCGM_FI_DEV_ENC_UTIL" => (Field::Enc, 1.0),
        "nvidia_smi_utilization_encoder_ratio" => (Field::Enc, RATIO),
        "DCGM_FI_DEV_DEC_UTIL" => (Field::Dec, 1.0),
        "nvidia_smi_utilization_decoder_ratio" => (Field::Dec, RATIO),
        "DCGM_FI_DEV_POWER_USAGE"
        | "DCGM_FI_DEV_POWER_USAGE_INSTANT"
        | "nvidia_smi_power_draw_watts" => (Field::Power, 1.0),
        "nvidia_gpu_power_usage_milliwatts" => (Field::Power, 1e-3),
        "DCGM_FI_DEV_POWER_MGMT_LIMIT"
        | "DCGM_FI_DEV_ENFORCED_POWER_LIMIT"
        | "nvidia_smi_enforced_power_limit_watts"
        | "nvidia_smi_power_limit_watts" => (Field::PowerLimit, 1.0),
        "DCGM_FI_DEV_SM_CLOCK" => (Field::SmClock, 1.0),
        "nvidia_smi_clocks_current_sm_clock_hz" => (Field::SmClock, 1e-6),
        "DCGM_FI_DEV_FB_USED" => (Field::MemUsed, 1.0),
        "nvidia_smi_memory_used_bytes" | "nvidia_gpu_memory_used_bytes" => {
            (Field::MemUsed, BYTES_TO_MIB)
        }
        "DCGM_FI_DEV_GPU_TEMP"
        | "nvidia_smi_temperature_gpu"
        | "nvidia_gpu_temperature_celsius" => (Field::Temp, 1.0),
        "DCGM_FI_PROF_PCIE_RX_BYTES" => (Field::PcieRx, 1e-6),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE" => (Field::GrActive, RATIO),
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE" => (Field::TensorActive, RATIO),
        "DCGM_FI_PROF_DRAM_ACTIVE" => (Field::DramActive, RATIO),
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS" | "DCGM_FI_DEV_CLOCKS_EVENT_REASONS" => {
            (Field::Reasons, 1.0)
        }
        _ => {
            let reason = [
                "nvidia_smi_clocks_throttle_reasons_",
                "nvidia_smi_clocks_event_reasons_",
            ]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))?;
            return reason_column(reason);
        }
    })
}

/// Bits of NVML's reasons: hardware slowdown, software thermal, hardware thermal, power brake.
const SLOWED: u64 = 0x8 | 0x20 | 0x40 | 0x80;

pub(super) fn set(sample: &mut Sample, (field, factor): Column, value: f64) {
    let value = value * factor;
    if !value.is_finite() {
        return;
    }
    let slot = match field {
        Field::UtilGpu => &mut sample.util_gpu_pct,
        Field::UtilMem => &mut sample.util_mem_pct,
        Field::Enc => &mut sample.enc_pct,
        Field::Dec => &mut sample.dec_pct,
        Field::Power => &mut sample.power_w,
        Field::PowerLimit => &mut sample.power_limit_w,
        Field::SmClock => &mut sample.sm_clock_mhz,
        Field::MemUsed => &mut sample.mem_used_mib,
        Field::Temp => &mut sample.temp_c,
        Field::PcieRx => &mut sample.pcie_rx_mb_s,
        Field::CpuCore => &mut sample.cpu_busiest_core_pct,
        Field::DiskWrite => &mut sample.disk_write_mb_s,
        Field::GrActive => &mut sample.gr_active_pct,
        Field::TensorActive => &mut sample.tensor_active_pct,
        Field::DramActive => &mut sample.dram_active_pct,
        Field::Slowed => {
            sample.slowed = Some(sample.slowed == Some(true) || value > 0.0);
            return;
        }
        Field::Reasons => {
            // a blank of DCGM is a number near 2^63
            if (0.0..1e15).contains(&value) {
                let slowed = value as u64 & SLOWED != 0;
                sample.slowed = Some(sample.slowed == Some(true) || slowed);
            }
            return;
        }
    };
    // the first column of a kind wins: `power.draw` stands before `power.draw.instant`
    if slot.is_none() {
        *slot = Some(value);
    }
}

/// The number in a cell, in the unit of [`Sample`] where the cell names one: `45 %`, `1024 MiB`, `0x4`, `Active`.
/// `None` for `-`, `[N/A]`, words and blanks.
pub(super) fn cell(text: &str) -> Option<f64> {
    let text = text.trim().trim_matches('"').trim();
    match text {
        "Active" => return Some(1.0),
        "Not Active" => return Some(0.0),
        _ => {}
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(|x| x as f64);
    }
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E')))
        .unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    let factor = match text[end..].trim() {
        "" | "%" | "W" | "MHz" | "MiB" | "C" | "MB/s" => 1.0,
        "mW" => 1e-3,
        "kW" => 1e3,
        "GHz" => 1e3,
        "KiB" => 1.0 / 1024.0,
        "GiB" => 1024.0,
        "KB/s" => 1e-3,
        "GB/s" => 1e3,
        _ => return None,
    };
    Some(value * factor)
}
