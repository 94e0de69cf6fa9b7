//! The functions of NVML, under the names and with the layouts of its public header.
#![allow(non_snake_case, reason = "names of a C library")]

use crate::machine::{Machine, NVML_LOST, machine};
use crate::state::{Gpu, Remote};
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

type Handle = *mut c_void;

const INVALID: u32 = 2;
const NOT_SUPPORTED: u32 = 3;
const NOT_FOUND: u32 = 6;
const TOO_SHORT: u32 = 7;
const NO_MACHINE: u32 = 999;

fn index(handle: Handle) -> usize {
    (handle as usize).wrapping_sub(1)
}

/// What a function of the system answers.
fn system<T>(name: &str, f: impl FnOnce(&Machine) -> Result<T, u32>) -> Result<T, u32> {
    let machine = machine().ok_or(NO_MACHINE)?;
    match machine.ordered(name) {
        0 => f(&machine),
        status => Err(status),
    }
}

/// What a function of a GPU answers; `busy` tells whether the GPU works.
fn device<T>(
    name: &str,
    handle: Handle,
    f: impl FnOnce(&Gpu, bool) -> Result<T, u32>,
) -> Result<T, u32> {
    system(name, |machine| {
        let at = index(handle);
        let gpu = machine.gpu(at).ok_or(INVALID)?;
        if machine.lost(at) {
            return Err(NVML_LOST);
        }
        match gpu.activity.is_empty() && gpu.throttle.is_none() {
            true => f(gpu, machine.busy(at)),
            false => {
                let (seen, ..) = machine.now(at).ok_or(INVALID)?;
                f(&seen, machine.busy(at))
            }
        }
    })
}

/// `nvmlUtilization_t`.
#[repr(C)]
pub struct Utilisation {
    gpu: c_uint,
    memory: c_uint,
}

/// The first thing that a watcher asks: each time is the next moment of the job.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(
    handle: Handle,
    out: *mut Utilisation,
) -> c_uint {
    let answer = system("nvmlDeviceGetUtilizationRates", |machine| {
        let at = index(handle);
        let sliced = machine.gpu(at).ok_or(INVALID)?.mig == Some(true);
        machine.reading(at);
        if machine.lost(at) {
            return Err(NVML_LOST);
        }
        let (_, gpu, memory) = machine.now(at).ok_or(INVALID)?;
        match sliced {
            true => Err(NOT_SUPPORTED),
            false => Ok(Utilisation { gpu, memory }),
        }
    });
    // SAFETY: the caller gives the structure.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEncoderUtilization(
    handle: Handle,
    share: *mut c_uint,
    period_us: *mut c_uint,
) -> c_uint {
    let there = device("nvmlDeviceGetEncoderUtilization", handle, |_, _| Ok(()));
    let answer = there.and_then(|()| {
        system("", |machine| {
            let activity = machine.activity(index(handle));
            Ok((activity.map_or(0, |a| a.encoder_pct), 167_000))
        })
    });
    // SAFETY: the caller gives two places.
    unsafe { put_two(share, period_us, answer) }
}

/// Writes an answer.
///
/// # Safety
/// `out` points to a `T`.
unsafe fn put<T>(out: *mut T, answer: Result<T, u32>) -> c_uint {
    match answer {
        // SAFETY: see above.
        Ok(value) => unsafe {
            out.write(value);
            0
        },
        Err(status) => status,
    }
}

/// Writes two answers.
///
/// # Safety
/// `a` and `b` each point to a `T`.
unsafe fn put_two<T>(a: *mut T, b: *mut T, answer: Result<(T, T), u32>) -> c_uint {
    match answer {
        // SAFETY: see above.
        Ok((x, y)) => unsafe {
            a.write(x);
            b.write(y);
            0
        },
        Err(status) => status,
    }
}

/// Writes a text with its NUL.
///
/// # Safety
/// `out` has room for `length` bytes.
pub(crate) unsafe fn put_text(
    out: *mut c_char,
    length: c_uint,
    answer: Result<String, u32>,
) -> c_uint {
    let text = match answer {
        Ok(text) => text,
        Err(status) => return status,
    };
    if text.len() >= length as usize {
        return TOO_SHORT;
    }
    // SAFETY: it fits with its NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len());
        out.cast::<u8>().add(text.len()).write(0);
    }
    0
}

macro_rules! plain {
    ($($name:ident)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> c_uint {
            system(stringify!($name), |_| Ok(())).err().unwrap_or(0)
        }
    )+};
}

macro_rules! device_uint {
    ($($name:ident = |$gpu:ident, $busy:ident| $answer:expr;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(handle: Handle, out: *mut c_uint) -> c_uint {
            let answer = device(stringify!($name), handle, |$gpu, $busy| $answer);
            // SAFETY: the caller gives a place for the number.
            unsafe { put(out, answer) }
        }
    )+};
}

