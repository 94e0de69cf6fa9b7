//! `accept security` on endpoints, through the real binary and against real servers: nginx, sshd, an S3 server with and without
//! encryption. None of them is of lessee.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod common;

use common::{Home, Run};
use lessee_testkit::certs::{Authority, Pair};
use lessee_testkit::moto::Moto;
use lessee_testkit::nginx::{Nginx, Site};
use lessee_testkit::sshd::Sshd;
use serde_json::Value;
use sha2::{Digest, Sha256};

const MODERN: &str = "TLSv1.2 TLSv1.3";
const AEAD: &str = "ECDHE+AESGCM:ECDHE+CHACHA20";

/// The verdict of a rule; there is exactly one finding of it.
#[track_caller]
fn verdict(doc: &Value, rule: &str) -> String {
    one(doc, rule)["verdict"].as_str().unwrap().to_owned()
}

#[track_caller]
fn one<'a>(doc: &'a Value, rule: &str) -> &'a Value {
    let findings = doc["findings"].as_array().unwrap();
    let mut those = findings.iter().filter(|f| f["rule"] == rule);
    let first = those.next().unwrap_or_else(|| panic!("no {rule}: {doc}"));
    assert!(those.next().is_none(), "two findings of {rule}: {doc}");
    first
}

/// Rules that did not pass.
fn not_passed(doc: &Value) -> Vec<&str> {
    let findings = doc["findings"].as_array().unwrap();
    for finding in findings {
        assert!(finding["source"].is_string(), "no source: {finding}");
        assert!(finding["as_of"].is_string(), "no date: {finding}");
    }
    let bad = findings.iter().filter(|f| f["verdict"] != "pass");
    bad.map(|f| f["rule"].as_str().unwrap()).collect()
}

struct Web {
    home: Home,
    authority: Authority,
}

impl Web {
    fn new() -> Option<Web> {
        let home = Home::new();
        let authority = Authority::new(&home.path("certs"))?;
        Some(Web { home, authority })
    }

    fn serve(&self, sites: &[&Site]) -> Option<Nginx> {
        Nginx::start(&self.home.path("nginx"), sites)
    }

    fn look(&self, url: &str, more: &[&str]) -> Run {
        let root = self.authority.root.to_str().unwrap().to_owned();
        let args = [
            "accept",
            "security",
            "--endpoint",
            url,
            "--ca",
            &root,
            "-o",
            "json",
        ];
        self.home.run(&[&args, more].concat())
    }

    /// Serves one certificate as it should be served, and looks.
    fn shown(&self, pair: &Pair, exit: i32) -> Option<Value> {
        let site = Site::tls(pair, MODERN, "ECDHE+AESGCM:@SECLEVEL=0");
        let _nginx = self.serve(&[&site])?;
        let url = format!("https://localhost:{}", site.port);
        Some(self.look(&url, &[]).exits(exit).json())
    }
}

