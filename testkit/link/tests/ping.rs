//! The link against `ping`: what it delays and what it loses is what others see.

use lessee_link::{Class, Drops, Here, Office, Shape, here};
use std::process::Command;

/// Whether the test can run; in CI it must.
fn can() -> bool {
    let ping = Command::new("ping").arg("-V").output();
    let why = match (here(), ping) {
        (Here::Passed, _) => return false,
        (Here::Not(why), _) => why,
        (_, Err(e)) => format!("no ping ({e})"),
        (Here::Ready, Ok(_)) => return true,
    };
    let ci = std::env::var("CI").is_ok_and(|v| v == "true" || v == "1");
    assert!(!ci, "needed in CI: {why}");
    println!("skipped: {why}");
    false
}

/// Pings over a link of this shape: round trips in ms, and how many packets the link dropped.
fn ping(shape: Shape, n: u64) -> (Vec<f64>, u64) {
    let mut office = Office::new().expect("an office");
    let link = office.link(shape).expect("a link");
    let (count, target) = (n.to_string(), link.address.to_string());
    let args = ["-n", "-c", &count, "-i", "0.02", "-W", "1", &target];
    let run = || Command::new("ping").args(args).output();
    let out = office.net.run(run).expect("ping");
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    let time = |line: &str| -> Option<f64> {
        let (_, rest) = line.split_once("time=")?;
        rest.split(' ').next()?.parse().ok()
    };
    let asked = link.counts.of(Class::EchoRequest);
    let answered = link.counts.of(Class::EchoReply);
    assert_eq!(
        (asked.seen, answered.seen),
        (n, n - asked.dropped),
        "{text}"
    );
    let mut times: Vec<f64> = text.lines().filter_map(time).collect();
    times.sort_by(f64::total_cmp);
    (times, asked.dropped + answered.dropped)
}

#[test]
fn pings_take_as_long_as_the_link_delays() {
    if !can() {
        return;
    }
    for ms in [5, 49] {
        let (times, dropped) = ping(Shape::ms(ms), 50);
        assert_eq!((times.len(), dropped), (50, 0));
        let (first, median) = (times[0], times[25]);
        assert!(first >= ms as f64, "{first}");
        assert!(median < ms as f64 + 1.0, "{times:?}");
    }
}

#[test]
fn pings_that_are_missing_are_those_that_the_link_dropped() {
    if !can() {
        return;
    }
    let (times, dropped) = ping(Shape::ms(5).dropping(Drops::Echoes(0.1), 3), 60);
    assert!(dropped > 0);
    assert_eq!(times.len() as u64, 60 - dropped);
    let (times, dropped) = ping(Shape::ms(5).dropping(Drops::Everything, 3), 5);
    assert_eq!((times.len(), dropped), (0, 5));
}
