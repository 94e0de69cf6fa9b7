//! Live samples as CSV in the columns that `read` knows, so that a curve can be judged again, or by somebody else.

use super::live::Tick;
use std::io::{Result, Write};

/// What is written above the first row.
pub fn header(out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "t_s,gpu,name,util_gpu_pct,util_mem_pct,enc_pct,dec_pct,power_w,power_limit_w,sm_clock_mhz,mem_clock_mhz,\
         mem_used_mib,temp_c,pcie_rx_mb_s,cpu_busiest_core_pct,disk_write_mb_s,slowed"
    )
}

/// A row for each GPU that is there; what is not known is an empty cell.
pub fn rows(out: &mut dyn Write, tick: &Tick) -> Result<()> {
    for gpu in &tick.gpus {
        let Ok(s) = &gpu.sample else {
            continue;
        };
        // a name with the separator in it would shift the columns
        let name = gpu.name.as_deref().unwrap_or("").replace([',', '\n'], " ");
        write!(out, "{},{},{name}", s.t_s, gpu.gpu)?;
        for value in [
            s.util_gpu_pct,
            s.util_mem_pct,
            s.enc_pct,
            s.dec_pct,
            s.power_w,
            s.power_limit_w,
            s.sm_clock_mhz,
            gpu.mem_clock_mhz,
            s.mem_used_mib,
            s.temp_c,
            s.pcie_rx_mb_s,
            s.cpu_busiest_core_pct,
            s.disk_write_mb_s,
            s.slowed.map(f64::from),
        ] {
            match value {
                Some(value) => write!(out, ",{value}")?,
                None => write!(out, ",")?,
            }
        }
        writeln!(out)?;
    }
    out.flush()
}
