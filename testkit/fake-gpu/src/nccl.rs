//! The functions of NCCL that the probe calls, over the same machine: communicators of one process, and sums.
#![allow(non_snake_case, reason = "names of a C library")]

use crate::cuda::part;
use crate::machine::{Machine, machine};
use std::ffi::{c_char, c_int, c_uint, c_void};

type Raw = *mut c_void;

const UNHANDLED_CUDA: c_uint = 1;
const INVALID_ARGUMENT: c_uint = 4;
/// `ncclUint32` and `ncclSum`.
const UINT32: c_uint = 3;
const SUM: c_uint = 0;
/// Communicators are the GPU's number with this beside it.
const COMM: usize = 0x2_0000_0000;

/// An all-reduce that one GPU has asked for.
pub(crate) struct Collective {
    gpu: usize,
    from: u64,
    to: u64,
    words: usize,
    stream: usize,
}

fn run(name: &str, f: impl FnOnce(&mut Machine) -> Result<(), c_uint>) -> c_uint {
    let Some(mut machine) = machine() else {
        return UNHANDLED_CUDA;
    };
    match machine.ordered(name) {
        0 => f(&mut machine).err().unwrap_or(0),
        status => status,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(out: *mut c_int) -> c_uint {
    run("ncclGetVersion", |_| {
        // SAFETY: the caller gives a place for the number.
        unsafe { out.write(22_105) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetErrorString(_status: c_uint) -> *const c_char {
    c"unhandled cuda error".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitAll(
    out: *mut Raw,
    count: c_int,
    devices: *const c_int,
) -> c_uint {
    run("ncclCommInitAll", |m| {
        for at in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the caller gives as many devices and places as it says.
            let device = unsafe { *devices.add(at) };
            let gpu = m.cuda_gpu(device).ok_or(INVALID_ARGUMENT)?;
            // SAFETY: as above.
            unsafe {
                out.add(at)
                    .write(std::ptr::without_provenance_mut(COMM | gpu))
            };
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommDestroy(_comm: Raw) -> c_uint {
    run("ncclCommDestroy", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGroupStart() -> c_uint {
    run("ncclGroupStart", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllReduce(
    from: u64,
    to: u64,
    words: usize,
    kind: c_uint,
    operation: c_uint,
    comm: Raw,
    stream: Raw,
) -> c_uint {
    run("ncclAllReduce", |m| {
        if (kind, operation) != (UINT32, SUM) {
            return Err(INVALID_ARGUMENT);
        }
        m.group.push(Collective {
            gpu: comm.addr() ^ COMM,
            from,
            to,
            words,
            stream: stream.addr(),
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGroupEnd() -> c_uint {
    run("ncclGroupEnd", |m| {
        let group = std::mem::take(&mut m.group);
        sum(m, &group).map_err(|_| UNHANDLED_CUDA)
    })
}

fn sum(m: &mut Machine, group: &[Collective]) -> Result<(), u32> {
    let Some(first) = group.first() else {
        return Ok(());
    };
    let (n, bytes) = (group.len() as f64, first.words * 4);
    let seconds = 2.0 * (n - 1.0) / n * bytes as f64 / (m.state.nccl_bus_gbs * 1e9);
    let mut total = vec![0_u32; first.words];
    for one in group {
        m.work(one.stream, seconds)?;
        let words = part(m, one.gpu, one.from, bytes)?.chunks_exact(4);
        for (sum, word) in total.iter_mut().zip(words) {
            *sum = sum.wrapping_add(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        }
    }
    for one in group {
        let result = part(m, one.gpu, one.to, bytes)?.chunks_exact_mut(4);
        for (word, sum) in result.zip(&total) {
            word.copy_from_slice(&sum.to_ne_bytes());
        }
    }
    Ok(())
}
