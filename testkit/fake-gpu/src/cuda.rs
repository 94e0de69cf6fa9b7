//! The functions of the CUDA driver that the probe calls. Handles are numbers; what they stand for is in the machine.
#![allow(non_snake_case, reason = "names of a C library")]

use crate::kernels;
use crate::machine::{CUDA_LOST, CURRENT, Event, Machine, machine};
use std::ffi::{CStr, c_char, c_float, c_int, c_uint, c_void};

type Raw = *mut c_void;

pub(crate) const INVALID: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const BAD_DEVICE: u32 = 101;
const NOT_CURRENT: u32 = 201;
const BAD_PTX: u32 = 218;
const BAD_HANDLE: u32 = 400;
const NOT_FOUND: u32 = 500;
const NOT_READY: u32 = 600;
const NO_MACHINE: u32 = 999;

/// Contexts are the GPU's number with this beside it, so that no other handle looks like one.
const CONTEXT: usize = 0x1_0000_0000;

fn number(handle: Raw) -> usize {
    handle.addr()
}

fn raw(number: usize) -> Raw {
    std::ptr::without_provenance_mut(number)
}

/// Carries a function out, unless the state orders it to fail.
fn run(name: &str, f: impl FnOnce(&mut Machine) -> Result<(), u32>) -> c_uint {
    let Some(mut machine) = machine() else {
        return NO_MACHINE;
    };
    match machine.ordered(name) {
        0 => f(&mut machine).err().unwrap_or(0),
        status => status,
    }
}

/// Writes a value.
///
/// # Safety
/// `out` points to a `T`.
unsafe fn put<T>(out: *mut T, value: T) -> Result<(), u32> {
    // SAFETY: see above.
    unsafe { out.write(value) };
    Ok(())
}

