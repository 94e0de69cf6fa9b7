//! NVML, `libnvidia-ml.so.1`: one safe method a shape of function. Which functions have that shape is in
//! `nvml_names.rs`.
//!
//! Structures with versions are asked for by the newest known version first, then by the older ones; older names are
//! tried where a driver may lack the newer.

pub(in crate::gpu) use super::nvml_names::*;
use super::{Library, Symbol, text};
use crate::gpu::GpuError;
use crate::gpu::error::{nvml_code, nvml_name};
use lessee_model::probe::RemappedRows;
use std::ffi::c_uint;
use std::path::Path;

/// A GPU of NVML. Handles are good until `nvmlShutdown`, which is called when the library is dropped.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct Device(Handle);

/// NVML, initialised.
pub(in crate::gpu) struct Nvml {
    library: Library,
}

// SAFETY: NVML is thread-safe by its documentation, and a handle is a number to it that is never followed here.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

fn check(call: &'static str, status: Status) -> Result<(), GpuError> {
    match status {
        0 => Ok(()),
        code => Err(GpuError::Nvml {
            call,
            code,
            name: nvml_name(code),
        }),
    }
}

/// Calls a symbol of the library and checks its status. The arguments must be what the symbol's type says.
macro_rules! call {
    ($self:ident, $symbol:expr $(, $argument:expr)*) => {{
        let symbol = &$symbol;
        // no `?` in here: a caller falls back on an older function where this one is missing
        match $self.library.get(symbol) {
            // SAFETY: the signature is that of the header, pointers are to live values of the types it names, lengths
            // are those of the buffers, and handles come from this library, which is initialised.
            Ok(function) => check(symbol.name, unsafe { function($($argument),*) }),
            Err(error) => Err(error),
        }
    }};
}

impl Nvml {
    pub(super) fn open(folder: Option<&Path>) -> Result<Nvml, GpuError> {
        let library = Library::open("libnvidia-ml.so.1", folder)?;
        let init = library.get(&INIT)?;
        // SAFETY: takes nothing; may be called at any time.
        check(INIT.name, unsafe { init() })?;
        Ok(Nvml { library })
    }

    pub(in crate::gpu) fn system_text(&self, of: &SystemTextOf) -> Result<String, GpuError> {
        let mut buffer = [0_u8; 96];
        call!(self, of.0, buffer.as_mut_ptr().cast(), 96)?;
        Ok(text(&buffer))
    }

    /// CUDA's version that the driver stands for: 12040 is 12.4.
    pub(in crate::gpu) fn cuda_version(&self) -> Result<u32, GpuError> {
        let mut version = 0;
        match call!(self, CUDA_VERSION, &raw mut version) {
            Err(GpuError::Symbol { .. }) => call!(self, CUDA_VERSION_1, &raw mut version)?,
            other => other?,
        }
        Ok(u32::try_from(version).unwrap_or(0))
    }

    pub(in crate::gpu) fn count(&self) -> Result<u32, GpuError> {
        let mut count = 0;
        call!(self, COUNT, &raw mut count)?;
        Ok(count)
    }

    pub(in crate::gpu) fn device(&self, index: u32) -> Result<Device, GpuError> {
        let mut handle = std::ptr::null_mut();
        call!(self, BY_INDEX, index, &raw mut handle)?;
        Ok(Device(handle))
    }

    pub(in crate::gpu) fn text(&self, of: &TextOf, gpu: Device) -> Result<String, GpuError> {
        let mut buffer = [0_u8; 128];
        call!(self, of.0, gpu.0, buffer.as_mut_ptr().cast(), 128)?;
        Ok(text(&buffer))
    }

    pub(in crate::gpu) fn uint(&self, of: &UintOf, gpu: Device) -> Result<u32, GpuError> {
        let mut value = 0;
        call!(self, of.0, gpu.0, &raw mut value)?;
        Ok(value)
    }

    pub(in crate::gpu) fn uint_by(
        &self,
        of: &UintBy,
        gpu: Device,
        by: u32,
    ) -> Result<u32, GpuError> {
        let mut value = 0;
        call!(self, of.0, gpu.0, by, &raw mut value)?;
        Ok(value)
    }

