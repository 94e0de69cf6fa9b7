//! Certificates as servers show them, made by `openssl`: of an authority, expired, for another name, by itself, with a weak
//! key. Start with [`Authority::new`].

use crate::peer::{program, succeeds};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A certificate and its key, as PEM files.
#[derive(Clone, Debug)]
pub struct Pair {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// Signs certificates for `localhost` and 127.0.0.1.
pub struct Authority {
    folder: PathBuf,
    openssl: PathBuf,
    /// What who trusts it must know.
    pub root: PathBuf,
}

const CONFIG: &str = "\
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
";

impl Authority {
    /// None where `openssl` is not installed.
    ///
    /// # Panics
    /// It fails.
    pub fn new(folder: &Path) -> Option<Authority> {
        let openssl = program("openssl")?;
        std::fs::create_dir_all(folder).expect("a folder");
        let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
        put("ca.cnf", CONFIG);
        put("index.txt", "");
        put("index.txt.attr", "unique_subject = no\n");
        put("serial", "1000\n");
        let authority = Authority {
            root: folder.join("root.pem"),
            folder: folder.to_owned(),
            openssl,
        };
        let new = [
            "req",
            "-x509",
            "-subj",
            "/CN=Test Authority",
            "-days",
            "3650",
        ];
        let key = [
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
        ];
        let out = ["-keyout", "root.key", "-out", "root.pem"];
        authority.openssl(&[&new[..], &key, &out].concat());
        Some(authority)
    }

    fn openssl(&self, args: &[&str]) {
        let mut command = Command::new(&self.openssl);
        succeeds(command.args(args).current_dir(&self.folder));
    }

    fn pair(&self, name: &str) -> Pair {
        Pair {
            cert: self.folder.join(format!("{name}.pem")),
            key: self.folder.join(format!("{name}.key")),
        }
    }

    /// Signed by the authority; the dates as `YYYYMMDDHHMMSSZ`.
    pub fn signed(&self, name: &str, names: &str, from: &str, until: &str) -> Pair {
        let (key, csr) = (format!("{name}.key"), format!("{name}.csr"));
        let extension = format!("subjectAltName={names}");
        self.openssl(&[
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=server",
            "-addext",
            &extension,
            "-keyout",
            &key,
            "-out",
            &csr,
        ]);
        let out = format!("{name}.pem");
        self.openssl(&[
            "ca",
            "-batch",
            "-notext",
            "-config",
            "ca.cnf",
            "-cert",
            "root.pem",
            "-keyfile",
            "root.key",
            "-startdate",
            from,
            "-enddate",
            until,
            "-in",
            &csr,
            "-out",
            &out,
        ]);
        self.pair(name)
    }

    /// For this machine and many years.
    pub fn good(&self) -> Pair {
        let names = "DNS:localhost,IP:127.0.0.1";
        self.signed("good", names, "20200101000000Z", "20400101000000Z")
    }

    /// Signed by itself, for this machine and many years; `key` as `openssl req -newkey` takes it, `digest` as `openssl ca -md`.
    pub fn self_signed(&self, name: &str, key: &str, digest: &str) -> Pair {
        let (own, csr, out) = (
            format!("{name}.key"),
            format!("{name}.csr"),
            format!("{name}.pem"),
        );
        let extension = "subjectAltName=DNS:localhost,IP:127.0.0.1";
        self.openssl(&[
            "req",
            "-newkey",
            key,
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-addext",
            extension,
            "-keyout",
            &own,
            "-out",
            &csr,
        ]);
        self.openssl(&[
            "ca",
            "-batch",
            "-notext",
            "-config",
            "ca.cnf",
            "-selfsign",
            "-keyfile",
            &own,
            "-md",
            digest,
            "-startdate",
            "20200101000000Z",
            "-enddate",
            "20400101000000Z",
            "-in",
            &csr,
            "-out",
            &out,
        ]);
        self.pair(name)
    }
}
