//! The two-language catalogue is complete: the same identifiers with the same variables in both languages,
//! every identifier that the sources name is there, none is there for nothing.

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use lessee_model::bill::LineKind;
use lessee_model::{Arg, BoundBy, Msg, Purchase};
use lessee_report::{Lang, Texts, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Variables = BTreeSet<String>;

/// First parts of identifiers that only texts have.
const FAMILIES: [&str; 9] = [
    "bill-",
    "cost-unknown-",
    "quote-why-",
    "import-why-",
    "providers-skip-",
    "doctor-",
    "perf-",
    "warn-",
    "reject-",
];

/// Identifier -> the variables of its text, over all files of a language.
fn entries(lang: Lang) -> BTreeMap<String, Variables> {
    let mut out = BTreeMap::new();
    for (file, source) in sources(lang) {
        let tree = fluent_syntax::parser::parse(*source)
            .unwrap_or_else(|(_, errors)| panic!("{} {file}.ftl: {errors:?}", lang.as_str()));
        for entry in tree.body {
            if let Entry::Message(message) = entry {
                let mut variables = Variables::new();
                if let Some(pattern) = &message.value {
                    collect(pattern, &mut variables);
                }
                let twice = out.insert(message.id.name.to_owned(), variables);
                assert!(
                    twice.is_none(),
                    "{} {file}.ftl: `{}` stands twice",
                    lang.as_str(),
                    message.id.name
                );
            }
        }
    }
    out
}

fn collect(pattern: &Pattern<&str>, into: &mut Variables) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else {
            continue;
        };
        match expression {
            Expression::Inline(inline) => inline_variable(inline, into),
            Expression::Select { selector, variants } => {
                inline_variable(selector, into);
                variants.iter().for_each(|v| collect(&v.value, into));
            }
        }
    }
}

fn inline_variable(inline: &InlineExpression<&str>, into: &mut Variables) {
    match inline {
        InlineExpression::VariableReference { id } => {
            into.insert(id.name.to_owned());
        }
        InlineExpression::FunctionReference { id, .. } => {
            panic!(
                "{}(...): the renderer formats numbers by itself, no function is registered",
                id.name
            )
        }
        _ => {}
    }
}

/// The help of flags: English is the doc comments; `app/lessee` tests that the Chinese is complete.
fn is_help(id: &str) -> bool {
    id == "cli" || id.starts_with("cli-")
}

#[test]
fn both_languages_say_the_same_things() {
    let (en, mut zh) = (entries(Lang::En), entries(Lang::ZhCn));
    zh.retain(|id, _| !is_help(id));
    let missing: Vec<_> = en.keys().filter(|id| !zh.contains_key(*id)).collect();
    let extra: Vec<_> = zh.keys().filter(|id| !en.contains_key(*id)).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "only English: {missing:?}\nonly Chinese: {extra:?}"
    );
    let differ: Vec<_> = en
        .iter()
        .filter(|(id, variables)| zh.get(*id) != Some(variables))
        .collect();
    assert!(differ.is_empty(), "different variables: {differ:#?}");
}

