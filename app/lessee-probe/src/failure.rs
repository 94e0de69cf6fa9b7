//! How the verb fails.

use lessee_model::{Exit, Explain, Msg};
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
    /// The samples cannot be written down.
    Write {
        path: String,
        detail: String,
    },
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
            ProbeFailure::Write { path, detail } => Msg::new("file-write")
                .arg("path", path.clone())
                .arg("detail", detail.clone()),
            ProbeFailure::Live(error) => Msg::new("watch-no-gpus").arg("problem", error.msg()),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            ProbeFailure::Read { .. } | ProbeFailure::Write { .. } => Vec::new(),
            ProbeFailure::TooLarge { .. } => vec![Msg::new("hint-probe-file-large")],
            ProbeFailure::Watch(error) => error.hints(),
            ProbeFailure::Live(_) => vec![Msg::new("hint-watch-no-gpus")],
        }
    }

    fn exit(&self) -> Exit {
        match self {
            ProbeFailure::Live(error) => error.exit(),
            _ => Exit::Usage,
        }
    }
}
