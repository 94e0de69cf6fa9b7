//! A real sshd on a port of its own, with the options of a test.

use crate::peer::{Running, free_port, program, succeeds};
use std::path::Path;
use std::process::Command;

pub struct Sshd {
    _running: Running,
    pub port: u16,
}

impl Sshd {
    /// `options` as `sshd -o` takes them. None where sshd is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(folder: &Path, options: &[&str]) -> Option<Sshd> {
        let (sshd, keygen) = (program("sshd")?, program("ssh-keygen")?);
        std::fs::create_dir_all(folder).expect("a folder");
        // where root starts it, it wants a folder of its own there
        let _ = std::fs::create_dir_all("/run/sshd");
        let port = free_port();
        let mut command = Command::new(sshd);
        command.args(["-D", "-e", "-f", "/dev/null", "-p", &port.to_string()]);
        for kind in ["rsa", "ed25519"] {
            let key = folder.join(kind);
            let mut make = Command::new(&keygen);
            make.args(["-q", "-t", kind, "-N", "", "-f"]).arg(&key);
            succeeds(&mut make);
            command.arg("-h").arg(&key);
        }
        let pid = format!("PidFile={}", folder.join("pid").display());
        command.args([
            "-o",
            "ListenAddress=127.0.0.1",
            "-o",
            "UsePAM=no",
            "-o",
            &pid,
        ]);
        for option in options {
            command.args(["-o", option]);
        }
        let running = Running::start(command, port, &folder.join("sshd.log"));
        Some(Sshd {
            _running: running,
            port,
        })
    }
}
