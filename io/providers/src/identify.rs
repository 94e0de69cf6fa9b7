//! Which GPU a feed means. Names alone merge products (A100 of 40 and 80 GB), so the memory that the
//! feed states decides; a memory that no such GPU has makes the row unusable rather than wrong.

use lessee_model::gpu::same_memory;
use lessee_model::{AcceleratorClass, Confidence, Form, GpuRef, GpuTable, Interconnect, Machine};

/// The GPU behind the first of `names` that is known, narrowed down by the memory of one GPU in GB.
/// `None` if no name is known, or if no such GPU has that memory.
pub(crate) fn identify(gpus: &GpuTable, names: &[&str], memory_gb: Option<f64>) -> Option<GpuRef> {
    let named = names.iter().find_map(|name| gpus.resolve(name))?;
    let Some(memory_gb) = memory_gb else {
        return Some(named);
    };
    let matching: Vec<_> = gpus
        .specs
        .iter()
        .filter(|s| s.model == named.model && named.form.is_none_or(|f| f == s.form))
        .filter(|s| same_memory(s.memory_gb, memory_gb))
        .collect();
    let first = matching.first()?;
    let one_form = matching.iter().all(|s| s.form == first.form);
    let one_memory = matching.iter().all(|s| s.memory_gb == first.memory_gb);
    Some(GpuRef {
        model: named.model.clone(),
        form: if one_form {
            Some(first.form)
        } else {
            named.form
        },
        memory_gb: one_memory.then_some(first.memory_gb),
    })
}

/// A machine of which only the GPUs are known yet.
pub(crate) fn bare_machine(gpu: GpuRef, count: u16) -> Machine {
    let superchip = gpu.form == Some(Form::Superchip);
    Machine {
        class: AcceleratorClass::Gpu,
        gpu,
        gpu_count: count,
        gpu_fraction: 1.0,
        usable_mib_each: None,
        vcpus: None,
        memory_gib: None,
        local_disk_gb: None,
        network_gbps: None,
        interconnect: (count == 1).then_some(Interconnect::None),
        link_gbs: None,
        rdma: None,
        // Grace is the only host of a superchip
        arch: superchip.then(|| "arm64".into()),
        gpu_access: None,
        status: "current".into(),
        confidence: Confidence::Verified,
        host_confidence: Confidence::Verified,
    }
}

/// What the feed says, completed by what the catalog knows of the same type. A catalog entry with other
/// GPUs is another machine and is not used.
pub(crate) fn complete(feed: Machine, known: Option<Machine>) -> Machine {
    let Some(known) = known else {
        return feed;
    };
    let agree = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => same_memory(a, b),
        _ => true,
    };
    let same = known.gpu.model == feed.gpu.model
        && known.gpu_count == feed.gpu_count
        && (known.gpu.form.is_none() || feed.gpu.form.is_none() || known.gpu.form == feed.gpu.form)
        && agree(known.gpu.memory_gb, feed.gpu.memory_gb);
    if !same {
        return feed;
    }
    Machine {
        gpu: GpuRef {
            model: feed.gpu.model,
            form: feed.gpu.form.or(known.gpu.form),
            memory_gb: feed.gpu.memory_gb.or(known.gpu.memory_gb),
        },
        usable_mib_each: feed.usable_mib_each.or(known.usable_mib_each),
        vcpus: feed.vcpus.or(known.vcpus),
        memory_gib: feed.memory_gib.or(known.memory_gib),
        local_disk_gb: feed.local_disk_gb.or(known.local_disk_gb),
        network_gbps: feed.network_gbps.or(known.network_gbps),
        interconnect: feed.interconnect.or(known.interconnect),
        arch: feed.arch.or(known.arch),
        gpu_access: feed.gpu_access.or(known.gpu_access),
        ..known
    }
}
