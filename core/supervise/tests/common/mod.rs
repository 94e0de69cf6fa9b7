//! Curves made from a seed, with what differs between machines drawn at random: the card, the sampler, the noise, the
//! columns that are there.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use lessee_supervise::curve::{GpuId, Label, Reading, Rules, Sample, Series, read};

pub fn rules() -> Rules {
    Rules::from_toml(include_str!("../../../../data/curve.toml")).unwrap()
}

/// Splitmix64: small, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn within(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.next() % from.len() as u64) as usize]
    }

    /// About normal, deviation 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// What a GPU does in a moment, before noise.
#[derive(Clone, Copy)]
pub struct Now {
    pub util: f64,
    pub traffic: f64,
    /// Share of the limit.
    pub power: f64,
    /// Share of the highest clock.
    pub clock: f64,
    pub rx: f64,
    pub core: f64,
    pub disk: f64,
    pub enc: f64,
}

pub const REST: Now = Now {
    util: 0.0,
    traffic: 0.0,
    power: 0.13,
    clock: 1.0,
    rx: 0.0,
    core: 20.0,
    disk: 0.0,
    enc: 0.0,
};

/// A card and a sampler.
pub struct Rig {
    pub r: Random,
    pub limit: f64,
    pub clock: f64,
    pub step: f64,
    pub mem_mib: f64,
    /// Share of samples that are lost.
    lost: f64,
    jitter: f64,
    start: f64,
    /// Columns that are left out.
    pub without: Vec<&'static str>,
}

impl Rig {
    pub fn new(seed: u64, steps: &[f64]) -> Rig {
        let mut r = Random(seed);
        Rig {
            limit: r.within(150.0, 1000.0).round(),
            clock: r.within(1300.0, 2800.0).round(),
            step: r.pick(steps),
            mem_mib: r.within(4000.0, 140_000.0),
            lost: r.pick(&[0.0, 0.0, 0.02]),
            jitter: r.pick(&[0.0, 0.05, 0.2]),
            start: r.pick(&[0.0, 0.0, 1.7e9, -50.0]),
            without: Vec::new(),
            r,
        }
    }

    /// Leaves each of these columns out with even chance.
    pub fn maybe_without(mut self, columns: &[&'static str]) -> Rig {
        for c in columns {
            if self.r.chance(0.5) {
                self.without.push(c);
            }
        }
        self
    }

    pub fn without(mut self, columns: &[&'static str]) -> Rig {
        self.without.extend(columns);
        self
    }

    /// First time of the samples.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Samples for so many seconds; `what` is asked with the time since the start.
    pub fn sample(
        &mut self,
        gpu: u32,
        seconds: f64,
        mut what: impl FnMut(&mut Random, f64) -> Now,
    ) -> Series {
        let mut samples = Vec::new();
        let mut t = 0.0;
        while t < seconds {
            let now = what(&mut self.r, t);
            if !self.r.chance(self.lost) {
                let s = self.noisy(t, now);
                samples.push(s);
            }
            t += self.step * (1.0 + self.jitter * self.r.within(-0.5, 0.5));
        }
        Series {
            gpu: GpuId::Index(gpu),
            samples,
        }
    }

    fn noisy(&mut self, t: f64, now: Now) -> Sample {
        let r = &mut self.r;
        let mut percent = |x: f64, sd: f64| {
            let noise = if x > 0.0 { sd * r.normal() } else { 0.0 };
            Some((x + noise).clamp(0.0, 100.0).round())
        };
        let util = percent(now.util, if now.util >= 99.0 { 0.0 } else { 1.0 });
        let traffic = percent(now.traffic, 1.0);
        let enc = percent(now.enc, 2.0);
        let core = percent(now.core, if now.core >= 99.0 { 0.0 } else { 2.0 });
        let has = |c: &str| !self.without.contains(&c);
        let power = now.power * self.limit * (1.0 + 0.008 * self.r.normal());
        Sample {
            t_s: self.start + t,
            util_gpu_pct: util.filter(|_| has("util")),
            util_mem_pct: traffic.filter(|_| has("traffic")),
            enc_pct: enc.filter(|_| has("enc")),
            power_w: Some(power).filter(|_| has("power")),
            power_limit_w: Some(self.limit).filter(|_| has("limit")),
            sm_clock_mhz: Some((now.clock * self.clock / 15.0).round() * 15.0)
                .filter(|_| has("clock")),
            mem_used_mib: Some(self.mem_mib).filter(|_| has("mem")),
            pcie_rx_mb_s: Some(now.rx * (1.0 + 0.1 * self.r.normal())).filter(|_| has("rx")),
            cpu_busiest_core_pct: core.filter(|_| has("core")),
            disk_write_mb_s: Some(now.disk * (1.0 + 0.1 * self.r.normal())).filter(|_| has("disk")),
            ..Sample::default()
        }
    }
}

/// A training step at full speed.
pub fn training(util: f64, traffic: f64, power: f64) -> Now {
    Now {
        util,
        traffic,
        power,
        clock: 1.0,
        rx: 300.0,
        core: 60.0,
        disk: 1.0,
        enc: 0.0,
    }
}

/// A kernel that waits.
pub fn spinning(power: f64) -> Now {
    Now {
        util: 100.0,
        traffic: 0.0,
        power,
        rx: 0.3,
        core: 99.0,
        ..REST
    }
}

pub const N: u64 = 200;
pub const EXTRAS: &[&str] = &["limit", "clock", "mem", "rx", "core", "disk", "enc"];

pub fn one(series: Series) -> Reading {
    read(&[series], &rules()).remove(0)
}

/// All seeds must get the label.
#[track_caller]
pub fn all(label: Label, make: impl Fn(u64) -> Series) {
    let wrong: Vec<String> = (0..N)
        .filter_map(|seed| {
            let r = one(make(seed));
            let what = || format!("seed {seed}: {:?} {:?} {:?}", r.label, r.confidence, r.why);
            (r.label != label).then(what)
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(8)]
    );
}

pub const STEPS: &[f64] = &[0.5, 1.0, 2.0, 5.0, 10.0, 30.0];
