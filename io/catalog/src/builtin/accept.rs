//! The tables of `data/accept`: what providers do, what a contract must say. Read when they are asked for.

use crate::CatalogError;
use lessee_accept::env::RepairTable;
use lessee_accept::{ContractField, ProviderFacts, ProviderSources, TableError, contract_fields};

macro_rules! table {
    ($name:literal) => {
        include_str!(concat!("../../../../data/accept/", $name))
    };
}

/// What providers do when hosts fail and budgets are used up.
///
/// # Errors
/// A built-in table is broken: a bug.
pub fn provider_facts() -> Result<ProviderFacts, CatalogError> {
    let tables = ProviderSources {
        failure: table!("failure.csv"),
        budget: table!("budget.csv"),
        rules: table!("rules.toml"),
    };
    ProviderFacts::read(&tables).map_err(broken)
}

/// What the text of a quote must speak of.
///
/// # Errors
/// The built-in table is broken: a bug.
pub fn contract_table() -> Result<Vec<ContractField>, CatalogError> {
    contract_fields(table!("contract_fields.csv")).map_err(broken)
}

/// Hours of repairs of a software environment.
///
/// # Errors
/// The built-in table is broken: a bug.
pub fn repair_table() -> Result<RepairTable, CatalogError> {
    RepairTable::read(table!("repair.csv")).map_err(broken)
}

fn broken(e: TableError) -> CatalogError {
    CatalogError::BuiltIn {
        file: e.file,
        line: e.line as u64,
        what: e.what,
    }
}
