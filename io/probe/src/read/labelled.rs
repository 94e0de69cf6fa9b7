//! Lines in front of whose words something stands: a label and its value, the tag of a launcher.

/// `Label:   value`, with a colon of either width; both trimmed.
pub(crate) fn split(line: &str) -> Option<(&str, &str)> {
    let (at, colon) = line.char_indices().find(|(_, c)| matches!(c, ':' | '：'))?;
    Some((line[..at].trim(), line[at + colon.len_utf8()..].trim()))
}

/// The line without what `mpirun --tag-output` writes before it: `[1,0]<stdout>:`.
pub(crate) fn untagged(line: &str) -> &str {
    let tagged = line.trim_start();
    let inner = tagged.strip_prefix('[').and_then(|t| t.split_once(']'));
    let Some((ranks, rest)) = inner else {
        return line;
    };
    let is_rank = |r: &str| !r.is_empty() && r.bytes().all(|b| b.is_ascii_digit());
    let Some(rest) = rest.strip_prefix("<std") else {
        return line;
    };
    match rest.split_once(">:") {
        Some((stream, body)) if stream.len() <= 4 && ranks.split(',').all(is_rank) => body,
        _ => line,
    }
}

/// A command behind the prompt of a shell: `$ lscpu`, `root@box:~# dmidecode`, `[me@box ~]$ ibstat`.
pub(crate) fn is_prompt(line: &str) -> bool {
    let line = line.trim();
    if line.len() > 400 {
        return false;
    }
    if line.starts_with("$ ") {
        return true;
    }
    let prompt = ["$ ", "# ", "% "].iter().filter_map(|m| line.find(m)).min();
    prompt.is_some_and(|at| {
        let before = &line[..at];
        let words = before.split_whitespace().count();
        before.contains('@') && (words == 1 || (words == 2 && before.starts_with('[')))
    })
}

#[cfg(test)]
mod tests {
    use super::{is_prompt, split, untagged};

    #[test]
    fn labels_and_tags() {
        assert_eq!(split("  型号名称：  X: 1"), Some(("型号名称", "X: 1")));
        assert_eq!(split("none"), None);
        assert!(is_prompt("$ lscpu") && is_prompt("root@box:~# lscpu -J"));
        assert!(is_prompt("[me@box ~]$ ibstat") && !is_prompt("a b@c # d"));
        assert_eq!(untagged("  [1,0]<stdout>:# a"), "# a");
        assert_eq!(untagged("[1] <stdout>: a"), "[1] <stdout>: a");
    }
}
