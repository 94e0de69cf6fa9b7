//! A certificate's facts from its DER.

use lessee_accept::security::CertFacts;
use sha2::{Digest, Sha256};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::asn1::{ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Reader, SliceReader};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::spki::SubjectPublicKeyInfoOwned;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
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
        signature: cert.signature_algorithm().oid.to_string(),
        names: names(tbs.get_extension::<SubjectAltName>().ok().flatten()),
    })
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
