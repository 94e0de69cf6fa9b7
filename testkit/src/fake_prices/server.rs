//! The server itself: logs each request, applies the fault of the day, then answers.

use super::answers::{Answer, answer, needs_key, provider_of};
use super::spoil::spoil;
use super::{Asked, Fault, KEY, Shared};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER,
};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use std::io::Write;
use std::time::Duration;

#[derive(Clone)]
struct Context {
    origin: String,
    shared: Shared,
}

pub(super) fn router(origin: String, shared: Shared) -> Router {
    Router::new()
        .fallback(handle)
        .with_state(Context { origin, shared })
}

/// Serves until told to stop.
pub(super) fn serve(
    listener: std::net::TcpListener,
    app: Router,
    stopped: tokio::sync::oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime for the fake server");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("the local socket");
        // no graceful end: a test that drops the server does not wait for its idle connections
        tokio::select! {
            served = axum::serve(listener, app) => served.expect("serving"),
            _ = stopped => {}
        }
    });
}

async fn handle(State(context): State<Context>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(provider) = provider_of(parts.uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let body = to_bytes(body, 1 << 20).await.unwrap_or_default();
    let authorization = parts
        .headers
        .get(AUTHORIZATION)
        .and_then(|v| v.to_str().ok())
        .map(str::to_owned);
    let fault = {
        let mut state = context.shared.lock();
        state.asked.push(Asked {
            provider,
            method: parts.method.to_string(),
            target: parts.uri.to_string(),
            authorization: authorization.clone(),
            body: String::from_utf8_lossy(&body).into_owned(),
        });
        count_down(state.faults.entry(provider).or_insert(Fault::None))
    };
    if let Some(response) =
        instead(&fault, &parts.uri, authorization.as_deref().unwrap_or("")).await
    {
        return response;
    }
    let expected = format!("Bearer {KEY}");
    if needs_key(provider) && authorization.as_deref() != Some(&expected) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let query = decoded(&parts.uri);
    match answer(&context.origin, parts.uri.path(), &query, &fault) {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(mut answer) => {
            if let Fault::Spoilt { seed } = fault {
                answer.text = spoil(&answer.text, seed);
            }
            send(answer, &parts.headers, &fault)
        }
    }
}

/// The fault of this request; those that pass by themselves are counted down.
fn count_down(fault: &mut Fault) -> Fault {
    let now = fault.clone();
    match fault {
        Fault::Throttled { times, .. }
        | Fault::Status { times, .. }
        | Fault::BrokenOff { times } => {
            if *times == 0 {
                return Fault::None;
            }
            *times -= 1;
        }
        Fault::RedirectNearby => *fault = Fault::None,
        _ => {}
    }
    now
}

/// Faults that replace the whole answer.
async fn instead(fault: &Fault, uri: &Uri, authorization: &str) -> Option<Response> {
    let json = [(CONTENT_TYPE, "application/json")];
    Some(match fault {
        Fault::Throttled { retry_after, .. } => {
            let mut response = StatusCode::TOO_MANY_REQUESTS.into_response();
            if let Some(value) = retry_after {
                response
                    .headers_mut()
                    .insert(RETRY_AFTER, value.parse().expect("a header value"));
            }
            response
        }
        Fault::Status { code, .. } => StatusCode::from_u16(*code)
            .expect("a status")
            .into_response(),
        Fault::Unauthorized => (
            StatusCode::UNAUTHORIZED,
            format!("not accepted: {authorization}"),
        )
            .into_response(),
        Fault::GraphqlError { message } => {
            let body = serde_json::json!({
                "errors": [{"message": format!("{message} ({authorization})")}],
                "data": null,
            });
            (json, body.to_string()).into_response()
        }
        Fault::WrongShape => (json, r#"{"detail": [1, 2, 3]}"#).into_response(),
        Fault::NotJson => "<html><body>Sign in to the hotel network</body></html>".into_response(),
        Fault::RedirectAway => {
            let to = format!("http://elsewhere.example.invalid{uri}");
            (StatusCode::FOUND, [(LOCATION, to)]).into_response()
        }
        Fault::RedirectNearby => {
            let mark = if uri.query().is_some() { '&' } else { '?' };
            (
                StatusCode::FOUND,
                [(LOCATION, format!("{uri}{mark}moved=1"))],
            )
                .into_response()
        }
        Fault::Huge => {
            let blanks = stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 64 << 10]));
            (json, Body::from_stream(blanks)).into_response()
        }
        Fault::Slow(pause) => {
            tokio::time::sleep(*pause).await;
            return None;
        }
        _ => return None,
    })
}

/// Compressed where the client takes it, as the real ones do; broken off where the fault says so.
fn send(answer: Answer, asked: &HeaderMap, fault: &Fault) -> Response {
    let gzip = asked
        .get(ACCEPT_ENCODING)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|v| v.contains("gzip"));
    if matches!(fault, Fault::BrokenOff { .. }) {
        let half = answer.text.as_bytes()[..answer.text.len() / 2].to_vec();
        let gone = async {
            // long enough for the first half to be on its way
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(std::io::Error::other("broken off on purpose"))
        };
        let pieces = stream::once(async { Ok(half) }).chain(stream::once(gone));
        return (
            [(CONTENT_TYPE, answer.content_type)],
            Body::from_stream(pieces),
        )
            .into_response();
    }
    if !gzip {
        return ([(CONTENT_TYPE, answer.content_type)], answer.text).into_response();
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(answer.text.as_bytes()).expect("memory");
    let packed = packer.finish().expect("memory");
    let headers = [
        (CONTENT_TYPE, answer.content_type),
        (CONTENT_ENCODING, "gzip"),
    ];
    (headers, packed).into_response()
}

fn decoded(uri: &Uri) -> Vec<(String, String)> {
    axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map(|query| query.0)
        .unwrap_or_default()
}
