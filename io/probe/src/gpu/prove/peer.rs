//! Copies from GPU to GPU: how fast, and whether what arrives is what was sent. Drivers that were modified to allow peer
//! access report it as fine and corrupt data; only the pattern shows it.

use super::copy::timed;
use super::kernel::{wait, wrong_words};
use super::step::{Deadline, Runner, Step};
use super::{Bench, Rate, Verified, measured};
use crate::gpu::sys::cuda::Cuda;
use crate::gpu::{GpuError, Seen};
use serde::Serialize;
use std::sync::Arc;

/// One direction of a pair.
#[derive(Clone, Debug, Serialize)]
pub struct PairProof {
    /// Indices in NVML where they are known, otherwise CUDA's.
    pub from: u32,
    pub to: u32,
    pub rate: Seen<Rate>,
    pub data: Seen<Verified>,
}

pub(super) fn pairs(
    runner: &mut Runner<'_>,
    cuda: &Arc<Cuda>,
    benches: &[(u32, Bench)],
) -> Vec<PairProof> {
    let mut all = Vec::new();
    for (a, from) in benches {
        for (b, to) in benches.iter().filter(|(b, _)| b != a) {
            let mut pair = PairProof {
                from: from.nvml.unwrap_or(*a),
                to: to.nvml.unwrap_or(*b),
                rate: Seen::unknown("not_tried", ""),
                data: Seen::unknown("not_tried", ""),
            };
            let (cuda, one, other) = (Arc::clone(cuda), from.clone(), to.clone());
            let (a, b) = (*a, *b);
            let tried = runner.run(Step::pair("peer_copies", a, b), move |deadline| {
                if !cuda.can_access_peer(a, b)? {
                    return Ok(None);
                }
                let seed = a.wrapping_mul(0x0101_0101) ^ b.wrapping_add(1);
                one_way(&one, &other, seed, deadline).map(Some)
            });
            match tried {
                Ok(Some((rate, data))) => {
                    pair.rate = measured(Ok(rate));
                    pair.data = measured(Ok(data));
                }
                Ok(None) => {
                    pair.rate = Seen::unknown("no_peer_access", "cuDeviceCanAccessPeer");
                    pair.data = Seen::unknown("no_peer_access", "cuDeviceCanAccessPeer");
                }
                Err(error) => {
                    pair.rate = Seen::without(&error);
                    pair.data = Seen::without(&error);
                }
            }
            all.push(pair);
        }
    }
    all
}

fn one_way(
    from: &Bench,
    to: &Bench,
    seed: u32,
    deadline: &Deadline,
) -> Result<(Rate, Verified), GpuError> {
    let bytes = from.options.peer_bytes;
    from.context.enable_peer(&to.context)?;
    let source = from.context.device_buffer(bytes)?;
    let target = to.context.device_buffer(bytes)?;
    from.context.fill(&source, seed)?;
    // what lies there before must not look like what is sent
    to.context.fill(&target, !seed)?;
    // the streams of two GPUs do not wait for each other
    wait(&to.context, deadline, "peer_copies")?;
    wait(&from.context, deadline, "peer_copies")?;
    let rate = timed(
        from,
        deadline,
        bytes,
        &mut || from.context.copy_to_peer(&target, &source),
        &mut || {},
    )?;
    wait(&from.context, deadline, "peer_copies")?;
    let wrong = wrong_words(&to.context, &target, seed, deadline)?;
    let words = (bytes / 4) as u64;
    Ok((rate, Verified { words, wrong }))
}
