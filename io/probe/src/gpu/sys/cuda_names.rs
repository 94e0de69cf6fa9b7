//! The functions of `libcuda.so.1` by name and signature, from the public header `cuda.h`. Names are those of the exports:
//! `_v2` where the header's macro says so.

use super::Symbol;
use std::ffi::{c_char, c_float, c_int, c_uint, c_void};

pub(super) type Status = c_uint;
pub(super) type Raw = *mut c_void;
pub(super) type Init = unsafe extern "C" fn(c_uint) -> Status;
pub(super) type IntOut = unsafe extern "C" fn(*mut c_int) -> Status;
pub(super) type IntByInt = unsafe extern "C" fn(*mut c_int, c_int) -> Status;
pub(super) type Attribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> Status;
pub(super) type DeviceText = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> Status;
pub(super) type SizeByInt = unsafe extern "C" fn(*mut usize, c_int) -> Status;
pub(super) type Retain = unsafe extern "C" fn(*mut Raw, c_int) -> Status;
pub(super) type ByInt = unsafe extern "C" fn(c_int) -> Status;
pub(super) type OnRaw = unsafe extern "C" fn(Raw) -> Status;
pub(super) type Plain = unsafe extern "C" fn() -> Status;
pub(super) type RawFlags = unsafe extern "C" fn(Raw, c_uint) -> Status;
pub(super) type NewRaw = unsafe extern "C" fn(*mut Raw, c_uint) -> Status;
pub(super) type LoadModule =
    unsafe extern "C" fn(*mut Raw, *const c_void, c_uint, *mut c_int, *mut Raw) -> Status;
pub(super) type GetFunction = unsafe extern "C" fn(*mut Raw, Raw, *const c_char) -> Status;
pub(super) type Alloc = unsafe extern "C" fn(*mut u64, usize) -> Status;
pub(super) type Free = unsafe extern "C" fn(u64) -> Status;
pub(super) type AllocHost = unsafe extern "C" fn(*mut Raw, usize) -> Status;
pub(super) type MemInfo = unsafe extern "C" fn(*mut usize, *mut usize) -> Status;
pub(super) type ToDevice = unsafe extern "C" fn(u64, *const c_void, usize, Raw) -> Status;
pub(super) type ToHost = unsafe extern "C" fn(Raw, u64, usize, Raw) -> Status;
pub(super) type PeerCopy = unsafe extern "C" fn(u64, Raw, u64, Raw, usize, Raw) -> Status;
pub(super) type Launch = unsafe extern "C" fn(
    Raw,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    Raw,
    *mut Raw,
    *mut Raw,
) -> Status;
pub(super) type Record = unsafe extern "C" fn(Raw, Raw) -> Status;
pub(super) type WaitEvent = unsafe extern "C" fn(Raw, Raw, c_uint) -> Status;
pub(super) type Elapsed = unsafe extern "C" fn(*mut c_float, Raw, Raw) -> Status;
pub(super) type CanAccess = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> Status;
pub(super) type ErrorName = unsafe extern "C" fn(Status, *mut *const c_char) -> Status;

pub(super) const INIT: Symbol<Init> = Symbol::new("cuInit");
pub(super) const VERSION: Symbol<IntOut> = Symbol::new("cuDriverGetVersion");
pub(super) const COUNT: Symbol<IntOut> = Symbol::new("cuDeviceGetCount");
pub(super) const DEVICE: Symbol<IntByInt> = Symbol::new("cuDeviceGet");
pub(super) const ATTRIBUTE: Symbol<Attribute> = Symbol::new("cuDeviceGetAttribute");
pub(super) const NAME: Symbol<DeviceText> = Symbol::new("cuDeviceGetName");
pub(super) const PCI: Symbol<DeviceText> = Symbol::new("cuDeviceGetPCIBusId");
pub(super) const TOTAL: Symbol<SizeByInt> = Symbol::new("cuDeviceTotalMem_v2");
pub(super) const RETAIN: Symbol<Retain> = Symbol::new("cuDevicePrimaryCtxRetain");
pub(super) const RELEASE: Symbol<ByInt> = Symbol::new("cuDevicePrimaryCtxRelease_v2");
pub(super) const CURRENT: Symbol<OnRaw> = Symbol::new("cuCtxSetCurrent");
pub(super) const SYNCHRONIZE: Symbol<Plain> = Symbol::new("cuCtxSynchronize");
pub(super) const ENABLE_PEER: Symbol<RawFlags> = Symbol::new("cuCtxEnablePeerAccess");
pub(super) const LOAD: Symbol<LoadModule> = Symbol::new("cuModuleLoadDataEx");
pub(super) const FUNCTION: Symbol<GetFunction> = Symbol::new("cuModuleGetFunction");
pub(super) const UNLOAD: Symbol<OnRaw> = Symbol::new("cuModuleUnload");
pub(super) const ALLOC: Symbol<Alloc> = Symbol::new("cuMemAlloc_v2");
pub(super) const FREE: Symbol<Free> = Symbol::new("cuMemFree_v2");
pub(super) const ALLOC_HOST: Symbol<AllocHost> = Symbol::new("cuMemAllocHost_v2");
pub(super) const FREE_HOST: Symbol<OnRaw> = Symbol::new("cuMemFreeHost");
pub(super) const MEM_INFO: Symbol<MemInfo> = Symbol::new("cuMemGetInfo_v2");
pub(super) const TO_DEVICE: Symbol<ToDevice> = Symbol::new("cuMemcpyHtoDAsync_v2");
pub(super) const TO_HOST: Symbol<ToHost> = Symbol::new("cuMemcpyDtoHAsync_v2");
pub(super) const PEER_COPY: Symbol<PeerCopy> = Symbol::new("cuMemcpyPeerAsync");
pub(super) const LAUNCH: Symbol<Launch> = Symbol::new("cuLaunchKernel");
pub(super) const STREAM: Symbol<NewRaw> = Symbol::new("cuStreamCreate");
pub(super) const STREAM_DESTROY: Symbol<OnRaw> = Symbol::new("cuStreamDestroy_v2");
pub(super) const WAIT_EVENT: Symbol<WaitEvent> = Symbol::new("cuStreamWaitEvent");
pub(super) const EVENT: Symbol<NewRaw> = Symbol::new("cuEventCreate");
pub(super) const EVENT_DESTROY: Symbol<OnRaw> = Symbol::new("cuEventDestroy_v2");
pub(super) const RECORD: Symbol<Record> = Symbol::new("cuEventRecord");
pub(super) const QUERY: Symbol<OnRaw> = Symbol::new("cuEventQuery");
pub(super) const ELAPSED: Symbol<Elapsed> = Symbol::new("cuEventElapsedTime");
pub(super) const CAN_ACCESS: Symbol<CanAccess> = Symbol::new("cuDeviceCanAccessPeer");
pub(super) const ERROR_NAME: Symbol<ErrorName> = Symbol::new("cuGetErrorName");

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
pub(super) const CAPABILITY: [c_int; 2] = [75, 76];
/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`.
pub(super) const MULTIPROCESSORS: c_int = 16;
pub(super) const NOT_READY: u32 = 600;
pub(super) const PEER_ALREADY_ENABLED: u32 = 704;
/// `CU_JIT_ERROR_LOG_BUFFER` and its size.
pub(super) const JIT_ERROR_LOG: [c_int; 2] = [5, 6];
