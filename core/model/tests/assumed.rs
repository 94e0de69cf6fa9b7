//! Every default that fills a gap is named as assumed, under a path and in words that a workload can hold.

use lessee_model::workload::{
    Defaults, ResolveContext, Workload, WorkloadError, apply_flag, checkpoint_bytes,
    parse_workload, resolve,
};
use lessee_model::{GpuTable, ModelTable};

const DEFAULTS: &str = include_str!("../../../data/defaults.toml");

fn defaults() -> Defaults {
    Defaults::from_toml(DEFAULTS).expect("defaults")
}

const LLM: &str = r#"
kind = "train"
[model]
kind = "llm"
params = "1B"
layers = 16
hidden = 2048
[train]
model = "custom"
tokens = "10B"
"#;

const VISION: &str = r#"
kind = "finetune"
[model]
kind = "vision"
params = "100M"
forward_gflops = 4.0
[finetune]
model = "custom"
samples = "1M"
method = "lora"
[data]
size = "150GB"
"#;

const SERVE: &str = r#"
kind = "serve"
[model]
params = "1B"
layers = 16
hidden = 2048
[serve]
model = "custom"
rate = 3.0
"#;

const RENDER: &str = r#"
kind = "render"
[render]
frames = 1000
seconds_per_frame = 60
blender_score = 5000
"#;

const SWEEP: &str = r#"
kind = "sweep"
[model]
kind = "vision"
params = "100M"
forward_gflops = 4.0
[sweep]
trials = 10
[sweep.trial]
model = "custom"
samples = "1M"
method = "qlora"
"#;

fn resolved(text: &str, flags: &[(String, String)]) -> Workload {
    try_resolve(text, flags).expect("workload")
}

fn try_resolve(text: &str, flags: &[(String, String)]) -> Result<Workload, WorkloadError> {
    let mut file = parse_workload(text, "w.toml").expect("file");
    for (field, value) in flags {
        file = apply_flag(file, field, value).unwrap_or_else(|e| panic!("{field} = {value}: {e}"));
    }
    let (gpus, models) = (GpuTable::default(), ModelTable::default());
    resolve(
        &file,
        ResolveContext {
            gpus: &gpus,
            models: &models,
            defaults: &defaults(),
            place: "w.toml",
            text,
            zone: &jiff::tz::TimeZone::UTC,
        },
    )
}

fn assumed(workload: &Workload, field: &str) -> Option<String> {
    workload
        .assumed
        .iter()
        .find(|a| a.field == field)
        .map(|a| a.value.clone())
}

#[test]
fn what_was_not_typed_is_listed() {
    let llm = resolved(LLM, &[]);
    for (field, value) in [
        ("data.location", "internet"),
        ("data.files", "20"),
        ("data.reads", "1"),
        ("data.out_to", "internet"),
        ("data.egress_used", "0GB"),
        ("checkpoint.keep_last", "3"),
        ("constraints.max_nodes", "16"),
        ("constraints.min_nodes", "1"),
        ("constraints.allow_unverified", "false"),
        ("setup.idle", "0s"),
        ("setup.stopped", "0s"),
        ("setup.support_wait_hours", "0"),
        ("money.tax", "0%"),
        ("money.exchange_fee", "0%"),
        ("money.commitment_reuse", "0%"),
        ("train.sharding", "auto"),
    ] {
        assert_eq!(assumed(&llm, field).as_deref(), Some(value), "{field}");
    }
    let lora = resolved(VISION, &[]);
    assert_eq!(assumed(&lora, "data.location").as_deref(), Some("office"));
    assert_eq!(assumed(&lora, "finetune.lora_rank").as_deref(), Some("16"));
    // what has no effect is not a thing to check
    let stays = resolved(LLM, &[("data.out".into(), "0GB".into())]);
    assert_eq!(assumed(&stays, "data.out_to"), None);
    assert_eq!(assumed(&stays, "train.lora_rank"), None);
}

/// The list is itself a workload: typed out, nothing is left to assume.
#[test]
fn typing_out_the_list_leaves_nothing_assumed() {
    for text in [LLM, VISION, SERVE, RENDER, SWEEP] {
        let first = resolved(text, &[]);
        let typed: Vec<(String, String)> = first
            .assumed
            .iter()
            .map(|a| (a.field.clone(), a.value.clone()))
            .collect();
        assert!(typed.len() > 20, "{typed:?}");
        let mut fields: Vec<&String> = typed.iter().map(|(field, _)| field).collect();
        fields.sort();
        fields.dedup();
        assert_eq!(fields.len(), typed.len(), "a field is listed twice");
        let second = resolved(text, &typed);
        assert_eq!(second.assumed, [], "left over");
        assert_eq!(second.constraints.max_nodes, first.constraints.max_nodes);
        assert_eq!(second.data.files, first.data.files);
        assert_eq!(second.data.location, first.data.location);
    }
}

/// Sizes of checkpoints come from the data file, not from code.
#[test]
fn bytes_per_parameter_are_data() {
    let train = |workload: &Workload| match &workload.job {
        lessee_model::workload::Job::Train(train) => train.clone(),
        other => panic!("{other:?}"),
    };
    let llm = train(&resolved(LLM, &[]));
    assert_eq!(checkpoint_bytes(&llm, &defaults()), 14e9);
    let other = Defaults::from_toml("[checkpoint]\nbytes_per_param_adamw = 12.0\n").expect("toml");
    assert_eq!(checkpoint_bytes(&llm, &other), 12e9);
    // adapters of a model whose shape is not known are a share of it
    let lora = train(&resolved(VISION, &[]));
    assert_eq!(checkpoint_bytes(&lora, &defaults()), 100e6 * 0.005 * 14.0);
}

#[test]
fn no_key_of_the_defaults_is_dead() {
    for dead in ["reads = ", "peak_share", "cpu_seconds_per"] {
        assert!(!DEFAULTS.contains(dead), "{dead}");
    }
}

#[test]
fn numbers_that_mean_nothing_are_refused_where_they_stand() {
    let base = "kind = \"finetune\"\n[finetune]\ntokens = \"1M\"\nmodel = \"custom\"\n";
    for (extra, line) in [
        ("global_batch = 0\n", 5),
        ("epochs = 1e300\n", 5),
        ("[constraints]\nmax_nodes = 0\n", 6),
        ("[constraints]\nmin_nodes = 1e9\n", 6),
        ("[checkpoint]\nevery = \"0s\"\n", 6),
        ("[setup]\nlabour_hours = 1e300\n", 6),
    ] {
        let text = format!("{base}{extra}[model]\nparams = 8e9\nlayers = 32\nhidden = 4096\n");
        let error = try_resolve(&text, &[]).expect_err(extra);
        assert_eq!(error.line.map(|(line, _)| line), Some(line), "{extra}");
    }
}
