//! S3-compatible storage: where a bucket is, who may use it, and requests to it.
//!
//! Requests are signed by `rusty-s3`, which does no I/O, and sent by the HTTP client that price lists come by. Credentials
//! come from the environment or the files of the AWS tools and go nowhere but into signatures. Start at [`Target::parse`],
//! [`Credentials::find`] and [`Store`]; [`throughput`] is what `probe --s3` measures. Not here: instance roles and single
//! sign-on (use the tools that turn them into variables), listing and lifecycle rules, which nothing needs yet.

mod credentials;
mod error;
pub mod settings;
mod store;
mod target;
pub mod throughput;

pub use credentials::{Credentials, Found};
pub use error::ObjectError;
pub use store::{Part, Store, Stored};
pub use target::Target;
