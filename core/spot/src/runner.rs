//! Policies by name, ready to be replayed from many start ticks.

use crate::job::Job;
use crate::market::Market;
use crate::optimum::{optimum, plan};
use crate::policy::lessee::{Lessee, Tables, Zones};
use crate::policy::{
    CheapestSpot, Choice, Greedy, Now, OnDemand, Policy, Running, SkyNomad, SkyNomadSettings,
    TimeSliced, UniformBySwitching, UniformProgress,
};
use crate::replay::{Guard, Outcome, Rules, Step, replay_with};
use std::str::FromStr;
use std::sync::Arc;

/// The policies, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum PolicyName {
    OnDemand,
    Greedy,
    TimeSliced,
    UniformProgress,
    SkyNomad,
    CheapestSpot,
    Optimum,
    Lessee,
}

impl PolicyName {
    /// All of them.
    pub const ALL: [PolicyName; 8] = [
        PolicyName::OnDemand,
        PolicyName::Greedy,
        PolicyName::TimeSliced,
        PolicyName::UniformProgress,
        PolicyName::SkyNomad,
        PolicyName::CheapestSpot,
        PolicyName::Optimum,
        PolicyName::Lessee,
    ];

    /// Its name on the command line and in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyName::OnDemand => "on-demand",
            PolicyName::Greedy => "greedy",
            PolicyName::TimeSliced => "time-sliced",
            PolicyName::UniformProgress => "uniform-progress",
            PolicyName::SkyNomad => "skynomad",
            PolicyName::CheapestSpot => "cheapest-spot",
            PolicyName::Optimum => "optimum",
            PolicyName::Lessee => "lessee",
        }
    }
}

/// No policy has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no policy {0:?}")]
pub struct UnknownPolicy(pub String);

impl FromStr for PolicyName {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<PolicyName, UnknownPolicy> {
        let found = PolicyName::ALL.iter().find(|p| p.as_str() == text);
        found.copied().ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}

/// Hours of a slice of [`PolicyName::TimeSliced`], as in the published comparison.
const SLICE_H: f64 = 1.0;

/// Replays of one job on one market. Start ticks can be spread over threads.
pub struct Runner<'a> {
    job: &'a Job,
    market: &'a Market,
    rules: Rules,
    tables: Arc<Tables>,
}

impl<'a> Runner<'a> {
    /// For this job on this market.
    pub fn new(job: &'a Job, market: &'a Market) -> Runner<'a> {
        let first = &market.zones[0];
        let spot = first.spot.iter().copied().find(|p| p.is_finite());
        let spot = spot.unwrap_or(first.on_demand);
        Runner {
            job,
            market,
            rules: if market.zones.len() > 1 {
                Rules::ZONES
            } else {
                Rules::ONE_ZONE
            },
            tables: Tables::new(job, market.gap_ms, spot, first.on_demand, 4, 4.0),
        }
    }

    /// Replays one policy from market tick `start`, under the rules of the published simulators: one zone is seen
    /// each tick, several only by launching and probing.
    pub fn run(&self, name: PolicyName, start: usize) -> Outcome {
        if name == PolicyName::Optimum {
            return optimum(self.job, self.market, start).unwrap_or_default();
        }
        self.watch(name, start, |_| {})
    }

    /// [`Runner::run`] with every tick.
    pub fn timeline(&self, name: PolicyName, start: usize) -> (Outcome, Vec<Step>) {
        let mut steps = Vec::new();
        let outcome = self.watch(name, start, |step| steps.push(step));
        (outcome, steps)
    }

    fn watch(&self, name: PolicyName, start: usize, watch: impl FnMut(Step)) -> Outcome {
        let zones = self.market.zones.len();
        match name {
            PolicyName::OnDemand => self.replay(start, &mut OnDemand, watch),
            PolicyName::Greedy => self.replay(start, &mut Greedy, watch),
            PolicyName::TimeSliced => self.replay(start, &mut TimeSliced::new(SLICE_H), watch),
            PolicyName::UniformProgress if zones > 1 => {
                self.replay(start, &mut UniformBySwitching::default(), watch)
            }
            PolicyName::UniformProgress => self.replay(start, &mut UniformProgress, watch),
            PolicyName::SkyNomad => {
                let mut policy = SkyNomad::new(SkyNomadSettings::PLANNED_COST);
                self.replay(start, &mut policy, watch)
            }
            PolicyName::CheapestSpot => self.replay(start, &mut CheapestSpot, watch),
            PolicyName::Optimum => self.optimum(start, watch),
            PolicyName::Lessee if zones > 1 => {
                let mut policy = Zones::new(Arc::clone(&self.tables), zones);
                self.replay(start, &mut policy, watch)
            }
            PolicyName::Lessee => {
                self.replay(start, &mut Lessee::new(Arc::clone(&self.tables)), watch)
            }
        }
    }

    fn optimum(&self, start: usize, watch: impl FnMut(Step)) -> Outcome {
        let Some(outcome) = optimum(self.job, self.market, start) else {
            return Outcome::default();
        };
        let mut script = Script(plan(self.job, self.market, start).unwrap_or_default());
        let rules = Rules {
            guard: Guard::Off,
            open: true,
            probe_s: 0.0,
        };
        replay_with(self.job, self.market, start, rules, &mut script, watch);
        outcome
    }

    fn replay(&self, start: usize, policy: &mut impl Policy, watch: impl FnMut(Step)) -> Outcome {
        replay_with(self.job, self.market, start, self.rules, policy, watch)
    }
}

struct Script(Vec<Running>);

impl Policy for Script {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        out.push(match self.0.get(now.tick as usize) {
            Some(Running::Spot(zone)) => Choice::Spot(*zone),
            Some(Running::OnDemand(zone)) => Choice::OnDemand(*zone),
            _ => Choice::Idle,
        });
    }
}
