//! Policies by name, ready to be replayed from many start ticks.

use crate::job::Job;
use crate::market::Market;
use crate::optimum::optimum_watched;
use crate::policy::lessee::{Lessee, Params, Tables};
use crate::policy::{
    CheapestSpot, Greedy, OnDemand, Policy, SkyNomad, SkyNomadSettings, TimeSliced,
    UniformBySwitching, UniformProgress,
};
use crate::replay::{Outcome, Rules, Step, replay_with};
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
#[derive(Debug)]
pub struct Runner<'a> {
    job: &'a Job,
    market: &'a Market,
    rules: Rules,
    tables: Arc<Tables>,
    skynomad: SkyNomadSettings,
}

impl<'a> Runner<'a> {
    /// For this job on this market; `params` from `data/spot.toml`.
    pub fn new(job: &'a Job, market: &'a Market, params: &Params) -> Runner<'a> {
        Runner::with(job, market, Arc::new(Tables::new(job, market, params)))
    }

    /// For this job on each of these markets. Decision tables are most of the time of a few replays: markets that look
    /// alike to them share them.
    pub fn each(
        job: &'a Job,
        markets: impl IntoIterator<Item = &'a Market>,
        params: &Params,
    ) -> Vec<Runner<'a>> {
        let mut made: Vec<Arc<Tables>> = Vec::new();
        let mut with_tables = |market: &'a Market| {
            let same = made.iter().find(|t| t.serve(market));
            let tables = same.cloned().unwrap_or_else(|| {
                let tables = Arc::new(Tables::new(job, market, params));
                made.push(Arc::clone(&tables));
                tables
            });
            Runner::with(job, market, tables)
        };
        markets.into_iter().map(&mut with_tables).collect()
    }

    fn with(job: &'a Job, market: &'a Market, tables: Arc<Tables>) -> Runner<'a> {
        Runner {
            job,
            market,
            rules: if market.zones.len() > 1 {
                Rules::ZONES
            } else {
                Rules::ONE_ZONE
            },
            tables,
            // its authors used one variant for list prices and one for a price per tick
            skynomad: if market
                .zones
                .iter()
                .all(|z| z.spot.windows(2).all(|w| w[0] == w[1]))
            {
                SkyNomadSettings::PLANNED_COST
            } else {
                SkyNomadSettings::RATE_RATIO
            },
        }
    }

    /// Replays one policy from market tick `start`, under the rules of the published simulators: one zone is seen
    /// each tick, several only by launching and probing.
    pub fn run(&self, name: PolicyName, start: usize) -> Outcome {
        self.watch(name, start, |_| {})
    }

    /// [`Runner::run`] with every tick.
    pub fn timeline(&self, name: PolicyName, start: usize) -> (Outcome, Vec<Step>) {
        let mut steps = Vec::new();
        let outcome = self.watch(name, start, |step| steps.push(step));
        (outcome, steps)
    }

    fn watch(&self, name: PolicyName, start: usize, mut watch: impl FnMut(Step)) -> Outcome {
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
                let mut policy = SkyNomad::new(self.skynomad);
                self.replay(start, &mut policy, watch)
            }
            PolicyName::CheapestSpot => self.replay(start, &mut CheapestSpot, watch),
            PolicyName::Optimum => {
                let plan = optimum_watched(self.job, self.market, start, &mut watch);
                // where nothing keeps the deadline, on-demand is least late
                plan.unwrap_or_else(|| self.replay(start, &mut OnDemand, watch))
            }
            PolicyName::Lessee => self.replay(start, &mut Lessee::new(&self.tables, zones), watch),
        }
    }

    fn replay(&self, start: usize, policy: &mut impl Policy, watch: impl FnMut(Step)) -> Outcome {
        replay_with(self.job, self.market, start, self.rules, policy, watch)
    }
}
