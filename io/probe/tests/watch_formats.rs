//! Logs as their programs write them.

#![allow(clippy::unwrap_used)]

use lessee_probe_io::watch::{self, Format, Options, Recording, WatchError};
use lessee_supervise::curve::{GpuId, Sample};

fn read(text: &str) -> Recording {
    watch::read("log", text, &Options::default()).unwrap()
}

fn gpu(r: &Recording, i: usize) -> &[Sample] {
    &r.series[i].samples
}

fn times(r: &Recording, i: usize) -> Vec<f64> {
    gpu(r, i)
        .iter()
        .map(|s| (s.t_s * 1000.0).round() / 1000.0)
        .collect()
}

#[test]
fn dmon_with_dates_and_two_gpus() {
    let text = "\
#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk  pviol  tviol     fb   bar1  rxpci  txpci
#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %    MHz    MHz      %   bool     MB     MB   MB/s   MB/s
 20240908   23:59:58      0    301     60      -     97     41      0      0   1593   1410      0      0  70123      3    812     20
 20240908   23:59:58      1     55     30      -      0      0      0      0   1593    210      0      0      4      3      0      0
 20240909   00:00:03      0    305     60      -     98     42      0      0   1593   1300      0      1  70123      3    790     20
 20240909   00:00:03      1     55     30      -      0      0      0      0   1593    210      0      0      4      3      0      0
";
    let r = read(text);
    assert_eq!(r.format, Format::DmonText);
    assert_eq!(r.series.len(), 2);
    assert_eq!(times(&r, 0), [0.0, 5.0]);
    assert_eq!(r.start_s, Some(1_725_839_998.0));
    let s = gpu(&r, 0)[1];
    assert_eq!(
        (s.util_gpu_pct, s.util_mem_pct, s.power_w),
        (Some(98.0), Some(42.0), Some(305.0))
    );
    assert_eq!(
        (s.sm_clock_mhz, s.mem_used_mib, s.pcie_rx_mb_s),
        (Some(1300.0), Some(70123.0), Some(790.0))
    );
    assert_eq!((s.slowed, gpu(&r, 0)[0].slowed), (Some(true), Some(false)));
    assert_eq!(gpu(&r, 1)[0].util_gpu_pct, Some(0.0));
}

#[test]
fn dmon_with_times_over_midnight() {
    let text = "\
#Time        gpu     sm    mem
#HH:MM:SS    Idx      %      %
 23:59:59      0     97      -
 00:00:01      0     98      1
";
    let r = read(text);
    assert_eq!(times(&r, 0), [0.0, 2.0]);
    assert_eq!(gpu(&r, 0)[0].util_mem_pct, None);
}

#[test]
fn dmon_without_time_takes_the_interval_that_is_given() {
    let text = "# gpu     sm    mem\n# Idx      %      %\n    0     97     40\n    0     98     41\nhello\n";
    assert_eq!(times(&read(text), 0), [0.0, 1.0]);
    assert_eq!(read(text).assumed_step_s, Some(1.0));
    let options = Options {
        sample_s: Some(5.0),
        power_limit_w: Some(400.0),
    };
    let r = watch::read("log", text, &options).unwrap();
    assert_eq!(times(&r, 0), [0.0, 5.0]);
    assert_eq!(r.assumed_step_s, None);
    assert_eq!(gpu(&r, 0)[0].power_limit_w, Some(400.0));
    assert_eq!(r.not_understood, [(5, "hello".to_owned())]);
}

#[test]
fn pmon_adds_processes_up() {
    let text = "\
# gpu         pid   type     sm    mem    enc    dec    command
# Idx           #    C/G      %      %      %      %    name
    0        100     C     60      7      -      -    python train.py
    0        101     C     30      2      -      -    python
    1          -     -      -      -      -      -    -
    0        100     C     50      7      -      -    python train.py
    0        101     C      -      -      -      -    python
    1          -     -      -      -      -      -    -
";
    let r = read(text);
    assert_eq!(r.format, Format::PmonText);
    let utils: Vec<_> = gpu(&r, 0).iter().map(|s| s.util_gpu_pct).collect();
    assert_eq!(utils, [Some(90.0), Some(50.0)]);
    assert_eq!(gpu(&r, 1).len(), 2);
    assert_eq!(gpu(&r, 1)[0].util_gpu_pct, None);
}

