//! A certificate's facts from its DER.

use lessee_accept::security::CertFacts;
use sha2::{Digest, Sha256};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::asn1::{AnyRef, ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Reader, SliceReader};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const RSASSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
/// The tag `[0]` of a field that is constructed.
const EXPLICIT_0: u8 = 0xa0;
const MOST_NAMES: usize = 50;
const LONGEST: usize = 200;

/// # Errors
/// It is no certificate that can be read: why not.
pub fn facts(der: &[u8]) -> Result<CertFacts, String> {
    let cert = CertificateInner::<Raw>::from_der(der).map_err(|e| e.to_string())?;
    let tbs = cert.tbs_certificate();
    let seconds = |time: x509_cert::time::Time| {
        i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
    };
    let (key, curve, key_bits) = key(tbs.subject_public_key_info());
    Ok(CertFacts {
        sha256: hex(&Sha256::digest(der)),
        subject: short(&tbs.subject().to_string()),
        issuer: short(&tbs.issuer().to_string()),
        not_before: seconds(tbs.validity().not_before),
        not_after: seconds(tbs.validity().not_after),
        key,
        curve,
        key_bits,
        signature: signature(cert.signature_algorithm()),
        names: names(tbs.get_extension::<SubjectAltName>().ok().flatten()),
    })
}

/// Of RSASSA-PSS with its hash, which is in the parameters; where it is left out it is SHA-1 (RFC 4055 section 3.1).
fn signature(algorithm: &AlgorithmIdentifierOwned) -> String {
    let oid = algorithm.oid.to_string();
    if algorithm.oid != RSASSA_PSS {
        return oid;
    }
    let hash = match algorithm.parameters.as_ref().map(|p| p.value()) {
        None | Some([]) => Some(SHA1),
        Some(value) if value.first() != Some(&EXPLICIT_0) => Some(SHA1),
        Some(value) => pss_hash(value),
    };
    match hash {
        Some(hash) => format!("{oid}/{hash}"),
        None => oid,
    }
}

fn pss_hash(parameters: &[u8]) -> Option<ObjectIdentifier> {
    let mut reader = SliceReader::new(parameters).ok()?;
    let first = AnyRef::decode(&mut reader).ok()?;
    let hash = AlgorithmIdentifierOwned::from_der(first.value()).ok()?;
    Some(hash.oid)
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

fn key(spki: &SubjectPublicKeyInfoOwned) -> (String, Option<String>, Option<u32>) {
    let oid = spki.algorithm.oid;
    if oid == RSA {
        let bits = modulus_bits(spki.subject_public_key.raw_bytes());
        ("RSA".to_owned(), None, bits)
    } else if oid == EC {
        let curve = spki.algorithm.parameters.as_ref();
        let curve = curve.and_then(|any| any.decode_as::<ObjectIdentifier>().ok());
        ("EC".to_owned(), curve.map(|c| c.to_string()), None)
    } else if oid == ED25519 {
        ("Ed25519".to_owned(), None, None)
    } else {
        (oid.to_string(), None, None)
    }
}

/// `RSAPublicKey` of RFC 8017: a sequence of the modulus and the exponent.
fn modulus_bits(key: &[u8]) -> Option<u32> {
    let mut reader = SliceReader::new(key).ok()?;
    let read: x509_cert::der::Result<u32> = reader.sequence(|inner: &mut _| {
        let modulus = UintRef::decode(inner)?;
        let _exponent = UintRef::decode(inner)?;
        let bytes = modulus.as_bytes();
        let leading = bytes.first().map_or(0, |b| b.leading_zeros());
        Ok((bytes.len() as u32)
            .saturating_mul(8)
            .saturating_sub(leading))
    });
    read.ok()
}

fn names(found: Option<(bool, SubjectAltName)>) -> Vec<String> {
    let all = found.map(|(_, names)| names.0).unwrap_or_default();
    let shown = |name: &GeneralName| match name {
        GeneralName::DnsName(name) => Some(short(name.as_str())),
        GeneralName::IpAddress(bytes) => address(bytes.as_bytes()),
        _ => None,
    };
    all.iter().filter_map(shown).take(MOST_NAMES).collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(four).to_string());
    }
    let sixteen = <[u8; 16]>::try_from(bytes).ok()?;
    Some(std::net::Ipv6Addr::from(sixteen).to_string())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
