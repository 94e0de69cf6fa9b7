mod common;
use common::*;
use lessee_model::workload::*;
use lessee_model::*;
use std::time::Instant;
#[test]
fn show() {
    let mut full = training("llama-3.1-8b", Method::Full, 4096.0); full.global_batch = Some(64.0);
    let jobs: Vec<(&str, Job)> = vec![
        ("full8b", Job::Train(full)),
        ("lora8b", Job::Train(training("llama-3.1-8b", Method::Lora, 4096.0))),
        ("1.3b", Job::Train(training("gpt3-1.3b", Method::Full, 2048.0))),
        ("resnet", Job::Train(training("resnet-50", Method::Full, 1.0))),
        ("sdxl", Job::Train(training("sdxl", Method::Full, 1.0))),
        ("serve8b", Job::Serve(serving("llama-3.1-8b", 1024.0, 256.0, 50.0))),
        ("serve70b", Job::Serve(serving("llama-3.1-70b", 1024.0, 256.0, 80.0))),
        ("mixtral", Job::Serve(serving("mixtral-8x7b", 1024.0, 256.0, 80.0))),
        ("hours", Job::Hours(HoursJob{gpu_hours:1.0,gpu:gpu("A100",Form::Sxm,80.0),gpus:64,memory:Bytes(1e9),leans_on:LeansOn::Balanced})),
    ];
    use Interconnect::*;
    for (n, job) in &jobs {
        for (g, c, l) in [("A100-SXM4-80GB",8u16,Nvswitch),("H100-SXM5-80GB",8,Nvswitch),("H100-SXM5-80GB",1,None),("B200-SXM-180GB",8,Nvswitch),("MI300X",8,Xgmi),("L40S",8,Pcie),("L40S",1,None),("RTX 4090",8,Pcie),("L4",1,None),("A10G",4,Pcie),("T4",4,Pcie),("V100-SXM2-16GB",8,Nvlink),("K80 (per GK210 half)",8,Pcie)] {
            let m = machine(g, c, l);
            let t = Instant::now();
            for _ in 0..50 { let _ = run(job, &m, 1); }
            let us = t.elapsed().as_secs_f64()*1e6/50.0;
            match run(job, &m, 1) {
                Ok(p) => println!("{n:8} {g:22}x{c} {:12.4} [{:.3e} {:.3e}] {:?} tp{} z{} ck{} b{:.0} tpot {:?} {us:.1}us {:?}", p.per_second, p.low, p.high, p.bound_by, p.layout.tensor_parallel, p.layout.zero_stage, p.layout.activation_checkpointing, p.layout.batch, p.seconds_per_output_token, p.notes.iter().map(|n|n.id.to_string()).collect::<Vec<_>>()),
                Err(e) => println!("{n:8} {g:22}x{c} {} {:?} {us:.1}us", e.code, e.needed_bytes),
            }
        }
    }
}