#[test]
fn query_csv_with_units_and_gaps() {
    let text = "\
timestamp, index, name, utilization.gpu [%], utilization.memory [%], memory.used [MiB], power.draw [W], enforced.power.limit [W], clocks.sm [MHz], clocks_throttle_reasons.active
2024/09/08 14:51:04.123, 0, NVIDIA A100-SXM4-80GB, 97 %, 41 %, 70123 MiB, 301.22 W, 400.00 W, 1410 MHz, 0x0000000000000004
2024/09/08 14:51:04.125, 1, NVIDIA A100-SXM4-80GB, [N/A], [N/A], 4 MiB, [Unknown Error], 400.00 W, 210 MHz, 0x0000000000000040
2024/09/08 14:51:09.123, 0, NVIDIA A100-SXM4-80GB, 98 %, 42 %, 70123 MiB, 303.00 W, 400.00 W, 1410 MHz, Not Active
Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error
";
    let r = read(text);
    assert_eq!(r.format, Format::QueryCsv);
    assert_eq!(times(&r, 0), [0.0, 5.0]);
    let s = gpu(&r, 0)[0];
    assert_eq!(
        (s.util_gpu_pct, s.power_w, s.power_limit_w),
        (Some(97.0), Some(301.22), Some(400.0))
    );
    assert_eq!(
        (s.mem_used_mib, s.sm_clock_mhz, s.slowed),
        (Some(70123.0), Some(1410.0), Some(false))
    );
    let s = gpu(&r, 1)[0];
    assert_eq!(
        (s.util_gpu_pct, s.power_w, s.slowed),
        (None, None, Some(true))
    );
    assert_eq!(r.names, ["NVIDIA A100-SXM4-80GB"]);
    assert_eq!(r.skipped, 1);
}

#[test]
fn query_csv_of_gpus_that_take_turns() {
    let mut text = String::from("timestamp, utilization.gpu [%], power.draw [W]\n");
    for i in 0..6 {
        for g in 0..3 {
            text += &format!(
                "2024/09/08 14:51:{:02}.{:03}, {} %, 300 W\n",
                i * 5,
                100 + g * 4,
                10 * g
            );
        }
    }
    // cut off in the middle of a round
    text += "2024/09/08 14:51:30.100, 0 %, 300 W\n";
    let r = read(&text);
    assert_eq!(r.series.len(), 3);
    assert!(gpu(&r, 2).iter().all(|s| s.util_gpu_pct == Some(20.0)));
    assert_eq!(gpu(&r, 0).len(), 7);
    // one GPU sampled ten times a second is one
    let mut text = String::from("timestamp, utilization.gpu [%]\n");
    for i in 0..40 {
        text += &format!(
            "2024/09/08 14:51:{:02}.{:03}, 9 %\n",
            i / 10,
            100 * (i % 10) + i % 3
        );
    }
    assert_eq!(read(&text).series.len(), 1);
}

#[test]
fn query_csv_by_uuid() {
    let text = "timestamp, uuid, utilization.gpu [%]\n2024/09/08 14:51:04.123, GPU-aa, 7 %\n2024/09/08 14:51:04.125, GPU-bb, 8 %\n";
    let r = read(text);
    assert_eq!(r.series[1].gpu, GpuId::Name("GPU-bb".to_owned()));
}

#[test]
fn own_columns_with_holes_and_comments() {
    let text = "# from a paste\nt_s,gpu,util_gpu_pct,mem_used_bytes,cpu_busiest_core_pct\n0,0,5,1048576,99\n# later\n0,1,6,,-\n7.5,0,,2097152,nan\n";
    let r = read(text);
    assert_eq!(r.format, Format::Csv);
    assert_eq!(times(&r, 0), [0.0, 7.5]);
    assert_eq!(gpu(&r, 0)[1].util_gpu_pct, None);
    assert_eq!(gpu(&r, 0)[1].mem_used_mib, Some(2.0));
    assert_eq!(gpu(&r, 1)[0].cpu_busiest_core_pct, None);
}

#[test]
fn dcgmi() {
    let text = "\
#Entity   GPUTL       MCUTL       POWER       GRACT       TENSO       DRAMA       PCIRX
ID                                W
GPU 0     99          40          612.5       0.985       0.324       0.241       250000000
GPU 1     N/A         N/A         80.0        0.000       0.000       0.000       100
GPU-I 3   N/A         N/A         N/A         0.500       0.100       0.100       N/A
#Entity   GPUTL       MCUTL       POWER       GRACT       TENSO       DRAMA       PCIRX
ID                                W
GPU 0     98          41          612.5       0.985       0.324       0.241       250000000
";
    let r = read(text);
    assert_eq!(r.format, Format::DcgmiText);
    assert_eq!(r.series.len(), 3);
    let s = gpu(&r, 0)[0];
    assert_eq!((s.util_gpu_pct, s.power_w), (Some(99.0), Some(612.5)));
    assert_eq!(
        (s.tensor_active_pct, s.pcie_rx_mb_s),
        (Some(32.4), Some(250.0))
    );
    assert_eq!(gpu(&r, 1)[0].util_gpu_pct, None);
    assert_eq!(r.skipped, 0);
}