#[test]
fn a_good_endpoint_passes_with_evidence_and_says_that_it_is_no_legal_advice() {
    let Some(web) = Web::new() else { return };
    let site = Site::tls(&web.authority.good(), MODERN, AEAD);
    let Some(_nginx) = web.serve(&[&site]) else {
        return;
    };
    let url = format!("https://localhost:{}", site.port);
    let doc = web.look(&url, &[]).exits(0).json();
    assert_eq!(not_passed(&doc), Vec::<&str>::new(), "{doc}");
    let rules: Vec<&str> = doc["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["rule"].as_str().unwrap())
        .collect();
    assert_eq!(
        rules,
        [
            "tls-old",
            "tls-version",
            "tls-suite",
            "cert-dates",
            "cert-name",
            "cert-trust",
            "cert-key",
            "cert-signature",
            "plain-http"
        ]
    );
    let evidence = &doc["evidence"][0];
    assert_eq!(evidence["kind"], "tls");
    assert_eq!(evidence["taken_at"], common::NOW);
    assert_eq!(one(&doc, "tls-version")["evidence"][0], evidence["sha256"]);
    assert!(
        doc["notices"][0]
            .as_str()
            .unwrap()
            .starts_with("Not legal advice")
    );

    let root = web.authority.root.to_str().unwrap().to_owned();
    let args = ["accept", "security", "--endpoint", &url, "--ca", &root];
    let page = web.home.run(&args).exits(0).out;
    assert!(page.contains("Not legal advice"), "{page}");
    let chinese = web.home.run(&[&args[..], &["--lang", "zh-CN"]].concat());
    assert!(chinese.out.contains("不构成法律意见"), "{}", chinese.out);
    let rows = web.home.run(&[&args[..], &["-o", "csv"]].concat());
    assert!(rows.err.contains("Not legal advice"), "{}", rows.err);

    // by its address, which the certificate names too
    let url = format!("https://127.0.0.1:{}", site.port);
    let doc = web.look(&url, &[]).exits(0).json();
    assert_eq!(not_passed(&doc), Vec::<&str>::new(), "{doc}");
}

#[test]
fn an_expired_certificate_fails_and_one_that_ends_soon_is_a_warning() {
    let Some(web) = Web::new() else { return };
    let names = "DNS:localhost";
    let signed = |name, until| web.authority.signed(name, names, "20200101000000Z", until);
    let Some(doc) = web.shown(&signed("old", "20210101000000Z"), 1) else {
        return;
    };
    assert_eq!(not_passed(&doc), ["cert-dates"], "{doc}");
    assert!(
        one(&doc, "cert-dates")["reason"]
            .as_str()
            .unwrap()
            .contains("2021-01-01")
    );
    let soon = web.shown(&signed("soon", "20261205000000Z"), 0).unwrap();
    assert_eq!(verdict(&soon, "cert-dates"), "warn");
    assert!(
        one(&soon, "cert-dates")["reason"]
            .as_str()
            .unwrap()
            .contains("left: 4")
    );
    let early = web
        .authority
        .signed("early", names, "20270101000000Z", "20280101000000Z");
    let early = web.shown(&early, 1).unwrap();
    assert_eq!(verdict(&early, "cert-dates"), "fail");
}

#[test]
fn a_certificate_signed_by_itself_is_a_limit_until_it_is_pinned() {
    let Some(web) = Web::new() else { return };
    let pair = web.authority.self_signed("own", "rsa:2048", "sha256");
    let site = Site::tls(&pair, MODERN, AEAD);
    let Some(_nginx) = web.serve(&[&site]) else {
        return;
    };
    let url = format!("https://localhost:{}", site.port);
    let doc = web.look(&url, &[]).exits(0).json();
    assert_eq!(not_passed(&doc), ["cert-trust"], "{doc}");
    let trust = one(&doc, "cert-trust");
    assert_eq!(
        (&trust["verdict"], &trust["code"]),
        (&"warn".into(), &"cert_self_signed".into())
    );
    // the fingerprint that it names is that of the certificate
    let der = std::process::Command::new("openssl")
        .args(["x509", "-outform", "DER", "-in"])
        .arg(&pair.cert)
        .output()
        .unwrap()
        .stdout;
    let hash: String = Sha256::digest(&der)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert!(trust["reason"].as_str().unwrap().contains(&hash), "{trust}");
    let pinned = web.look(&url, &["--ca", pair.cert.to_str().unwrap()]);
    assert_eq!(verdict(&pinned.exits(0).json(), "cert-trust"), "pass");
}

#[test]
fn an_authority_that_nobody_knows_is_a_limit() {
    let Some(web) = Web::new() else { return };
    let site = Site::tls(&web.authority.good(), MODERN, AEAD);
    let Some(_nginx) = web.serve(&[&site]) else {
        return;
    };
    let url = format!("https://localhost:{}", site.port);
    let run = web
        .home
        .run(&["accept", "security", "--endpoint", &url, "-o", "json"]);
    let doc = run.exits(0).json();
    assert_eq!(
        one(&doc, "cert-trust")["code"],
        "cert_unknown_issuer",
        "{doc}"
    );
    assert_eq!(not_passed(&doc), ["cert-trust"]);
}

#[test]
fn old_versions_are_found_by_the_answer_of_the_server() {
    let Some(web) = Web::new() else { return };
    let pair = web.authority.self_signed("rsa", "rsa:2048", "sha256");
    let all = "ALL:@SECLEVEL=0";
    let old = Site::tls(&pair, "TLSv1", all);
    let mixed = Site::tls(&pair, "TLSv1 TLSv1.2 TLSv1.3", all);
    let Some(_nginx) = web.serve(&[&old, &mixed]) else {
        return;
    };
    let look = |port| {
        let url = format!("https://localhost:{port}");
        web.look(&url, &[]).exits(1).json()
    };
    let doc = look(old.port);
    let said = one(&doc, "tls-old")["reason"].as_str().unwrap();
    assert!(
        said.contains("TLS 1.0") && !said.contains("TLS 1.1"),
        "{said}"
    );
    assert_eq!(verdict(&doc, "tls-version"), "fail");
    // the certificate is judged all the same, though no library of today would finish this handshake
    assert_eq!(verdict(&doc, "cert-dates"), "pass", "{doc}");
    let doc = look(mixed.port);
    assert_eq!(verdict(&doc, "tls-old"), "fail");
    let said = one(&doc, "tls-version")["reason"].as_str().unwrap();
    assert!(said.contains("TLS 1.2, TLS 1.3"), "{said}");
}

#[test]
fn weak_suites_warn_and_broken_ones_fail() {
    let Some(web) = Web::new() else { return };
    let pair = web.authority.self_signed("rsa", "rsa:2048", "sha256");
    let weak = Site::tls(&pair, "TLSv1.2", "ECDHE-RSA-AES128-SHA256:AES128-SHA");
    let broken = Site::tls(&pair, "TLSv1.2", "ECDHE+AESGCM:NULL-SHA256:@SECLEVEL=0");
    let Some(_nginx) = web.serve(&[&weak, &broken]) else {
        return;
    };
    let look = |port, exit| {
        let url = format!("https://localhost:{port}");
        web.look(&url, &[]).exits(exit).json()
    };
    let doc = look(weak.port, 0);
    assert_eq!(one(&doc, "tls-suite")["code"], "tls_suite_weak", "{doc}");
    let doc = look(broken.port, 1);
    let said = one(&doc, "tls-suite")["reason"].as_str().unwrap();
    assert!(said.contains("TLS_RSA_WITH_NULL_SHA256"), "{said}");
}

#[test]
fn a_weak_key_a_weak_signature_and_another_name_fail() {
    let Some(web) = Web::new() else { return };
    let weak = web.authority.self_signed("weak", "rsa:1024", "sha1");
    let Some(doc) = web.shown(&weak, 1) else {
        return;
    };
    assert_eq!(verdict(&doc, "cert-key"), "fail");
    assert!(
        one(&doc, "cert-key")["reason"]
            .as_str()
            .unwrap()
            .contains("RSA 1024")
    );
    let said = one(&doc, "cert-signature")["reason"].as_str().unwrap();
    assert!(said.contains("sha1WithRSAEncryption"), "{said}");
    let until = "20400101000000Z";
    let other = web
        .authority
        .signed("other", "DNS:elsewhere.example", "20200101000000Z", until);
    let doc = web.shown(&other, 1).unwrap();
    assert_eq!(not_passed(&doc), ["cert-name"], "{doc}");
    assert!(
        one(&doc, "cert-name")["reason"]
            .as_str()
            .unwrap()
            .contains("elsewhere.example")
    );
}

#[test]
fn a_certificate_signed_with_pss_is_judged_by_its_hash() {
    let Some(web) = Web::new() else { return };
    let pss = |digest: &str| {
        let (cert, key) = (
            web.home.path(&format!("{digest}.pem")),
            web.home.path("pss.key"),
        );
        let made = std::process::Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "300",
            ])
            .args([
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost",
            ])
            .args([
                "-sigopt",
                "rsa_padding_mode:pss",
                &format!("-{digest}"),
                "-keyout",
            ])
            .arg(&key)
            .arg("-out")
            .arg(&cert)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        Pair { cert, key }
    };
    let seen = |pair: &Pair| {
        let site = Site::tls(pair, MODERN, "ECDHE+AESGCM:@SECLEVEL=0");
        let _nginx = web.serve(&[&site])?;
        let url = format!("https://localhost:{}", site.port);
        Some(web.look(&url, &[]).json())
    };
    // the parameters of SHA-1 are the default, so they are left out
    let Some(doc) = seen(&pss("sha1")) else {
        return;
    };
    let finding = one(&doc, "cert-signature");
    assert_eq!(finding["verdict"], "fail", "{finding}");
    assert!(
        finding["reason"].as_str().unwrap().contains("SHA-1"),
        "{finding}"
    );
    let doc = seen(&pss("sha256")).unwrap();
    assert_eq!(verdict(&doc, "cert-signature"), "pass", "{doc}");
}

