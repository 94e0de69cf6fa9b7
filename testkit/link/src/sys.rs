//! The two questions to the kernel that no safe function asks. The only file here with `unsafe`.
#![allow(unsafe_code)]

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::os::fd::OwnedFd;

/// `TUNSETIFF` of `linux/if_tun.h`: `_IOW('T', 202, int)`.
const TUNSETIFF: Opcode = 0x4004_54ca;
/// Packets as they are, without a header of the device.
const IFF_TUN_NO_PI: u16 = 0x1001;
const NAME: usize = 16;

/// `struct ifreq` as `TUNSETIFF` reads it.
#[repr(C)]
struct Request {
    name: [u8; NAME],
    flags: u16,
    rest: [u8; 22],
}

/// Moves the calling thread, and what it starts, into a new and empty network.
pub(crate) fn leave_network() -> io::Result<()> {
    // SAFETY: only the network namespace is left; descriptors and memory stay shared as they are.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(io::Error::from)
}

/// A TUN device of this name in the network of the calling thread; it is gone when the descriptor is closed.
pub(crate) fn tun(name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let device = open("/dev/net/tun", flags, Mode::empty())?;
    let mut request = Request {
        name: [0; NAME],
        flags: IFF_TUN_NO_PI,
        rest: [0; 22],
    };
    // the last byte stays 0
    let own = name.as_bytes().get(..name.len().min(NAME - 1));
    for (to, from) in request.name.iter_mut().zip(own.unwrap_or_default()) {
        *to = *from;
    }
    // SAFETY: the operation reads and writes one `ifreq`, whose size and layout on Linux `Request` has (40 bytes on
    // 64-bit machines); the borrow ends with the call.
    let done: Result<(), Errno> = unsafe {
        ioctl(
            &device,
            Updater::<{ TUNSETIFF }, Request>::new(&mut request),
        )
    };
    done?;
    Ok(device)
}
