//! The kernels: the committed PTX is that of the source, assembles for every card, and the source computes what the host
//! expects (OpenCL on the processor). What is missing on this machine is skipped with its reason, and fails in CI.
#![allow(
    unsafe_code,
    reason = "OpenCL's launches and copies are unsafe to call"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests stop at the first surprise too, and say what is skipped"
)]

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_uint, cl_ulong};
use std::path::PathBuf;
use std::process::Command;

const GRID: usize = 4096;
const GROUP: usize = 64;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// A tool that is missing.
fn skip(what: &str) {
    let ci = std::env::var("CI").is_ok_and(|v| v == "true" || v == "1");
    assert!(!ci, "{what}: needed in CI");
    eprintln!("skipped: {what}");
}

fn there(tool: &str) -> bool {
    Command::new(tool)
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success())
}

#[test]
fn the_committed_ptx_is_that_of_the_source() {
    if !there("clang-14") {
        // in CI too: newer systems do not have it, and its absence harms nobody who does not change the kernels
        eprintln!("skipped: clang-14 is not installed, which wrote the committed text");
        return;
    }
    let check = Command::new(folder().join("build.sh"))
        .arg("--check")
        .env("CLANG", "clang-14")
        .output()
        .unwrap();
    assert!(
        check.status.success(),
        "run io/probe/kernels/build.sh: {}",
        String::from_utf8_lossy(&check.stdout)
    );
}

/// NVIDIA's assembler, which is not free to ship.
fn ptxas() -> Option<String> {
    let named = std::env::var("PTXAS").ok();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let peers = Command::new(root.join("testkit/peers.sh"))
        .arg("where")
        .output()
        .ok();
    let python = peers.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    // `python` is a link to a file: nothing lies "above" it but its folder
    let lib = python.and_then(|p| Some(root.join(p).parent()?.parent()?.join("lib")));
    let versions = lib
        .and_then(|l| std::fs::read_dir(l).ok())
        .into_iter()
        .flatten()
        .flatten();
    let wheels = versions.map(|v| v.path().join("site-packages/nvidia/cuda_nvcc/bin/ptxas"));
    let wheels = wheels.map(|p| p.to_string_lossy().into_owned());
    named
        .into_iter()
        .chain(["ptxas".to_owned()])
        .chain(wheels)
        .find(|p| there(p))
}

#[test]
fn the_ptx_assembles_for_every_card() {
    let Some(ptxas) = ptxas() else {
        return skip(
            "ptxas is neither named by PTXAS, nor on the PATH, nor installed by testkit/peers.sh",
        );
    };
    let out = tempfile::tempdir().unwrap();
    let all = ["70", "75", "80", "86", "89", "90", "100", "120"];
    for (text, cards) in [
        ("probe.ptx", &all[..]),
        ("mma_f16.ptx", &all[..]),
        ("mma_bf16.ptx", &all[2..]),
    ] {
        for card in cards {
            let run = Command::new(&ptxas)
                .arg(format!("-arch=sm_{card}"))
                .arg(folder().join(text))
                .arg("-o")
                .arg(out.path().join("cubin"))
                .output()
                .unwrap();
            assert!(
                run.status.success(),
                "{text} sm_{card}: {}",
                String::from_utf8_lossy(&run.stderr)
            );
        }
    }
}

struct Cl {
    context: Context,
    queue: CommandQueue,
    program: Program,
}

fn opencl() -> Option<Cl> {
    let ids = match opencl3::device::get_all_devices(CL_DEVICE_TYPE_ALL) {
        Ok(ids) if !ids.is_empty() => ids,
        _ => {
            skip("no OpenCL device: pocl-opencl-icd gives the processor as one");
            return None;
        }
    };
    let context = Context::from_device(&Device::new(ids[0])).unwrap();
    // SAFETY: the context is a live one with this one device.
    let queue = unsafe { CommandQueue::create(&context, ids[0], 0) }.unwrap();
    let source = std::fs::read_to_string(folder().join("probe.cl")).unwrap();
    let program =
        Program::create_and_build_from_source(&context, &source, "-cl-std=CL1.2").unwrap();
    Some(Cl {
        context,
        queue,
        program,
    })
}

