//! Finding the names of GPUs, providers and regions in running text.
//!
//! What a GPU's name means is for `GpuTable` to say; here only the stretch of text that is a name is found.

use lessee_model::{GpuRef, GpuTable};
use std::collections::{HashMap, HashSet};

/// Names that begin a GPU's name without being in the table of GPUs themselves.
const BRANDS: &[&str] = &[
    "nvidia",
    "amd",
    "geforce",
    "tesla",
    "quadro",
    "instinct",
    "radeon",
    "rtx",
    "gtx",
    "titan",
    "intel",
    "habana",
    "gaudi",
    "huawei",
    "ascend",
    "atlas",
    "hygon",
    "tpu",
    "mtt",
    "aws",
    "trillium",
    "trainium",
    "英伟达",
    "华为",
    "昇腾",
    "海光",
    "寒武纪",
    "摩尔线程",
    "华为昇腾",
];

/// Ways of naming a place that tell the region of an offer.
const PLACES: &[&str] = &[
    "华北",
    "华东",
    "华南",
    "华中",
    "西南",
    "西北",
    "东北",
    "北京",
    "上海",
    "广州",
    "深圳",
    "杭州",
    "南京",
    "成都",
    "重庆",
    "武汉",
    "西安",
    "郑州",
    "苏州",
    "宁波",
    "青岛",
    "天津",
    "合肥",
    "贵阳",
    "贵州",
    "宁夏",
    "中卫",
    "庆阳",
    "乌兰察布",
    "呼和浩特",
    "内蒙古",
    "张家口",
    "河源",
    "香港",
    "台北",
    "新加坡",
    "东京",
    "首尔",
    "法兰克福",
    "硅谷",
    "弗吉尼亚",
    "海外",
    "境外",
    "国内",
    "美国",
    "美西",
    "美东",
    "欧洲",
    "日本",
    "韩国",
    "马来西亚",
    "泰国",
    "印尼",
];

