//! What the outside world does wrong, and what is said about it.

mod support;

use lessee_model::{Exit, Explain, Fixed};
use lessee_providers::{Event, ProviderError as E, RefreshOptions};
use lessee_testkit::fake_prices::{FakePrices, Fault, KEY, PROVIDERS};
use std::cell::RefCell;
use std::time::Duration;
use support::{ask, ask_waiting, options};

/// An error for people names the URL, carries no secret, and leads to the exit status.
fn check(error: &E, exit: Exit) {
    let everything = format!("{error} {error:?} {:?} {:?}", error.msg(), error.hints());
    assert!(
        !everything.contains(KEY) && !everything.contains("Bearer"),
        "{everything}"
    );
    assert_eq!(error.exit(), exit, "{error}");
    assert!(!error.hints().is_empty(), "{error}");
}

fn failing(provider: &str, fault: Fault) -> E {
    let fake = FakePrices::start();
    fake.fault(provider, fault);
    let error = ask(provider, &options(&fake)).expect_err("a fault");
    assert!(error.to_string().contains("http://127.0.0.1:"), "{error}");
    error
}

#[test]
fn too_many_requests_is_waited_out_as_the_server_says() {
    let fake = FakePrices::start();
    let calm = ask("azure", &options(&fake)).expect("refresh");
    for (retry_after, waited) in [
        (None, 3.0),
        (Some("7"), 7.0),
        (Some("Wed, 21 Oct 2015 07:28:00 GMT"), 0.0),
    ] {
        fake.fault(
            "azure",
            Fault::Throttled {
                times: 1,
                retry_after,
            },
        );
        let (got, waits) = ask_waiting("azure", &options(&fake));
        let got = got.expect("refresh");
        assert_eq!((got.offers, waits), (calm.offers.clone(), vec![waited]));
        assert_eq!(got.requests.len(), calm.requests.len() + 1);
    }
}

#[test]
fn patience_ends_after_some_tries_or_at_once_if_too_much_is_asked() {
    let fake = FakePrices::start();
    fake.fault(
        "vast",
        Fault::Throttled {
            times: 99,
            retry_after: None,
        },
    );
    let (got, waits) = ask_waiting("vast", &options(&fake));
    let error = got.expect_err("throttled");
    assert!(matches!(error, E::Throttled { .. }), "{error}");
    check(&error, Exit::Unreachable);
    assert_eq!((waits.len(), fake.requests().len()), (3, 4));

    fake.fault(
        "vast",
        Fault::Throttled {
            times: 99,
            retry_after: Some("86400"),
        },
    );
    let (got, waits) = ask_waiting("vast", &options(&fake));
    assert_eq!(waits, [0.0; 0]);
    match got.expect_err("throttled") {
        E::Throttled { wait_s, .. } => assert_eq!(wait_s, 86_400.0),
        other => panic!("{other}"),
    }
}

#[test]
fn a_passing_server_error_is_tried_again_with_growing_waits_and_a_lasting_one_reported() {
    let fake = FakePrices::start();
    fake.fault(
        "oci",
        Fault::Status {
            times: 2,
            code: 503,
        },
    );
    let (got, waits) = ask_waiting("oci", &options(&fake));
    assert_eq!((got.is_ok(), waits), (true, vec![1.0, 2.0]));

    for provider in PROVIDERS {
        let error = failing(
            provider,
            Fault::Status {
                times: 99,
                code: 500,
            },
        );
        assert!(
            matches!(error, E::Status { status: 500, .. }),
            "{provider}: {error}"
        );
        check(&error, Exit::Unreachable);
    }
    // asking again does not change these
    fake.fault(
        "vast",
        Fault::Status {
            times: 99,
            code: 410,
        },
    );
    let (got, waits) = ask_waiting("vast", &options(&fake));
    assert!(matches!(got, Err(E::Status { status: 410, .. })) && waits.is_empty());
}

#[test]
fn a_denied_key_is_a_matter_of_credentials_and_is_not_echoed() {
    for provider in ["runpod", "lambda"] {
        let error = failing(provider, Fault::Unauthorized);
        assert!(
            matches!(
                error,
                E::Denied {
                    status: 401,
                    env: Some(_),
                    ..
                }
            ),
            "{error}"
        );
        check(&error, Exit::Credentials);
    }
    let error = failing(
        "runpod",
        Fault::GraphqlError {
            message: "Unauthorized token",
        },
    );
    assert!(matches!(error, E::Denied { .. }), "{error}");
    check(&error, Exit::Credentials);
    let error = failing(
        "runpod",
        Fault::GraphqlError {
            message: "Cannot query field",
        },
    );
    match &error {
        E::Refused { said, .. } => assert_eq!(said, "Cannot query field (Bearer ***)"),
        other => panic!("{other}"),
    }
    assert!(!format!("{error:?}").contains(KEY));
}

