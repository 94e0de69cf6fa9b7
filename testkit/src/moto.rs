//! An S3 server that knows bucket settings, which those that only store do not: moto (Python). It checks no signature, so a
//! test makes buckets by plain requests.

use crate::peer::{Running, free_port, program};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

pub struct Moto {
    _running: Running,
    pub port: u16,
}

impl Moto {
    /// None where it is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(folder: &Path) -> Option<Moto> {
        let moto = program("moto_server")?;
        std::fs::create_dir_all(folder).expect("a folder");
        let port = free_port();
        let mut command = Command::new(moto);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let running = Running::start(command, port, &folder.join("moto.log"));
        Some(Moto {
            _running: running,
            port,
        })
    }

    /// Sends a PUT, `/bucket` or `/bucket?encryption`.
    ///
    /// # Panics
    /// It is not answered with 2xx.
    pub fn put(&self, path: &str, body: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a time limit");
        // the credential is what tells moto which service is meant
        let credential = "AWS4-HMAC-SHA256 Credential=a/20261130/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
        let request = format!(
            "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: {credential}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("sends");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 2"), "PUT {path}: {answer}");
    }
}
