//! Which GPU a draft speaks of, its memory compared with what is known of the card.

use super::ask::{self, Ask};
use super::settle::{Doc, Draft, Found, one};
use lessee_model::GpuRef;
use lessee_model::gpu::same_memory;

/// The GPU, its memory compared with what is known of it.
pub(crate) fn gpu(
    draft: &Draft,
    doc: &Doc<'_>,
    found: &mut Found,
    confirm: &mut Vec<Ask>,
) -> Option<GpuRef> {
    let f = &draft.facts;
    if f.memory_conflict {
        found.ask(draft, ask::memory_conflict());
        return None;
    }
    if f.memory_unread {
        found.ask(draft, ask::memory_unreadable());
        return None;
    }
    let mut gpu = match f.gpus.as_slice() {
        [gpu] => gpu.clone(),
        [] => {
            let name = f
                .modelish
                .clone()
                .unwrap_or_else(|| draft.gpu_text.trim().to_owned());
            let service = draft.item
                && f.modelish.is_none()
                && !super::header::any(&name.to_lowercase(), &["gpu", "显卡", "算力"]);
            if f.not_machine || service {
                if draft.in_table {
                    found.ask(draft, ask::not_a_machine());
                } else {
                    found.ignored_lines += 1;
                }
            } else if name.is_empty() {
                found.ask(draft, ask::gpu_missing());
            } else {
                let name = super::fold::clip_bytes(&name, 60);
                let ask = Ask::new("gpu_unknown", "quote-why-gpu-unknown").arg("name", name);
                let suggestion = doc.names.suggest(name).unwrap_or("-");
                found.ask(draft, ask.arg("suggestion", suggestion));
            }
            return None;
        }
        _ => {
            found.ask(draft, ask::gpu_several());
            return None;
        }
    };
    let specs = || {
        doc.names
            .gpus
            .specs
            .iter()
            .filter(|s| s.model == gpu.model && gpu.form.is_none_or(|form| form == s.form))
    };
    if let Some(stated) = f.gpu_memory_gb {
        let count = one(&f.counts).unwrap_or(1);
        let known = specs().map(|s| s.memory_gb);
        let each = known
            .clone()
            .find(|gb| same_memory(*gb, stated))
            .or_else(|| {
                // 640 GB of eight cards is the sum
                known
                    .clone()
                    .find(|gb| count > 1 && same_memory(*gb * f64::from(count), stated))
            });
        match each {
            Some(gb) if gpu.memory_gb.is_none_or(|own| own == gb) => gpu.memory_gb = Some(gb),
            _ => {
                let ask = Ask::new("memory_mismatch", "quote-why-memory-mismatch")
                    .arg("gpu", gpu.to_string())
                    .arg("stated", stated);
                found.ask(draft, ask);
                return None;
            }
        }
    }
    if gpu.memory_gb.is_none() {
        // the form may settle it: an H100 on PCIe has 80 GB
        let mut sizes = specs().map(|s| s.memory_gb);
        let first = sizes.next();
        let settled = first.filter(|gb| sizes.all(|other| other == *gb));
        gpu.memory_gb = settled;
    }
    let specs = || {
        doc.names
            .gpus
            .specs
            .iter()
            .filter(|s| s.model == gpu.model && gpu.form.is_none_or(|form| form == s.form))
    };
    if gpu.memory_gb.is_none() {
        let mut sizes: Vec<String> = specs().map(|s| format!("{} GB", s.memory_gb)).collect();
        sizes.dedup();
        sizes.sort();
        sizes.dedup();
        confirm.push(
            Ask::new("gpu_ambiguous", "quote-why-gpu-ambiguous")
                .arg("gpu", gpu.model.to_string())
                .arg("sizes", sizes.join(", ")),
        );
    }
    // memory may settle the form: 94 GB is the NVL card
    if gpu.form.is_none()
        && let Some(gb) = gpu.memory_gb
    {
        let mut forms = specs().filter(|s| s.memory_gb == gb).map(|s| s.form);
        let first = forms.next();
        gpu.form = first.filter(|form| forms.all(|other| other == *form));
    }
    Some(gpu)
}
