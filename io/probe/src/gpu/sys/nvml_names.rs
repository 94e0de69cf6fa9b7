//! The functions of `libnvidia-ml.so.1` by name, signature and structure, from the public header `nvml.h`. Names are those
//! of the exports (`_v2`, `_v3`).

use super::Symbol;
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

pub(super) type Handle = *mut c_void;
pub(super) type Status = c_uint;
pub(super) type Plain = unsafe extern "C" fn() -> Status;
pub(super) type SystemText = unsafe extern "C" fn(*mut c_char, c_uint) -> Status;
pub(super) type SystemInt = unsafe extern "C" fn(*mut c_int) -> Status;
pub(super) type SystemUint = unsafe extern "C" fn(*mut c_uint) -> Status;
pub(super) type ByIndex = unsafe extern "C" fn(c_uint, *mut Handle) -> Status;
pub(super) type DeviceText = unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> Status;
pub(super) type DeviceUint = unsafe extern "C" fn(Handle, *mut c_uint) -> Status;
pub(super) type DeviceU64 = unsafe extern "C" fn(Handle, *mut c_ulonglong) -> Status;
pub(super) type DeviceTwo = unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint) -> Status;
pub(super) type DeviceTwoInts = unsafe extern "C" fn(Handle, *mut c_int, *mut c_int) -> Status;
pub(super) type DeviceFour =
    unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint) -> Status;
pub(super) type DeviceBy = unsafe extern "C" fn(Handle, c_uint, *mut c_uint) -> Status;
pub(super) type DeviceEcc =
    unsafe extern "C" fn(Handle, c_uint, c_uint, *mut c_ulonglong) -> Status;
pub(super) type DeviceList =
    unsafe extern "C" fn(Handle, c_uint, *mut c_uint, *mut c_ulonglong) -> Status;
pub(super) type DeviceProcesses = unsafe extern "C" fn(Handle, *mut c_uint, *mut c_void) -> Status;
pub(super) type DeviceMemory = unsafe extern "C" fn(Handle, *mut Memory) -> Status;
pub(super) type DeviceMemory2 = unsafe extern "C" fn(Handle, *mut Memory2) -> Status;
pub(super) type DevicePci = unsafe extern "C" fn(Handle, *mut Pci) -> Status;
pub(super) type DeviceLinkPci = unsafe extern "C" fn(Handle, c_uint, *mut Pci) -> Status;
pub(super) type DeviceShares = unsafe extern "C" fn(Handle, *mut Shares) -> Status;
pub(super) type DeviceFabric = unsafe extern "C" fn(Handle, *mut Fabric) -> Status;
pub(super) type DeviceHeat = unsafe extern "C" fn(Handle, *mut Heat) -> Status;
pub(super) type Pair = unsafe extern "C" fn(Handle, Handle, *mut c_uint) -> Status;
pub(super) type PairBy = unsafe extern "C" fn(Handle, Handle, c_uint, *mut c_uint) -> Status;

#[repr(C)]
#[derive(Default)]
pub(super) struct Memory {
    pub(super) total: u64,
    pub(super) free: u64,
    pub(super) used: u64,
}

#[repr(C)]
#[derive(Default)]
pub(super) struct Memory2 {
    pub(super) version: c_uint,
    pub(super) total: u64,
    pub(super) reserved: u64,
    pub(super) free: u64,
    pub(super) used: u64,
}

/// `nvmlPciInfo_t` since its third version; the second differs in what is reserved at the end.
#[repr(C)]
#[derive(Default)]
pub(super) struct Pci {
    pub(super) bus_id_legacy: [u8; 16],
    pub(super) domain: c_uint,
    pub(super) bus: c_uint,
    pub(super) device: c_uint,
    pub(super) device_id: c_uint,
    pub(super) subsystem_id: c_uint,
    pub(super) bus_id: [u8; 32],
    /// Room behind the structure, in case a driver knows more than its header.
    pub(super) spare: [u64; 4],
}

#[repr(C)]
#[derive(Default)]
pub(super) struct Fabric {
    pub(super) cluster: [u8; 16],
    pub(super) status: c_uint,
    pub(super) clique: c_uint,
    pub(super) state: u8,
    pub(super) spare: [u64; 2],
}

#[repr(C)]
#[derive(Default)]
pub(super) struct Heat {
    pub(super) version: c_uint,
    pub(super) sensor: c_uint,
    pub(super) celsius: c_int,
}

/// `nvmlUtilization_t`, percent.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(in crate::gpu) struct Shares {
    pub(in crate::gpu) gpu: c_uint,
    pub(in crate::gpu) memory: c_uint,
}

/// A function that gives a number of a device.
pub(in crate::gpu) struct UintOf(pub(super) Symbol<DeviceUint>);
/// A function that gives a number of a device by a selector: a link, a clock, a sensor.
pub(in crate::gpu) struct UintBy(pub(super) Symbol<DeviceBy>);
/// A function that gives a share in percent of a device, and over how many microseconds it was taken.
pub(in crate::gpu) struct ShareOf(pub(super) Symbol<DeviceTwo>);
/// A function that gives a text of a device.
pub(in crate::gpu) struct TextOf(pub(super) Symbol<DeviceText>);
/// A function that gives a text of the system.
pub(in crate::gpu) struct SystemTextOf(pub(super) Symbol<SystemText>);

macro_rules! names {
    ($($shape:ident: $($constant:ident = $name:literal),+;)+) => {
        $($(pub(in crate::gpu) const $constant: $shape = $shape(Symbol::new($name));)+)+
    };
}