/// The GPU of the context that is current, unless it is lost.
fn current(machine: &Machine) -> Result<usize, u32> {
    let gpu = CURRENT.get().ok_or(NOT_CURRENT)?;
    match machine.lost(gpu) {
        true => Err(CUDA_LOST),
        false => Ok(gpu),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuInit(_flags: c_uint) -> c_uint {
    run("cuInit", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(out: *mut c_int) -> c_uint {
    run("cuDriverGetVersion", |m| {
        // SAFETY: the caller gives a place for the number.
        unsafe { put(out, m.state.cuda) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(out: *mut c_int) -> c_uint {
    run("cuDeviceGetCount", |m| {
        let n = m
            .state
            .cuda_gpus
            .as_ref()
            .map_or(m.state.gpus.len(), Vec::len);
        // SAFETY: the caller gives a place for the number.
        unsafe { put(out, n as c_int) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(out: *mut c_int, index: c_int) -> c_uint {
    run("cuDeviceGet", |m| {
        let gpu = m.cuda_gpu(index).ok_or(BAD_DEVICE)?;
        // SAFETY: the caller gives a place for the number.
        unsafe { put(out, gpu as c_int) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(
    out: *mut c_int,
    attribute: c_int,
    device: c_int,
) -> c_uint {
    run("cuDeviceGetAttribute", |m| {
        let gpu = m.gpu(device as usize).ok_or(BAD_DEVICE)?;
        let value = match attribute {
            16 => gpu.multiprocessors,
            75 => gpu.capability[0],
            76 => gpu.capability[1],
            _ => return Err(INVALID),
        };
        // SAFETY: the caller gives a place for the number.
        unsafe { put(out, value) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(out: *mut c_char, length: c_int, device: c_int) -> c_uint {
    run("cuDeviceGetName", |m| {
        let name = m.gpu(device as usize).ok_or(BAD_DEVICE)?.name.clone();
        // SAFETY: the caller gives the length of the room.
        match unsafe { crate::nvml::put_text(out, length as c_uint, Ok(name)) } {
            0 => Ok(()),
            _ => Err(INVALID),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(
    out: *mut c_char,
    length: c_int,
    device: c_int,
) -> c_uint {
    run("cuDeviceGetPCIBusId", |m| {
        // CUDA writes four digits of the domain and small letters, unlike NVML
        let pci = m.gpu(device as usize).ok_or(BAD_DEVICE)?.pci.to_lowercase();
        let short = pci.strip_prefix("0000").unwrap_or(&pci).to_owned();
        // SAFETY: the caller gives the length of the room.
        match unsafe { crate::nvml::put_text(out, length as c_uint, Ok(short)) } {
            0 => Ok(()),
            _ => Err(INVALID),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(out: *mut usize, device: c_int) -> c_uint {
    run("cuDeviceTotalMem_v2", |m| {
        let gpu = m.gpu(device as usize).ok_or(BAD_DEVICE)?;
        // SAFETY: the caller gives a place for the number.
        unsafe { put(out, (gpu.memory_mib as usize) << 20) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(out: *mut c_int, a: c_int, b: c_int) -> c_uint {
    run("cuDeviceCanAccessPeer", |m| {
        // SAFETY: the caller gives a place for the number.
        unsafe { put(out, c_int::from(m.state.peers && a != b)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(out: *mut Raw, device: c_int) -> c_uint {
    run("cuDevicePrimaryCtxRetain", |m| {
        let gpu = device as usize;
        m.gpu(gpu).ok_or(BAD_DEVICE)?;
        if m.lost(gpu) {
            return Err(CUDA_LOST);
        }
        // SAFETY: the caller gives a place for the handle.
        unsafe { put(out, raw(CONTEXT | gpu)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: c_int) -> c_uint {
    run("cuDevicePrimaryCtxRelease_v2", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCurrent(context: Raw) -> c_uint {
    run("cuCtxSetCurrent", |m| {
        let gpu = number(context) ^ CONTEXT;
        m.gpu(gpu).ok_or(BAD_HANDLE)?;
        CURRENT.set(Some(gpu));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize() -> c_uint {
    let mut left = 0.0;
    let status = run("cuCtxSynchronize", |m| {
        let gpu = current(m)?;
        left = m.left_s(gpu);
        m.idle(gpu);
        Ok(())
    });
    if status == 0 && left > 0.0 {
        std::thread::sleep(std::time::Duration::from_secs_f64(left));
    }
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxEnablePeerAccess(other: Raw, _flags: c_uint) -> c_uint {
    run("cuCtxEnablePeerAccess", |m| {
        m.gpu(number(other) ^ CONTEXT).ok_or(BAD_HANDLE)?;
        match m.state.peers {
            true => Ok(()),
            false => Err(217),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    out: *mut Raw,
    image: *const c_void,
    _options: c_uint,
    _names: *mut c_int,
    _values: *mut Raw,
) -> c_uint {
    run("cuModuleLoadDataEx", |m| {
        current(m)?;
        // SAFETY: text of PTX ends in NUL.
        let text = unsafe { CStr::from_ptr(image.cast()) };
        let text = text.to_string_lossy().into_owned();
        if !text.contains("\n.version ") || !text.contains("\n.address_size 64") {
            return Err(BAD_PTX);
        }
        let handle = m.handle();
        m.modules.insert(handle, text);
        // SAFETY: the caller gives a place for the handle.
        unsafe { put(out, raw(handle)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(module: Raw) -> c_uint {
    run("cuModuleUnload", |m| {
        m.modules
            .remove(&number(module))
            .map(drop)
            .ok_or(BAD_HANDLE)
    })
}

const KERNELS: [&str; 6] = [
    "lessee_fill",
    "lessee_check",
    "lessee_copy",
    "lessee_add",
    "lessee_mma_bf16",
    "lessee_mma_f16",
];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    out: *mut Raw,
    module: Raw,
    name: *const c_char,
) -> c_uint {
    run("cuModuleGetFunction", |m| {
        let text = m.modules.get(&number(module)).ok_or(BAD_HANDLE)?;
        // SAFETY: names end in NUL.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let known = KERNELS.iter().position(|k| *k == name).ok_or(NOT_FOUND)?;
        if !text.contains(&format!(".entry {name}(")) {
            return Err(NOT_FOUND);
        }
        // SAFETY: the caller gives a place for the handle.
        unsafe { put(out, raw(known + 1)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_uint {
    run("cuMemGetInfo_v2", |m| {
        let gpu = current(m)?;
        let bytes = (m.state.gpus[gpu].memory_mib as usize) << 20;
        // SAFETY: the caller gives two places.
        unsafe {
            put(free, bytes - bytes / 50)?;
            put(total, bytes)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(out: *mut u64, bytes: usize) -> c_uint {
    run("cuMemAlloc_v2", |m| {
        let gpu = current(m)?;
        if bytes == 0 {
            return Err(INVALID);
        }
        if bytes as u64 > m.state.gpus[gpu].memory_mib << 20 {
            return Err(OUT_OF_MEMORY);
        }
        let memory = vec![0_u8; bytes];
        let address = memory.as_ptr().addr() as u64;
        m.memory.insert(address, (gpu, memory));
        // SAFETY: the caller gives a place for the address.
        unsafe { put(out, address) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(address: u64) -> c_uint {
    run("cuMemFree_v2", |m| {
        m.memory.remove(&address).map(drop).ok_or(INVALID)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(out: *mut Raw, bytes: usize) -> c_uint {
    run("cuMemAllocHost_v2", |m| {
        current(m)?;
        let mut memory = vec![0_u8; bytes];
        let pointer: Raw = memory.as_mut_ptr().cast();
        m.host.insert(number(pointer), memory);
        // SAFETY: the caller gives a place for the address.
        unsafe { put(out, pointer) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(pointer: Raw) -> c_uint {
    run("cuMemFreeHost", |m| {
        m.host.remove(&number(pointer)).map(drop).ok_or(INVALID)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: u64,
    from: *const c_void,
    bytes: usize,
    stream: Raw,
) -> c_uint {
    run("cuMemcpyHtoDAsync_v2", |m| {
        let gpu = current(m)?;
        m.host_copy(gpu, number(stream), bytes)?;
        let (_, memory) = m.memory.get_mut(&to).ok_or(INVALID)?;
        let memory = memory.get_mut(..bytes).ok_or(INVALID)?;
        // SAFETY: the caller owns this many bytes there.
        memory.copy_from_slice(unsafe { std::slice::from_raw_parts(from.cast(), bytes) });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: Raw,
    from: u64,
    bytes: usize,
    stream: Raw,
) -> c_uint {
    run("cuMemcpyDtoHAsync_v2", |m| {
        let gpu = current(m)?;
        let seconds = m.link_seconds(gpu, bytes);
        m.work(number(stream), seconds)?;
        let (_, memory) = m.memory.get(&from).ok_or(INVALID)?;
        let memory = memory.get(..bytes).ok_or(INVALID)?;
        // SAFETY: the caller owns this many bytes there.
        unsafe { std::ptr::copy_nonoverlapping(memory.as_ptr(), to.cast(), bytes) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeerAsync(
    to: u64,
    to_context: Raw,
    from: u64,
    from_context: Raw,
    bytes: usize,
    stream: Raw,
) -> c_uint {
    run("cuMemcpyPeerAsync", |m| {
        let (target, source) = (number(to_context) ^ CONTEXT, number(from_context) ^ CONTEXT);
        let (seconds, flip) = m.peer(source, target, bytes);
        m.work(number(stream), seconds)?;
        let mut carried = part(m, source, from, bytes)?.to_vec();
        if flip {
            carried[bytes / 2] ^= 0x10;
        }
        part(m, target, to, bytes)?.copy_from_slice(&carried);
        Ok(())
    })
}

/// Memory of a GPU from an address on, which may lie within a buffer.
pub(crate) fn part(m: &mut Machine, gpu: usize, from: u64, bytes: usize) -> Result<&mut [u8], u32> {
    let within = |(start, (owner, memory)): &(&u64, &mut (usize, Vec<u8>))| {
        *owner == gpu && **start <= from && from < **start + memory.len() as u64
    };
    let found = m.memory.iter_mut().find(within);
    let (start, (_, memory)) = found.ok_or(INVALID)?;
    let at = (from - start) as usize;
    memory.get_mut(at..at + bytes).ok_or(INVALID)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent(stream: Raw, event: Raw, _flags: c_uint) -> c_uint {
    run("cuStreamWaitEvent", |m| {
        m.wait(number(stream), number(event))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(out: *mut Raw, _flags: c_uint) -> c_uint {
    run("cuStreamCreate", |m| {
        let gpu = current(m)?;
        let handle = m.handle();
        m.streams.insert(handle, (gpu, 0.0));
        // SAFETY: the caller gives a place for the handle.
        unsafe { put(out, raw(handle)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(stream: Raw) -> c_uint {
    run("cuStreamDestroy_v2", |m| {
        m.streams
            .remove(&number(stream))
            .map(drop)
            .ok_or(BAD_HANDLE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(out: *mut Raw, _flags: c_uint) -> c_uint {
    run("cuEventCreate", |m| {
        current(m)?;
        let handle = m.handle();
        m.events.insert(handle, Event::default());
        // SAFETY: the caller gives a place for the handle.
        unsafe { put(out, raw(handle)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(event: Raw) -> c_uint {
    run("cuEventDestroy_v2", |m| {
        m.events.remove(&number(event)).map(drop).ok_or(BAD_HANDLE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(event: Raw, stream: Raw) -> c_uint {
    run("cuEventRecord", |m| m.record(number(event), number(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventQuery(event: Raw) -> c_uint {
    run("cuEventQuery", |m| match m.query(number(event))? {
        true => Ok(()),
        false => Err(NOT_READY),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(out: *mut c_float, start: Raw, end: Raw) -> c_uint {
    run("cuEventElapsedTime", |m| {
        let seconds = m.elapsed(number(start), number(end)).ok_or(BAD_HANDLE)?;
        // SAFETY: the caller gives a place for the number.
        unsafe { put(out, (seconds * 1e3) as c_float) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(status: c_uint, out: *mut *const c_char) -> c_uint {
    let name = match status {
        100 => c"CUDA_ERROR_NO_DEVICE",
        218 => c"CUDA_ERROR_INVALID_PTX",
        719 => c"CUDA_ERROR_LAUNCH_FAILED",
        802 => c"CUDA_ERROR_SYSTEM_NOT_READY",
        803 => c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        804 => c"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        999 => c"CUDA_ERROR_UNKNOWN",
        _ => c"CUDA_ERROR_OTHER",
    };
    // SAFETY: the caller gives a place for the pointer, and the text lives as long as this library.
    unsafe { out.write(name.as_ptr()) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: Raw,
    grid_x: c_uint,
    _grid_y: c_uint,
    _grid_z: c_uint,
    block_x: c_uint,
    _block_y: c_uint,
    _block_z: c_uint,
    _shared: c_uint,
    stream: Raw,
    arguments: *mut Raw,
    _extra: *mut Raw,
) -> c_uint {
    // SAFETY: an argument of every kernel here is where the array's entry points to.
    let long = |n: usize| unsafe { (*arguments.add(n)).cast::<u64>().read_unaligned() };
    // SAFETY: as above.
    let word = |n: usize| unsafe { (*arguments.add(n)).cast::<u32>().read_unaligned() };
    run("cuLaunchKernel", |m| {
        let gpu = current(m)?;
        let stream = number(stream);
        match number(function) {
            1 => kernels::fill(m, gpu, stream, long(0), long(1), word(2)),
            2 => kernels::check(m, gpu, stream, [long(0), long(1), long(3)], word(2)),
            3 => kernels::copy(m, gpu, stream, [long(0), long(1), long(2)]),
            4 => kernels::add(m, gpu, stream, [long(0), long(1), long(2)], word(3)),
            kernel @ (5 | 6) => {
                let warps = (grid_x * block_x / 32) as usize;
                let half = if kernel == 5 {
                    kernels::bf16
                } else {
                    kernels::f16
                };
                let arguments = [long(0), long(1), long(2)];
                kernels::multiply(m, gpu, stream, arguments, [word(3), word(4)], warps, half)
            }
            _ => Err(BAD_HANDLE),
        }
    })
}
