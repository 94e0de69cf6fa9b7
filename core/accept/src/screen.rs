//! A screenshot, cross-checked: what a machine reads from a picture may be wrong in any digit, and a picture can be drawn.
//! Every field is held against another that must agree with it; where one does not, or there is none to hold it against,
//! that is a question, and nothing that rests upon the picture is a pass. Not here: reading the picture (`io/probe`).

use crate::facts::{Compat, Pair};
use crate::machine::Doubt;
use lessee_model::Msg;

/// One of two readings of a screenshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenReading {
    /// The number behind `NVIDIA-SMI`.
    pub title: Option<String>,
    pub driver: Option<String>,
    /// The CUDA that is printed.
    pub cuda: Option<String>,
    /// Names, and MiB of the row below.
    pub gpus: Vec<(String, Option<u64>)>,
    pub memory_rows: usize,
    pub whole: bool,
}

/// Share of the usual memory that may be missing or more without a question. Error correction that is off gives T4 6.7 % more.
const SLACK: (f64, f64) = (0.02, 0.08);

/// What does not agree: two readings with each other, and in `both`, which has what either could read, the fields among
/// themselves. `usual`: the MiB that a product shows, where its name says which product it is.
pub fn doubts(
    first: &ScreenReading,
    second: &ScreenReading,
    both: &ScreenReading,
    usual: impl Fn(&str) -> Option<u64>,
    compat: &Compat,
) -> Vec<Doubt> {
    let mut out = Vec::new();
    readings(first, second, &mut out);
    driver(both, compat, &mut out);
    gpus(both, usual, compat, &mut out);
    if !both.whole {
        out.push(Doubt::new("screen", Msg::new("accept-screen-cut")));
    }
    out
}

/// The two readings against each other. What one of them could not read is left to the other checks.
fn readings(a: &ScreenReading, b: &ScreenReading, out: &mut Vec<Doubt>) {
    let mut differ = |field: &str, one: Option<String>, other: Option<String>| {
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            let reason = Msg::new("accept-screen-differ")
                .arg("one", one)
                .arg("other", other);
            out.push(Doubt::new(field, reason));
        }
    };
    differ("driver", a.driver.clone(), b.driver.clone());
    differ("NVIDIA-SMI", a.title.clone(), b.title.clone());
    differ("CUDA", a.cuda.clone(), b.cuda.clone());
    let count = |r: &ScreenReading| Some(r.gpus.len().to_string());
    differ("GPUs", count(a), count(b));
    for (at, (one, other)) in a.gpus.iter().zip(&b.gpus).enumerate() {
        let field = format!("GPU {at}");
        let name = |g: &(String, Option<u64>)| Some(g.0.to_lowercase());
        differ(&field, name(one), name(other));
        let memory = |g: &(String, Option<u64>)| g.1.map(|m| format!("{m} MiB"));
        differ(&field, memory(one), memory(other));
    }
}

/// The driver is printed twice, and says which CUDA must be printed beside it.
fn driver(shot: &ScreenReading, compat: &Compat, out: &mut Vec<Doubt>) {
    let missing = |field: &str| Doubt::new(field, Msg::new("accept-screen-unread"));
    let Some(driver) = shot.driver.as_deref() else {
        out.push(missing("driver"));
        return;
    };
    match shot.title.as_deref() {
        None => out.push(missing("NVIDIA-SMI")),
        Some(title) if title != driver => {
            let reason = Msg::new("accept-screen-title")
                .arg("title", title)
                .arg("driver", driver);
            out.push(Doubt::new("driver", reason));
        }
        Some(_) => {}
    }
    let Some(cuda) = shot.cuda.as_deref() else {
        out.push(missing("CUDA"));
        return;
    };
    let branch = compat
        .driver(driver)
        .and_then(|d| d.branch.filter(|b| b.number == d.version.major()));
    match branch {
        None => out.push(Doubt::new(
            "driver",
            Msg::new("accept-screen-branch").arg("driver", driver),
        )),
        Some(branch) if cuda.parse::<Pair>() != Ok(branch.cuda) => {
            let reason = Msg::new("accept-screen-cuda")
                .arg("cuda", cuda)
                .arg("driver", driver)
                .arg("max", branch.cuda.to_string());
            out.push(Doubt::new("CUDA", reason));
        }
        Some(_) => {}
    }
}

/// The name says which memory must stand below it, and there is one such row for each name.
fn gpus(
    shot: &ScreenReading,
    usual: impl Fn(&str) -> Option<u64>,
    compat: &Compat,
    out: &mut Vec<Doubt>,
) {
    if shot.gpus.is_empty() || shot.gpus.len() != shot.memory_rows {
        let reason = Msg::new("accept-screen-rows")
            .arg("names", shot.gpus.len())
            .arg("rows", shot.memory_rows);
        out.push(Doubt::new("GPUs", reason));
    }
    for (at, (name, memory)) in shot.gpus.iter().enumerate() {
        let field = format!("GPU {at}");
        let known = matches!(compat.gpu(name), crate::gpu::Known::Nvidia(_));
        let (Some(usual), true) = (usual(name), known) else {
            let reason = Msg::new("accept-screen-name").arg("name", name.as_str());
            out.push(Doubt::new(&field, reason));
            continue;
        };
        let Some(memory) = *memory else {
            out.push(Doubt::new(&field, Msg::new("accept-screen-unread")));
            continue;
        };
        let share = memory as f64 / usual as f64 - 1.0;
        if share < -SLACK.0 || share > SLACK.1 {
            let reason = Msg::new("accept-screen-memory")
                .arg("name", name.as_str())
                .arg("memory", memory.to_string())
                .arg("usual", usual.to_string());
            out.push(Doubt::new(&field, reason));
        }
    }
}
