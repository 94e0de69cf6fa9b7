//! TLS handshakes, timed. Any certificate will do: what is timed is the way, and nothing is sent over it. Certificates are
//! judged elsewhere.

use crate::connect::{SLICE, trouble_of};
use lessee_accept::latency::{Speaks, Trouble, TroubleKind};
use lessee_endpoints::tls::AnyCertificate;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Error, HandshakeKind, ProtocolVersion};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How a handshake was.
pub(crate) struct Shaken {
    pub(crate) ms: f64,
    pub(crate) speaks: Speaks,
}

/// Why there was none.
pub(crate) enum NoTls {
    /// Something else answers there.
    Speaks(Speaks),
    /// The connection.
    Broke(Trouble),
}

/// Each handshake is a whole one.
///
/// # Errors
/// The library's own.
pub(crate) fn config() -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(AnyCertificate::new(provider))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Shakes hands, as far as the other end knows how.
pub(crate) fn shake(
    config: &Arc<ClientConfig>,
    host: &str,
    stream: &mut TcpStream,
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<Shaken, NoTls> {
    let broke = |e: std::io::Error| NoTls::Broke(trouble_of(e));
    let other = |why: String| NoTls::Speaks(Speaks::Other { why });
    stream.set_read_timeout(Some(SLICE)).map_err(broke)?;
    stream.set_write_timeout(Some(timeout)).map_err(broke)?;
    let name = ServerName::try_from(host.to_owned()).map_err(|e| other(e.to_string()))?;
    let begun = Instant::now();
    let mut client = ClientConnection::new(config.clone(), name)
        .map_err(|e| NoTls::Broke(Trouble::new(TroubleKind::Tls, e.to_string())))?;
    let mut answered = false;
    while client.is_handshaking() || client.wants_write() {
        if client.wants_write() {
            client.write_tls(stream).map_err(broke)?;
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(NoTls::Broke(Trouble::new(TroubleKind::Stopped, "")));
        }
        if begun.elapsed() >= timeout {
            return Err(match answered {
                false => other("silent".to_owned()),
                true => NoTls::Broke(Trouble::new(TroubleKind::TimedOut, "TLS handshake")),
            });
        }
        if !answered {
            match first_bytes(stream) {
                Ok(None) => continue,
                Ok(Some(bytes)) => not_tls(&bytes).map_or(Ok(()), Err)?,
                Err(e) => return Err(broke(e)),
            }
            answered = true;
        }
        match client.read_tls(stream) {
            Ok(0) => return Err(broke(ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(e) if is_wait(&e) => continue,
            Err(e) => return Err(broke(e)),
        }
        if let Err(e) = client.process_new_packets() {
            return Err(other(format!("TLS: {e}")));
        }
    }
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    Ok(Shaken {
        ms,
        speaks: speaks(&client),
    })
}

fn speaks(client: &ClientConnection) -> Speaks {
    let old = client.protocol_version() == Some(ProtocolVersion::TLSv1_2);
    let retried = client.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest);
    Speaks::Tls {
        version: match old {
            true => "TLSv1.2".to_owned(),
            false => "TLSv1.3".to_owned(),
        },
        trips: 1 + u32::from(old) + u32::from(retried),
    }
}

pub(crate) fn is_wait(e: &std::io::Error) -> bool {
    matches!(
        e.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Looks at what came, and leaves it there; `None`: nothing yet.
fn first_bytes(stream: &TcpStream) -> std::io::Result<Option<Vec<u8>>> {
    let mut start = [0; 4];
    match stream.peek(&mut start) {
        Ok(n) => Ok(Some(start[..n].to_vec())),
        Err(e) if is_wait(&e) => Ok(None),
        Err(e) => Err(e),
    }
}

/// What speaks there, where it is not TLS: a record of a handshake or an alert.
fn not_tls(bytes: &[u8]) -> Option<NoTls> {
    match bytes {
        [0x15 | 0x16, ..] => None,
        [] => Some(NoTls::Speaks(Speaks::Other {
            why: "closed".to_owned(),
        })),
        [b'S', b'S', b'H', ..] => Some(NoTls::Speaks(Speaks::Ssh)),
        _ => Some(NoTls::Speaks(Speaks::Other {
            why: "no TLS".to_owned(),
        })),
    }
}
