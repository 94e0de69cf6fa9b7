//! The tables that the security checks read: `data/accept`. Read when they are asked for, as most commands never do.

use crate::CatalogError;
use lessee_accept::security::{Security, SecuritySources};

macro_rules! table {
    ($name:literal) => {
        include_str!(concat!("../../../../data/accept/", $name, ".csv"))
    };
}

/// What the security checks stand on.
///
/// # Errors
/// A built-in table is broken: a bug.
pub fn security() -> Result<Security, CatalogError> {
    let tables = SecuritySources {
        rules: table!("security_rules"),
        algorithms: table!("algorithms"),
        checklist: table!("checklist"),
        claims: table!("claims"),
        http_answers: table!("http_answers"),
        network_mounts: table!("network_mounts"),
    };
    Security::read(&tables).map_err(|e| CatalogError::BuiltIn {
        file: e.file,
        line: e.line as u64,
        what: e.what,
    })
}
