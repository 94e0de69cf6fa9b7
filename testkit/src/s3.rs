//! A real S3 server (`s3s-fs`, which keeps buckets as folders), and a way to it on which things go wrong.
//!
//! `testkit/peers.sh s3` installs it. Start with [`S3Server::start`].

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub const KEY: &str = "AKTESTKEY";
pub const SECRET: &str = "s3cret-that-is-never-shown";

pub struct S3Server {
    process: Child,
    pub port: u16,
    /// Buckets are folders in here.
    pub root: PathBuf,
}

impl S3Server {
    /// With a bucket `bucket`. None where the server is not installed: that fails in CI, and is said at a desk.
    pub fn start(root: &Path) -> Option<S3Server> {
        let Some(program) = program() else {
            let ci = std::env::var("CI").is_ok_and(|v| v == "true" || v == "1");
            assert!(!ci, "s3s-fs is needed in CI: testkit/peers.sh s3");
            println!("skipped: s3s-fs is not here, testkit/peers.sh s3 installs it");
            return None;
        };
        std::fs::create_dir_all(root.join("bucket")).ok()?;
        // a port that was free a moment ago
        let port = TcpListener::bind("127.0.0.1:0")
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let process = Command::new(program)
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--access-key", KEY, "--secret-key", SECRET])
            .arg(root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let server = S3Server {
            process,
            port,
            root: root.to_owned(),
        };
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "the S3 server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    /// Names of all objects in the bucket, whatever their folder; the server's own files begin with a dot.
    pub fn objects(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.join("bucket")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ => found.push(entry.file_name().to_string_lossy().into_owned()),
                }
            }
        }
        found.retain(|name| !name.starts_with('.'));
        found
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = repository.join(target.unwrap_or_else(|| "target".into()));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&paths).map(|p| p.join("s3s-fs"));
    std::iter::once(target.join("peers/bin/s3s-fs"))
        .chain(installed)
        .find(|p| p.is_file())
}

/// What goes wrong on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A connection breaks when so many bytes were sent to the server.
    BreaksAfter(usize),
    /// Requests to delete are answered with 403.
    NoDelete,
}

/// Connections to a port of this machine, passed on to another one until the trouble comes.
pub struct Way {
    pub port: u16,
    over: Arc<AtomicBool>,
}

impl Way {
    /// # Errors
    /// There is no free port.
    pub fn to(port: u16, trouble: Trouble) -> std::io::Result<Way> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let way = Way {
            port: listener.local_addr()?.port(),
            over: Arc::new(AtomicBool::new(false)),
        };
        let over = Arc::clone(&way.over);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)) {
                    std::thread::spawn(move || drop(pass(&client, &server, trouble)));
                }
            }
        });
        Ok(way)
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn pass(client: &TcpStream, server: &TcpStream, trouble: Trouble) -> std::io::Result<()> {
    let (mut back, mut to) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut from, mut on) = (client.try_clone()?, server.try_clone()?);
    let mut sent = 0;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        // a client sends a request when the answer to the one before is there: it begins a piece
        if trouble == Trouble::NoDelete && buffer[..n].starts_with(b"DELETE ") {
            let body = "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>";
            let answer = format!(
                "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            from.write_all(answer.as_bytes())?;
            break;
        }
        sent += n;
        if matches!(trouble, Trouble::BreaksAfter(most) if sent > most) {
            break;
        }
        on.write_all(&buffer[..n])?;
    }
    let _ = on.shutdown(Shutdown::Both);
    from.shutdown(Shutdown::Both)
}

/// A server that answers every request with these bytes. Its port.
///
/// # Errors
/// There is no free port.
pub fn answering(answer: String) -> std::io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || {
                let mut buffer = vec![0; 64 << 10];
                // all of the head and, of a body, what comes while it is answered
                let _ = client.read(&mut buffer);
                let _ = client.write_all(answer.as_bytes());
                let _ = client.shutdown(Shutdown::Write);
                let _ = client.set_read_timeout(Some(Duration::from_secs(2)));
                while matches!(client.read(&mut buffer), Ok(n) if n > 0) {}
            });
        }
    });
    Ok(port)
}
