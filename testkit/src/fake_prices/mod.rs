//! The price APIs of six providers on one local port, with made-up figures in the shapes and with the
//! traps of the real feeds (`testkit/data/prices/`), and faults that a test can switch on.
//!
//! Start with [`FakePrices::start`]; give [`FakePrices::url`] to lessee as base URL of any provider, or
//! [`FakePrices::env`] to the binary.

mod answers;
mod server;
mod spoil;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The providers that are answered for.
pub const PROVIDERS: [&str; 6] = ["aws", "azure", "lambda", "oci", "runpod", "vast"];

/// The only key that the APIs with a key accept.
pub const KEY: &str = "testkey-5up3rs3cret";

/// What goes wrong with one provider, until changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    None,
    /// 429 for so many requests, with this `Retry-After`; then all is well.
    Throttled {
        times: u32,
        retry_after: Option<&'static str>,
    },
    /// This status for so many requests; then all is well.
    Status {
        times: u32,
        code: u16,
    },
    /// 401 whose body repeats the key that was sent.
    Unauthorized,
    /// HTTP 200 whose JSON says that the key is wrong, as GraphQL does, and repeats it.
    GraphqlError {
        message: &'static str,
    },
    /// Half of the answer, then the connection breaks; so many times.
    BrokenOff {
        times: u32,
    },
    /// Silence before the answer.
    Slow(Duration),
    /// Sound JSON of another shape.
    WrongShape,
    /// A web page where data should be.
    NotJson,
    /// 302 to another host.
    RedirectAway,
    /// 302 to the same path with a mark, once.
    RedirectNearby,
    /// Azure: every page links to another new page.
    EndlessPages,
    /// Azure: the last page links to the first.
    PageLoop,
    /// Azure: the next page is on another host.
    ForeignPage,
    /// AWS: a list without a needed column.
    MissingColumn,
    /// AWS: the last line is cut in the middle.
    CutLine,
    /// An answer without end.
    Huge,
    /// Hostile values here and there, the same for the same seed.
    Spoilt {
        seed: u64,
    },
}

/// One request as it came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub provider: &'static str,
    pub method: String,
    /// Path and query as sent, percent signs and all.
    pub target: String,
    pub authorization: Option<String>,
    pub body: String,
}

#[derive(Default)]
struct State {
    faults: HashMap<&'static str, Fault>,
    asked: Vec<Asked>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<State>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // a panicking test thread must not hide the others' results
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running server; it stops when this is dropped.
pub struct FakePrices {
    origin: String,
    shared: Shared,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakePrices {
    /// Starts the server on a free port of 127.0.0.1, on a thread of its own.
    ///
    /// # Panics
    /// If the machine gives no port or no thread: a test cannot go on then.
    pub fn start() -> FakePrices {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free local port");
        listener
            .set_nonblocking(true)
            .expect("a non-blocking socket");
        let origin = format!("http://{}", listener.local_addr().expect("a local address"));
        let shared = Shared::default();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let app = server::router(origin.clone(), shared.clone());
        let thread = std::thread::spawn(move || server::serve(listener, app, stopped));
        FakePrices {
            origin,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The base URL, the same for every provider.
    pub fn url(&self) -> &str {
        &self.origin
    }

    /// The variables that point lessee's binary here, keys included.
    pub fn env(&self) -> Vec<(String, String)> {
        PROVIDERS
            .iter()
            .map(|p| {
                (
                    format!("LESSEE_{}_URL", p.to_uppercase()),
                    self.origin.clone(),
                )
            })
            .chain(["RUNPOD_API_KEY", "LAMBDA_API_KEY"].map(|k| (k.to_owned(), KEY.to_owned())))
            .collect()
    }

    /// Lets something go wrong with one provider from now on.
    ///
    /// # Panics
    /// If there is no such provider.
    pub fn fault(&self, provider: &str, fault: Fault) {
        let provider = PROVIDERS
            .into_iter()
            .find(|p| *p == provider)
            .expect("one of PROVIDERS");
        self.shared.lock().faults.insert(provider, fault);
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Asked> {
        self.shared.lock().asked.clone()
    }
}

impl Drop for FakePrices {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // the server may have ended by itself
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