#[test]
fn plain_http_is_refused_sent_on_or_served() {
    let Some(web) = Web::new() else { return };
    let served = Site::plain("return 200 hello;");
    let sent_on = Site::plain("return 301 https://localhost$request_uri;");
    let login = Site::plain("return 401;");
    let Some(_nginx) = web.serve(&[&served, &sent_on, &login]) else {
        return;
    };
    let look = |scheme: &str, port, exit| {
        let url = format!("{scheme}://localhost:{port}");
        web.look(&url, &[]).exits(exit).json()
    };
    assert_eq!(verdict(&look("http", served.port, 1), "plain-http"), "fail");
    assert_eq!(
        verdict(&look("http", sent_on.port, 0), "plain-http"),
        "pass"
    );
    assert_eq!(verdict(&look("http", login.port, 0), "plain-http"), "warn");
    // where HTTPS was expected
    let doc = look("https", served.port, 1);
    assert_eq!(verdict(&doc, "endpoint-reach"), "unknown");
    assert_eq!(verdict(&doc, "plain-http"), "fail");
}

#[test]
fn an_ssh_server_is_judged_by_what_it_offers() {
    let home = Home::new();
    let Some(usual) = Sshd::start(&home.path("usual"), &[]) else {
        return;
    };
    let weak = [
        "Ciphers=+3des-cbc,aes128-cbc",
        "MACs=+hmac-md5",
        "KexAlgorithms=+diffie-hellman-group1-sha1",
        "HostKeyAlgorithms=+ssh-rsa",
    ];
    let weak = Sshd::start(&home.path("weak"), &weak).unwrap();
    let strict = [
        "Ciphers=aes256-gcm@openssh.com",
        "MACs=hmac-sha2-512-etm@openssh.com",
        "KexAlgorithms=curve25519-sha256",
    ];
    let strict = Sshd::start(&home.path("strict"), &strict).unwrap();
    let look = |port: u16, exit: i32| {
        let url = format!("ssh://127.0.0.1:{port}");
        home.run(&["accept", "security", "--endpoint", &url, "-o", "json"])
            .exits(exit)
            .json()
    };
    let doc = look(weak.port, 1);
    for (rule, name) in [
        ("ssh-kex", "diffie-hellman-group1-sha1"),
        ("ssh-cipher", "3des-cbc"),
        ("ssh-mac", "hmac-md5"),
    ] {
        let finding = one(&doc, rule);
        assert_eq!(finding["verdict"], "fail", "{finding}");
        assert!(
            finding["reason"].as_str().unwrap().contains(name),
            "{finding}"
        );
        assert!(finding["ask"].is_string() && finding["source"].is_string());
    }
    assert_eq!(verdict(&doc, "ssh-host-key"), "warn");
    assert_eq!(not_passed(&look(strict.port, 0)), Vec::<&str>::new());
    // as Debian ships it: nothing broken, and no name that the table lacks
    let doc = look(usual.port, 0);
    assert_eq!(verdict(&doc, "ssh-kex"), "pass");
    assert_eq!(verdict(&doc, "ssh-cipher"), "pass");
}

