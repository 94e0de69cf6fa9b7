//! From the number of the driver to what it serves. The CUDA version that nvidia-smi prints is only compared with it:
//! it comes from whichever libcuda is loaded.

use crate::facts::{Branch, Compat, Pair, Role};
use crate::finding::{Check, Finding, Verdict};
use crate::gpu::{GpuClass, Known};
use crate::judge::Host;
use crate::table::decides;
use crate::version::Version;
use jiff::civil::Date;
use lessee_model::Msg;

/// Smallest major number of a driver for Linux that anybody still has; less is half a number.
const LEAST: u64 = 100;

/// First CUDA that runs on older drivers of its major.
const MINOR_SINCE: u64 = 11;

/// A driver and its branch.
#[derive(Clone, Debug)]
pub(crate) struct Driver<'a> {
    pub version: Version,
    /// Newest branch at or below it; `None` for drivers older than the table.
    pub branch: Option<&'a Branch>,
}

impl Compat {
    /// The driver of a number as printed; `None` where it is none.
    pub(crate) fn driver(&self, text: &str) -> Option<Driver<'_>> {
        let version: Version = text.trim().parse().ok()?;
        let below = self.branches.iter().filter(|b| b.number <= version.major());
        Some(Driver {
            branch: below.max_by_key(|b| b.number),
            version,
        })
    }

    /// Oldest driver on which a CUDA release runs at all.
    pub(crate) fn floor(&self, cuda: Pair) -> Option<(&Version, &crate::table::Origin)> {
        let exact = self.toolkits.iter().find(|t| t.cuda == cuda);
        let same_major = || {
            let mut of_major = self.toolkits.iter().filter(|t| t.cuda.0 == cuda.0);
            of_major.find(|_| cuda.0 >= MINOR_SINCE)
        };
        exact.or_else(same_major).map(|t| (&t.floor, &t.origin))
    }
}

/// Whether a number can be that of a driver, and not the first digits of one.
pub(crate) fn is_whole(driver: &Driver<'_>) -> bool {
    driver.version.major() >= LEAST
}

/// Whether the driver carries a CUDA release that an install brings.
pub(crate) fn carries(cuda: Pair, host: &Host<'_>, out: &mut Vec<Check>) {
    carries_as(Role::Brings, cuda, host, out);
}

/// Whether the driver carries a CUDA release; `role` says how it comes there.
pub(crate) fn carries_as(role: Role, cuda: Pair, host: &Host<'_>, out: &mut Vec<Check>) {
    let [native, minor, old] = match role {
        Role::Brings => [
            "accept-driver-native",
            "accept-driver-minor",
            "accept-driver-old",
        ],
        Role::Major => [
            "accept-major-native",
            "accept-major-minor",
            "accept-major-old",
        ],
        Role::Source => [
            "accept-source-native",
            "accept-source-minor",
            "accept-source-old",
        ],
    };
    let compat = host.compat;
    let Some(driver) = &host.driver else {
        let reason = Msg::new("accept-driver-unknown");
        let ask = Msg::new("accept-ask-capture");
        out.push(Check::new("driver-cuda", Verdict::Unknown, reason).asking(ask));
        return;
    };
    let shown = cuda.to_string();
    let served = driver.branch.map(|b| b.cuda);
    let max = served.map_or_else(|| "?".to_owned(), |c| c.to_string());
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("cuda", shown.as_str())
            .arg("driver", driver.version.as_str())
            .arg("max", max.as_str())
    };
    if let Some(branch) = driver.branch.filter(|b| cuda <= b.cuda) {
        let check = match role {
            // a yes with a condition: somebody has to have the toolkit
            Role::Source => Check::new("driver-cuda", Verdict::Warn, say(native))
                .asking(Msg::new("accept-ask-toolkit").arg("cuda", shown.as_str())),
            Role::Brings | Role::Major => Check::new("driver-cuda", Verdict::Pass, say(native)),
        };
        out.push(check.from(&branch.origin));
        return;
    }
    let Some((floor, origin)) = compat.floor(cuda) else {
        let reason = Msg::new("accept-cuda-unknown").arg("cuda", shown.as_str());
        let ask = Msg::new("accept-ask-cuda").arg("cuda", shown.as_str());
        out.push(Check::new("driver-cuda", Verdict::Unknown, reason).asking(ask));
        return;
    };
    if cuda.0 >= MINOR_SINCE && driver.version >= *floor {
        let check = Check::new("driver-cuda", Verdict::Warn, say(minor));
        let ask = Msg::new("accept-ask-newer").arg("cuda", shown.as_str());
        let check = match compat.rule("minor") {
            Some(rule) => check.from(rule),
            None => check,
        };
        out.push(check.asking(ask));
        return;
    }
    let reason = say(old).arg("floor", floor.as_str());
    let ask = match host.slice {
        true => Msg::new("accept-ask-vgpu-driver").arg("driver", floor.as_str()),
        false => Msg::new("accept-ask-driver").arg("driver", floor.as_str()),
    };
    out.push(
        Check::new("driver-cuda", Verdict::Fail, reason)
            .from(origin)
            .asking(ask),
    );
    forward(cuda, host, out);
}

