//! NCCL, `libnccl.so.2`, where the machine has one: no part of the driver, but what training will use. Signatures from the
//! public header `nccl.h`. One process drives all GPUs.

use super::cuda::{Context, Lane};
use super::memory::DeviceBuffer;
use super::{Library, Symbol};
use crate::gpu::GpuError;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::Arc;

type Raw = *mut c_void;
type Status = c_uint;
type Plain = unsafe extern "C" fn() -> Status;
type IntOut = unsafe extern "C" fn(*mut c_int) -> Status;
type OnRaw = unsafe extern "C" fn(Raw) -> Status;
type InitAll = unsafe extern "C" fn(*mut Raw, c_int, *const c_int) -> Status;
type Reduce = unsafe extern "C" fn(u64, u64, usize, c_uint, c_uint, Raw, Raw) -> Status;
type ErrorText = unsafe extern "C" fn(Status) -> *const c_char;

const VERSION: Symbol<IntOut> = Symbol::new("ncclGetVersion");
const ERROR_TEXT: Symbol<ErrorText> = Symbol::new("ncclGetErrorString");
const INIT_ALL: Symbol<InitAll> = Symbol::new("ncclCommInitAll");
const DESTROY: Symbol<OnRaw> = Symbol::new("ncclCommDestroy");
const GROUP_START: Symbol<Plain> = Symbol::new("ncclGroupStart");
const GROUP_END: Symbol<Plain> = Symbol::new("ncclGroupEnd");
const ALL_REDUCE: Symbol<Reduce> = Symbol::new("ncclAllReduce");
/// `ncclUint32`: sums that wrap are exact, so that they can be compared.
const UINT32: c_uint = 3;
/// `ncclSum`.
const SUM: c_uint = 0;

pub(in crate::gpu) struct Nccl {
    library: Library,
}

/// Calls a symbol of the library and checks its status.
macro_rules! call {
    ($nccl:expr, $symbol:expr $(, $argument:expr)*) => {{
        let (nccl, symbol): (&Nccl, _) = (&$nccl, &$symbol);
        match nccl.library.get(symbol) {
            // SAFETY: the signature is that of the header, pointers are to live values of the types it names and as many
            // as the count says, and communicators come from this library and were not destroyed.
            Ok(function) => nccl.check(symbol.name, unsafe { function($($argument),*) }),
            Err(error) => Err(error),
        }
    }};
}

impl Nccl {
    /// From a folder, or where the system's loader finds it.
    pub(in crate::gpu) fn open(folder: Option<&Path>) -> Result<Nccl, GpuError> {
        let library = Library::open("libnccl.so.2", folder)?;
        Ok(Nccl { library })
    }

    fn check(&self, call: &'static str, status: Status) -> Result<(), GpuError> {
        if status == 0 {
            return Ok(());
        }
        let what = self.library.get(&ERROR_TEXT).ok().map(|function| {
            // SAFETY: takes a number and gives a constant text that ends in NUL, for any number.
            let text = unsafe { function(status) };
            match text.is_null() {
                true => String::new(),
                // SAFETY: see above.
                false => unsafe { CStr::from_ptr(text) }
                    .to_string_lossy()
                    .into_owned(),
            }
        });
        Err(GpuError::Nccl {
            call,
            code: status,
            what: what.unwrap_or_default(),
        })
    }

    /// `2.21.5`
    pub(in crate::gpu) fn version(&self) -> Result<String, GpuError> {
        let mut version = 0;
        call!(*self, VERSION, &raw mut version)?;
        // thousands until 2.8, ten thousands since
        let (major, rest) = match version {
            v if v < 10_000 => (v / 1000, v % 1000),
            v => (v / 10_000, v % 10_000),
        };
        Ok(format!("{major}.{}.{}", rest / 100, rest % 100))
    }
}

/// A communicator for each GPU.
pub(in crate::gpu) struct Communicators {
    nccl: Arc<Nccl>,
    each: Vec<Raw>,
}

// SAFETY: NCCL allows a communicator to be used from any thread, one at a time, and this is not shared.
unsafe impl Send for Communicators {}

impl Communicators {
    /// For devices in CUDA's order.
    pub(in crate::gpu) fn new(
        nccl: &Arc<Nccl>,
        devices: &[u32],
    ) -> Result<Communicators, GpuError> {
        let devices: Vec<c_int> = devices.iter().map(|d| *d as c_int).collect();
        let mut each = vec![std::ptr::null_mut(); devices.len()];
        let count = devices.len() as c_int;
        call!(**nccl, INIT_ALL, each.as_mut_ptr(), count, devices.as_ptr())?;
        Ok(Communicators {
            nccl: Arc::clone(nccl),
            each,
        })
    }

    /// Adds up the words of all buffers, in each of them; contexts and buffers in the order of the devices.
    pub(in crate::gpu) fn all_reduce(
        &self,
        contexts: &[Arc<Context>],
        buffers: &[DeviceBuffer],
    ) -> Result<(), GpuError> {
        assert!(contexts.len() == self.each.len() && buffers.len() == self.each.len());
        let bytes = buffers.iter().map(|b| b.bytes).min().unwrap_or(0);
        call!(*self.nccl, GROUP_START)?;
        let mut asked = Ok(());
        for ((comm, context), buffer) in self.each.iter().zip(contexts).zip(buffers) {
            let at = buffer.pointer;
            let stream = context.stream(Lane::Work);
            let one = call!(
                *self.nccl,
                ALL_REDUCE,
                at,
                at,
                bytes / 4,
                UINT32,
                SUM,
                *comm,
                stream
            );
            asked = asked.and(one);
        }
        // the group is ended whatever came of its parts
        let ended = call!(*self.nccl, GROUP_END);
        asked.and(ended)
    }
}

impl Drop for Communicators {
    fn drop(&mut self) {
        for comm in self.each.iter().filter(|c| !c.is_null()) {
            let _ = call!(*self.nccl, DESTROY, *comm);
        }
    }
}
