//! How the verb fails.

use lessee_model::{Exit, Explain, Msg};
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
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            ProbeFailure::Read { .. } => Vec::new(),
            ProbeFailure::TooLarge { .. } => vec![Msg::new("hint-probe-file-large")],
            ProbeFailure::Watch(error) => error.hints(),
        }
    }

    fn exit(&self) -> Exit {
        Exit::Usage
    }
}
