//! RunPod's GPU types: prices per GPU of the secure and the community cloud, multiplied out to machines
//! of 1, 2, 4 and 8 GPUs as far as the type allows.
//!
//! Traps: the price is per GPU; the two clouds have their own price and their own largest machine; a
//! query that fails comes back as HTTP 200 with `errors`; spot bids are floors and not taken.

use crate::http::shown;
use crate::identify::{bare_machine, complete, identify};
use crate::json::{Fields, Unreadable, bad_answer};
use crate::refresh::Session;
use crate::shelf::Priced;
use crate::skip::Skip;
use crate::{PriceApi, ProviderError};
use lessee_model::{Confidence, Fixed, GpuRef, Purchase};
use serde_json::{Value, json};

const PATH: &str = "/graphql";
const QUERY: &str = "query { gpuTypes { id displayName memoryInGb maxGpuCount \
    maxGpuCountSecureCloud maxGpuCountCommunityCloud secureCloud communityCloud \
    securePrice communityPrice \
    lowestPrice(input: { gpuCount: 1 }) { stockStatus minVcpu minMemory } } }";
/// The sizes in which machines are offered.
const COUNTS: [u16; 4] = [1, 2, 4, 8];

/// One of the two clouds: its word in our type names, and its fields.
const CLOUDS: [(&str, &str, &str, &str); 2] = [
    (
        "secure",
        "secureCloud",
        "securePrice",
        "maxGpuCountSecureCloud",
    ),
    (
        "community",
        "communityCloud",
        "communityPrice",
        "maxGpuCountCommunityCloud",
    ),
];

pub(crate) async fn fetch(api: &PriceApi, session: &mut Session<'_>) -> Result<(), ProviderError> {
    let url = session.http.url(PATH)?;
    let answer = session
        .http
        .post_json(&url, &json!({ "query": QUERY }))
        .await?;
    let from = shown(&url);
    let types = Fields::of(&answer)
        .and_then(|top| Fields::of(top.get("data")?))
        .and_then(|data| data.array("gpuTypes"));
    let Some(types) = types else {
        return Err(refusal(&answer, api, session, &from));
    };
    for value in types {
        let Some(fields) = Fields::of(value) else {
            session.shelf.skip(Skip::Unreadable, "gpuTypes");
            continue;
        };
        if let Err(Unreadable(field)) = take(fields, api, session) {
            session.shelf.skip(Skip::Unreadable, field);
        }
    }
    Ok(())
}

/// GraphQL says no with HTTP 200.
fn refusal(answer: &Value, api: &PriceApi, session: &Session<'_>, url: &str) -> ProviderError {
    let first = Fields::of(answer)
        .and_then(|top| top.array("errors")?.first())
        .and_then(Fields::of);
    let Some(first) = first else {
        return bad_answer(url, "data.gpuTypes", "a list is expected here");
    };
    let said = first.text("message").unwrap_or("?");
    let code = first.inner_text("extensions", "code").unwrap_or_default();
    let plain = said.to_ascii_lowercase();
    let about_key = ["UNAUTHENTICATED", "FORBIDDEN"].contains(&code)
        || ["unauthorized", "unauthenticated", "not authorized"]
            .iter()
            .any(|word| plain.contains(word));
    if about_key {
        ProviderError::Denied {
            url: url.to_owned(),
            status: 200,
            env: api.key_env,
        }
    } else {
        ProviderError::Refused {
            url: url.to_owned(),
            said: session.http.quote(said),
        }
    }
}

fn take(fields: Fields<'_>, api: &PriceApi, session: &mut Session<'_>) -> Result<(), Unreadable> {
    let id = fields.text("id").ok_or(Unreadable("id"))?;
    let display = fields.text("displayName").unwrap_or(id);
    let memory_gb = fields.number("memoryInGb").filter(|gb| *gb > 0.0);
    let Some(gpu) = identify(session.facts.gpus, &[id, display], memory_gb) else {
        session.shelf.skip(Skip::UnknownGpu, display);
        return Ok(());
    };
    let lowest = fields.get("lowestPrice").and_then(Fields::of);
    let stock = lowest.and_then(|l| l.text("stockStatus"));
    let note = format!("stockStatus={}", stock.unwrap_or("none"));
    let per_gpu = |field| lowest.and_then(|l| l.number(field)).filter(|x| *x > 0.0);
    let (vcpus, memory) = (per_gpu("minVcpu"), per_gpu("minMemory"));
    let overall = fields.count("maxGpuCount")?;
    for (word, offered, price_field, max_field) in CLOUDS {
        if fields.flag(offered) == Some(false) {
            continue;
        }
        let Some(price) = fields.amount(price_field)? else {
            continue;
        };
        if price.is_zero() {
            session.shelf.skip(Skip::ZeroPrice, display);
            continue;
        }
        let most = fields.count(max_field)?.or(overall).unwrap_or(1);
        for count in COUNTS.into_iter().filter(|count| *count <= most) {
            let instance_type = format!("{}-{word}-{count}x", type_name(&gpu));
            let mut machine = bare_machine(gpu.clone(), count);
            machine.vcpus = vcpus.map(|n| n as f32 * f32::from(count));
            machine.memory_gib = memory.map(|n| n as f32 * f32::from(count));
            machine.gpu_access = Some("container".into());
            // the least of the hosts in stock for one GPU, times the GPUs
            machine.host_confidence = Confidence::General;
            let machine = complete(machine, session.known(api, &instance_type));
            session.shelf.put(Priced {
                instance_type: &instance_type,
                region: "*",
                purchase: Purchase::OnDemand,
                usd_per_hour: price.times(Fixed::from_int(i64::from(count))),
                machine: &machine,
                note: Some(&note),
                why: None,
            });
        }
    }
    Ok(())
}

/// `H100-SXM-80GB`: RunPod names GPUs, not machines, so machines are named as in the built-in tables.
fn type_name(gpu: &GpuRef) -> String {
    let mut name = gpu.model.replace(' ', "-");
    if let Some(form) = gpu.form {
        name.push_str(&format!("-{form}"));
    }
    if let Some(gb) = gpu.memory_gb {
        name.push_str(&format!("-{gb}GB"));
    }
    name
}