macro_rules! device_by {
    ($($name:ident = |$gpu:ident, $busy:ident, $by:ident| $answer:expr;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(handle: Handle, $by: c_uint, out: *mut c_uint) -> c_uint {
            let answer = device(stringify!($name), handle, |$gpu, $busy| $answer);
            // SAFETY: the caller gives a place for the number.
            unsafe { put(out, answer) }
        }
    )+};
}

macro_rules! texts {
    ($($name:ident = |$gpu:ident| $answer:expr;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(handle: Handle, out: *mut c_char, length: c_uint) -> c_uint {
            let answer = device(stringify!($name), handle, |$gpu, _| Ok($answer));
            // SAFETY: the caller gives the length of the room.
            unsafe { put_text(out, length, answer) }
        }
    )+};
}

plain! { nvmlInit_v2 nvmlShutdown }

texts! {
    nvmlDeviceGetName = |gpu| gpu.name.clone();
    nvmlDeviceGetUUID = |gpu| gpu.uuid.clone();
    nvmlDeviceGetSerial = |gpu| gpu.serial.clone();
}

device_uint! {
    nvmlDeviceGetCurrPcieLinkGeneration = |gpu, busy| Ok(if busy { gpu.link_load[0] } else { gpu.link[0] });
    nvmlDeviceGetCurrPcieLinkWidth = |gpu, busy| Ok(if busy { gpu.link_load[1] } else { gpu.link[1] });
    nvmlDeviceGetMaxPcieLinkGeneration = |gpu, _busy| Ok(gpu.link_max[0]);
    nvmlDeviceGetMaxPcieLinkWidth = |gpu, _busy| Ok(gpu.link_max[1]);
    nvmlDeviceGetGpuMaxPcieLinkGeneration = |gpu, _busy| Ok(gpu.link_max[0]);
    nvmlDeviceGetVirtualizationMode = |gpu, _busy| Ok(gpu.virtualization);
    nvmlDeviceGetPowerUsage = |gpu, busy| Ok(if busy { gpu.power_limit_mw } else { gpu.power_mw });
    nvmlDeviceGetEnforcedPowerLimit = |gpu, _busy| Ok(gpu.power_limit_mw);
    nvmlDeviceGetPowerManagementDefaultLimit = |gpu, _busy| Ok(gpu.power_default_mw);
    // pages are retired on cards before Ampere only
    nvmlDeviceGetRetiredPagesPendingStatus = |gpu, _busy| gpu.remapped.map_or(Ok(0), |_| Err(NOT_SUPPORTED));
}

device_by! {
    // the fake does not take 20 ms
    nvmlDeviceGetPcieThroughput = |gpu, _busy, counter| match (counter, gpu.activity.last()) {
        (1, Some(activity)) => Ok(activity.pcie_in_kb_s),
        _ => Ok(0),
    };
    nvmlDeviceGetClockInfo = |gpu, busy, clock| clock_of(if busy { gpu.clocks_max_mhz } else { gpu.clocks_mhz }, clock);
    nvmlDeviceGetMaxClockInfo = |gpu, _busy, clock| clock_of(gpu.clocks_max_mhz, clock);
    nvmlDeviceGetTemperature = |gpu, busy, _sensor| Ok(if busy { gpu.temperature_load_c } else { gpu.temperature_c });
    nvmlDeviceGetNvLinkState = |gpu, _busy, link| match gpu.nvlinks.get(link as usize) {
        _ if gpu.nvlinks.is_empty() => Err(NOT_SUPPORTED),
        Some(link) => Ok(c_uint::from(link.up)),
        None => Err(INVALID),
    };
    nvmlDeviceGetNvLinkVersion = |gpu, _busy, link| gpu.nvlinks.get(link as usize).map(|_| 4).ok_or(INVALID);
    nvmlDeviceGetNvLinkRemoteDeviceType = |gpu, _busy, link| match gpu.nvlinks.get(link as usize) {
        Some(link) if link.up => Ok(if link.remote == Remote::Switch { 2 } else { 0 }),
        Some(_) => Err(NOT_SUPPORTED),
        None => Err(INVALID),
    };
}

