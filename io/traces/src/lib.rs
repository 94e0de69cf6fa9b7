//! Records of spot markets on disk: availability, prices, lives and buckets, in the formats that people publish.
//!
//! Start with [`read`] (a file of any known format becomes [`Record`](lessee_spot::trace::Record)s and
//! [`Remark`]s) and [`read_path`] (the same for a folder). Nothing is guessed: a series of zeros and ones whose
//! meaning the file does not state is an error that asks, see [`Polarity`]. [`TraceStore`] keeps them. Not here: figures
//! (`core/spot/stats`), replays (`core/spot`).

mod error;
mod formats;
mod names;
mod polarity;
mod read;
mod remark;
mod source;
mod store;
mod table;

pub use error::TraceError;
pub use formats::Format;
pub use names::{provider_of, region_of};
pub use polarity::Polarity;
pub use read::{Folder, Options, Read, fuzz_read, read, read_bytes, read_path, split_column};
pub use remark::Remark;
pub use store::{StoredTrace, TraceStore};