#[test]
fn every_text_is_used_and_every_use_has_a_text() {
    let known = entries(Lang::En);
    let sources = rust_sources();
    assert!(
        sources.len() > 20,
        "found only {} source files",
        sources.len()
    );
    let mut missing = Vec::new();
    let mut wrong = Vec::new();
    let mut words = BTreeSet::new();
    let mut families = BTreeSet::new();
    for (path, text) in &sources {
        words.extend(literals(text));
        families.extend(
            [after(text, ".term("), after(text, ".counted(")]
                .into_iter()
                .flatten()
                .map(|(family, _)| format!("{family}-")),
        );
        for (id, _) in after(text, ".get(")
            .into_iter()
            .filter(|_| text.contains("texts"))
        {
            // a map's get looks the same; only what has the shape of an identifier and no text is suspect
            if id.contains('-') && !known.contains_key(&id) {
                missing.push(format!("{}: {id}", path.display()));
            }
        }
        for (id, given) in after(text, "Msg::new(") {
            match known.get(&id) {
                None => missing.push(format!("{}: {id}", path.display())),
                Some(variables) => {
                    let absent: Vec<_> = variables.iter().filter(|v| !given.contains(*v)).collect();
                    if !absent.is_empty() {
                        wrong.push(format!("{}: {id} lacks {absent:?}", path.display()));
                    }
                }
            }
        }
    }
    // the texts of a table: each row has its own, and none is there without a row
    let of_tables = identifiers_of_tables();
    missing.extend(
        of_tables
            .iter()
            .filter(|id| !known.contains_key(*id))
            .map(|id| format!("data/accept: {id}")),
    );
    words.extend(of_tables);
    // identifiers that reach Msg::new through a variable
    let indirect = words.iter().filter(|w| {
        FAMILIES
            .iter()
            .any(|f| w.strip_prefix(f).is_some_and(|rest| rest.len() > 2))
            && w.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    });
    missing.extend(
        indirect
            .filter(|w| !known.contains_key(*w))
            .map(|w| format!("some source: {w}")),
    );
    let unused: Vec<_> = known
        .keys()
        .filter(|id| !words.contains(*id) && !families.iter().any(|f| id.starts_with(f.as_str())))
        .collect();
    // a code's `_` is a `-` in its text, so such a text is never found
    let unreachable: Vec<_> = known.keys().filter(|id| id.contains('_')).collect();
    assert!(
        unreachable.is_empty(),
        "texts that no code reaches: {unreachable:#?}"
    );
    assert!(missing.is_empty(), "no text for:\n{}", missing.join("\n"));
    assert!(
        wrong.is_empty(),
        "variables that nobody gives:\n{}",
        wrong.join("\n")
    );
    assert!(unused.is_empty(), "texts that nothing uses: {unused:#?}");
}

