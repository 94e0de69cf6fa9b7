#![allow(warnings)]
mod common;
use common::*;
use lessee_spot::policy::*;
use lessee_spot::*;
#[test]
fn dbg() {
    let mut m = v100(&V100_THREE);
    m.egress[1] = 0.01; m.egress[3] = 0.01;
    let mut job = Job::new(39.93888888888889, 59.90833333333333, 0.2).unwrap();
    job.checkpoint_gb = 50.0;
    for s in [5530, 15484] {
    let mut p = SkyNomad::new(SkyNomadSettings::RATE_RATIO);
    let mut last = policy::Running::Idle;
    let o = replay_with(&job, &m, s, Rules::ZONES, &mut p, |st| { if st.running != last || st.started { println!("{} {:?} left {:.3} preempted {} started {}", st.tick, st.running, st.left_ms as f64/3.6e6, st.preempted, st.started); last = st.running; } });
    println!("{o:#?}");
    }
}
