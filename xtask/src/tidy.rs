//! What no compiler complains about: files that grew too long, paths of one person's machine, markers
//! that somebody left behind. The words are in `xtask/tidy.txt`.

use crate::sh;
use crate::steps::Outcome;
use anyhow::{Context, Result, bail};

/// Lines a source file may have, its tests aside.
const MOST_LINES: usize = 800;
const WORDS: &str = "xtask/tidy.txt";

pub(crate) fn check() -> Result<Outcome> {
    let root = sh::root();
    let list = std::fs::read_to_string(root.join(WORDS)).with_context(|| WORDS.to_owned())?;
    let mut words: Vec<(String, String)> = words(&list);
    // this checkout's own place must not be in the repository either
    words.push((
        format!("{}/", root.display()),
        "the path of this checkout".into(),
    ));
    let mut wrong = Vec::new();
    for file in sh::files()? {
        let Ok(text) = std::fs::read_to_string(root.join(&file)) else {
            continue; // not text: a GBK quote, a fuzz input
        };
        let shipped = ["core/", "io/", "app/"].iter().any(|p| file.starts_with(p));
        if shipped && file.ends_with(".rs") && !is_test_file(&file) {
            let lines = lines_without_tests(&text);
            if lines > MOST_LINES {
                wrong.push(format!("{file}: {lines} lines, {MOST_LINES} is the most"));
            }
        }
        for (number, line) in text.lines().enumerate() {
            for (word, why) in found(line, &words) {
                wrong.push(format!("{file}:{}: `{word}`: {why}", number + 1));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(Outcome::Passed);
    }
    for line in &wrong {
        println!("    {line}");
    }
    bail!("{} things to tidy up", wrong.len());
}

/// The words that stand in a line. One without capitals stands for every way to write it.
fn found<'a>(
    line: &'a str,
    words: &'a [(String, String)],
) -> impl Iterator<Item = &'a (String, String)> {
    let lower = line.to_lowercase();
    words.iter().filter(move |(word, _)| {
        line.contains(word.as_str()) || (*word == word.to_lowercase() && lower.contains(word))
    })
}

/// `word<TAB>why` a line; blank lines and `#` lines are comments. `|` in a word is left out: it keeps the
/// list from being what it forbids.
fn words(list: &str) -> Vec<(String, String)> {
    list.lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with('#'))
        .map(|l| {
            let (word, why) = l.split_once('\t').unwrap_or((l, "not wanted here"));
            (word.replace('|', ""), why.trim().to_owned())
        })
        .collect()
}

fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/benches/") || path.ends_with("/tests.rs")
}

/// Lines up to a closing `#[cfg(test)] mod …` block.
fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(2)
        .position(|w| w[0] == "#[cfg(test)]" && w[1].starts_with("mod ") && w[1].ends_with('{'))
        .unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_count_as_length() {
        assert_eq!(
            lines_without_tests("a\nb\n#[cfg(test)]\nmod tests {\nc\n}\n"),
            2
        );
        assert_eq!(lines_without_tests("a\n#[cfg(test)]\nmod tests;\nb\n"), 4);
    }

    #[test]
    fn the_list_takes_comments() {
        let list = words("# about\n\nx|yz\tbecause\nabc\n");
        assert_eq!(list[0], ("xyz".into(), "because".into()));
        assert_eq!(list.len(), 2);
    }

    #[test]
    fn the_list_in_use_finds_paths_and_words_but_not_itself() {
        let text = std::fs::read_to_string(sh::root().join(WORDS)).expect("the list");
        let list = words(&text);
        let hits = |line: &str| found(line, &list).count();
        for line in [
            concat!("see /ho", "me/me/x"),
            concat!("see /wo", "rk/x"),
            concat!("in /tmp/ba", "sh.1"),
            concat!("a Sub-", "Agent did"),
            concat!("from the session tran", "script"),
            concat!("// TO", "DO later"),
        ] {
            assert_eq!(hits(line), 1, "{line}");
        }
        assert_eq!(hits("todo = \"warn\" in /tmp/x, at work"), 0);
        assert_eq!(text.lines().map(hits).sum::<usize>(), 0);
    }
}
