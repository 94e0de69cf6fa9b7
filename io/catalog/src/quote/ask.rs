//! The questions that a quote leaves open: a stable code and a message for the reader.
//!
//! Sentences live in the catalogue of messages under `quote-why-<code>`.

use super::fold::clip_bytes;
use lessee_model::Msg;

/// What could not be read for sure.
#[derive(Clone, Debug, PartialEq)]
pub struct QuoteQuestion {
    /// 1-based; 0 = the whole file.
    pub line: u64,
    /// The text in question as it was written, cut at 300 bytes.
    pub text: String,
    /// Stable code such as `range`, `unit_unknown`, `gpu_unknown`.
    pub code: &'static str,
    /// Why it is asked, for the reader.
    pub why: Msg,
    /// An offer was kept all the same, marked unverified: the question only asks to confirm it.
    pub confirms_offer: bool,
}

/// A question before line and text are known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) code: &'static str,
    pub(crate) msg: Msg,
}

macro_rules! codes {
    ($($fn_name:ident $code:literal $id:literal,)*) => {
        $(pub(crate) fn $fn_name() -> Ask {
            Ask { code: $code, msg: Msg::new($id) }
        })*
    };
}

codes! {
    range "range" "quote-why-range",
    from_price "from_price" "quote-why-from-price",
    approximate "approximate" "quote-why-approximate",
    on_request "on_request" "quote-why-on-request",
    number_unreadable "number_unreadable" "quote-why-number-unreadable",
    number_unclear "number_unclear" "quote-why-number-unclear",
    unit_unknown "unit_unknown" "quote-why-unit-unknown",
    unit_unclear "unit_unclear" "quote-why-unit-unclear",
    currency_unknown "currency_unknown" "quote-why-currency-unknown",
    currency_conflict "currency_conflict" "quote-why-currency-conflict",
    gpu_missing "gpu_missing" "quote-why-gpu-missing",
    gpu_several "gpu_several" "quote-why-gpu-several",
    memory_unreadable "memory_unreadable" "quote-why-memory-unreadable",
    last_line_unfinished "last_line_unfinished" "quote-why-last-line-unfinished",
    duplicate_offer "duplicate_offer" "quote-why-duplicate-offer",
    date_unclear "date_unclear" "quote-why-date-unclear",
    memory_conflict "memory_conflict" "quote-why-memory-conflict",
    count_unknown "count_unknown" "quote-why-count-unknown",
    count_conflict "count_conflict" "quote-why-count-conflict",
    scope_unclear "scope_unclear" "quote-why-scope-unclear",
    term_unclear "term_unclear" "quote-why-term-unclear",
    price_conflict "price_conflict" "quote-why-price-conflict",
    price_zero "price_zero" "quote-why-price-zero",
    price_negative "price_negative" "quote-why-price-negative",
    discount_unclear "discount_unclear" "quote-why-discount-unclear",
    not_a_machine "not_a_machine" "quote-why-not-a-machine",
    row_shape "row_shape" "quote-why-row-shape",
    broken_tree "broken_yaml" "quote-why-broken-yaml",
}

impl Ask {
    #[must_use]
    pub(crate) fn arg(mut self, name: &'static str, value: impl Into<lessee_model::Arg>) -> Ask {
        self.msg = self.msg.arg(name, value);
        self
    }

    pub(crate) fn new(code: &'static str, id: &'static str) -> Ask {
        Ask {
            code,
            msg: Msg::new(id),
        }
    }

    pub(crate) fn at(self, line: u64, text: &str, confirms_offer: bool) -> QuoteQuestion {
        QuoteQuestion {
            line,
            text: clip_bytes(text.trim(), 300).to_owned(),
            code: self.code,
            why: self.msg,
            confirms_offer,
        }
    }
}