    /// Bytes in all, and those that programs use. The second version tells apart what the driver keeps for itself; the
    /// first one counts that as used.
    pub(in crate::gpu) fn memory(&self, gpu: Device) -> Result<(u64, u64), GpuError> {
        let mut info = Memory2 {
            version: size_of::<Memory2>() as c_uint | 2 << 24,
            ..Memory2::default()
        };
        match call!(self, MEMORY_2, gpu.0, &raw mut info) {
            Ok(()) => return Ok((info.total, info.used)),
            Err(
                GpuError::Symbol { .. }
                | GpuError::Nvml {
                    code: nvml_code::VERSION_MISMATCH | nvml_code::INVALID_ARGUMENT,
                    ..
                },
            ) => {}
            Err(other) => return Err(other),
        }
        let mut info = Memory::default();
        call!(self, MEMORY, gpu.0, &raw mut info)?;
        Ok((info.total, info.used))
    }

    /// Shares of the driver's last sampling time, percent: with a kernel running, and with memory being moved.
    pub(in crate::gpu) fn shares(&self, gpu: Device) -> Result<Shares, GpuError> {
        let mut shares = Shares::default();
        call!(self, SHARES, gpu.0, &raw mut shares)?;
        Ok(shares)
    }

    /// Percent of a video engine.
    pub(in crate::gpu) fn share(&self, of: &ShareOf, gpu: Device) -> Result<u32, GpuError> {
        let (mut share, mut period_us) = (0, 0);
        call!(self, of.0, gpu.0, &raw mut share, &raw mut period_us)?;
        Ok(share)
    }

    /// `00000000:07:00.0`
    pub(in crate::gpu) fn pci(&self, gpu: Device) -> Result<String, GpuError> {
        let mut pci = Pci::default();
        call!(self, PCI, gpu.0, &raw mut pci)?;
        Ok(text(&pci.bus_id))
    }

    /// Whether ECC is on now.
    pub(in crate::gpu) fn ecc_on(&self, gpu: Device) -> Result<bool, GpuError> {
        let (mut now, mut pending) = (0, 0);
        call!(self, ECC_MODE, gpu.0, &raw mut now, &raw mut pending)?;
        Ok(now == 1)
    }

    /// Errors of memory: corrected or not, since the driver started or ever.
    pub(in crate::gpu) fn ecc_errors(
        &self,
        gpu: Device,
        uncorrected: bool,
        ever: bool,
    ) -> Result<u64, GpuError> {
        let mut n = 0;
        let (kind, counter) = (c_uint::from(uncorrected), c_uint::from(ever));
        call!(self, ECC_TOTAL, gpu.0, kind, counter, &raw mut n)?;
        Ok(n)
    }

    pub(in crate::gpu) fn remapped_rows(&self, gpu: Device) -> Result<RemappedRows, GpuError> {
        let [mut corr, mut unc, mut pending, mut failed] = [0; 4];
        call!(
            self,
            REMAPPED,
            gpu.0,
            &raw mut corr,
            &raw mut unc,
            &raw mut pending,
            &raw mut failed
        )?;
        Ok(RemappedRows {
            correctable: corr,
            uncorrectable: unc,
            pending: pending != 0,
            failed: failed != 0,
        })
    }

    /// Number of retired pages: after single-bit errors, or after a double-bit one.
    pub(in crate::gpu) fn retired_pages(
        &self,
        gpu: Device,
        double_bit: bool,
    ) -> Result<u32, GpuError> {
        let mut count = 0;
        let cause = c_uint::from(double_bit);
        // a count of 0 asks for the number alone; with any page the answer is that the list is too short
        let asked = call!(
            self,
            RETIRED,
            gpu.0,
            cause,
            &raw mut count,
            std::ptr::null_mut()
        );
        count_of(asked, count)
    }

    pub(in crate::gpu) fn compute_processes(&self, gpu: Device) -> Result<u32, GpuError> {
        let mut answer = Ok(0);
        for symbol in PROCESSES {
            let mut count = 0;
            let one = call_list(&self.library, &symbol, gpu, &mut count);
            answer = count_of(one, count);
            if !matches!(answer, Err(GpuError::Symbol { .. })) {
                break;
            }
        }
        answer
    }