/// Whether the forward-compatibility package could lift the driver: a remark, as nobody said it is there.
fn forward(cuda: Pair, host: &Host<'_>, out: &mut Vec<Check>) {
    let Some(rule) = host.compat.rule("forward") else {
        return;
    };
    let mut classes = host.gpus.iter().filter_map(|(_, known)| match known {
        Known::Nvidia(card) => Some((card.class, card.last_cuda.is_some_and(|last| last < cuda))),
        Known::Amd(_) | Known::Unknown => None,
    });
    let package = format!("cuda-compat-{}-{}", cuda.0, cuda.1);
    let say = |id: &'static str| Msg::new(id).arg("package", package.as_str());
    let toolkit = host.compat.toolkits.iter().find(|t| t.cuda == cuda);
    let from = toolkit.and_then(|t| Some((t.forward_from?, &t.origin)));
    let branch = host.driver.as_ref().and_then(|d| d.branch);
    let check = match classes.next() {
        Some((GpuClass::Consumer, _)) => {
            Check::remark("forward-compat", say("accept-forward-geforce")).from(rule)
        }
        Some((GpuClass::DataCentre, false)) if !host.slice => match (from, branch) {
            (Some((from, _)), Some(branch)) if from <= branch.number => {
                Check::remark("forward-compat", say("accept-forward-may")).from(rule)
            }
            (Some((from, origin)), _) => {
                let reason = say("accept-forward-too-old").arg("from", from.to_string());
                Check::remark("forward-compat", reason).from(origin)
            }
            (None, _) => Check::remark("forward-compat", say("accept-forward-unknown"))
                .from(rule)
                .asking(Msg::new("accept-ask-forward").arg("package", package.as_str())),
        },
        _ => return,
    };
    out.push(check);
}

/// What the driver itself is worth a remark for: its end of life, and a printed CUDA that is not its own.
pub(crate) fn remarks(host: &Host<'_>, printed: Option<&str>, today: Date, out: &mut Vec<Finding>) {
    if host.has_amd() {
        return;
    }
    let Some(driver) = &host.driver else {
        let check = Check::new(
            "driver",
            Verdict::Unknown,
            Msg::new("accept-driver-unknown"),
        )
        .asking(Msg::new("accept-ask-capture"));
        out.push(check.finding("driver"));
        return;
    };
    let subject = driver.version.as_str();
    let Some(branch) = driver.branch else {
        let reason = Msg::new("accept-driver-ancient").arg("driver", subject);
        let check =
            Check::new("driver", Verdict::Unknown, reason).asking(Msg::new("accept-ask-lts"));
        out.push(check.finding(subject));
        return;
    };
    let newest = host.compat.branches.iter().map(|b| b.number).max();
    let beyond = newest.is_some_and(|n| driver.version.major() > n);
    let (id, verdict) = match beyond {
        true => ("accept-driver-newer", Verdict::Warn),
        false => ("accept-driver-serves", Verdict::Pass),
    };
    let reason = Msg::new(id)
        .arg("driver", subject)
        .arg("branch", branch.number.to_string())
        .arg("cuda", branch.cuda.to_string());
    let check = Check::new("driver", verdict, reason).from(&branch.origin);
    out.push(check.finding(subject));
    if let Some(end) = branch.end.filter(|_| !beyond)
        && decides(branch.end_confidence)
        && end.latest() < today
    {
        let reason = Msg::new("accept-driver-ended")
            .arg("branch", branch.number.to_string())
            .arg("end", end.to_string());
        let check = Check::new("driver-support", Verdict::Warn, reason)
            .from(&branch.origin)
            .asking(Msg::new("accept-ask-lts"));
        out.push(check.finding(subject));
    }
    let Some(printed) = printed.and_then(|p| p.parse::<Pair>().ok()) else {
        return;
    };
    // a driver beyond the table may well serve more
    if printed == branch.cuda || beyond {
        return;
    }
    let id = match printed > branch.cuda {
        true => "accept-printed-more",
        false => "accept-printed-less",
    };
    let reason = Msg::new(id)
        .arg("printed", printed.to_string())
        .arg("cuda", branch.cuda.to_string());
    let mut check =
        Check::new("printed-cuda", Verdict::Warn, reason).asking(Msg::new("accept-ask-printed"));
    if let Some(origin) = host.compat.rule("printed") {
        check = check.from(origin);
    }
    out.push(check.finding(subject));
}

/// A forward-compatibility library on a card that it does not serve: every program fails with error 804.
pub(crate) fn library_blocks(host: &Host<'_>, printed: Option<&str>) -> Option<Check> {
    let own = host.driver.as_ref()?.branch?.cuda;
    let printed: Pair = printed?.parse().ok()?;
    let newest = host.compat.branches.iter().map(|b| b.cuda).max()?;
    let consumer = host
        .gpus
        .iter()
        .any(|(_, known)| matches!(known, Known::Nvidia(card) if card.class == GpuClass::Consumer));
    if printed <= own || own >= newest || !consumer {
        return None;
    }
    let reason = Msg::new("accept-library-geforce")
        .arg("printed", printed.to_string())
        .arg("cuda", own.to_string());
    let check =
        Check::new("forward-compat", Verdict::Fail, reason).asking(Msg::new("accept-ask-library"));
    Some(match host.compat.rule("forward") {
        Some(origin) => check.from(origin),
        None => check,
    })
}