/// Everything by which names are recognised; built once for an import.
pub(crate) struct Names<'a> {
    pub(crate) gpus: &'a GpuTable,
    starts: HashSet<String>,
    /// First character of an alias -> (alias in lower case, key), longest first.
    providers: HashMap<char, Vec<(String, &'a str)>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(gpus: &'a GpuTable, providers: &'a [(String, Vec<String>)]) -> Names<'a> {
        let mut starts: HashSet<String> = BRANDS.iter().map(|b| (*b).to_owned()).collect();
        for spec in &gpus.specs {
            for name in [&spec.model, &spec.name] {
                if let Some(run) = runs(&name.to_lowercase()).first() {
                    starts.insert(name.to_lowercase()[run.0..run.1].to_owned());
                }
            }
        }
        let mut by_first: HashMap<char, Vec<(String, &str)>> = HashMap::new();
        for (key, aliases) in providers {
            for alias in std::iter::once(key).chain(aliases) {
                let alias = super::fold::fold(alias.trim());
                if let Some(first) = alias.chars().next() {
                    by_first.entry(first).or_default().push((alias, key));
                }
            }
        }
        for list in by_first.values_mut() {
            list.sort_by_key(|(alias, _)| std::cmp::Reverse(alias.len()));
        }
        Names {
            gpus,
            starts,
            providers: by_first,
        }
    }

    /// The longest GPU name that `rest` begins with, and its length in bytes.
    pub(crate) fn gpu_at(&self, rest: &str) -> Option<(GpuRef, usize)> {
        let window = super::fold::clip_bytes(rest, 120);
        let latin = window
            .chars()
            .next()
            .filter(|c| c.is_alphanumeric())?
            .is_ascii();
        let first_end = window
            .find(|c: char| !c.is_alphanumeric() || c.is_ascii() != latin)
            .unwrap_or(window.len());
        let first = &window[..first_end];
        let mixed = first.len() <= 24
            && first.bytes().any(|b| b.is_ascii_digit())
            && first.bytes().any(|b| b.is_ascii_alphabetic());
        let short_number =
            (3..=5).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_digit());
        if !(mixed || short_number || self.starts.contains(first)) {
            return None;
        }
        // `8xH100` and `h100x8` are a count and a name
        if mixed && let Some(found) = self.with_count(first) {
            return found;
        }
        let mut best = None;
        let runs = runs(window);
        for (i, (start, end)) in runs.iter().enumerate().take(9) {
            if i > 0 {
                let gap = &window[runs[i - 1].1..*start];
                if !gap
                    .chars()
                    .all(|c| matches!(c, ' ' | '-' | '_' | '(' | '.'))
                    || gap.len() > 3
                {
                    break;
                }
            }
            if let Some(gpu) = self.resolve(&window[..*end]) {
                // brackets belong to a name only if both do
                let open = window[..*end].contains('(');
                let end = if open && window[*end..].starts_with(')') {
                    *end + 1
                } else if open {
                    continue;
                } else {
                    *end
                };
                best = Some((gpu, end));
            }
        }
        best.or_else(|| {
            // plural: `8 H100s`
            let single = first.strip_suffix('s')?;
            let gpu = mixed.then(|| self.resolve(single)).flatten()?;
            Some((gpu, first_end))
        })
    }

    /// A brand's name with a number behind it that is no GPU that is known: `MTT S5000`, `昇腾 910`.
    pub(crate) fn unknown_model_at(&self, rest: &str, boundary: bool) -> Option<usize> {
        let window = super::fold::clip_bytes(rest, 60);
        let latin = window
            .chars()
            .next()
            .filter(|c| c.is_alphanumeric())?
            .is_ascii();
        if latin && !boundary {
            return None;
        }
        let first = window.find(|c: char| !c.is_alphanumeric() || c.is_ascii() != latin)?;
        let name = &window[..first];
        if !self.starts.contains(name) || name.bytes().any(|b| b.is_ascii_digit()) {
            return None;
        }
        let gap = window[first..].len() - window[first..].trim_start_matches([' ', '-', '_']).len();
        let tail = &window[first + gap..];
        let len = tail
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(tail.len());
        let word = &tail[..len];
        let model = word.len() >= 2 && word.len() <= 12 && word.bytes().any(|b| b.is_ascii_digit());
        (model && !tail[len..].starts_with('.')).then_some(first + gap + len)
    }

    /// `Some(None)`: a count stands first, the name comes after it.
    #[allow(clippy::option_option)]
    fn with_count(&self, first: &str) -> Option<Option<(GpuRef, usize)>> {
        let digits = first.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && first[digits..].starts_with('x') && self.resolve(first).is_none() {
            return Some(None);
        }
        let tail = first.bytes().rev().take_while(u8::is_ascii_digit).count();
        let head = first[..first.len() - tail].strip_suffix('x')?;
        if self.resolve(first).is_some() || head.is_empty() {
            return None;
        }
        let gpu = self.resolve(head)?;
        Some(Some((gpu, head.len())))
    }

    /// As the table resolves it, memory filled in where the family has only one.
    pub(crate) fn resolve(&self, name: &str) -> Option<GpuRef> {
        let mut gpu = self.gpus.resolve(name)?;
        if gpu.memory_gb.is_none() {
            let mut sizes = self
                .gpus
                .specs
                .iter()
                .filter(|s| s.model == gpu.model && gpu.form.is_none_or(|f| f == s.form))
                .map(|s| s.memory_gb);
            let first = sizes.next();
            gpu.memory_gb = first.filter(|gb| sizes.all(|other| other == *gb));
        }
        Some(gpu)
    }

    /// A provider's name at the start of `rest`. Short Latin names are too often other words.
    pub(crate) fn provider_at(&self, rest: &str, boundary: bool) -> Option<(String, usize)> {
        let list = self.providers.get(&rest.chars().next()?)?;
        list.iter()
            .find(|(alias, _)| {
                let latin = alias.is_ascii();
                rest.starts_with(alias.as_str())
                    && (!latin
                        || boundary
                            && alias.len() > 2
                            && !matches!(alias.as_str(), "together" | "prime" | "foundry")
                            && !rest[alias.len()..]
                                .starts_with(|c: char| c.is_ascii_alphanumeric()))
            })
            .map(|(alias, key)| ((*key).to_owned(), alias.len()))
    }

    /// The key of a provider whose whole name this is.
    pub(crate) fn provider_named(&self, folded: &str) -> Option<String> {
        let folded = folded.trim();
        let list = self.providers.get(&folded.chars().next()?)?;
        list.iter()
            .find(|(alias, _)| alias == folded)
            .map(|(_, key)| (*key).to_owned())
    }

    /// `us-east-1`, `cn-beijing`, `华北2`: length of the region that `rest` begins with.
    pub(crate) fn region_at(&self, rest: &str, boundary: bool) -> Option<usize> {
        if let Some(place) = PLACES.iter().find(|p| rest.starts_with(**p)) {
            let after = &rest[place.len()..];
            // `华北2`, `华北(北京2)`; a figure with a unit after it is a price
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let own = digits == 1
                && !after[1..].starts_with(|c: char| {
                    c == '.' || c == '/' || c == ',' || super::lex::is_cjk(c) && c != '区'
                });
            let len = place.len() + usize::from(own);
            return Some(len + district(&rest[len..]));
        }
        if !boundary || !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let len = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .unwrap_or(rest.len());
        let word = &rest[..len];
        let head = word.split('-').next().unwrap_or("");
        let known = matches!(
            head,
            "us" | "eu"
                | "ap"
                | "cn"
                | "ca"
                | "sa"
                | "af"
                | "me"
                | "il"
                | "asia"
                | "europe"
                | "northamerica"
                | "southamerica"
                | "australia"
                | "uk"
                | "na"
        );
        (known && word.len() >= 5 && word.len() <= 32 && word[head.len()..].starts_with('-'))
            .then_some(len)
    }

    /// The known name most like an unknown one.
    pub(crate) fn suggest(&self, name: &str) -> Option<&str> {
        self.gpus.suggest(super::fold::clip_bytes(name.trim(), 40))
    }
}

