//! A real nginx that serves what a test wants served: TLS with any certificate, version and suite, or plain HTTP.

use crate::certs::Pair;
use crate::peer::{Running, free_port, program};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// One port.
pub struct Site {
    pub port: u16,
    text: String,
}

impl Site {
    fn new(listen: &str, rest: &str) -> Site {
        let port = free_port();
        let text = format!("server {{ listen 127.0.0.1:{port}{listen}; {rest} }}\n");
        Site { port, text }
    }

    /// HTTPS; `versions` as `ssl_protocols` and `suites` as `ssl_ciphers` take them.
    pub fn tls(pair: &Pair, versions: &str, suites: &str) -> Site {
        Site::with(pair, versions, suites, "return 200 hello;")
    }

    /// HTTPS in front of another port of this machine.
    pub fn before(pair: &Pair, port: u16) -> Site {
        let on = format!(
            "location / {{ proxy_pass http://127.0.0.1:{port}; proxy_set_header Host $http_host; }}"
        );
        Site::with(pair, "TLSv1.2 TLSv1.3", "ECDHE+AESGCM", &on)
    }

    fn with(pair: &Pair, versions: &str, suites: &str, rest: &str) -> Site {
        let (cert, key) = (pair.cert.display(), pair.key.display());
        let rest = format!(
            "ssl_certificate {cert}; ssl_certificate_key {key}; ssl_protocols {versions}; ssl_ciphers {suites}; {rest}"
        );
        Site::new(" ssl", &rest)
    }

    /// Without TLS; `rest` says what it answers.
    pub fn plain(rest: &str) -> Site {
        Site::new("", rest)
    }
}

pub struct Nginx {
    _running: Running,
}

impl Nginx {
    /// Serves all sites. None where nginx is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(folder: &Path, sites: &[&Site]) -> Option<Nginx> {
        let nginx = program("nginx")?;
        std::fs::create_dir_all(folder).expect("a folder");
        let place = folder.display();
        let mut text = format!(
            "daemon off; master_process off; pid {place}/pid; error_log stderr;\nevents {{}}\nhttp {{ access_log off;\n"
        );
        for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
            let _ = writeln!(text, "{name}_temp_path {place}/{name};");
        }
        for site in sites {
            text += &site.text;
        }
        text += "}\n";
        let config = folder.join("nginx.conf");
        std::fs::write(&config, text).expect("a file");
        let mut command = Command::new(nginx);
        command.arg("-c").arg(&config).arg("-p").arg(folder);
        let last = sites.last().expect("a site").port;
        let running = Running::start(command, last, &folder.join("nginx.log"));
        Some(Nginx { _running: running })
    }
}
