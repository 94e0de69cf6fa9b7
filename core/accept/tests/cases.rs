//! Driver x GPU x need against verdicts worked out from first-party texts, one row a case; and what every machine must get.

use jiff::civil::date;
use lessee_accept::{
    Compat, Fault, Finding, Gpu, Machine, Need, Sources, Unreadable, Verdict, judge,
};

fn compat() -> Compat {
    macro_rules! table {
        ($name:literal) => {
            include_str!(concat!("../../../data/compat/", $name, ".csv"))
        };
    }
    Compat::read(&Sources {
        driver_branches: table!("driver_branches"),
        cuda_toolkits: table!("cuda_toolkits"),
        gpus: table!("gpus"),
        amd_gpus: table!("amd_gpus"),
        rocm: table!("rocm"),
        torch: table!("torch"),
        torch_archs: table!("torch_archs"),
        tensorflow: table!("tensorflow"),
        vllm: table!("vllm"),
        libraries: table!("libraries"),
        pairs: table!("pairs"),
        rules: table!("rules"),
    })
    .expect("the tables are whole")
}

fn machine(driver: &str, gpu: &str) -> Machine {
    Machine {
        driver: Some(driver.to_owned()).filter(|d| !d.is_empty()),
        gpus: vec![Gpu {
            name: Some(gpu.to_owned()),
            ..Gpu::default()
        }],
        ..Machine::default()
    }
}

fn judged(machine: &Machine, needs: &[&str]) -> Vec<Finding> {
    let needs: Vec<_> = needs
        .iter()
        .map(|n| ((*n).to_owned(), Need::parse(n)))
        .collect();
    judge(machine, &needs, &compat(), date(2026, 11, 30))
}

#[track_caller]
fn one<'a>(findings: &'a [Finding], need: &str) -> &'a Finding {
    let mut those = findings
        .iter()
        .filter(|f| f.rule == "need" && f.subject == need);
    let first = those.next().expect("a finding for the need");
    assert!(those.next().is_none(), "{need} has more than one finding");
    first
}