#[test]
fn a_missing_key_is_asked_for_before_anything_is_sent() {
    let fake = FakePrices::start();
    let without = RefreshOptions {
        key: None,
        ..options(&fake)
    };
    match ask("runpod", &without).expect_err("no key") {
        E::KeyMissing { env, .. } => assert_eq!(env, "RUNPOD_API_KEY"),
        other => panic!("{other}"),
    }
    assert!(fake.requests().is_empty());
    assert!(ask("vast", &without).is_ok());
}

#[test]
fn a_key_is_never_sent_in_the_clear_to_another_machine() {
    let fake = FakePrices::start();
    let clear = RefreshOptions {
        base_url: Some("http://mirror.example.invalid".into()),
        ..options(&fake)
    };
    let error = ask("lambda", &clear).expect_err("clear text");
    assert!(matches!(error, E::PlainKey { .. }), "{error}");
    check(&error, Exit::Credentials);
}

#[test]
fn broken_answers_are_fetched_again_and_never_half_kept() {
    let fake = FakePrices::start();
    fake.fault("vast", Fault::BrokenOff { times: 1 });
    assert!(ask("vast", &options(&fake)).is_ok());
    for provider in PROVIDERS {
        let error = failing(provider, Fault::BrokenOff { times: 99 });
        assert!(matches!(error, E::BrokenOff { .. }), "{provider}: {error}");
        check(&error, Exit::Unreachable);
    }
}

#[test]
fn other_answers_than_expected_name_the_place() {
    for (provider, field) in [
        ("aws", "regions"),
        ("azure", "Items"),
        ("lambda", "data"),
        ("oci", "items"),
        ("runpod", "data.gpuTypes"),
        ("vast", "offers"),
    ] {
        match failing(provider, Fault::WrongShape) {
            E::BadAnswer { field: named, .. } => assert_eq!(named, field, "{provider}"),
            other => panic!("{provider}: {other}"),
        }
        let error = failing(provider, Fault::NotJson);
        assert!(
            matches!(&error, E::BadAnswer { field, .. } if field.starts_with("line 1")),
            "{error}"
        );
        check(&error, Exit::Unreachable);
    }
}

#[test]
fn a_price_list_without_a_column_or_with_a_cut_line_is_refused() {
    match failing("aws", Fault::MissingColumn) {
        E::BadAnswer { field, .. } => assert_eq!(field, "CapacityStatus"),
        other => panic!("{other}"),
    }
    match failing("aws", Fault::CutLine) {
        E::BadAnswer { field, .. } => assert_eq!(field, "record 24"),
        other => panic!("{other}"),
    }
}

#[test]
fn nothing_leads_to_another_host() {
    for provider in PROVIDERS {
        match failing(provider, Fault::RedirectAway) {
            E::LeadsAway { to, .. } => {
                assert!(to.starts_with("http://elsewhere.example.invalid/"), "{to}")
            }
            other => panic!("{provider}: {other}"),
        }
    }
    let error = failing("azure", Fault::ForeignPage);
    assert!(
        matches!(&error, E::LeadsAway { to, .. } if to.contains("prices.example.invalid")),
        "{error}"
    );
    check(&error, Exit::Unreachable);

    let fake = FakePrices::start();
    fake.fault("lambda", Fault::RedirectNearby);
    assert!(
        ask("lambda", &options(&fake)).is_ok(),
        "the same host may move a page"
    );
}

#[test]
fn pages_without_end_end() {
    let error = failing("azure", Fault::PageLoop);
    assert!(matches!(error, E::PageLoop { .. }), "{error}");

    let fake = FakePrices::start();
    fake.fault("azure", Fault::EndlessPages);
    let mut few = options(&fake);
    few.limits.max_pages = 12;
    let error = ask("azure", &few).expect_err("endless");
    assert!(
        matches!(error, E::TooManyPages { pages: 12, .. }),
        "{error}"
    );
    assert_eq!(fake.requests().len(), 12);
    check(&error, Exit::Unreachable);
}

