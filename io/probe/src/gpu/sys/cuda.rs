//! The CUDA driver API, `libcuda.so.1`: devices, contexts, the kernels of `kernels/probe.ptx`, and copies (`transfer.rs`).
//!
//! What a caller holds owns its memory and frees it when dropped (`memory.rs`); sizes of launches and copies come from the
//! buffers, so that no call can reach beyond them.

use super::cuda_names::*;
use super::memory::{DeviceBuffer, Event, HostBuffer};
use super::{Library, text};
use crate::gpu::GpuError;
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::Arc;

/// The grid of every kernel; kernels step through their data with it, so it fits any size.
pub(in crate::gpu) const BLOCKS: u32 = 1024;
pub(in crate::gpu) const THREADS: u32 = 256;
/// Counters of `lessee_check`, one a thread.
pub(in crate::gpu) const COUNTERS: usize = (BLOCKS * THREADS) as usize;

/// The driver's library, loaded and not initialised.
pub(in crate::gpu) struct Cuda {
    pub(super) library: Library,
}

/// Calls a symbol of the library and checks its status.
macro_rules! call {
    ($cuda:expr, $symbol:expr $(, $argument:expr)*) => {{
        let (cuda, symbol): (&Cuda, _) = (&$cuda, &$symbol);
        match cuda.library.get(symbol) {
            // SAFETY: the signature is that of the header, pointers are to live values of the types it names, sizes are
            // those of the buffers behind them, and objects come from this library and were not destroyed.
            Ok(function) => cuda.check(symbol.name, unsafe { function($($argument),*) }),
            Err(error) => Err(error),
        }
    }};
}

pub(super) use call;

impl Cuda {
    pub(super) fn open(folder: Option<&Path>) -> Result<Cuda, GpuError> {
        let library = Library::open("libcuda.so.1", folder)?;
        Ok(Cuda { library })
    }

    pub(super) fn check(&self, call: &'static str, status: Status) -> Result<(), GpuError> {
        match status {
            0 => Ok(()),
            code => Err(GpuError::Cuda {
                call,
                code,
                name: self.error_name(code).unwrap_or_default(),
            }),
        }
    }

    fn error_name(&self, code: Status) -> Option<String> {
        let function = self.library.get(&ERROR_NAME).ok()?;
        let mut name: *const c_char = std::ptr::null();
        // SAFETY: writes a pointer to a text that lives as long as the library, or leaves it null.
        let status = unsafe { function(code, &raw mut name) };
        if status != 0 || name.is_null() {
            return None;
        }
        // SAFETY: the driver's names are constants that end in NUL.
        let name = unsafe { CStr::from_ptr(name) };
        Some(name.to_string_lossy().into_owned())
    }

    pub(in crate::gpu) fn init(&self) -> Result<(), GpuError> {
        call!(*self, INIT, 0)
    }

    /// 12040 is 12.4. Works before `init`.
    pub(in crate::gpu) fn version(&self) -> Result<u32, GpuError> {
        let mut version = 0;
        call!(*self, VERSION, &raw mut version)?;
        Ok(u32::try_from(version).unwrap_or(0))
    }

