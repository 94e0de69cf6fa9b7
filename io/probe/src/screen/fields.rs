//! What matters out of the text that was read from a screenshot: the numbers of the title line, and name and memory of each
//! GPU. Letters that look like digits become digits only where nothing but digits can stand; what stays doubtful is left
//! out, and so is asked for.

/// One reading of a screenshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shot {
    /// The number behind `NVIDIA-SMI`, which nvidia-smi prints beside the driver's.
    pub title: Option<String>,
    pub driver: Option<String>,
    /// The CUDA that is printed.
    pub cuda: Option<String>,
    pub gpus: Vec<ShotGpu>,
    /// Rows that state a memory.
    pub memory_rows: usize,
    /// The list of processes is there, so that no GPU is below the edge.
    pub whole: bool,
    /// Something of `nvidia-smi` was seen at all.
    pub is_smi: bool,
}

/// One GPU of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShotGpu {
    pub name: String,
    /// MiB, of the row below the name.
    pub memory_mib: Option<u64>,
}

impl Shot {
    /// This reading, with what only the other one could read.
    #[must_use]
    pub fn merged(&self, other: &Shot) -> Shot {
        let either = |a: &Option<String>, b: &Option<String>| a.clone().or_else(|| b.clone());
        let mut all = self.clone();
        all.title = either(&self.title, &other.title);
        all.driver = either(&self.driver, &other.driver);
        all.cuda = either(&self.cuda, &other.cuda);
        all.whole |= other.whole;
        if self.gpus.len() == other.gpus.len() {
            for (gpu, also) in all.gpus.iter_mut().zip(&other.gpus) {
                gpu.memory_mib = gpu.memory_mib.or(also.memory_mib);
            }
            all.memory_rows = self.memory_rows.max(other.memory_rows);
        }
        all
    }

    /// The table that nvidia-smi prints, of what was read.
    pub fn table(&self) -> String {
        let unread = |v: &Option<String>| v.clone().unwrap_or_default();
        let rule = format!("+{}+\n", "-".repeat(89));
        let mut text = rule.clone();
        let title = format!(
            " NVIDIA-SMI {:<22} Driver Version: {:<14} CUDA Version: {}",
            unread(&self.title),
            unread(&self.driver),
            unread(&self.cuda)
        );
        text += &format!("|{title:<89}|\n");
        text += "+-----------------------------------------+------------------------+----------------------+\n";
        text += "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n";
        text += "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n";
        text += "|                                         |                        |               MIG M. |\n";
        text += "|=========================================+========================+======================|\n";
        for (at, gpu) in self.gpus.iter().enumerate() {
            text += &format!(
                "| {at:>3}  {:<26}      N/A |   00000000:00:00.0 N/A |                  N/A |\n",
                gpu.name
            );
            let memory = gpu
                .memory_mib
                .map_or("N/A".to_owned(), |m| format!("{m}MiB"));
            text += &format!(
                "| N/A   N/A    N/A             N/A /  N/A |       0MiB / {memory:>9} |     N/A          N/A |\n"
            );
            text += "|                                         |                        |                  N/A |\n";
            text += "+-----------------------------------------+------------------------+----------------------+\n";
        }
        text += "\n";
        text += &rule;
        text += &format!("|{:<89}|\n|{}|\n", " Processes:", "=".repeat(89));
        text += &format!("|{:<89}|\n", "  No running processes found");
        text + &rule
    }
}

/// Words by which a name begins.
const MAKERS: &[&str] = &["NVIDIA", "Tesla", "GeForce", "Quadro", "GRID"];

pub(super) fn read(text: &str) -> Shot {
    let mut shot = Shot::default();
    for line in text.lines() {
        if line.contains("Version") && (line.contains("SMI") || line.contains("CUDA")) {
            title(line, &mut shot);
        } else if line.contains("Processes") || line.contains("No running processes") {
            shot.whole = true;
        } else if let Some(name) = name(line).filter(|_| !shot.whole) {
            shot.gpus.push(ShotGpu {
                name,
                memory_mib: None,
            });
        } else if let Some(total) = memory(line).filter(|_| !shot.whole) {
            shot.memory_rows += 1;
            if let Some(gpu) = shot.gpus.last_mut().filter(|g| g.memory_mib.is_none()) {
                gpu.memory_mib = total;
            }
        }
    }
    shot.is_smi |= shot.driver.is_some() || !shot.gpus.is_empty() || shot.memory_rows > 0;
    shot
}

/// `| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |`
fn title(line: &str, shot: &mut Shot) {
    shot.is_smi = true;
    let behind = |words: &[&str]| {
        words.iter().find_map(|word| {
            let (_, rest) = line.split_once(word)?;
            let rest = rest.trim_start_matches([':', ';', '.', ' ', '=']);
            Some(rest.to_owned())
        })
    };
    let driver = behind(&["KMD Version", "Driver Version", "DriverVersion"]);
    shot.title = behind(&["NVIDIA-SMI", "-SMI", "SMI"]).and_then(|t| driver_number(&t));
    shot.driver = driver.and_then(|t| driver_number(&t));
    let cuda = behind(&["CUDA UMD Version", "CUDA Version", "CUDAVersion"]);
    shot.cuda = cuda.and_then(|t| cuda_number(&t));
}