#[test]
fn exposition_scraped_twice() {
    let scrape = |u: f64| {
        format!(
            "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n\
             DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA \\\"H100\\\", 80GB\",Hostname=\"n1\"}} {u}\n\
             DCGM_FI_DEV_GPU_UTIL{{gpu=\"1\",UUID=\"GPU-b\",Hostname=\"n1\"}} 3\n\
             DCGM_FI_DEV_POWER_USAGE{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"}} 512.25\n\
             DCGM_FI_PROF_DRAM_ACTIVE{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"}} 0.25\n"
        )
    };
    let text = scrape(97.0) + &scrape(96.0);
    let options = Options {
        sample_s: Some(15.0),
        ..Options::default()
    };
    let r = watch::read("metrics", &text, &options).unwrap();
    assert_eq!(r.format, Format::PrometheusText);
    assert_eq!(times(&r, 0), [0.0, 15.0]);
    let s = gpu(&r, 0)[1];
    assert_eq!(
        (s.util_gpu_pct, s.power_w, s.dram_active_pct),
        (Some(96.0), Some(512.25), Some(25.0))
    );
    assert_eq!(gpu(&r, 1).len(), 2);
}

#[test]
fn exposition_of_the_other_exporter_with_times() {
    let text = "\
nvidia_smi_utilization_gpu_ratio{uuid=\"GPU-a\"} 0.97 1700000000000
nvidia_smi_power_draw_watts{uuid=\"GPU-a\"} 300 1700000000000
nvidia_smi_clocks_current_sm_clock_hz{uuid=\"GPU-a\"} 1.41e+09 1700000000000
nvidia_smi_utilization_gpu_ratio{uuid=\"GPU-a\"} 0.5 1700000030000
";
    let r = read(text);
    assert_eq!(times(&r, 0), [0.0, 30.0]);
    let s = gpu(&r, 0)[0];
    assert_eq!((s.util_gpu_pct, s.sm_clock_mhz), (Some(97.0), Some(1410.0)));
    assert_eq!(gpu(&r, 0)[1].power_w, None);
}

#[test]
fn range_query() {
    let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","instance":"a:9400"},"values":[[1700000000,"97"],[1700000015,"96"],[1700000060,"NaN"]]},
        {"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","instance":"b:9400"},"values":[[1700000000,"1"]]},
        {"metric":{"__name__":"DCGM_FI_DEV_FB_USED","gpu":"0","instance":"a:9400"},"values":[[1700000000,"70000"]]}]}}"#;
    let r = read(text);
    assert_eq!(r.format, Format::PrometheusJson);
    // two hosts: an index alone names no GPU
    assert_eq!(r.series.len(), 2);
    assert_eq!(times(&r, 0), [0.0, 15.0]);
    assert_eq!(gpu(&r, 0)[0].mem_used_mib, Some(70000.0));
}

#[test]
fn what_is_wrong_is_said() {
    let fail = |text: &str| watch::read("f", text, &Options::default()).unwrap_err();
    assert!(matches!(fail(""), WatchError::UnknownFormat { .. }));
    assert!(matches!(
        fail("a,b,c\n1,2,3\n"),
        WatchError::UnknownFormat { .. }
    ));
    assert!(matches!(
        fail("t_s,util_gpu_pct\n"),
        WatchError::NoSamples { .. }
    ));
    assert!(matches!(
        fail("{\"data\": ["),
        WatchError::Json { line: 1, .. }
    ));
    let unnamed = r#"{"data":{"result":[{"metric":{"gpu":"0"},"values":[[1,"2"]]}]}}"#;
    assert!(matches!(fail(unnamed), WatchError::NoMetric { .. }));
    let options = Options {
        sample_s: Some(f64::NAN),
        ..Options::default()
    };
    assert!(matches!(
        watch::read("f", "", &options),
        Err(WatchError::Interval { .. })
    ));
}

#[test]
fn the_power_limit_of_a_gpu_by_its_name() {
    use lessee_model::{Basis, Confidence, Form, GpuSpec, GpuTable, Provenance};
    let spec = |name: &str, form, tdp_w, mem_bw_gbs| GpuSpec {
        name: name.into(),
        model: "H100".into(),
        form,
        vendor: "NVIDIA".into(),
        arch: "Hopper".into(),
        compute_capability: None,
        memory_gb: 80.0,
        mem_bw_gbs: Some(mem_bw_gbs),
        fp16_tflops: None,
        bf16_tflops: None,
        fp8_tflops: None,
        int8_tops: None,
        fp4_tflops: None,
        fp32_tflops: None,
        tdp_w,
        link_total_bidir_gbs: None,
        pcie_gen: None,
        pcie_lanes: None,
        sm_count: None,
        rt_cores: None,
        usable_mib: None,
        why: Provenance::new(Basis::Published, Confidence::General, "test", None),
    };
    let table = GpuTable::new(
        vec![
            spec("H100-SXM5-80GB", Form::Sxm, Some(700.0), 3350.0),
            spec("H100-PCIe-80GB", Form::Pcie, Some(350.0), 2000.0),
        ],
        [],
    );
    assert_eq!(watch::power_limit(&table, "H100 SXM"), Ok(700.0));
    // the smaller of the two: a card is rather called powered than hung
    assert_eq!(watch::power_limit(&table, "H100"), Ok(350.0));
    let near = Some("H100".to_owned());
    let model = "H1000".to_owned();
    assert_eq!(
        watch::power_limit(&table, "H1000"),
        Err(WatchError::UnknownGpu { model, near })
    );
}
