//! Which offers a probe report speaks for. One that names an offer speaks for it alone; another for machines of so many of
//! the same GPU.

use crate::rank::Plan;
use crate::records::Heard;
use lessee_model::{Catalog, GpuTable, Machine, Offer, ProbeReport};

/// Whether the GPUs of a report are those of a machine, whatever their number.
pub fn same_gpu(report: &ProbeReport, machine: &Machine, gpus: &GpuTable) -> bool {
    let first = report.gpus.first();
    let gpu = first.and_then(|g| gpus.resolve(&g.name));
    gpu.is_some_and(|gpu| {
        let forms = gpu.form.zip(machine.gpu.form);
        gpu.model == machine.gpu.model && forms.is_none_or(|(a, b)| a == b)
    })
}

pub(crate) fn speaks_for(
    report: &ProbeReport,
    machine: &Machine,
    offer: Option<&Offer>,
    gpus: &GpuTable,
) -> bool {
    match (&report.offer, offer) {
        (Some(named), Some(offer)) => {
            let key = offer.key();
            *named == key || *named == format!("{}/{}", offer.provider, offer.instance_type)
        }
        (Some(_), None) => false,
        (None, _) => {
            report.gpus.len() == usize::from(machine.gpu_count) && same_gpu(report, machine, gpus)
        }
    }
}

/// What became of a report in a plan.
pub fn measured_heard<'a>(
    report: &ProbeReport,
    plan: &Plan,
    catalog: &'a Catalog,
    gpus: &GpuTable,
) -> Heard<'a> {
    let speaks = |o: &Offer| speaks_for(report, catalog.machine(o), Some(o), gpus);
    let shown = |offer: usize| speaks(&catalog.offers[offer]);
    if plan.options.iter().any(|option| shown(option.offer)) {
        return Heard::Shown;
    }
    let first = catalog.offers.iter().find(|o| speaks(o));
    first.map_or(Heard::Nowhere, Heard::Hidden)
}