/// Digits, dots and what is taken for them, from the start on; a space only behind a dot.
fn number(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match digit(c) {
            Some(d) => out.push(d),
            None if c == '.' => out.push('.'),
            // a comma is a dot with dirt
            None if c == ',' => out.push('.'),
            None if c == ' ' && out.ends_with('.') => {}
            None => break,
        }
    }
    out.trim_end_matches('.').to_owned()
}

/// A digit, or a letter that can be none other in a number.
fn digit(c: char) -> Option<char> {
    match c {
        '0'..='9' => Some(c),
        'O' | 'o' => Some('0'),
        'l' | 'I' | '|' => Some('1'),
        _ => None,
    }
}

/// `550.54.15`; where a dot was lost, `55054.15` and `535183.01` can only be read one way: branches have three digits.
fn driver_number(text: &str) -> Option<String> {
    let number = number(text.trim_end_matches(['|', ' ']));
    let parts: Vec<&str> = number.split('.').collect();
    let parts: Vec<&str> = match parts[..] {
        [joined, last] if (5..=6).contains(&joined.len()) => {
            let (branch, minor) = joined.split_at(3);
            vec![branch, minor, last]
        }
        _ => parts,
    };
    let good = match parts[..] {
        [branch, minor] | [branch, minor, _] if branch.len() == 3 => {
            (2..=3).contains(&minor.len()) && parts.get(2).is_none_or(|p| p.len() == 2)
        }
        _ => false,
    };
    good.then(|| parts.join("."))
}

/// `12.4`; without its dot `124` is left alone.
fn cuda_number(text: &str) -> Option<String> {
    let number = number(text.split(['|', '\\']).next().unwrap_or(text));
    let (major, minor) = number.split_once('.')?;
    let good = (1..=2).contains(&major.len()) && minor.len() == 1;
    good.then_some(number)
}

/// The name in a row `|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |`.
fn name(line: &str) -> Option<String> {
    if line.contains("SMI") || line.contains("Version") || line.contains("MiB") {
        return None;
    }
    let at = MAKERS.iter().filter_map(|m| line.find(m)).min()?;
    let cell = line[at..].split(['|', '\\']).next()?;
    let mut words: Vec<&str> = cell.split_whitespace().collect();
    // persistence mode closes the cell
    while matches!(
        words.last(),
        Some(&("On" | "Off" | "0n" | "0ff" | "Of" | "N/A" | "." | "on" | "off"))
    ) {
        words.pop();
    }
    let joined = words.join(" ").replace("- ", "-").replace(" -", "-");
    let joined = match joined.ends_with("...") {
        true => joined,
        false => joined.trim_end_matches(['.', ',', '_']).to_owned(),
    };
    (joined.contains(char::is_numeric) || joined.ends_with("...")).then_some(joined)
}

/// The total in `1MiB / 81920MiB`: `None` for no such row, `Some(None)` for one that cannot be read.
fn memory(line: &str) -> Option<Option<u64>> {
    let (_, rest) = line.rsplit_once('/').filter(|(_, r)| r.contains("iB"))?;
    let (before, _) = rest.split_once("iB")?;
    let before = before.trim().trim_end_matches(['M', 'm', 'N', 'H']).trim();
    let digits: Option<String> = before.chars().map(digit).collect();
    Some(
        digits
            .filter(|d| (3..=6).contains(&d.len()))
            .and_then(|d| d.parse().ok()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_read_one_way_is_read() {
        for (text, number) in [
            ("550.54.15", Some("550.54.15")),
            ("550.54. 15  CUDA", Some("550.54.15")),
            ("535183.01 ", Some("535.183.01")),
            ("55O.54.l5", Some("550.54.15")),
            ("450.80.02 |", Some("450.80.02")),
            ("610.57", Some("610.57")),
            ("53518301", None),
            ("5S0.54.15", None),
            ("55.054.15", None),
            ("550.54.1", None),
        ] {
            assert_eq!(driver_number(text).as_deref(), number, "{text}");
        }
        for (text, number) in [
            ("12.4    |", Some("12.4")),
            ("12.4    \\", Some("12.4")),
            ("124", None),
            ("12.44", None),
            ("1Z.4", None),
        ] {
            assert_eq!(cuda_number(text).as_deref(), number, "{text}");
        }
        for (text, total) in [
            (
                "| N/A 34C PO  60W / 400W |  1MiB / 81920MiB |",
                Some(Some(81920)),
            ),
            (
                "| N/A 34C PO  ow / 400W |  MiB / 8l92OMiB |",
                Some(Some(81920)),
            ),
            ("| N/A 34C PO  60W / 400W |  1MiB / 8?920MiB |", Some(None)),
            ("| N/A 34C PO  60W / 400W | hello |", None),
        ] {
            assert_eq!(memory(text), total, "{text}");
        }
        for (text, found) in [
            (
                "| © NVIDIA A100-SXM4- 80GB.    On |  00000000:07:00.0 Off |",
                Some("NVIDIA A100-SXM4-80GB"),
            ),
            (
                "|   1 = =NVIDIA GeForce RTX 2080 ...  Off |",
                Some("NVIDIA GeForce RTX 2080 ..."),
            ),
            ("| NVIDIA-SMI 550.54.15 |", None),
            ("| 0 Tesla T4 Off |", Some("Tesla T4")),
        ] {
            assert_eq!(name(text).as_deref(), found, "{text}");
        }
    }
}
