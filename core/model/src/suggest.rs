//! "Did you mean ...?"

/// The candidate closest to `word`, if it is close enough to be a likely misspelling: at most a third
/// of the letters differ (Damerau-Levenshtein distance, case and `-`/`_` ignored), or one contains the other.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let plain = |s: &str| -> Vec<char> {
        s.chars()
            .take(64)
            .filter(|c| *c != '-' && *c != '_' && *c != ' ')
            .flat_map(char::to_lowercase)
            .collect()
    };
    let wanted = plain(word);
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, &plain(candidate)), candidate))
        .filter(|(d, candidate)| *d <= (wanted.len().max(candidate.chars().count()) / 3).max(1))
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut rows = vec![0usize; (a.len() + 1) * width];
    for (j, cell) in rows.iter_mut().take(width).enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        rows[i * width] = i;
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[(i - 1) * width + j] + 1)
                .min(rows[i * width + j - 1] + 1)
                .min(rows[(i - 1) * width + j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[(i - 2) * width + j - 2] + 1);
            }
            rows[i * width + j] = best;
        }
    }
    rows[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn finds_the_likely_word_only() {
        let words = ["precision", "seq_len", "global_batch"];
        assert_eq!(did_you_mean("precison", words), Some("precision"));
        assert_eq!(did_you_mean("seqlen", words), Some("seq_len"));
        assert_eq!(did_you_mean("colour", words), None);
    }
}
