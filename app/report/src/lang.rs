//! The languages that lessee speaks.

use std::str::FromStr;
use unic_langid::LanguageIdentifier;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lang {
    #[default]
    En,
    ZhCn,
}

impl Lang {
    pub const ALL: [Lang; 2] = [Lang::En, Lang::ZhCn];

    /// BCP 47 tag.
    pub fn as_str(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::ZhCn => "zh-CN",
        }
    }

    /// From a POSIX locale such as `zh_CN.UTF-8`; anything that is not Chinese reads English.
    pub fn from_locale(locale: &str) -> Lang {
        if locale.to_ascii_lowercase().starts_with("zh") {
            Lang::ZhCn
        } else {
            Lang::En
        }
    }

    pub(crate) fn identifier(self) -> LanguageIdentifier {
        self.as_str().parse().unwrap_or_default()
    }
}

impl FromStr for Lang {
    type Err = ();
    /// `en`, `zh-CN` and the usual variants of writing them.
    fn from_str(text: &str) -> Result<Lang, ()> {
        match text.trim().to_ascii_lowercase().replace('_', "-").as_str() {
            "en" | "en-us" | "en-gb" | "english" => Ok(Lang::En),
            "zh" | "zh-cn" | "zh-hans" | "zh-hans-cn" | "cn" | "chinese" => Ok(Lang::ZhCn),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_decide_the_language() {
        assert_eq!(Lang::from_locale("zh_CN.UTF-8"), Lang::ZhCn);
        assert_eq!(Lang::from_locale("C.UTF-8"), Lang::En);
        assert_eq!("zh_CN".parse(), Ok(Lang::ZhCn));
        assert_eq!("klingon".parse::<Lang>(), Err(()));
    }
}