    pub(in crate::gpu) fn count(&self) -> Result<u32, GpuError> {
        let mut count = 0;
        call!(*self, COUNT, &raw mut count)?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    fn device(&self, index: u32) -> Result<c_int, GpuError> {
        let mut device = 0;
        let index = c_int::try_from(index).unwrap_or(c_int::MAX);
        call!(*self, DEVICE, &raw mut device, index)?;
        Ok(device)
    }

    pub(in crate::gpu) fn name(&self, index: u32) -> Result<String, GpuError> {
        let device = self.device(index)?;
        let mut buffer = [0_u8; 128];
        call!(*self, NAME, buffer.as_mut_ptr().cast(), 128, device)?;
        Ok(text(&buffer))
    }

    /// `0000:07:00.0`: CUDA counts its devices in another order than NVML, and may be shown fewer.
    pub(in crate::gpu) fn pci(&self, index: u32) -> Result<String, GpuError> {
        let device = self.device(index)?;
        let mut buffer = [0_u8; 64];
        call!(*self, PCI, buffer.as_mut_ptr().cast(), 64, device)?;
        Ok(text(&buffer))
    }

    pub(in crate::gpu) fn memory_total(&self, index: u32) -> Result<u64, GpuError> {
        let device = self.device(index)?;
        let mut bytes = 0_usize;
        call!(*self, TOTAL, &raw mut bytes, device)?;
        Ok(bytes as u64)
    }

    pub(in crate::gpu) fn capability(&self, index: u32) -> Result<(i32, i32), GpuError> {
        let device = self.device(index)?;
        let mut found = [0; 2];
        for (value, attribute) in found.iter_mut().zip(CAPABILITY) {
            call!(*self, ATTRIBUTE, &raw mut *value, attribute, device)?;
        }
        Ok((found[0], found[1]))
    }

    pub(in crate::gpu) fn multiprocessors(&self, index: u32) -> Result<u32, GpuError> {
        let device = self.device(index)?;
        let mut count = 0;
        call!(*self, ATTRIBUTE, &raw mut count, MULTIPROCESSORS, device)?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    pub(in crate::gpu) fn can_access_peer(&self, a: u32, b: u32) -> Result<bool, GpuError> {
        let (a, b) = (self.device(a)?, self.device(b)?);
        let mut can = 0;
        call!(*self, CAN_ACCESS, &raw mut can, a, b)?;
        Ok(can != 0)
    }
}

/// The primary context of a device with one stream and the kernels.
pub(in crate::gpu) struct Context {
    pub(super) cuda: Arc<Cuda>,
    device: c_int,
    pub(super) context: Raw,
    module: Raw,
    /// By [`Lane`].
    streams: [Raw; 2],
    pub(super) kernels: [Raw; 4],
}

const KERNELS: [&CStr; 4] = [
    c"lessee_fill",
    c"lessee_check",
    c"lessee_copy",
    c"lessee_add",
];

/// A stream of a context: what is asked of one is done in order, the two of them side by side.
#[derive(Clone, Copy)]
pub(in crate::gpu) enum Lane {
    Work,
    /// Copies to peers, while kernels run.
    Copies,
}

// SAFETY: contexts may be used from any thread as long as each makes it current before its calls, which every method
// does; the driver locks for itself.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// An argument of a kernel.
pub(super) enum Argument {
    Word(u32),
    Long(u64),
}

impl Context {
    /// Retains the context of a device, makes a stream and loads the kernels from PTX text.
    pub(in crate::gpu) fn new(
        cuda: &Arc<Cuda>,
        index: u32,
        ptx: &CStr,
    ) -> Result<Arc<Context>, GpuError> {
        let null = std::ptr::null_mut();
        let device = cuda.device(index)?;
        let mut made = Context {
            cuda: Arc::clone(cuda),
            device,
            context: null,
            module: null,
            streams: [null; 2],
            kernels: [null; 4],
        };
        // what fails from here on is undone by the drop of `made`
        call!(*cuda, RETAIN, &raw mut made.context, device)?;
        made.current()?;
        for stream in &mut made.streams {
            call!(*cuda, STREAM, &raw mut *stream, 1)?;
        }
        made.load(ptx)?;
        Ok(Arc::new(made))
    }

    fn load(&mut self, ptx: &CStr) -> Result<(), GpuError> {
        self.module = self.module_of(ptx)?;
        for (at, name) in KERNELS.iter().enumerate() {
            self.kernels[at] = self.function(self.module, name)?;
        }
        Ok(())
    }

    /// Has the driver compile PTX text for this device. The caller unloads it.
    pub(super) fn module_of(&self, ptx: &CStr) -> Result<Raw, GpuError> {
        self.current()?;
        let mut module = std::ptr::null_mut();
        let mut log = [0_u8; 2048];
        let mut names = JIT_ERROR_LOG;
        let mut values: [Raw; 2] = [
            log.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(2048),
        ];
        let loaded = call!(
            *self.cuda,
            LOAD,
            &raw mut module,
            ptx.as_ptr().cast(),
            2,
            names.as_mut_ptr(),
            values.as_mut_ptr()
        );
        if let Err(GpuError::Cuda { call, code, name }) = loaded {
            let said = text(&log);
            let first = said.lines().next().unwrap_or("");
            let name = match first.is_empty() {
                true => name,
                false => format!("{name}; {first}"),
            };
            return Err(GpuError::Cuda { call, code, name });
        }
        loaded.map(|()| module)
    }

    /// A kernel of a module by its name.
    pub(super) fn function(&self, module: Raw, name: &CStr) -> Result<Raw, GpuError> {
        let mut function = std::ptr::null_mut();
        call!(
            *self.cuda,
            FUNCTION,
            &raw mut function,
            module,
            name.as_ptr()
        )?;
        Ok(function)
    }

    pub(super) fn stream(&self, lane: Lane) -> Raw {
        self.streams[lane as usize]
    }

    pub(super) fn current(&self) -> Result<(), GpuError> {
        call!(*self.cuda, CURRENT, self.context)
    }

    /// Waits for all that was asked of the device.
    pub(super) fn synchronize(&self) -> Result<(), GpuError> {
        self.current()?;
        call!(*self.cuda, SYNCHRONIZE)
    }

    /// Free memory, bytes.
    pub(in crate::gpu) fn memory_free(&self) -> Result<u64, GpuError> {
        self.current()?;
        let (mut free, mut total) = (0, 0);
        call!(*self.cuda, MEM_INFO, &raw mut free, &raw mut total)?;
        Ok(free as u64)
    }

    /// Runs a kernel whose arguments these are, on so many blocks.
    pub(super) fn launch(
        &self,
        kernel: Raw,
        blocks: u32,
        arguments: &mut [Argument],
    ) -> Result<(), GpuError> {
        self.current()?;
        let mut pointers: Vec<Raw> = arguments
            .iter_mut()
            .map(|argument| match argument {
                Argument::Word(word) => (&raw mut *word).cast(),
                Argument::Long(long) => (&raw mut *long).cast(),
            })
            .collect();
        call!(
            *self.cuda,
            LAUNCH,
            kernel,
            blocks,
            1,
            1,
            THREADS,
            1,
            1,
            0,
            self.stream(Lane::Work),
            pointers.as_mut_ptr(),
            std::ptr::null_mut()
        )
    }

    /// Writes the pattern of `seed`, [`pattern`], over the whole buffer.
    pub(in crate::gpu) fn fill(&self, to: &DeviceBuffer, seed: u32) -> Result<(), GpuError> {
        self.launch(
            self.kernels[0],
            BLOCKS,
            &mut [
                Argument::Long(to.pointer),
                Argument::Long(to.words()),
                Argument::Word(seed),
            ],
        )
    }

    /// Counts the words that are not the pattern of `seed`, one counter a thread; `counters` must hold [`COUNTERS`]
    /// words.
    pub(in crate::gpu) fn check(
        &self,
        data: &DeviceBuffer,
        seed: u32,
        counters: &DeviceBuffer,
    ) -> Result<(), GpuError> {
        assert!(counters.bytes >= COUNTERS * 4, "one counter a thread");
        self.launch(
            self.kernels[1],
            BLOCKS,
            &mut [
                Argument::Long(data.pointer),
                Argument::Long(data.words()),
                Argument::Word(seed),
                Argument::Long(counters.pointer),
            ],
        )
    }

    /// Copies by a kernel, 16 bytes a step: what the memory of the device gives to a program.
    pub(in crate::gpu) fn copy_within(
        &self,
        to: &DeviceBuffer,
        from: &DeviceBuffer,
    ) -> Result<(), GpuError> {
        let steps = to.bytes.min(from.bytes) / 16;
        self.launch(
            self.kernels[2],
            BLOCKS,
            &mut [
                Argument::Long(to.pointer),
                Argument::Long(from.pointer),
                Argument::Long(steps as u64),
            ],
        )
    }

    /// Lets kernels and copies of this device reach the memory of the other one.
    pub(in crate::gpu) fn enable_peer(&self, other: &Context) -> Result<(), GpuError> {
        self.current()?;
        match call!(*self.cuda, ENABLE_PEER, other.context, 0) {
            Err(GpuError::Cuda {
                code: PEER_ALREADY_ENABLED,
                ..
            }) => Ok(()),
            other => other,
        }
    }

    /// Marks the place that the work has reached.
    pub(in crate::gpu) fn mark(self: &Arc<Context>) -> Result<Event, GpuError> {
        self.mark_on(Lane::Work)
    }

    pub(in crate::gpu) fn mark_on(self: &Arc<Context>, lane: Lane) -> Result<Event, GpuError> {
        self.current()?;
        let mut event = Event {
            context: Arc::clone(self),
            event: std::ptr::null_mut(),
        };
        call!(*self.cuda, EVENT, &raw mut event.event, 0)?;
        call!(*self.cuda, RECORD, event.event, self.stream(lane))?;
        Ok(event)
    }

    /// What is asked of the lane from here on begins no sooner than the event, of whichever device.
    pub(in crate::gpu) fn wait_for(&self, lane: Lane, event: &Event) -> Result<(), GpuError> {
        self.current()?;
        call!(*self.cuda, WAIT_EVENT, self.stream(lane), event.event, 0)
    }

    pub(in crate::gpu) fn device_buffer(
        self: &Arc<Context>,
        bytes: usize,
    ) -> Result<DeviceBuffer, GpuError> {
        self.current()?;
        let mut pointer = 0;
        call!(*self.cuda, ALLOC, &raw mut pointer, bytes)?;
        Ok(DeviceBuffer {
            context: Arc::clone(self),
            pointer,
            bytes,
        })
    }

    /// Pinned memory of the host, all zero.
    pub(in crate::gpu) fn host_buffer(
        self: &Arc<Context>,
        bytes: usize,
    ) -> Result<HostBuffer, GpuError> {
        self.current()?;
        let mut pointer = std::ptr::null_mut();
        call!(*self.cuda, ALLOC_HOST, &raw mut pointer, bytes)?;
        // SAFETY: the driver gave this many bytes, and nobody else has them yet; zeroed so that they may be read.
        unsafe { pointer.cast::<u8>().write_bytes(0, bytes) };
        Ok(HostBuffer {
            context: Arc::clone(self),
            pointer,
            bytes,
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // errors have nowhere to go here, and a device that failed cannot be tidied up
        let undo = || -> Result<(), GpuError> {
            self.current()?;
            for stream in self.streams.into_iter().filter(|s| !s.is_null()) {
                call!(*self.cuda, STREAM_DESTROY, stream)?;
            }
            if !self.module.is_null() {
                call!(*self.cuda, UNLOAD, self.module)?;
            }
            call!(*self.cuda, RELEASE, self.device)
        };
        if !self.context.is_null() {
            let _ = undo();
        }
    }
}

/// The word that belongs at a place: the same arithmetic as in `kernels/probe.cl`.
pub(in crate::gpu) fn pattern(at: u32, seed: u32) -> u32 {
    let mut x = at.wrapping_mul(0x9E37_79B1) ^ seed;
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^ (x >> 13)
}
