//! Programs of others that tests start: found on this machine or, where they are missing, skipped with a word; missing in CI
//! fails. Each runs until its guard is dropped.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A program by its name, in the folder of peers, in `PATH` or where the system keeps its servers. None where it is not
/// installed: that fails in CI, and is said at a desk.
pub fn program(name: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let peers = repository
        .join(target.unwrap_or_else(|| "target".into()))
        .join("peers/venv/bin");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let of_system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let found = std::iter::once(peers)
        .chain(std::env::split_paths(&paths))
        .chain(of_system)
        .map(|folder| folder.join(name))
        .find(|p| p.is_file());
    if found.is_none() {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true" || v == "1");
        assert!(!ci, "{name} is needed in CI: testkit/peers.sh security");
        println!("skipped: {name} is not here, testkit/peers.sh security installs it");
    }
    found
}

/// A server that ends with this.
pub struct Running(Child);

impl Running {
    /// Starts it, its output kept in `log`, and waits until a port takes connections.
    ///
    /// # Panics
    /// It does not start; the log is in the message.
    pub fn start(mut command: Command, port: u16, log: &Path) -> Running {
        let file = std::fs::File::create(log).expect("a log");
        let second = file.try_clone().expect("a log");
        let child = command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second)
            .spawn()
            .expect("starts");
        let mut running = Running(child);
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = running.0.try_wait().ok().flatten().is_some();
            let said = || std::fs::read_to_string(log).unwrap_or_default();
            assert!(!ended, "it ends at once: {}", said());
            assert!(Instant::now() < until, "it does not start: {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that was free a moment ago.
///
/// # Panics
/// There is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Runs a command to its end.
///
/// # Panics
/// It fails; what it said is in the message.
pub fn succeeds(command: &mut Command) -> Output {
    let output = command.output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}
