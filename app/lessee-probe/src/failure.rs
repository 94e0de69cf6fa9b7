//! How the verb fails.

use lessee_model::workload::WorkloadError;
use lessee_model::{Exit, Explain, Msg};
use lessee_probe_io::feed::FeedError;
use lessee_probe_io::gpu::GpuError;
use lessee_probe_io::watch::WatchError;

#[derive(Debug)]
pub enum ProbeFailure {
    /// The file cannot be read; the system's own words are the detail.
    Read {
        path: String,
        detail: String,
    },
    /// More bytes than a log has.
    TooLarge {
        path: String,
        limit: u64,
    },
    Watch(WatchError),
    UnknownStep {
        step: String,
        meant: Option<String>,
        known: String,
    },
    /// A flag that nothing of this run heeds; `step` would.
    Unheeded {
        flag: &'static str,
        step: &'static str,
    },
    /// Flags of a measurement before a form that measures nothing.
    FormTakesNone,
    Folder {
        path: String,
        detail: String,
    },
    DeviceMib {
        mib: usize,
    },
    /// `--host` with `--offline`.
    Offline {
        host: String,
    },
    /// `--host` is no `HOST:PORT`.
    Host {
        host: String,
    },
    Feed(FeedError),
    /// `--s3`: a bucket that is none, or that nobody here may use.
    #[cfg(feature = "s3")]
    Objects(lessee_objects::ObjectError),
    /// `--s3` where the binary was built without it.
    #[cfg(not(feature = "s3"))]
    NoS3,
    /// `--model` and what belongs to it.
    Model(WorkloadError),
    /// Built-in data is broken: a bug.
    BuiltIn {
        detail: String,
    },
    /// The samples cannot be written down.
    Write {
        path: String,
        detail: String,
    },
    /// It is not a report, or not of this version; `detail`: the reader's words.
    NoReport {
        path: String,
        detail: String,
    },
    /// Neither of the catalog nor a file.
    NoOffer {
        offer: String,
        meant: Option<String>,
    },
    /// No offer could be read for sure.
    QuoteEmpty {
        file: String,
    },
    /// No offer stands in this line; `lines`: where some stand.
    QuoteLine {
        file: String,
        line: u64,
        lines: String,
    },
    /// Several offers, of which none or more than one has the GPUs that were seen.
    OfferAmbiguous {
        offers: String,
    },
    /// A quote cannot be read.
    Catalog(lessee_catalog::CatalogError),
    /// This machine's GPUs cannot be watched.
    Live(GpuError),
}

