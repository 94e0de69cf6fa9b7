//! What an endpoint shows to anybody who connects: TLS versions, suites and certificates, the algorithms of an SSH server,
//! whether plain HTTP is answered, whether a metadata service asks for a token.
//!
//! Nobody logs in and nothing is sent but openings of protocols. Whatever comes back is bounded in bytes and in time and may be
//! anything. Start at [`Endpoint`], [`tls::look`] and [`ssh::look`]. Not here: what it is worth (`core/accept`), buckets
//! (`io/objects`).

mod conn;
mod endpoint;
pub mod http;
pub mod ssh;
pub mod tls;

pub use conn::Limits;
pub use endpoint::{Endpoint, EndpointError, Scheme};
