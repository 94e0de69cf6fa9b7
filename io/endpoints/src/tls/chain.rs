//! The certificates of a server by a real handshake, whatever they are; and whether they lead to a known root and are for its
//! name. The handshake accepts everything, as it is looked at and not used: nothing is sent over it.

use crate::conn::Conn;
use lessee_accept::security::{CertFacts, NameMatch, Trust};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The roots that this machine knows, and those that the user named.
pub struct Trusted {
    roots: RootCertStore,
    /// What the user named, to know a certificate that signs itself.
    named: Vec<CertificateDer<'static>>,
    fault: Option<String>,
}

impl Trusted {
    /// The roots of the system (`SSL_CERT_FILE` and `SSL_CERT_DIR` count).
    pub fn of_system() -> Trusted {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(found.certs);
        Trusted {
            fault: found.errors.first().map(ToString::to_string),
            named: Vec::new(),
            roots,
        }
    }

    /// Adds the certificates of a PEM file; gives how many there were.
    pub fn add(&mut self, pem: &[u8]) -> usize {
        let all = CertificateDer::pem_slice_iter(pem);
        let before = self.named.len();
        for certificate in all.map_while(Result::ok) {
            self.roots.add_parsable_certificates([certificate.clone()]);
            self.named.push(certificate);
        }
        self.named.len() - before
    }
}

impl Trusted {
    /// What the user named, in DER.
    pub fn named(&self) -> Vec<Vec<u8>> {
        self.named.iter().map(|c| c.to_vec()).collect()
    }
}

/// Accepts whatever certificate it is shown, and keeps the chain: for connections that are looked at or timed, and over
/// which nothing is sent.
#[derive(Debug)]
pub struct AnyCertificate {
    provider: Arc<CryptoProvider>,
    chain: Mutex<Vec<CertificateDer<'static>>>,
}

impl AnyCertificate {
    pub fn new(provider: Arc<CryptoProvider>) -> Arc<AnyCertificate> {
        Arc::new(AnyCertificate {
            provider,
            chain: Mutex::new(Vec::new()),
        })
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let all = std::iter::once(own).chain(others);
        if let Ok(mut chain) = self.chain.lock() {
            *chain = all.map(|c| c.clone().into_owned()).collect();
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let mut all = algorithms.supported_schemes();
        all.extend([
            SignatureScheme::RSA_PKCS1_SHA1,
            SignatureScheme::ECDSA_SHA1_Legacy,
        ]);
        all
    }
}

/// The chain that a server shows in a handshake of TLS 1.2 or 1.3, and why there is none.
pub(super) fn shown(
    conn: &mut Conn,
    name: &ServerName<'static>,
) -> (Vec<CertificateDer<'static>>, Option<String>) {
    let provider = Arc::new(ring::default_provider());
    let keep = AnyCertificate::new(provider.clone());
    let made = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map(|config| {
            config
                .dangerous()
                .with_custom_certificate_verifier(keep.clone())
                .with_no_client_auth()
        })
        .and_then(|config| ClientConnection::new(Arc::new(config), name.clone()));
    let fault = match made {
        Ok(mut tls) => loop {
            // one call may end before the handshake does
            match tls.complete_io(conn) {
                Err(e) => break Some(e.to_string()),
                Ok((0, 0)) => break Some("it closes within the handshake".to_owned()),
                Ok(_) if !tls.is_handshaking() => break None,
                Ok(_) => {}
            }
        },
        Err(e) => Some(e.to_string()),
    };
    let chain = match keep.chain.lock() {
        Ok(chain) => chain.clone(),
        Err(_) => Vec::new(),
    };
    (chain, fault)
}

/// Whether the first of a chain is for a name.
pub(super) fn matches(own: &CertificateDer<'_>, name: &ServerName<'_>) -> NameMatch {
    let parsed = match ParsedCertificate::try_from(own) {
        Ok(parsed) => parsed,
        Err(e) => return NameMatch::NotChecked(e.to_string()),
    };
    match verify_server_name(&parsed, name) {
        Ok(()) => NameMatch::Matches,
        Err(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => NameMatch::Differs,
        Err(e) => NameMatch::NotChecked(e.to_string()),
    }
}

/// Whether a chain leads to a known root. Its dates are judged apart: an expired chain is followed as of a day on which it
/// held.
pub(super) fn trust(
    chain: &[CertificateDer<'static>],
    facts: &[CertFacts],
    trusted: &Trusted,
    now: u64,
) -> Trust {
    let (Some((own, others)), Some(own_facts)) = (chain.split_first(), facts.first()) else {
        return Trust::NotChecked("no certificate".to_owned());
    };
    if trusted.named.contains(own) {
        return Trust::Known;
    }
    let self_signed = own_facts.subject == own_facts.issuer;
    let parsed = match ParsedCertificate::try_from(own) {
        Ok(parsed) => parsed,
        Err(_) if self_signed => return Trust::SelfSigned,
        Err(e) => return Trust::NotChecked(e.to_string()),
    };
    if trusted.roots.is_empty() {
        let fault = trusted.fault.as_deref().unwrap_or("no roots");
        return match self_signed {
            true => Trust::SelfSigned,
            false => Trust::NotChecked(fault.to_owned()),
        };
    }
    let algorithms = ring::default_provider().signature_verification_algorithms;
    let verify = |at: u64| {
        let at = UnixTime::since_unix_epoch(Duration::from_secs(at));
        verify_server_cert_signed_by_trust_anchor(
            &parsed,
            &trusted.roots,
            others,
            at,
            algorithms.all,
        )
    };
    let mut result = verify(now);
    if let Err(Error::InvalidCertificate(
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. },
    )) = result
    {
        // roots sent along, which sign themselves, began long before
        let signed = facts.iter().filter(|f| f.subject != f.issuer);
        let began = signed.chain([own_facts]).map(|f| f.not_before).max();
        result = verify(began.unwrap_or(0).max(0).unsigned_abs());
    }
    match result {
        Ok(()) => Trust::Known,
        Err(_) if self_signed => Trust::SelfSigned,
        Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => Trust::UnknownIssuer,
        Err(e) => Trust::Bad(e.to_string()),
    }
}