impl Explain for ProbeFailure {
    fn msg(&self) -> Msg {
        match self {
            ProbeFailure::Read { path, detail } => Msg::new("file-read")
                .arg("path", path.clone())
                .arg("detail", detail.clone()),
            ProbeFailure::TooLarge { path, limit } => Msg::new("probe-file-large")
                .arg("path", path.clone())
                .arg("mib", (limit >> 20) as f64),
            ProbeFailure::Watch(error) => error.msg(),
            ProbeFailure::UnknownStep { step, .. } => {
                Msg::new("probe-unknown-step").arg("step", step.clone())
            }
            ProbeFailure::Unheeded { flag, step } => Msg::new("probe-flag-unheeded")
                .arg("flag", *flag)
                .arg("step", *step),
            ProbeFailure::FormTakesNone => Msg::new("probe-form-takes-none"),
            ProbeFailure::Folder { path, detail } => Msg::new("probe-folder")
                .arg("path", path.clone())
                .arg("detail", detail.clone()),
            ProbeFailure::DeviceMib { mib } => Msg::new("probe-option")
                .arg("what", "--device-mib")
                .arg("value", *mib)
                .arg("range", "1 - 65536"),
            ProbeFailure::Offline { host } => Msg::new("probe-offline").arg("host", host.clone()),
            ProbeFailure::Host { host } => Msg::new("probe-host").arg("host", host.clone()),
            ProbeFailure::Feed(error) => error.msg(),
            #[cfg(feature = "s3")]
            ProbeFailure::Objects(error) => error.msg(),
            #[cfg(not(feature = "s3"))]
            ProbeFailure::NoS3 => Msg::new("probe-no-s3"),
            ProbeFailure::Model(error) => error.msg(),
            ProbeFailure::BuiltIn { detail } => {
                Msg::new("probe-built-in").arg("detail", detail.clone())
            }
            ProbeFailure::Write { path, detail } => Msg::new("file-write")
                .arg("path", path.clone())
                .arg("detail", detail.clone()),
            ProbeFailure::NoReport { path, detail } => Msg::new("plan-probe-unreadable")
                .arg("file", path.clone())
                .arg("detail", detail.clone()),
            ProbeFailure::NoOffer { offer, .. } => {
                Msg::new("probe-no-offer").arg("offer", offer.clone())
            }
            ProbeFailure::QuoteEmpty { file } => {
                Msg::new("probe-quote-empty").arg("file", file.clone())
            }
            ProbeFailure::QuoteLine { file, line, .. } => Msg::new("probe-quote-line")
                .arg("file", file.clone())
                .arg("line", *line as f64),
            ProbeFailure::OfferAmbiguous { offers } => {
                Msg::new("probe-offer-ambiguous").arg("offers", offers.clone())
            }
            ProbeFailure::Catalog(error) => error.msg(),
            ProbeFailure::Live(error) => Msg::new("watch-no-gpus").arg("problem", error.msg()),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            ProbeFailure::Read { .. } | ProbeFailure::Write { .. } => Vec::new(),
            ProbeFailure::TooLarge { .. } => vec![Msg::new("hint-probe-file-large")],
            ProbeFailure::Watch(error) => error.hints(),
            ProbeFailure::UnknownStep { meant, known, .. } => vec![match meant {
                Some(word) => Msg::new("hint-did-you-mean").arg("word", word.clone()),
                None => Msg::new("hint-known-words").arg("words", known.clone()),
            }],
            ProbeFailure::Offline { .. } => vec![Msg::new("hint-probe-offline")],
            ProbeFailure::Host { .. } => vec![Msg::new("hint-probe-host")],
            ProbeFailure::Feed(error) => error.hints(),
            #[cfg(feature = "s3")]
            ProbeFailure::Objects(error) => error.hints(),
            #[cfg(not(feature = "s3"))]
            ProbeFailure::NoS3 => vec![Msg::new("hint-probe-no-s3")],
            ProbeFailure::NoReport { .. } => vec![Msg::new("hint-probe-schema")],
            ProbeFailure::NoOffer { meant, .. } => {
                let word = |word: &String| Msg::new("hint-did-you-mean").arg("word", word.clone());
                let nearest = meant.iter().map(word);
                nearest.chain([Msg::new("hint-probe-no-offer")]).collect()
            }
            ProbeFailure::QuoteEmpty { file } => {
                vec![Msg::new("hint-probe-quote-empty").arg("file", file.clone())]
            }
            ProbeFailure::QuoteLine { lines, .. } => {
                vec![Msg::new("hint-probe-quote-line").arg("lines", lines.clone())]
            }
            ProbeFailure::OfferAmbiguous { .. } => vec![Msg::new("hint-probe-offer-ambiguous")],
            ProbeFailure::Catalog(error) => error.hints(),
            ProbeFailure::Model(error) => error.hints(),
            ProbeFailure::Unheeded { .. }
            | ProbeFailure::FormTakesNone
            | ProbeFailure::Folder { .. }
            | ProbeFailure::DeviceMib { .. }
            | ProbeFailure::BuiltIn { .. } => Vec::new(),
            ProbeFailure::Live(_) => vec![Msg::new("hint-watch-no-gpus")],
        }
    }

    fn exit(&self) -> Exit {
        match self {
            ProbeFailure::Offline { .. } => Exit::Unreachable,
            ProbeFailure::BuiltIn { .. } => Exit::Bug,
            ProbeFailure::Live(error) => error.exit(),
            ProbeFailure::Catalog(error) => error.exit(),
            #[cfg(feature = "s3")]
            ProbeFailure::Objects(error) => error.exit(),
            _ => Exit::Usage,
        }
    }
}