const KEYS: [(&str, &str); 2] = [
    ("AWS_ACCESS_KEY_ID", "AKTESTKEY"),
    ("AWS_SECRET_ACCESS_KEY", "s3cret-that-is-never-shown"),
];

fn rules(algorithm: &str) -> String {
    format!(
        "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>{algorithm}</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>"
    )
}

#[test]
fn buckets_with_and_without_encryption_over_tls_and_in_the_clear() {
    let Some(web) = Web::new() else { return };
    let Some(moto) = Moto::start(&web.home.path("moto")) else {
        return;
    };
    for bucket in ["clear", "kms", "policed"] {
        moto.put(&format!("/{bucket}"), "");
    }
    moto.put("/kms?encryption", &rules("aws:kms"));
    moto.put("/policed?encryption", &rules("AES256"));
    moto.put(
        "/policed?policy",
        r#"{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}"#,
    );
    let site = Site::before(&web.authority.good(), moto.port);
    let own = web.authority.self_signed("own", "rsa:2048", "sha256");
    let untrusted = Site::before(&own, moto.port);
    let Some(_nginx) = web.serve(&[&site, &untrusted]) else {
        return;
    };
    let root = web.authority.root.to_str().unwrap().to_owned();
    let look = |bucket: &str, endpoint: &str, variables: &[(&str, &str)]| {
        let url = format!("s3://{bucket}");
        let args = [
            "accept",
            "security",
            "--endpoint",
            &url,
            "--s3-endpoint",
            endpoint,
            "--ca",
            &root,
            "-o",
            "json",
        ];
        let run = web.home.run_with(&args, variables);
        assert!(!format!("{}{}", run.out, run.err).contains("s3cret"));
        run
    };
    let secure = format!("https://localhost:{}", site.port);
    let doc = look("kms", &secure, &KEYS).exits(0).json();
    assert_eq!(not_passed(&doc), Vec::<&str>::new(), "{doc}");
    assert!(
        one(&doc, "s3-encryption")["reason"]
            .as_str()
            .unwrap()
            .contains("aws:kms")
    );
    assert_eq!(verdict(&doc, "tls-version"), "pass");

    let doc = look("clear", &secure, &KEYS).exits(1).json();
    assert_eq!(not_passed(&doc), ["s3-encryption"], "{doc}");
    assert_eq!(one(&doc, "s3-encryption")["verdict"], "fail");

    let missing = look("missing", &secure, &KEYS).exits(7).json();
    assert_eq!(one(&missing, "s3-encryption")["code"], "s3_no_bucket");
    let without = look("kms", &secure, &[]).exits(7).json();
    assert_eq!(one(&without, "s3-encryption")["code"], "s3_no_credentials");

    // the tools refuse a certificate that nobody vouches for, so here it is a failure; and nothing signed is sent there
    let untrusted = format!("https://localhost:{}", untrusted.port);
    let doc = look("kms", &untrusted, &KEYS).exits(1).json();
    assert_eq!(verdict(&doc, "cert-trust"), "fail");
    assert_eq!(verdict(&doc, "s3-encryption"), "unknown");

    let plain = format!("http://127.0.0.1:{}", moto.port);
    let doc = look("kms", &plain, &KEYS).exits(1).json();
    assert_eq!(not_passed(&doc), ["s3-transport"], "{doc}");
    let doc = look("policed", &plain, &KEYS).exits(0).json();
    assert_eq!(one(&doc, "s3-transport")["code"], "s3_policy", "{doc}");
}

