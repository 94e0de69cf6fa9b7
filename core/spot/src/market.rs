//! A market on the ticks of a replay: for each zone, what could be had and at what price.
//!
//! Not here: reading records and laying them on ticks, statistics.

/// Whether a zone could be had in one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Not available for the whole gang.
    Down,
    /// Available.
    Up,
    /// Nobody measured. A replay treats it as not available and says so.
    Unknown,
}

/// One zone of a market.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Name, unique in its market.
    pub name: String,
    /// Zones of one region exchange checkpoints free of charge.
    pub region: String,
    /// One entry a tick.
    pub cells: Vec<Cell>,
    /// Spot price of the whole gang in USD an hour, one entry a tick.
    pub spot: Vec<f64>,
    /// On-demand price of the whole gang in USD an hour.
    pub on_demand: f64,
}

/// Zones side by side on one grid of ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Market {
    /// Length of a tick in ms.
    pub gap_ms: i64,
    /// The zones.
    pub zones: Vec<Zone>,
    /// USD per GB from zone to zone, row by row; 0 inside a region.
    pub egress: Vec<f64>,
    /// Extra time of a start in another region: ms per GB, from zone to zone, row by row.
    pub transfer_ms_per_gb: Vec<f64>,
}

impl Market {
    /// Ticks that every zone covers.
    pub fn ticks(&self) -> usize {
        self.zones.iter().map(|z| z.cells.len()).min().unwrap_or(0)
    }

    /// USD to move one GB from zone `from` to zone `to`.
    pub fn egress(&self, from: usize, to: usize) -> f64 {
        self.egress[from * self.zones.len() + to]
    }

    /// Extra time of a start in zone `to` with a checkpoint of `gb` GB in zone `from`, in ms.
    pub fn transfer_ms(&self, from: usize, to: usize, gb: f64) -> i64 {
        (self.transfer_ms_per_gb[from * self.zones.len() + to] * gb).round() as i64
    }

    /// Whether a checkpoint in one zone is as good as in the other.
    pub(crate) fn near(&self, a: usize, b: usize) -> bool {
        let n = self.zones.len();
        let free = |i: usize| self.egress[i] == 0.0 && self.transfer_ms_per_gb[i] == 0.0;
        a == b || free(a * n + b) && free(b * n + a)
    }

    /// The same market with one price and one time for moving a GB between regions: USD and ms.
    pub fn with_transfer(mut self, usd_per_gb: f64, ms_per_gb: f64) -> Market {
        let n = self.zones.len();
        let apart = |i: usize| self.zones[i / n].region != self.zones[i % n].region;
        let between = |x: f64| {
            let each = (0..n * n).map(|i| if apart(i) { x } else { 0.0 });
            each.collect::<Vec<f64>>()
        };
        let (egress, times) = (between(usd_per_gb), between(ms_per_gb));
        self.egress = egress;
        self.transfer_ms_per_gb = times;
        self
    }
}