impl Cl {
    fn buffer(&self, words: &[u32]) -> Buffer<cl_uint> {
        let null = std::ptr::null_mut();
        // SAFETY: no host pointer is given.
        let mut buffer =
            unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, words.len(), null) }.unwrap();
        // SAFETY: the buffer holds as many words, and the copy is over when this returns.
        unsafe {
            self.queue
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, words, &[])
        }
        .unwrap();
        buffer
    }

    fn words(&self, buffer: &Buffer<cl_uint>, n: usize) -> Vec<u32> {
        let mut words = vec![0; n];
        // SAFETY: the buffer holds as many words, and the copy is over when this returns.
        unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut words, &[])
        }
        .unwrap();
        words
    }

    fn run(&self, kernel: &str, set: impl FnOnce(&mut ExecuteKernel<'_>)) {
        let kernel = Kernel::create(&self.program, kernel).unwrap();
        let mut execute = ExecuteKernel::new(&kernel);
        set(&mut execute);
        execute
            .set_global_work_size(GRID)
            .set_local_work_size(GROUP);
        // SAFETY: the arguments are those of the kernel, buffers as long as the counts say.
        unsafe { execute.enqueue_nd_range(&self.queue) }.unwrap();
        self.queue.finish().unwrap();
    }
}

/// As the host of the probe computes it.
fn pattern(at: u32, seed: u32) -> u32 {
    let mut x = at.wrapping_mul(0x9E37_79B1) ^ seed;
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^ (x >> 13)
}

#[test]
fn the_source_fills_checks_and_copies() {
    let Some(cl) = opencl() else {
        return;
    };
    // no multiple of the grid, and more than it
    let n = 3 * GRID + 68;
    let (seed, long) = (0x5EED_0001_u32, n as cl_ulong);
    let data = cl.buffer(&vec![7; n]);
    cl.run("lessee_fill", |k| {
        // SAFETY: kinds and order are those of the kernel.
        unsafe { k.set_arg(&data).set_arg(&long).set_arg(&seed) };
    });
    let mut words = cl.words(&data, n);
    let right: Vec<u32> = (0..n as u32).map(|i| pattern(i, seed)).collect();
    assert_eq!(words, right);

    let wrong = |data: &Buffer<cl_uint>| -> u32 {
        let counters = cl.buffer(&vec![u32::MAX; GRID]);
        cl.run("lessee_check", |k| {
            // SAFETY: as above; one counter a thread.
            unsafe {
                k.set_arg(data)
                    .set_arg(&long)
                    .set_arg(&seed)
                    .set_arg(&counters)
            };
        });
        cl.words(&counters, GRID).iter().sum()
    };
    assert_eq!(wrong(&data), 0);
    words[n - 1] ^= 1;
    words[5] ^= 1 << 31;
    assert_eq!(wrong(&cl.buffer(&words)), 2);

    let to = cl.buffer(&vec![0; n]);
    // all but the last 16 bytes
    let steps = (n / 4 - 1) as cl_ulong;
    cl.run("lessee_copy", |k| {
        // SAFETY: as above.
        unsafe { k.set_arg(&to).set_arg(&data).set_arg(&steps) };
    });
    let copied = cl.words(&to, n);
    assert_eq!(copied[..n - 4], right[..n - 4]);
    assert_eq!(copied[n - 4..], [0; 4]);

    // a sum, and what takes it apart again
    for (factor, wanted) in [
        (3, right.iter().map(|w| w.wrapping_mul(4)).collect()),
        (u32::MAX, vec![0; n]),
    ] {
        let (sum, part) = (cl.buffer(&right), cl.buffer(&right));
        cl.run("lessee_add", |k| {
            // SAFETY: as above.
            unsafe {
                k.set_arg(&sum)
                    .set_arg(&part)
                    .set_arg(&long)
                    .set_arg(&(factor as cl_uint))
            };
        });
        assert_eq!(cl.words(&sum, n), wanted);
    }
}
