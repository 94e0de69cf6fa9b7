//! `nvidia-smi` that fails: a sentence instead of a table.

use crate::read::{Read, source::Source};

pub(crate) fn recognise(_source: &Source) -> bool {
    false
}

pub(crate) fn read(_source: &Source, _out: &mut Read) {}