#[test]
fn answers_without_end_end() {
    let fake = FakePrices::start();
    let mut small = options(&fake);
    small.limits.max_answer_bytes = 1 << 20;
    for provider in PROVIDERS {
        fake.fault(provider, Fault::Huge);
        let error = ask(provider, &small).expect_err("huge");
        assert!(
            matches!(
                error,
                E::TooLarge {
                    max_bytes: 1_048_576,
                    ..
                }
            ),
            "{provider}: {error}"
        );
    }
    // compressed lists count as what they unpack to
    fake.fault("aws", Fault::None);
    small.limits.max_stream_bytes = 4_000;
    let error = ask("aws", &small).expect_err("larger than allowed");
    assert!(
        matches!(
            error,
            E::TooLarge {
                max_bytes: 4_000,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn silence_ends_in_a_timeout() {
    let fake = FakePrices::start();
    fake.fault("lambda", Fault::Slow(Duration::from_secs(20)));
    let mut hasty = options(&fake);
    hasty.limits.read_timeout = Duration::from_millis(200);
    // who waited for the answer would get one: to give up is the only way to this error
    let error = ask("lambda", &hasty).expect_err("slow");
    assert!(matches!(error, E::Timeout { .. }), "{error}");
    check(&error, Exit::Unreachable);
    fake.fault("lambda", Fault::Slow(Duration::from_millis(300)));
    assert!(ask("lambda", &options(&fake)).is_ok(), "slow is not silent");
}

#[test]
fn an_address_where_nobody_listens_is_unreachable_at_once() {
    let gone = {
        let fake = FakePrices::start();
        fake.url().to_owned()
    };
    let options = RefreshOptions {
        base_url: Some(gone),
        ..RefreshOptions::default()
    };
    let (got, waits) = ask_waiting("oci", &options);
    let error = got.expect_err("nobody there");
    assert!(matches!(error, E::Unreachable { .. }), "{error}");
    check(&error, Exit::Unreachable);
    assert!(waits.is_empty());
}

#[test]
fn base_urls_that_cannot_be_asked_are_refused_without_showing_passwords() {
    for text in [
        "",
        "prices.azure.com",
        "file:///etc/passwd",
        "http://u:hunter2@h/?x=1",
        "ftp://u:hunter2@h",
    ] {
        let options = RefreshOptions {
            base_url: Some(text.into()),
            ..RefreshOptions::default()
        };
        let error = ask("azure", &options).expect_err(text);
        assert!(matches!(error, E::BaseUrl { .. }), "{text}: {error}");
        check(&error, Exit::Usage);
        assert!(!format!("{error:?} {options:?}").contains("hunter2"));
    }
    let error = ask("gcpp", &RefreshOptions::default()).expect_err("no such API");
    check(&error, Exit::Usage);
}

#[test]
fn requests_are_announced_as_they_are_listed() {
    let fake = FakePrices::start();
    let seen = RefCell::new(Vec::new());
    let note = |event: Event<'_>| {
        if let Event::Request(line) = event {
            seen.borrow_mut().push(line.to_owned());
        }
    };
    let options = RefreshOptions {
        on_event: &note,
        ..options(&fake)
    };
    let got = ask("oci", &options).expect("refresh");
    assert_eq!(got.requests, *seen.borrow());
    assert!(
        got.requests[0].starts_with("GET http://127.0.0.1:"),
        "{:?}",
        got.requests
    );
}

#[test]
fn hostile_values_never_panic_and_never_become_a_bad_offer() {
    let fake = FakePrices::start();
    let (mut good, mut bad) = (0, 0);
    for seed in 0..30 {
        for provider in PROVIDERS {
            fake.fault(provider, Fault::Spoilt { seed });
            match ask(provider, &options(&fake)) {
                Err(error) => {
                    bad += 1;
                    check(&error, Exit::Unreachable);
                }
                Ok(got) => {
                    good += 1;
                    for fetched in &got.offers {
                        let offer = &fetched.offer;
                        assert!(!offer.prices.is_empty(), "{}", offer.key());
                        assert!(
                            offer.prices.iter().all(|p| p.per_hour.amount > Fixed::ZERO),
                            "{offer:?}"
                        );
                        assert!(fetched.machine.gpu_count > 0, "{offer:?}");
                        let key = offer.key();
                        assert!(key.chars().count() < 250 && !key.contains(char::is_control));
                    }
                    for skipped in &got.skipped {
                        assert!(skipped.count > 0);
                        assert!(!skipped.examples.concat().contains(char::is_control));
                    }
                }
            }
        }
    }
    // the spoiling must be neither harmless nor total, or this shows nothing
    assert!(good > 60 && bad > 10, "{good} good, {bad} bad");
}