    pub(in crate::gpu) fn mig_on(&self, gpu: Device) -> Result<bool, GpuError> {
        let (mut now, mut pending) = (0, 0);
        call!(self, MIG, gpu.0, &raw mut now, &raw mut pending)?;
        Ok(now == 1)
    }

    /// The bits of reasons why clocks are lower than asked for.
    pub(in crate::gpu) fn clock_reasons(&self, gpu: Device) -> Result<u64, GpuError> {
        let mut bits = 0;
        match call!(self, THROTTLE, gpu.0, &raw mut bits) {
            Err(GpuError::Symbol { .. }) => call!(self, EVENTS, gpu.0, &raw mut bits)?,
            other => other?,
        }
        Ok(bits)
    }

    pub(in crate::gpu) fn capability(&self, gpu: Device) -> Result<(i32, i32), GpuError> {
        let (mut major, mut minor) = (0, 0);
        call!(self, CAPABILITY, gpu.0, &raw mut major, &raw mut minor)?;
        Ok((major, minor))
    }

    /// °C; drivers that deprecated the first call have the one with a structure.
    pub(in crate::gpu) fn temperature(&self, gpu: Device) -> Result<i32, GpuError> {
        match self.uint_by(&TEMPERATURE, gpu, 0) {
            Ok(celsius) => return Ok(celsius as i32),
            Err(
                GpuError::Symbol { .. }
                | GpuError::Nvml {
                    code: nvml_code::DEPRECATED,
                    ..
                },
            ) => {}
            Err(other) => return Err(other),
        }
        let mut heat = Heat {
            version: size_of::<Heat>() as c_uint | 1 << 24,
            ..Heat::default()
        };
        call!(self, HEAT, gpu.0, &raw mut heat)?;
        Ok(heat.celsius)
    }

    /// PCI address of what is at the other end of a link.
    pub(in crate::gpu) fn nvlink_remote(&self, gpu: Device, link: u32) -> Result<String, GpuError> {
        let mut pci = Pci::default();
        call!(self, LINK_REMOTE, gpu.0, link, &raw mut pci)?;
        Ok(text(&pci.bus_id))
    }

    /// State of the fabric (3 is ready, 0 not supported) and the status with which it came up.
    pub(in crate::gpu) fn fabric(&self, gpu: Device) -> Result<(u8, u32), GpuError> {
        let mut fabric = Fabric::default();
        call!(self, FABRIC, gpu.0, &raw mut fabric)?;
        Ok((fabric.state, fabric.status))
    }

    /// Status of peer access: 0 is OK. `by`: 0 read, 1 write, 2 NVLink.
    pub(in crate::gpu) fn p2p(&self, a: Device, b: Device, by: u32) -> Result<u32, GpuError> {
        let mut status = 0;
        call!(self, P2P, a.0, b.0, by, &raw mut status)?;
        Ok(status)
    }

    /// What two GPUs share on the way to each other: 0 the board, 10 and 20 switches, 30 a bridge, 40 the NUMA node.
    pub(in crate::gpu) fn common_ancestor(&self, a: Device, b: Device) -> Result<u32, GpuError> {
        let mut level = 0;
        call!(self, ANCESTOR, a.0, b.0, &raw mut level)?;
        Ok(level)
    }
}

fn call_list(
    library: &Library,
    symbol: &Symbol<DeviceProcesses>,
    gpu: Device,
    count: &mut c_uint,
) -> Result<(), GpuError> {
    let function = library.get(symbol)?;
    // SAFETY: with a count of 0 the list is not written, so that its pointer may be null whatever its structure is.
    check(symbol.name, unsafe {
        function(gpu.0, count, std::ptr::null_mut())
    })
}

/// The number that a call for a list told when it was given no room.
fn count_of(asked: Result<(), GpuError>, count: u32) -> Result<u32, GpuError> {
    match asked {
        Ok(())
        | Err(GpuError::Nvml {
            code: nvml_code::INSUFFICIENT_SIZE,
            ..
        }) => Ok(count),
        Err(other) => Err(other),
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        if let Ok(shutdown) = self.library.get(&SHUTDOWN) {
            // SAFETY: takes nothing; every handle that is left is dead from here on, and none outlives its use.
            unsafe { shutdown() };
        }
    }
}
