//! Runs the commands of a rollback, one after the other, each to its end. Their output goes to standard error, so that
//! standard output stays the document's.

use std::io;
use std::process::{Command, Stdio};

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// `None`: ended by a signal.
    pub code: Option<i32>,
}

impl Ran {
    pub fn is_done(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs one command.
///
/// # Errors
/// The program is not there, or may not run.
pub fn run(argv: &[String]) -> io::Result<Ran> {
    let (program, args) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(io::stderr());
    // what the user set for another Python must not decide where packages go
    command.env_remove("PYTHONPATH").env_remove("PYTHONHOME");
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    let status = command.status()?;
    Ok(Ran {
        code: status.code(),
    })
}