#[test]
fn a_metadata_service_should_ask_for_a_token() {
    let Some(web) = Web::new() else { return };
    let open = Site::plain("return 200 ami-id;");
    let closed = Site::plain("return 401;");
    let odd = Site::plain("return 404;");
    let Some(_nginx) = web.serve(&[&open, &closed, &odd]) else {
        return;
    };
    let look = |port: u16, exit: i32| {
        let url = format!("--imds=http://127.0.0.1:{port}");
        web.home
            .run(&["accept", "security", &url, "-o", "json"])
            .exits(exit)
            .json()
    };
    assert_eq!(verdict(&look(open.port, 0), "imds"), "warn");
    assert_eq!(verdict(&look(closed.port, 0), "imds"), "pass");
    assert_eq!(verdict(&look(odd.port, 7), "imds"), "unknown");
}

#[test]
fn several_endpoints_come_in_order_from_flags_and_a_file() {
    let home = Home::new();
    let targets = home.file(
        "targets.txt",
        "# the node\nhttps://127.0.0.1:1  # web\n\nssh://127.0.0.1:1\n",
    );
    let args = [
        "--endpoint",
        "http://127.0.0.1:1",
        "--targets",
        &targets,
        "-o",
        "json",
    ];
    let doc = home
        .run(&[&["accept", "security"], &args[..]].concat())
        .exits(7)
        .json();
    let subjects: Vec<&str> = doc["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["subject"].as_str().unwrap())
        .collect();
    assert_eq!(
        subjects,
        [
            "http://127.0.0.1:1",
            "https://127.0.0.1:1",
            "ssh://127.0.0.1:1"
        ]
    );
    assert_eq!(not_passed(&doc), ["endpoint-reach"; 3]);
}

#[test]
fn the_targets_of_latency_are_endpoints_too() {
    let home = Home::new();
    let csv = home.file(
        "regions.csv",
        "name,host,port\nweb,127.0.0.1,1\nnode,127.0.0.1,22\nsix,::1,1\nplain,127.0.0.1,80\n",
    );
    let toml = home.file(
        "regions.toml",
        "[[target]]\nhost = \"127.0.0.1\"\nport = 1\n[[target]]\nhost = \"127.0.0.1\"\nport = 22\n\
         [[target]]\nhost = \"::1\"\nport = 1\n[[target]]\nhost = \"127.0.0.1\"\nport = 80\n",
    );
    for file in [csv, toml] {
        let run = home.run(&["accept", "security", "--targets", &file, "-o", "json"]);
        let doc = run.json();
        let mut subjects: Vec<&str> = doc["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["subject"].as_str().unwrap())
            .collect();
        subjects.dedup();
        assert_eq!(
            subjects,
            [
                "https://127.0.0.1:1",
                "ssh://127.0.0.1:22",
                "https://[::1]:1",
                "http://127.0.0.1:80"
            ]
        );
    }
    let bad = home.file("bad.csv", "name,hots\na,b\n");
    home.run(&["accept", "security", "--targets", &bad])
        .says(2, &["bad.csv:1", "hots", "host"]);
}

#[test]
fn what_is_no_endpoint_is_told_with_its_place_and_without_passwords() {
    let home = Home::new();
    let run = |args: &[&str]| home.run(&[&["accept", "security"], args].concat());
    run(&[]).says(2, &["nothing to look at", "--endpoint"]);
    run(&["--endpoint", "example.org"]).says(2, &["https://, ssh://"]);
    let secret = run(&["--endpoint", "ssh://root:geheim@host"]);
    secret.says(2, &["a user or a password"]);
    assert!(!secret.err.contains("geheim"), "{}", secret.err);
    for text in [
        "https://user:pw@127.0.0.1:1/?token=geheim",
        "https://user:geheim?x@127.0.0.1",
        "ftp://h/?token=geheim",
        "ftp://h/?token=a@geheim",
        "h#geheim",
    ] {
        let run = run(&["--endpoint", text]).exits(2);
        assert!(!run.err.contains("geheim"), "{}", run.err);
    }
    for text in ["https://u:geheim@h/", "h?token=geheim"] {
        let run = home.run(&["accept", "latency", text]).exits(2);
        assert!(!run.err.contains("geheim"), "{}", run.err);
    }
    run(&["--endpoint", "https://h", "--timeout", "NaN"]).says(2, &["--timeout cannot be NaN"]);
    let imds = run(&["--imds=http://h/?token=geheim", "--offline"]);
    imds.says(3, &["http://h:80"]);
    assert!(!imds.err.contains("geheim"), "{}", imds.err);
    let bucket = "https://127.0.0.1:1/?token=geheim";
    let run_s3 = run(&[
        "--endpoint",
        "s3://b",
        "--s3-endpoint",
        bucket,
        "-o",
        "json",
    ]);
    assert!(!format!("{}{}", run_s3.out, run_s3.err).contains("geheim"));
    let file = home.file("t", "https://a\nftp://b\n");
    run(&["--targets", &file]).says(2, &["t:2", "ftp://b"]);
    run(&["--targets", &home.file("e", "# nothing\n")]).says(2, &["no endpoint in"]);
    run(&["--targets", &home.file("b", [0xff, 0xfe, 0])]).says(2, &["UTF-8"]);
    let large = home.path("large");
    std::fs::File::create(&large)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    run(&["--targets", large.to_str().unwrap()]).says(2, &["large"]);
    run(&["--endpoint", "https://a", "--timeout", "0"]).says(2, &["--timeout"]);
    run(&["--endpoint", "https://a", "--ca", &file]).says(2, &["no certificate"]);
    run(&["--endpoint", "https://a.example", "--offline"]).says(3, &["--offline", "a.example"]);
    run(&["--imds=http://127.0.0.1:1", "--offline"]).says(3, &["--offline"]);
}

/// Takes every connection, reads what is asked, sends these bytes and closes; counts the requests.
struct Raw {
    port: u16,
    asked: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
}

impl Raw {
    fn start(answer: impl Into<Vec<u8>>) -> Raw {
        use std::io::{Read, Write};
        let answer = answer.into();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let heard = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut request = [0; 4096];
                let n = stream.read(&mut request).unwrap_or(0);
                let text = String::from_utf8_lossy(&request[..n]).into_owned();
                heard.lock().unwrap().push(text);
                let _ = stream.write_all(&answer);
            }
        });
        Raw { port, asked }
    }

    fn requests(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn an_answer_over_plain_http_is_a_refusal_only_where_it_says_so() {
    let home = Home::new();
    let headers = |n: usize| {
        let all: String = (0..n).map(|i| format!("x-{i}: y\r\n")).collect();
        format!("HTTP/1.1 200 OK\r\n{all}\r\nhello")
    };
    let nginx = "<title>400 The plain HTTP request was sent to HTTPS port</title>";
    let go = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    let cases: [(&str, Vec<u8>, &str); 15] = [
        (
            "an API on other paths",
            answer("404 Not Found", "").into(),
            "unknown",
        ),
        ("any 400", answer("400 Bad Request", "no").into(), "unknown"),
        ("an error", answer("503 Busy", "").into(), "unknown"),
        ("many headers", headers(150).into(), "unknown"),
        (
            "headers without an end",
            headers(5000).replace("\r\n\r\n", "\r\n").into(),
            "unknown",
        ),
        (
            "a phrase in UTF-8",
            "HTTP/1.1 200 Jó\r\n\r\n".into(),
            "fail",
        ),
        (
            "a bad header",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\nx".into(),
            "unknown",
        ),
        ("lower case", "http/1.1 200 OK\r\n\r\nx".into(), "unknown"),
        ("no status line", "<html>hello</html>".into(), "unknown"),
        ("nginx", answer("400 Bad Request", nginx).into(), "pass"),
        ("Go", go.into(), "pass"),
        ("upgrade", answer("426 Upgrade Required", "").into(), "pass"),
        ("an alert", vec![21, 3, 1, 0, 2, 2, 70], "pass"),
        ("closed", Vec::new(), "pass"),
        ("served", answer("200 OK", "hello").into(), "fail"),
    ];
    for (name, bytes, wanted) in cases {
        let server = Raw::start(bytes);
        let url = format!("http://127.0.0.1:{}", server.port);
        let run = home.run(&["accept", "security", "--endpoint", &url, "-o", "json"]);
        assert_eq!(
            verdict(&run.json(), "plain-http"),
            wanted,
            "{name}: {}",
            run.out
        );
    }
}

#[test]
fn a_metadata_service_passes_only_by_its_own_refusal() {
    let home = Home::new();
    let azure = r#"{"error":"Bad request. Required metadata header not specified"}"#;
    let google = "Missing Metadata-Flavor:Google header.";
    let cases: [(&str, String, &str); 7] = [
        ("EC2", answer("401 Unauthorized", ""), "pass"),
        ("Azure", answer("400 Bad Request", azure), "pass"),
        ("Google", answer("403 Forbidden", google), "pass"),
        (
            "a proxy that denies",
            answer("403 Forbidden", "denied by policy"),
            "unknown",
        ),
        (
            "a proxy that wants a login",
            answer("407 Login", ""),
            "unknown",
        ),
        ("any 400", answer("400 Bad Request", ""), "unknown"),
        ("closed", String::new(), "unknown"),
    ];
    for (name, bytes, wanted) in cases {
        let server = Raw::start(bytes);
        let url = format!("--imds=http://127.0.0.1:{}", server.port);
        let run = home.run(&["accept", "security", &url, "-o", "json"]);
        assert_eq!(verdict(&run.json(), "imds"), wanted, "{name}: {}", run.out);
    }
    // nothing listens at an address that is no metadata service's, or the name is none
    for url in [
        "--imds=http://127.0.0.1:1",
        "--imds=http://no-such-host.invalid",
    ] {
        let run = home.run(&["accept", "security", url, "--timeout", "2", "-o", "json"]);
        assert_eq!(verdict(&run.exits(7).json(), "imds"), "unknown", "{url}");
    }
}

#[test]
fn nothing_is_asked_where_that_is_forbidden() {
    let home = Home::new();
    let server = Raw::start(answer("401 Unauthorized", ""));
    let url = format!("--imds=http://127.0.0.1:{}", server.port);
    home.run(&["accept", "security", &url, "--offline"])
        .says(3, &["--offline"]);
    home.run_with(&["accept", "security", &url], &[("LESSEE_OFFLINE", "true")])
        .says(3, &["--offline"]);
    home.run(&["accept", "latency", "127.0.0.1", "--offline"])
        .says(3, &["--offline"]);
    let live = ["accept", "security", "--machine", "live", "-o", "json"];
    for run in [
        home.run(&[&live[..], &["--offline"]].concat()),
        home.run_with(&live, &[("LESSEE_OFFLINE", "true")]),
    ] {
        let doc = run.json();
        let findings = doc["findings"].as_array().unwrap();
        assert!(findings.iter().all(|f| f["rule"] != "imds"), "{doc}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_bucket_is_asked_at_its_own_path_and_a_redirect_does_not_pass() {
    let home = Home::new();
    let sent_on = "HTTP/1.1 301 Moved\r\nLocation: https://elsewhere.example/\r\n\r\n";
    for (bytes, code) in [
        (sent_on.to_owned(), "s3_plain_redirects"),
        (answer("403 Forbidden", "AccessDenied"), "s3_plain"),
    ] {
        let server = Raw::start(bytes);
        let endpoint = format!("http://127.0.0.1:{}", server.port);
        let args = ["accept", "security", "--endpoint", "s3://some-bucket"];
        let run = home.run(&[&args[..], &["--s3-endpoint", &endpoint, "-o", "json"]].concat());
        let doc = run.json();
        assert_eq!(one(&doc, "s3-transport")["code"], code, "{doc}");
        assert_ne!(verdict(&doc, "s3-transport"), "pass");
        let asked = server.requests().concat();
        assert!(asked.contains("GET /some-bucket"), "{asked}");
        assert!(!asked.contains("Authorization"), "{asked}");
    }
}

#[test]
fn a_server_that_shows_no_algorithms_is_not_said_to_be_safe() {
    let home = Home::new();
    let server = Raw::start("SSH-1.99-Foo\r\n");
    let url = format!("ssh://127.0.0.1:{}", server.port);
    let run = home.run(&["accept", "security", "--endpoint", &url, "-o", "json"]);
    assert_eq!(
        verdict(&run.json(), "ssh-prefix-truncation"),
        "unknown",
        "{}",
        run.out
    );
}