/// `-苏州` of `华东-苏州`: how far a place goes on behind a dash. Words of a quote (`-单卡`) end it.
fn district(after: &str) -> usize {
    let Some(rest) = after.strip_prefix('-') else {
        return 0;
    };
    if let Some(place) = PLACES.iter().find(|p| rest.starts_with(**p)) {
        return 1 + place.len();
    }
    let word = rest
        .char_indices()
        .take(6)
        .take_while(|(at, c)| {
            let ends = ["机房", "数据中心", "可用区"];
            super::lex::is_cjk(*c)
                && super::vocab::chinese(&rest[*at..]).is_none()
                && !ends.iter().any(|w| rest[*at..].starts_with(w))
        })
        .last();
    // one character is a particle, not a town
    word.filter(|(at, _)| *at > 0)
        .map_or(0, |(at, c)| 1 + at + c.len_utf8())
}

/// Runs of letters and digits, Latin and Chinese apart, as byte ranges; at most ten.
fn runs(text: &str) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut last: Option<bool> = None;
    for (at, c) in text.char_indices() {
        let kind = c.is_alphanumeric().then(|| c.is_ascii());
        match (kind, last) {
            (Some(k), Some(l)) if k == l => {
                if let Some(run) = out.last_mut() {
                    run.1 = at + c.len_utf8();
                }
            }
            (Some(_), _) => {
                if out.len() == 10 {
                    break;
                }
                out.push((at, at + c.len_utf8()));
            }
            _ => {}
        }
        last = kind;
    }
    out
}
