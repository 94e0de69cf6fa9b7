//! Watching this machine's GPUs while a job runs: samples until the time is over, a signal comes or no GPU is left.
//!
//! What is seen meanwhile goes to stderr: on a terminal one line a GPU that is drawn again, elsewhere lines now and then.
//! Not here: sampling (`io/probe`), what the curve means.

use crate::watch::LostDoc;
use crate::{ProbeFailure, ProbeWatchArgs, Screen};
use lessee_console::stop::{self, STOP};
use lessee_model::Msg;
use lessee_probe_io::watch::live::{Live, Next, Tick};
use lessee_probe_io::watch::{Recording, WatchError, record};
use lessee_report::Texts;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const EVERY_S: f64 = 1.0;
/// Below, the watching would be seen in the job; above, no curve comes of it.
const EVERY_ALLOWED_S: std::ops::RangeInclusive<f64> = 0.02..=3600.0;
/// How soon a signal is seen.
const PATIENCE: Duration = Duration::from_millis(200);
/// Lines in a log are for whoever looks whether it lives.
const LINES_EVERY: Duration = Duration::from_secs(10);

/// What came of it.
pub(crate) struct Watched {
    pub(crate) recording: Recording,
    pub(crate) lost: Vec<LostDoc>,
    pub(crate) driver_silent: bool,
}

pub(crate) fn watch(
    args: &ProbeWatchArgs,
    screen: Screen<'_>,
    texts: &Texts,
) -> Result<Watched, ProbeFailure> {
    let wrong = |seconds| ProbeFailure::Watch(WatchError::Interval { seconds });
    let every_s = args.every.unwrap_or(EVERY_S);
    if !EVERY_ALLOWED_S.contains(&every_s) {
        return Err(wrong(every_s));
    }
    let lasting = match args.lasting {
        Some(s) => Some(
            Duration::try_from_secs_f64(s)
                .ok()
                .filter(|d| !d.is_zero())
                .ok_or(wrong(s))?,
        ),
        None => None,
    };
    stop::listen();
    let mut live = Live::open(None, Path::new("/"), Duration::from_secs_f64(every_s))
        .map_err(ProbeFailure::Live)?;
    let mut record = args.record.as_deref().map(Record::new).transpose()?;
    let mut view = View::new(screen, texts);
    let start = Instant::now();
    let mut driver_silent = false;
    while !STOP.load(Ordering::Relaxed) && !live.all_lost() {
        let left = lasting.map(|l| l.saturating_sub(start.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            break;
        }
        match live.next(left.unwrap_or(PATIENCE).min(PATIENCE)) {
            Next::Tick(tick) => {
                if let Some(record) = &mut record {
                    record.rows(&tick)?;
                }
                view.show(&tick);
            }
            Next::Waiting => {}
            Next::Silent => {
                driver_silent = true;
                break;
            }
        }
    }
    let lost = live.lost().iter().map(|lost| LostDoc {
        gpu: lost.gpu,
        at_s: lost.at_s,
        error: lost.error.to_string(),
    });
    let lost = lost.collect();
    let mut recording = live.recording();
    // of a GPU that was gone from the start there is nothing to judge
    recording.series.retain(|s| !s.samples.is_empty());
    Ok(Watched {
        recording,
        lost,
        driver_silent,
    })
}

/// The file of the samples.
struct Record {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Record {
    fn new(path: &Path) -> Result<Record, ProbeFailure> {
        let file = File::create(path).map_err(|e| failed(path, &e))?;
        let mut out = BufWriter::new(file);
        record::header(&mut out).map_err(|e| failed(path, &e))?;
        Ok(Record {
            path: path.to_owned(),
            out,
        })
    }

    fn rows(&mut self, tick: &Tick) -> Result<(), ProbeFailure> {
        record::rows(&mut self.out, tick).map_err(|e| failed(&self.path, &e))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> ProbeFailure {
    ProbeFailure::Write {
        path: path.display().to_string(),
        detail: error.to_string(),
    }
}

/// Lines on stderr.
struct View<'a> {
    texts: &'a Texts,
    screen: Screen<'a>,
    /// Lines to go up before the next ones.
    drawn: usize,
    said: Option<Instant>,
}

impl<'a> View<'a> {
    fn new(screen: Screen<'a>, texts: &'a Texts) -> View<'a> {
        View {
            texts,
            screen,
            drawn: 0,
            said: None,
        }
    }

    fn show(&mut self, tick: &Tick) {
        if self.screen.quiet {
            return;
        }
        if !self.screen.live && self.said.is_some_and(|said| said.elapsed() < LINES_EVERY) {
            return;
        }
        self.said = Some(Instant::now());
        let lines = tick.gpus.iter().map(|gpu| self.line(tick.t_s, gpu));
        let mut text = String::new();
        if self.screen.live && self.drawn > 0 {
            text.push_str(&format!("\x1b[{}A", self.drawn));
        }
        for line in lines {
            // without wrapping, so that a line is one line however narrow the window is
            match self.screen.live {
                true => text.push_str(&format!("\x1b[?7l\r\x1b[2K{line}\x1b[?7h\n")),
                false => text.push_str(&format!("{line}\n")),
            }
        }
        self.drawn = tick.gpus.len();
        (self.screen.write)(&text);
    }

    fn line(&self, t_s: f64, gpu: &lessee_probe_io::watch::live::GpuTick) -> String {
        let texts = self.texts;
        let sample = match &gpu.sample {
            Ok(sample) => sample,
            Err(error) => {
                let lost = LostDoc {
                    gpu: gpu.gpu,
                    at_s: t_s,
                    error: error.to_string(),
                };
                return texts.msg(&lost.msg(texts));
            }
        };
        let shown = |value: Option<f64>, unit: &str| match value {
            Some(value) => format!("{value:.0} {unit}"),
            None => format!("– {unit}"),
        };
        let line = Msg::new("watch-line")
            .arg("at", texts.seconds(t_s.round()))
            .arg("gpu", gpu.gpu.to_string())
            .arg("busy", shown(sample.util_gpu_pct, "%"))
            .arg("traffic", shown(sample.util_mem_pct, "%"))
            .arg("power", shown(sample.power_w, "W"))
            .arg("clock", shown(sample.sm_clock_mhz, "MHz"))
            .arg("heat", shown(sample.temp_c, "°C"))
            .arg("held", shown(sample.mem_used_mib, "MiB"));
        let mut text = texts.msg(&line);
        if sample.slowed == Some(true) {
            text.push_str(&texts.get("watch-line-slowed"));
        }
        text
    }
}