names! {
    SystemTextOf:
        DRIVER_VERSION = "nvmlSystemGetDriverVersion",
        NVML_VERSION = "nvmlSystemGetNVMLVersion";
    TextOf:
        NAME = "nvmlDeviceGetName",
        UUID = "nvmlDeviceGetUUID",
        SERIAL = "nvmlDeviceGetSerial";
    UintOf:
        LINK_GEN = "nvmlDeviceGetCurrPcieLinkGeneration",
        LINK_WIDTH = "nvmlDeviceGetCurrPcieLinkWidth",
        LINK_GEN_MAX = "nvmlDeviceGetMaxPcieLinkGeneration",
        LINK_WIDTH_MAX = "nvmlDeviceGetMaxPcieLinkWidth",
        LINK_GEN_CARD = "nvmlDeviceGetGpuMaxPcieLinkGeneration",
        VIRTUALIZATION = "nvmlDeviceGetVirtualizationMode",
        POWER = "nvmlDeviceGetPowerUsage",
        POWER_LIMIT = "nvmlDeviceGetEnforcedPowerLimit",
        POWER_LIMIT_DEFAULT = "nvmlDeviceGetPowerManagementDefaultLimit",
        RETIRED_PENDING = "nvmlDeviceGetRetiredPagesPendingStatus";
    ShareOf:
        ENCODER = "nvmlDeviceGetEncoderUtilization",
        DECODER = "nvmlDeviceGetDecoderUtilization";
    UintBy:
        CLOCK = "nvmlDeviceGetClockInfo",
        CLOCK_MAX = "nvmlDeviceGetMaxClockInfo",
        TEMPERATURE = "nvmlDeviceGetTemperature",
        PCIE_THROUGHPUT = "nvmlDeviceGetPcieThroughput",
        NVLINK_STATE = "nvmlDeviceGetNvLinkState",
        NVLINK_VERSION = "nvmlDeviceGetNvLinkVersion",
        NVLINK_REMOTE_TYPE = "nvmlDeviceGetNvLinkRemoteDeviceType";
}

pub(super) const INIT: Symbol<Plain> = Symbol::new("nvmlInit_v2");
pub(super) const SHUTDOWN: Symbol<Plain> = Symbol::new("nvmlShutdown");
pub(super) const CUDA_VERSION: Symbol<SystemInt> = Symbol::new("nvmlSystemGetCudaDriverVersion_v2");
pub(super) const CUDA_VERSION_1: Symbol<SystemInt> = Symbol::new("nvmlSystemGetCudaDriverVersion");
pub(super) const COUNT: Symbol<SystemUint> = Symbol::new("nvmlDeviceGetCount_v2");
pub(super) const BY_INDEX: Symbol<ByIndex> = Symbol::new("nvmlDeviceGetHandleByIndex_v2");
pub(super) const SHARES: Symbol<DeviceShares> = Symbol::new("nvmlDeviceGetUtilizationRates");
pub(super) const MEMORY_2: Symbol<DeviceMemory2> = Symbol::new("nvmlDeviceGetMemoryInfo_v2");
pub(super) const MEMORY: Symbol<DeviceMemory> = Symbol::new("nvmlDeviceGetMemoryInfo");
pub(super) const PCI: Symbol<DevicePci> = Symbol::new("nvmlDeviceGetPciInfo_v3");
pub(super) const ECC_MODE: Symbol<DeviceTwo> = Symbol::new("nvmlDeviceGetEccMode");
pub(super) const ECC_TOTAL: Symbol<DeviceEcc> = Symbol::new("nvmlDeviceGetTotalEccErrors");
pub(super) const REMAPPED: Symbol<DeviceFour> = Symbol::new("nvmlDeviceGetRemappedRows");
pub(super) const RETIRED: Symbol<DeviceList> = Symbol::new("nvmlDeviceGetRetiredPages");
pub(super) const MIG: Symbol<DeviceTwo> = Symbol::new("nvmlDeviceGetMigMode");
pub(super) const EVENTS: Symbol<DeviceU64> = Symbol::new("nvmlDeviceGetCurrentClocksEventReasons");
pub(super) const THROTTLE: Symbol<DeviceU64> =
    Symbol::new("nvmlDeviceGetCurrentClocksThrottleReasons");
pub(super) const CAPABILITY: Symbol<DeviceTwoInts> =
    Symbol::new("nvmlDeviceGetCudaComputeCapability");
pub(super) const PROCESSES: [Symbol<DeviceProcesses>; 3] = [
    Symbol::new("nvmlDeviceGetComputeRunningProcesses_v3"),
    Symbol::new("nvmlDeviceGetComputeRunningProcesses_v2"),
    Symbol::new("nvmlDeviceGetComputeRunningProcesses"),
];
pub(super) const LINK_REMOTE: Symbol<DeviceLinkPci> =
    Symbol::new("nvmlDeviceGetNvLinkRemotePciInfo_v2");
pub(super) const FABRIC: Symbol<DeviceFabric> = Symbol::new("nvmlDeviceGetGpuFabricInfo");
pub(super) const HEAT: Symbol<DeviceHeat> = Symbol::new("nvmlDeviceGetTemperatureV");
pub(super) const P2P: Symbol<PairBy> = Symbol::new("nvmlDeviceGetP2PStatus");
pub(super) const ANCESTOR: Symbol<Pair> = Symbol::new("nvmlDeviceGetTopologyCommonAncestor");
