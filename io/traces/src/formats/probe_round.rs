//! To come.
use crate::source::Source;
use crate::{Options, Read, TraceError};
pub(super) fn looks(_: &Source) -> bool {
    false
}
pub(super) fn read(source: &Source, _: &Options) -> Result<Read, TraceError> {
    Err(TraceError::NoSamples {
        file: source.file.clone(),
    })
}
