//! What the targets share: the built-in facts, parsed once a process.

use lessee_catalog::{Facts, Format, builtin, fuzz_import};
use std::sync::LazyLock;

static FACTS: LazyLock<Facts> = LazyLock::new(|| builtin().expect("the built-in facts"));

pub fn facts() -> &'static Facts {
    &FACTS
}

/// Any bytes through one importer: they become offers and questions, or an error; never a panic.
pub fn import(format: Format, bytes: &[u8]) {
    if let Ok(imported) = fuzz_import(facts(), Some(format), bytes) {
        let doc = imported.into_doc(|why| why.id.to_string());
        for offer in &doc.offers {
            assert!(
                !offer.price.amount.is_negative(),
                "a negative price got through: {offer:?}"
            );
        }
        for question in &doc.questions {
            assert!(!question.code.is_empty(), "a question without a code: {question:?}");
        }
    }
}
