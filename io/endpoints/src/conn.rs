//! A TCP connection on which nothing takes longer than it may and nothing grows beyond its bound.

use lessee_accept::security::Unreached;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a look at an endpoint may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// To connect, and for the whole of each connection.
    pub connection: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connection: Duration::from_secs(5),
        }
    }
}

/// Most addresses of a name that are tried.
const MOST_ADDRESSES: usize = 4;

pub(crate) struct Conn {
    stream: TcpStream,
    deadline: Instant,
}

/// The addresses of a host.
pub(crate) fn resolve(host: &str, port: u16, limits: Limits) -> Result<Vec<SocketAddr>, Unreached> {
    let place = (host.to_owned(), port);
    let (tell, told) = mpsc::channel();
    // the system's resolver knows no time limit of ours; a thread that waits for it ends with the program
    std::thread::spawn(move || {
        let found = place.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let _ = tell.send(found);
    });
    match told.recv_timeout(limits.connection) {
        Ok(Ok(found)) if !found.is_empty() => Ok(found.into_iter().take(MOST_ADDRESSES).collect()),
        Ok(Ok(_)) => Err(Unreached::Name("-".to_owned())),
        Ok(Err(e)) => Err(Unreached::Name(e.to_string())),
        Err(_) => Err(Unreached::TimedOut),
    }
}

impl Conn {
    /// The first address that takes the connection. Refused is told only where each of them refuses: one that is silent may
    /// serve others.
    pub(crate) fn open(addresses: &[SocketAddr], limits: Limits) -> Result<Conn, Unreached> {
        let deadline = Instant::now() + limits.connection;
        let mut why = None;
        for address in addresses {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                why = Some(Unreached::TimedOut);
                break;
            }
            match TcpStream::connect_timeout(address, left) {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(Conn { stream, deadline });
                }
                Err(e) => {
                    let this = match e.kind() {
                        ErrorKind::ConnectionRefused => Unreached::Refused,
                        ErrorKind::TimedOut | ErrorKind::WouldBlock => Unreached::TimedOut,
                        ErrorKind::HostUnreachable => Unreached::NoRoute,
                        _ => Unreached::Other(e.to_string()),
                    };
                    why = match why {
                        None | Some(Unreached::Refused) => Some(this),
                        known => known,
                    };
                }
            }
        }
        Err(why.unwrap_or(Unreached::TimedOut))
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }

    /// Reads until `enough` says so, the other side closes, or there are `most` bytes. The error comes with what had come
    /// before it.
    pub(crate) fn read_until(
        &mut self,
        most: usize,
        mut enough: impl FnMut(&[u8]) -> bool,
    ) -> (Vec<u8>, io::Result<()>) {
        let mut all = Vec::new();
        let mut piece = [0; 4096];
        while all.len() < most && !enough(&all) {
            match self.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => all.extend_from_slice(&piece[..n]),
                Err(e) => return (all, Err(e)),
            }
        }
        (all, Ok(()))
    }
}

impl Read for Conn {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.set_read_timeout(Some(self.left()?))?;
            match self.stream.read(buffer) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    return Err(ErrorKind::TimedOut.into());
                }
                other => return other,
            }
        }
    }
}

impl Write for Conn {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        match self.stream.write(bytes) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => Err(ErrorKind::TimedOut.into()),
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Whether an error says that the other side closed.
pub(crate) fn closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_refuses_only_where_all_of_its_addresses_do() {
        let limits = Limits {
            connection: Duration::from_millis(300),
        };
        // TCP has no broadcast: the kernel says so at once
        let lost: SocketAddr = ([255, 255, 255, 255], 1).into();
        let refusing: SocketAddr = ([127, 0, 0, 1], 1).into();
        let why = |addresses: &[SocketAddr]| Conn::open(addresses, limits).err();
        assert_eq!(why(&[refusing, refusing]), Some(Unreached::Refused));
        for both in [[lost, refusing], [refusing, lost]] {
            assert_ne!(why(&both), Some(Unreached::Refused), "{both:?}");
        }
    }
}
