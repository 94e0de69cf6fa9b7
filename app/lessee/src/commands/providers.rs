//! Providers by any of their names (`阿里云`, `aliyun`) -> by key; a name that nobody has is told with its
//! place and the nearest one.

use lessee_catalog::Facts;
use lessee_console::Failure;
use lessee_model::workload::{
    Location, Workload, WorkloadError, WorkloadFile, line_and_column, locate,
};
use lessee_model::{Msg, did_you_mean};

/// Where the workload came from, for errors.
pub(super) struct Written<'a> {
    pub file: &'a WorkloadFile,
    pub text: &'a str,
    pub place: &'a str,
}

/// # Errors
/// No provider is called so.
pub(super) fn name_providers(
    workload: &mut Workload,
    facts: &Facts,
    written: &Written<'_>,
) -> Result<(), WorkloadError> {
    let key =
        |path: &str, name: &str| key(name, facts).ok_or_else(|| written.unknown(path, name, facts));
    let c = &mut workload.constraints;
    for (path, names) in [
        ("constraints.providers", &mut c.providers),
        ("constraints.exclude_providers", &mut c.exclude_providers),
    ] {
        for name in names.iter_mut().filter(|n| !n.contains(['*', '?'])) {
            *name = key(path, name)?;
        }
    }
    let discounts = std::mem::take(&mut workload.money.discounts);
    for (name, share) in discounts {
        let key = key("money.discounts", &name)?;
        workload.money.discounts.insert(key, share);
    }
    if let Location::Provider { provider, .. } = &mut workload.data.location {
        *provider = key("data.location", provider)?;
    }
    Ok(())
}

/// Names are compared in lower case, as the workload keeps them.
fn key(name: &str, facts: &Facts) -> Option<String> {
    let known = facts.providers.iter().find(|p| {
        *p.key == *name
            || *p.name_en.to_lowercase() == *name
            || *p.name_zh.to_lowercase() == *name
            || p.aliases.iter().any(|a| **a == *name)
    });
    if let Some(provider) = known {
        return Some(provider.key.to_string());
    }
    // a provider that only the user's own offers name, in their spelling
    let offers = facts.catalog.offers.iter().map(|o| &o.provider);
    let own = offers.into_iter().find(|p| p.to_lowercase() == *name);
    own.map(|provider| provider.to_string())
}

/// The key of a provider by any of its names.
///
/// # Errors
/// No provider is called so.
pub(super) fn named(name: &str, facts: &Facts) -> Result<String, Failure> {
    let lower = name.trim().to_lowercase();
    key(&lower, facts).ok_or_else(|| {
        let msg = Msg::new("catalog-unknown-provider").arg("name", name);
        Failure::usage(msg).hint(suggestion(name, facts))
    })
}

/// Whether a name is nearly that of a provider.
pub(super) fn is_near(name: &str, facts: &Facts) -> bool {
    nearest(&name.trim().to_lowercase(), facts).is_some()
}

fn nearest<'a>(name: &str, facts: &'a Facts) -> Option<&'a str> {
    let keys = facts.providers.iter().map(|p| &*p.key);
    let others = facts.providers.iter().flat_map(|p| {
        let aliases = p.aliases.iter().map(|a| &**a);
        aliases.chain([&*p.name_zh])
    });
    did_you_mean(name, keys).or_else(|| did_you_mean(name, others))
}

impl Written<'_> {
    fn unknown(&self, path: &str, name: &str, facts: &Facts) -> WorkloadError {
        WorkloadError {
            line: self.find(path, name),
            field: Some(path.to_owned()),
            hint: Some(suggestion(name, facts)),
            ..WorkloadError::new(
                self.place,
                Msg::new("catalog-unknown-provider").arg("name", name),
            )
        }
    }

    /// Line and column of the name itself: the first such word from where the field begins.
    fn find(&self, path: &str, name: &str) -> Option<(usize, usize)> {
        let (line, column) = locate(self.text, path)?;
        let before: usize = self
            .text
            .split_inclusive('\n')
            .take(line - 1)
            .map(str::len)
            .sum();
        let rest = self.text.get(before..)?;
        let skipped: usize = rest.chars().take(column - 1).map(char::len_utf8).sum();
        let from = before + skipped;
        let typed = self.spelling(path, name);
        let at = self.text.get(from..)?.find(&typed)?;
        let quoted = self.text[..from + at].ends_with(['"', '\'']);
        Some(line_and_column(self.text, from + at - usize::from(quoted)))
    }

    /// The name as typed: the workload keeps it trimmed and in lower case.
    fn spelling(&self, path: &str, name: &str) -> String {
        let constraints = self.file.constraints.as_ref();
        let lists = constraints.and_then(|c| match path {
            "constraints.providers" => c.providers.as_ref(),
            _ => c.exclude_providers.as_ref(),
        });
        let discounts = self.file.money.as_ref().and_then(|m| m.discounts.as_ref());
        let location = self.file.data.as_ref().and_then(|d| d.location.as_ref());
        let places = location
            .and_then(|l| l.split(':').next())
            .map(str::to_owned);
        let mut all = lists
            .into_iter()
            .flatten()
            .chain(discounts.into_iter().flat_map(|d| d.keys()))
            .cloned()
            .chain(places);
        all.find(|typed| typed.trim().to_lowercase() == *name)
            .unwrap_or_else(|| name.to_owned())
    }
}

/// The nearest of all names, else the list of keys.
pub(super) fn suggestion(name: &str, facts: &Facts) -> Msg {
    let name = name.to_lowercase();
    let keys = || facts.providers.iter().map(|p| &*p.key);
    match nearest(&name, facts) {
        Some(word) => Msg::new("hint-did-you-mean").arg("word", word),
        None => Msg::new("hint-known-words").arg("words", keys().collect::<Vec<_>>().join(", ")),
    }
}
