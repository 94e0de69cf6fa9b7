//! A network namespace, held by its descriptor, and what is done inside it.

use crate::sys;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::Command;
use std::thread;

/// A network of its own; gone with the last who uses it.
#[derive(Debug)]
pub struct Net(File);

impl Net {
    /// Empty but for its loopback.
    ///
    /// # Errors
    /// The system does not allow it to this user.
    pub fn new() -> io::Result<Net> {
        let made = thread::spawn(|| {
            sys::leave_network()?;
            let held = File::open("/proc/thread-self/ns/net")?;
            ip("link set lo up")?;
            Ok(Net(held))
        });
        joined(made.join())
    }

    /// Runs `work` in a thread inside it. Sockets that it makes stay there for ever, programs that it starts too.
    ///
    /// # Errors
    /// The namespace cannot be entered, or what `work` says.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))?;
                work()
            });
            joined(inside.join())
        })
    }

    /// Writes a setting below `/proc/sys`.
    ///
    /// # Errors
    /// The system's own.
    pub fn set(&self, name: &str, value: &str) -> io::Result<()> {
        self.run(|| std::fs::write(format!("/proc/sys/{name}"), value))
    }

    /// A command of `ip`, its words parted by blanks.
    ///
    /// # Errors
    /// `ip` is missing or says no.
    pub fn ip(&self, words: &str) -> io::Result<()> {
        self.run(|| ip(words))
    }
}

fn joined<T>(end: thread::Result<io::Result<T>>) -> io::Result<T> {
    end.unwrap_or_else(|_| Err(io::Error::other("a thread of the link broke down")))
}

fn ip(words: &str) -> io::Result<()> {
    let output = Command::new("ip").args(words.split(' ')).output()?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(io::Error::other(format!("ip {words}: {}", said.trim())))
        }
    }
}

/// Whether links can be built here.
#[derive(Debug)]
pub enum Here {
    Ready,
    /// The test was run again in a user namespace of its own, where they can, and passed there.
    Passed,
    /// What is missing.
    Not(String),
}

/// Set in the second run of a test.
const INSIDE: &str = "LESSEE_LINK_INSIDE";

/// Whether links can be built: a TUN device, `ip`, and the right to make networks. Root has that right, and everybody in a user
/// namespace of his own: then the calling test is run again in one.
///
/// # Panics
/// The test failed there.
pub fn here() -> Here {
    let tried = Net::new().and_then(|net| net.run(|| sys::tun("try").map(drop)));
    let Err(why) = tried else {
        return Here::Ready;
    };
    let why = format!("no network of its own with a TUN device ({why})");
    let test = thread::current().name().map(str::to_owned);
    let (Ok(own), Some(test), None) = (std::env::current_exe(), test, std::env::var_os(INSIDE))
    else {
        return Here::Not(why);
    };
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-root-user", "--net"]).arg(own);
    inside
        .args(["--exact", &test, "--nocapture"])
        .env(INSIDE, "1");
    let Ok(output) = inside.output() else {
        return Here::Not(why);
    };
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if said.contains("test result: ok. 1 passed") && !said.contains("skipped: ") {
        return Here::Passed;
    }
    // not even begun: no user namespaces for this user
    assert!(
        !said.contains("running 1 test") || said.contains("skipped: "),
        "{said}"
    );
    Here::Not(why)
}