#[test]
fn the_table_of_cases_holds() {
    let mut reader = csv::Reader::from_reader(include_str!("cases.csv").as_bytes());
    let mut wrong = Vec::new();
    let mut counts = [0usize; 4];
    for row in reader.records() {
        let row = row.expect("a row");
        let cell = |at: usize| row.get(at).unwrap_or("");
        let (driver, gpu, need, printed) = (cell(0), cell(1), cell(2), cell(3));
        let mut machine = machine(driver, gpu);
        machine.printed_cuda = Some(printed.to_owned()).filter(|p| !p.is_empty());
        let findings = judged(&machine, &[need]);
        let found = one(&findings, need);
        let install = found.install.clone().unwrap_or_default();
        if found.verdict.as_str() != cell(4) || !install.contains(cell(5)) {
            wrong.push(format!(
                "{driver} | {gpu} | {need}: {found:?}, not {} {}",
                cell(4),
                cell(5)
            ));
        }
        assert!(!cell(6).is_empty(), "{need}: no source");
        counts[match cell(4) {
            "pass" => 0,
            "warn" => 1,
            "fail" => 2,
            _ => 3,
        }] += 1;
        if found.verdict == Verdict::Unknown {
            assert!(found.ask.is_some(), "{need}: no question");
        }
        if found.verdict != Verdict::Unknown {
            assert!(found.source.is_some() && found.as_of.is_some(), "{found:?}");
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        counts.iter().sum::<usize>() >= 60 && counts[..3].iter().all(|n| *n >= 10),
        "{counts:?}"
    );
}

#[test]
fn eight_gpus_without_a_fabric_manager_fail_whatever_is_needed() {
    let mut machine = machine("580.95.05", "NVIDIA H100 80GB HBM3");
    machine.gpus = vec![machine.gpus[0].clone(); 8];
    machine.captured = true;
    let unseen = judged(&machine, &["torch==2.11.0"]);
    assert_eq!(one(&unseen, "torch==2.11.0").verdict, Verdict::Pass);
    let fabric = |f: &[Finding]| f.iter().find(|f| f.rule == "fabric").map(|f| f.verdict);
    assert_eq!(fabric(&unseen), Some(Verdict::Warn));
    machine.faults = (0..8)
        .map(|i| Fault {
            code: "fabric_not_ready".to_owned(),
            subject: format!("GPU{i}"),
            detail: "fabric state In Progress".to_owned(),
        })
        .collect();
    let findings = judged(&machine, &["torch==2.11.0"]);
    assert_eq!(one(&findings, "torch==2.11.0").verdict, Verdict::Fail);
    assert_eq!(fabric(&findings), Some(Verdict::Fail));
    assert_eq!(findings.iter().filter(|f| f.rule == "fabric").count(), 1);
}

#[test]
fn what_cannot_be_read_is_never_a_pass() {
    let unreadable = Machine {
        unreadable: Some(Unreadable::NotRecognised),
        ..Machine::default()
    };
    let cut = Machine {
        faults: vec![Fault {
            code: "incomplete_capture".to_owned(),
            subject: "file".to_owned(),
            detail: "the text breaks off".to_owned(),
        }],
        ..machine("580.95.05", "NVIDIA H100 80GB HBM3")
    };
    for machine in [unreadable, cut] {
        let findings = judged(&machine, &["torch==2.11.0", "not a need"]);
        assert_eq!(one(&findings, "torch==2.11.0").verdict, Verdict::Unknown);
        assert_eq!(one(&findings, "not a need").verdict, Verdict::Unknown);
        assert!(findings.iter().any(|f| f.rule == "capture"));
    }
}

#[test]
fn of_several_gpus_the_one_that_cannot_decides() {
    let mut machine = machine("580.95.05", "NVIDIA A100-SXM4-80GB");
    machine.gpus.push(Gpu {
        name: Some("Tesla P100-PCIE-16GB".to_owned()),
        ..Gpu::default()
    });
    let findings = judged(&machine, &["torch==2.11.0"]);
    assert_eq!(one(&findings, "torch==2.11.0").verdict, Verdict::Fail);
}

#[test]
fn memory_is_explained_by_ecc_before_anything_is_missing() {
    let with = |have: u64, ecc: bool| {
        let mut machine = machine("580.95.05", "Tesla T4");
        machine.gpus[0].memory_mib = Some(have);
        machine.gpus[0].usual_mib = Some(15360);
        machine.gpus[0].ecc = Some(ecc);
        let findings = judged(&machine, &[]);
        findings
            .iter()
            .find(|f| f.rule == "memory")
            .map(|f| f.verdict)
    };
    assert_eq!(with(15360, true), None);
    assert_eq!(with(16384, false), Some(Verdict::Pass));
    assert_eq!(with(8192, true), Some(Verdict::Warn));
}

#[test]
fn a_branch_that_has_ended_is_said_with_what_to_ask_for() {
    let findings = judged(&machine("535.183.01", "NVIDIA A100-SXM4-80GB"), &[]);
    let ended = findings
        .iter()
        .find(|f| f.rule == "driver-support")
        .expect("said");
    assert_eq!(ended.verdict, Verdict::Warn);
    assert!(ended.ask.is_some());
    let fine = judged(&machine("580.95.05", "NVIDIA A100-SXM4-80GB"), &[]);
    assert!(fine.iter().all(|f| f.rule != "driver-support"));
}

#[test]
fn forward_compatibility_is_held_out_only_where_the_package_serves_the_branch() {
    let remark = |driver: &str, need: &str| {
        let findings = judged(&machine(driver, "Tesla T4"), &[need]);
        let found = findings.iter().find(|f| f.rule == "forward-compat");
        found.map(|f| (f.reason.id.to_string(), f.ask.is_some()))
    };
    let is = |id: &str, ask| Some((id.to_owned(), ask));
    assert_eq!(
        remark("450.80.02", "vllm"),
        is("accept-forward-too-old", false)
    );
    assert_eq!(
        remark("535.183.01", "torch==2.11.0"),
        is("accept-forward-may", false)
    );
    // no first-party list for that CUDA
    assert_eq!(
        remark("535.183.01", "torch==2.15.0"),
        is("accept-forward-unknown", true)
    );
}

#[test]
fn the_release_that_was_judged_is_named_where_the_need_leaves_it_open() {
    let named = |need: &str| {
        let findings = judged(&machine("580.95.05", "NVIDIA GH200 480GB"), &[need]);
        let reason = &one(&findings, need).reason;
        let judged = reason.args.iter().find(|(name, _)| name == "judged");
        judged.map(|(_, value)| format!("{value:?}"))
    };
    for (need, release) in [
        ("torch", "torch 2.15.0"),
        ("vllm", "vllm 0.33.0"),
        ("tensorflow", "tensorflow 2.21.0"),
        ("jax[cuda12]", "jax 0.10.2"),
        ("nccl", "nccl 2.32.3"),
        ("cuda>=12", "CUDA 13.5"),
        ("torch>=2.6,<2.9", "torch 2.8.0"),
    ] {
        let named = named(need);
        assert_eq!(named, Some(format!("Text({release:?})")), "{need}");
    }
    assert_eq!(named("torch==2.14.1"), None);
    assert_eq!(named("torch==2.14.1+cu126"), None);
}

#[test]
fn a_library_that_brings_no_cuda_is_not_said_to() {
    for need in ["cudnn==9.8", "nccl", "flash-attn==2.8.3"] {
        let findings = judged(&machine("580.95.05", "NVIDIA H100 80GB HBM3"), &[need]);
        let said = format!("{:?}", one(&findings, need).reason);
        assert!(!said.contains("accept-driver-"), "{need}: {said}");
    }
}
