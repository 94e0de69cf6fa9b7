//! One file a format, and the list of them: a new one is one file here, one variant of [`Format`] and one line
//! of [`REGISTRY`].

mod availability_csv;
mod availability_json;
mod aws_advisor;
mod aws_history;
mod azure_spot;
mod egress;
mod gcp_price;
mod keep_alive;
mod node_counts;
mod node_events;
mod plain;
mod price_summary;
mod probe_counts;
mod probe_round;
mod stored;
mod tick_prices;

pub(crate) use stored::Header;

use crate::source::Source;
use crate::{Options, Read, TraceError};

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $key:literal in $module:ident),+ $(,)?) => {
        /// The formats that can be read; the documentation of each is in `docs/reference/traces.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Format {
            $($(#[$doc])* $name),+
        }

        impl Format {
            /// All, in the order in which they are tried.
            pub const ALL: &'static [Format] = &[$(Format::$name),+];

            /// As `--format` spells it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Format::$name => $key),+
                }
            }
        }

        /// All importers; the first whose `looks` holds reads a file.
        pub(crate) const REGISTRY: &[Importer] = &[
            $(Importer { format: Format::$name, looks: $module::looks, read: $module::read }),+
        ];
    };
}

/// How one format is recognised and read.
pub(crate) struct Importer {
    format: Format,
    looks: fn(&Source) -> bool,
    read: fn(&Source, &Options) -> Result<Read, TraceError>,
}

formats! {
    /// As `lessee trace import` keeps it.
    Stored = "stored" in stored,
    /// Our own `time,zone,available[,price]`.
    Plain = "plain" in plain,
    /// `tick,utc,ZONE,...` of launch probes.
    ProbeCounts = "probe-counts" in probe_counts,
    /// `date,availability`, with `spot_prices.json` beside it.
    AvailabilityCsv = "availability-csv" in availability_csv,
    /// `{metadata, data}` of either polarity, with prices or without.
    AvailabilityJson = "availability-json" in availability_json,
    /// One round of a prober with `zone_results`.
    ProbeRound = "probe-round" in probe_round,
    /// Zone -> prices by index.
    TickPrices = "tick-prices" in tick_prices,
    /// One row a zone: least, mean and greatest price.
    PriceSummary = "price-summary" in price_summary,
    /// Answer of `aws ec2 describe-spot-price-history`.
    AwsHistory = "aws-price-history" in aws_history,
    /// AWS Spot Advisor.
    AwsAdvisor = "aws-advisor" in aws_advisor,
    /// Azure Resource Graph, table SpotResources.
    AzureSpot = "azure-spot" in azure_spot,
    /// List price of a machine by part.
    GcpPrice = "gcp-price" in gcp_price,
    /// Price of data between regions.
    Egress = "egress" in egress,
    /// `ms,add|remove,node`.
    NodeEvents = "node-events" in node_events,
    /// `ms,nodes`.
    NodeCounts = "node-counts" in node_counts,
    /// Log of a script that keeps instances alive.
    KeepAlive = "keep-alive" in keep_alive,
}

impl std::str::FromStr for Format {
    type Err = ();
    fn from_str(text: &str) -> Result<Format, ()> {
        Format::ALL
            .iter()
            .find(|f| f.as_str() == text)
            .copied()
            .ok_or(())
    }
}

pub(crate) fn import(source: &Source, options: &Options) -> Result<Read, TraceError> {
    let importer = match options.format {
        Some(named) => REGISTRY.iter().find(|i| i.format == named),
        None => REGISTRY.iter().find(|i| (i.looks)(source)),
    };
    match importer {
        Some(importer) if (importer.looks)(source) => (importer.read)(source, options),
        Some(importer) => Err(TraceError::NotThisFormat {
            file: source.file.clone(),
            format: importer.format.as_str(),
        }),
        None => Err(TraceError::UnknownFormat {
            file: source.file.clone(),
            head: source.head().chars().take(60).collect(),
        }),
    }
}