/// Each English text with every number in it set to one: no plural follows a lone 1.
#[test]
fn one_is_singular() {
    let texts = Texts::new(Lang::En);
    let mut wrong = Vec::new();
    for (id, variables) in entries(Lang::En) {
        // numbers of a formula are factors and not counts of things
        if NEVER_ONE.contains(&id.as_str()) || id.starts_with("formula-") {
            continue;
        }
        let msg = Msg {
            id: id.clone().into(),
            args: variables
                .iter()
                .map(|v| (v.clone().into(), Arg::Number(1.0)))
                .collect(),
        };
        let text = texts.msg(&msg);
        let words: Vec<&str> = text.split([' ', '\n']).collect();
        for pair in words.windows(2) {
            let next = pair[1].trim_end_matches([',', '.', ';', ':', ')', '?']);
            let plural = next.len() > 3
                && next.ends_with('s')
                && !next.ends_with("ss")
                && next.bytes().all(|b| b.is_ascii_alphabetic())
                && !VERBS.contains(&next);
            let are = matches!(next, "are" | "have" | "were");
            if pair[0].trim_start_matches('(') == "1" && (plural || are) {
                wrong.push(format!("{id}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What may follow a lone 1 although it ends in s: verbs of a name, and `1.5 times`.
const VERBS: [&str; 16] = [
    "comes",
    "connects",
    "contradicts",
    "costs",
    "does",
    "follows",
    "gets",
    "leads",
    "looks",
    "misses",
    "needs",
    "shows",
    "stands",
    "stops",
    "takes",
    "times",
];

/// Rates, limits and sizes that are never one, and names before a verb.
const NEVER_ONE: [&str; 10] = [
    "doctor-cartesian",
    "doctor-stale-gpu-cloud",
    "doctor-stale-list",
    "doctor-stale-marketplace",
    "doctor-stale-quote",
    "perf-context",
    "perf-cpu-feed",
    "perf-network-feed",
    "perf-storage-feed",
    "perf-spec-unverified",
];

#[test]
fn every_code_has_a_word() {
    for lang in Lang::ALL {
        let texts = Texts::new(lang);
        let has = |family: &str, code: &str| {
            let id = format!("{family}-{}", code.replace('_', "-"));
            assert!(texts.find(&id).is_some(), "{} {id}", lang.as_str());
        };
        Purchase::ALL
            .iter()
            .for_each(|p| has("purchase", p.as_str()));
        for kind in [
            LineKind::Compute,
            LineKind::Boot,
            LineKind::Setup,
            LineKind::Idle,
            LineKind::BlockStorage,
            LineKind::ObjectStorage,
            LineKind::Requests,
            LineKind::Ingress,
            LineKind::CrossRegion,
            LineKind::Egress,
            LineKind::PublicIp,
            LineKind::Interruption,
            LineKind::CommitmentUnused,
            LineKind::Support,
            LineKind::Labour,
            LineKind::Licence,
            LineKind::Tax,
            LineKind::Exchange,
        ] {
            has("line", kind.as_str());
        }
        for bound in [
            BoundBy::Compute,
            BoundBy::MemoryBandwidth,
            BoundBy::GradientSync,
            BoundBy::CpuFeed,
            BoundBy::StorageFeed,
            BoundBy::Network,
        ] {
            has("bound", bound.as_str());
        }
        for basis in ["measured", "quoted", "published", "modelled", "assumed"] {
            has("basis", basis);
        }
        for confidence in ["verified", "secondary", "general", "unverified"] {
            has("confidence", confidence);
        }
    }
}

/// Of the items of the checklists, and of claims that are told in words.
fn identifiers_of_tables() -> BTreeSet<String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/accept");
    let rows = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(data.join(name)).expect(name);
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let mut out = BTreeSet::new();
    for row in rows("checklist.csv") {
        let id = row.split(',').next().expect("an id").replace('.', "-");
        out.insert(format!("accept-item-{id}"));
        out.insert(format!("accept-item-ask-{id}"));
    }
    for row in rows("claims.csv") {
        out.extend(
            row.split(',')
                .filter(|c| c.starts_with("accept-claim-"))
                .map(str::to_owned),
        );
    }
    assert!(out.len() > 200, "found only {}", out.len());
    out
}

/// Path and text of each source of the product, unit tests cut off.
fn rust_sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut out = Vec::new();
    for layer in ["core", "io", "app"] {
        let crates = std::fs::read_dir(root.join(layer)).expect("layer");
        for entry in crates.flatten() {
            walk(&entry.path().join("src"), &mut out);
        }
    }
    out
}

fn walk(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs")
            && path.file_name().is_some_and(|n| n != "tests.rs")
        {
            let text = std::fs::read_to_string(&path).expect("source");
            let text = text.split("#[cfg(test)]").next().unwrap_or("").to_owned();
            out.push((path, text));
        }
    }
}

/// All string literals that could be identifiers.
fn literals(text: &str) -> BTreeSet<String> {
    text.split('"')
        .filter(|s| s.len() < 80 && !s.contains(['\n', ' ']))
        .map(str::to_owned)
        .collect()
}

/// First literal argument of each call, with the names given by `.arg("..."` and its kin in the same expression.
fn after(text: &str, call: &str) -> Vec<(String, BTreeSet<String>)> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices(call) {
        let rest = &text[at + call.len()..];
        let Some(rest) = rest.trim_start().strip_prefix('"') else {
            continue;
        };
        let Some((id, rest)) = rest.split_once('"') else {
            continue;
        };
        let end = rest.find(';').unwrap_or(rest.len());
        let mut given = BTreeSet::new();
        for method in [".arg(", ".seconds(", ".bytes("] {
            for (at, _) in rest[..end].match_indices(method) {
                let name = rest[at + method.len()..]
                    .trim_start()
                    .strip_prefix('"')
                    .and_then(|r| r.split_once('"'));
                given.extend(name.map(|(name, _)| name.to_owned()));
            }
        }
        out.push((id.to_owned(), given));
    }
    out
}