fn clock_of(clocks: [u32; 2], which: c_uint) -> Result<u32, u32> {
    match which {
        0 | 1 => Ok(clocks[0]),
        2 => Ok(clocks[1]),
        _ => Err(NOT_SUPPORTED),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(out: *mut c_char, length: c_uint) -> c_uint {
    let answer = system("nvmlSystemGetDriverVersion", |m| Ok(m.state.driver.clone()));
    // SAFETY: the caller gives the length of the room.
    unsafe { put_text(out, length, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetNVMLVersion(out: *mut c_char, length: c_uint) -> c_uint {
    let answer = system("nvmlSystemGetNVMLVersion", |m| {
        Ok(format!("12.{}", m.state.driver))
    });
    // SAFETY: the caller gives the length of the room.
    unsafe { put_text(out, length, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(out: *mut c_int) -> c_uint {
    let answer = system("nvmlSystemGetCudaDriverVersion_v2", |m| Ok(m.state.cuda));
    // SAFETY: the caller gives a place for the number.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(out: *mut c_uint) -> c_uint {
    let answer = system(
        "nvmlDeviceGetCount_v2",
        |m| Ok(m.state.gpus.len() as c_uint),
    );
    // SAFETY: the caller gives a place for the number.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(at: c_uint, out: *mut Handle) -> c_uint {
    let answer = system("nvmlDeviceGetHandleByIndex_v2", |machine| {
        let at = at as usize;
        match machine.gpu(at) {
            None => Err(INVALID),
            Some(_) if machine.lost(at) => Err(NVML_LOST),
            Some(_) => Ok(std::ptr::without_provenance_mut(at + 1)),
        }
    });
    // SAFETY: the caller gives a place for the handle.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(handle: Handle, out: *mut [u64; 3]) -> c_uint {
    let answer = device("nvmlDeviceGetMemoryInfo", handle, |gpu, _| {
        let (total, used) = (gpu.memory_mib << 20, (gpu.memory_used_mib + 600) << 20);
        Ok([total, total - used, used])
    });
    // SAFETY: total, free and used lie one behind the other.
    unsafe { put(out, answer) }
}

/// `nvmlMemory_v2_t`: a version, four bytes of padding, then total, reserved, free, used.
#[repr(C)]
pub struct Memory2 {
    version: c_uint,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(handle: Handle, out: *mut Memory2) -> c_uint {
    // SAFETY: the caller gives the structure with its version filled in.
    let version = unsafe { (*out).version };
    if version != 0x0200_0028 {
        return 25;
    }
    let answer = device("nvmlDeviceGetMemoryInfo_v2", handle, |gpu, _| {
        let (total, reserved, used) = (gpu.memory_mib << 20, 600 << 20, gpu.memory_used_mib << 20);
        Ok(Memory2 {
            version,
            total,
            reserved,
            free: total - reserved - used,
            used,
        })
    });
    // SAFETY: as above.
    unsafe { put(out, answer) }
}

/// `nvmlPciInfo_t`.
#[repr(C)]
pub struct Pci {
    legacy: [u8; 16],
    numbers: [c_uint; 5],
    bus_id: [u8; 32],
}

fn pci(gpu: &Gpu) -> Pci {
    let mut pci = Pci {
        legacy: [0; 16],
        numbers: [0; 5],
        bus_id: [0; 32],
    };
    let bytes = gpu.pci.as_bytes();
    pci.bus_id[..bytes.len()].copy_from_slice(bytes);
    pci
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(handle: Handle, out: *mut Pci) -> c_uint {
    let answer = device("nvmlDeviceGetPciInfo_v3", handle, |gpu, _| Ok(pci(gpu)));
    // SAFETY: the caller gives the structure.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetNvLinkRemotePciInfo_v2(
    handle: Handle,
    link: c_uint,
    out: *mut Pci,
) -> c_uint {
    let remote = device("nvmlDeviceGetNvLinkRemotePciInfo_v2", handle, |gpu, _| {
        let link = gpu.nvlinks.get(link as usize).ok_or(INVALID)?;
        link.up.then_some(link.remote).ok_or(NOT_SUPPORTED)
    });
    let answer = remote.and_then(|remote| match remote {
        Remote::Gpu(other) => system("", |m| m.gpu(other).map(pci).ok_or(NOT_FOUND)),
        Remote::Switch => Ok(pci(&Gpu {
            pci: "00000000:01:00.0".to_owned(),
            ..Gpu::default()
        })),
    });
    // SAFETY: the caller gives the structure.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetEccMode(
    handle: Handle,
    now: *mut c_uint,
    pending: *mut c_uint,
) -> c_uint {
    let answer = device("nvmlDeviceGetEccMode", handle, |gpu, _| {
        gpu.ecc.map(|_| (1, 1)).ok_or(NOT_SUPPORTED)
    });
    // SAFETY: the caller gives two places.
    unsafe { put_two(now, pending, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTotalEccErrors(
    handle: Handle,
    kind: c_uint,
    counter: c_uint,
    out: *mut c_ulonglong,
) -> c_uint {
    let answer = device("nvmlDeviceGetTotalEccErrors", handle, |gpu, _| {
        let counters = gpu.ecc.ok_or(NOT_SUPPORTED)?;
        counters
            .get((2 * counter + kind) as usize)
            .copied()
            .ok_or(INVALID)
    });
    // SAFETY: the caller gives a place for the number.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRemappedRows(
    handle: Handle,
    correctable: *mut c_uint,
    uncorrectable: *mut c_uint,
    pending: *mut c_uint,
    failed: *mut c_uint,
) -> c_uint {
    let answer = device("nvmlDeviceGetRemappedRows", handle, |gpu, _| {
        gpu.remapped.ok_or(NOT_SUPPORTED)
    });
    match answer {
        // SAFETY: the caller gives four places.
        Ok([c, u, p, f]) => unsafe {
            put_two(correctable, uncorrectable, Ok((c, u)));
            put_two(pending, failed, Ok((p, f)))
        },
        Err(status) => status,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetRetiredPages(
    handle: Handle,
    _cause: c_uint,
    count: *mut c_uint,
    _addresses: *mut c_ulonglong,
) -> c_uint {
    let answer = device("nvmlDeviceGetRetiredPages", handle, |gpu, _| {
        gpu.remapped.map_or(Ok(0), |_| Err(NOT_SUPPORTED))
    });
    // SAFETY: the caller gives a place for the number.
    unsafe { put(count, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMigMode(
    handle: Handle,
    now: *mut c_uint,
    pending: *mut c_uint,
) -> c_uint {
    let answer = device("nvmlDeviceGetMigMode", handle, |gpu, _| {
        let on = c_uint::from(gpu.mig.ok_or(NOT_SUPPORTED)?);
        Ok((on, on))
    });
    // SAFETY: the caller gives two places.
    unsafe { put_two(now, pending, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(
    handle: Handle,
    out: *mut c_ulonglong,
) -> c_uint {
    let answer = device(
        "nvmlDeviceGetCurrentClocksThrottleReasons",
        handle,
        |gpu, busy| Ok(if busy { gpu.reasons_load } else { gpu.reasons }),
    );
    // SAFETY: the caller gives a place for the number.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCudaComputeCapability(
    handle: Handle,
    major: *mut c_int,
    minor: *mut c_int,
) -> c_uint {
    let answer = device("nvmlDeviceGetCudaComputeCapability", handle, |gpu, _| {
        Ok((gpu.capability[0], gpu.capability[1]))
    });
    // SAFETY: the caller gives two places.
    unsafe { put_two(major, minor, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    handle: Handle,
    count: *mut c_uint,
    _list: *mut c_void,
) -> c_uint {
    let answer = device(
        "nvmlDeviceGetComputeRunningProcesses_v3",
        handle,
        |gpu, _| Ok(gpu.processes),
    );
    let n = *answer.as_ref().unwrap_or(&0);
    // SAFETY: the caller gives a place for the number.
    match unsafe { put(count, answer) } {
        0 if n > 0 => TOO_SHORT,
        status => status,
    }
}

/// `nvmlGpuFabricInfo_t`.
#[repr(C)]
pub struct Fabric {
    cluster: [u8; 16],
    status: c_uint,
    clique: c_uint,
    state: u8,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGpuFabricInfo(handle: Handle, out: *mut Fabric) -> c_uint {
    let answer = device("nvmlDeviceGetGpuFabricInfo", handle, |gpu, _| {
        let (state, status) = gpu.fabric.ok_or(NOT_SUPPORTED)?;
        Ok(Fabric {
            cluster: [0; 16],
            status,
            clique: 0,
            state,
        })
    });
    // SAFETY: the caller gives the structure.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetP2PStatus(
    a: Handle,
    b: Handle,
    by: c_uint,
    out: *mut c_uint,
) -> c_uint {
    let both = device("nvmlDeviceGetP2PStatus", a, |_, _| Ok(())).and_then(|()| {
        device("nvmlDeviceGetP2PStatus", b, |gpu, _| {
            Ok(gpu.nvlinks.is_empty())
        })
    });
    let answer = both.and_then(|bare| {
        system("", |m| {
            Ok(if m.state.peers && !(by == 2 && bare) {
                0
            } else {
                1
            })
        })
    });
    // SAFETY: the caller gives a place for the number.
    unsafe { put(out, answer) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTopologyCommonAncestor(
    a: Handle,
    b: Handle,
    out: *mut c_uint,
) -> c_uint {
    let both = device("nvmlDeviceGetTopologyCommonAncestor", a, |_, _| Ok(()))
        .and_then(|()| device("nvmlDeviceGetTopologyCommonAncestor", b, |_, _| Ok(())));
    let answer = both.and_then(|()| system("", |m| Ok(m.state.ancestor)));
    // SAFETY: the caller gives a place for the number.
    unsafe { put(out, answer) }
}
