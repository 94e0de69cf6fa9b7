//! Stand-ins for the world outside, for tests through the front door.
//!
//! It is: servers on real sockets of this machine that answer as the outside world does, good days and
//! bad ([`fake_prices::FakePrices`]), and launchers of real peers ([`s3`], [`python`], [`nginx`], [`sshd`], [`moto`]; `peers.sh` installs them).
//! It is not: a mock of lessee's own code; every test still runs the whole of it.

pub mod certs;
pub mod fake_prices;
pub mod hostile;
pub mod moto;
pub mod nginx;
#[allow(clippy::print_stdout, reason = "tests say what they skip")]
pub mod peer;
#[allow(clippy::print_stdout, reason = "tests say what they skip")]
pub mod python;
#[allow(clippy::print_stdout, reason = "tests say what they skip")]
pub mod s3;
pub mod sshd;
