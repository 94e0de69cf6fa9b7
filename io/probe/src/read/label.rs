//! Labels that launchers, log collectors and mail programs put before every line: taken off, once for all kinds.
//!
//! Only where every line has one: a label on some lines is content.

/// Longest label, in bytes.
const MAX_LABEL: usize = 96;

/// How one sort of label is found: its length at the start of a line, or `None`.
type Find = fn(&str) -> Option<usize>;

/// Sorts of labels, and whether it has to be the same on every line.
const LABELS: &[(Find, bool)] = &[
    (quote, false),
    (rank, true),
    (tag, true),
    (service, true),
    (container, false),
];

/// The text without its labels; `None` if it has none.
pub(super) fn removed(text: &str) -> Option<String> {
    // a text that breaks off may end within a label
    let last = match text.ends_with('\n') {
        true => "",
        false => text.rsplit('\n').next().unwrap_or(""),
    };
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    let first = lines.next()?;
    let (find, _) = LABELS.iter().find(|(find, same)| {
        let Some(label) = find(first).map(|length| &first[..length]) else {
            return false;
        };
        lines.clone().all(|line| match find(line) {
            Some(length) => !same || line[..length].trim_end() == label.trim_end(),
            None => std::ptr::eq(line, last) && label.starts_with(line),
        })
    })?;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(find(line).map_or("", |length| &line[length..]));
        out.push('\n');
    }
    // whether the last line was ended tells readers whether it may be half a line
    if !text.ends_with('\n') {
        out.pop();
    }
    Some(out)
}

/// `> ` of a mail or a forum.
fn quote(line: &str) -> Option<usize> {
    let rest = line.strip_prefix('>')?;
    // `>>> ` is a Python prompt as well as a quoted quote: taken off one at a time would need a bound
    Some(if rest.starts_with(' ') { 2 } else { 1 })
}

/// `0: ` of `srun --label`. The number has to be the same on all lines: it names the task.
fn rank(line: &str) -> Option<usize> {
    let digits = line.bytes().take(6).take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..)?.strip_prefix(':')?;
    let bare = digits > 0 && (rest.is_empty() || rest.starts_with(' '));
    bare.then_some(digits + 1 + usize::from(!rest.is_empty()))
}

/// `[1,0]<stdout>:` of `mpirun --tag-output`.
fn tag(line: &str) -> Option<usize> {
    let end = line.find(">:").filter(|e| *e < MAX_LABEL)?;
    let fits = line.starts_with('[')
        && (line[..end].ends_with("<stdout") || line[..end].ends_with("<stderr"));
    fits.then_some(end + 2)
}

/// `worker-1  | ` of `docker compose logs`.
fn service(line: &str) -> Option<usize> {
    let bar = line.find('|').filter(|b| *b < MAX_LABEL)?;
    let name = line[..bar].trim_end();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let fits = !name.is_empty() && name.len() < bar && name.bytes().all(plain);
    let blank = usize::from(line[bar + 1..].starts_with(' '));
    fits.then_some(bar + 1 + blank)
}

/// `2026-05-01T10:00:00.000000000Z stdout F ` of a Kubernetes node. A kernel log begins alike and keeps its time.
fn container(line: &str) -> Option<usize> {
    let head = &line[..line.floor_char_boundary(MAX_LABEL)];
    [" stdout F", " stderr F"].iter().find_map(|mark| {
        let at = head.find(mark)?;
        let time = &head[..at];
        let fits = time.starts_with("20") && time.contains('T') && !time.contains(' ');
        let end = at + mark.len();
        let blank = usize::from(line[end..].starts_with(' '));
        fits.then_some(end + blank)
    })
}

#[cfg(test)]
mod tests {
    use super::removed;

    #[test]
    fn labels_on_every_line_go() {
        assert_eq!(removed("> a\n>\n> b").as_deref(), Some("a\n\nb"));
        assert_eq!(removed("3: a\n3:   b\n").as_deref(), Some("a\n  b\n"));
        assert_eq!(
            removed("[1,0]<stdout>:a\n\n[1,0]<stdout>: b").as_deref(),
            Some("a\n\n b")
        );
        assert_eq!(
            removed("w-1  | | x |\nw-1  | y").as_deref(),
            Some("| x |\ny")
        );
    }

    #[test]
    fn labels_on_some_lines_stay() {
        for text in [
            "",
            "a\n> b",
            "0: a\n1: b",
            "| a | b |",
            "GPU0 | X |\nGPU1 | X |",
        ] {
            assert_eq!(removed(text), None, "{text}");
        }
    }
}
