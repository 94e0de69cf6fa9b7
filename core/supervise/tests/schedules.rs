//! A thousand lives of a run, by seed: programs that save, crash and hang, notices that come and go, stores that are away, others
//! that take over, machines that vanish, clocks that are set. Looked for: a checkpoint that was safe and is not resumed from, two
//! programs under one lease, a cent above the cap while the machine can be stopped, a signal that is not caught.

use lessee_model::Money;
use lessee_supervise::run::{
    Action, Alarm, Budget, End, Event, Exited, Found, Kind, Now, Pace, Phase, Run, Signal, Signals,
    Spec, Totals,
};

/// SplitMix64: small, and the same on every machine.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn usd(text: &str) -> Money {
    format!("{text} USD").parse().expect("money")
}

/// A program that makes a step each `step_ms` and saves each `every` steps.
struct Program {
    step: u64,
    next_ms: u64,
    saving: Option<(u64, u64)>,
    asked: bool,
}

/// Everything outside: the store, the machine, the clock.
struct World {
    rng: Rng,
    now: Now,
    /// What lies in the store: the newest step, and by which attempt.
    stored: Option<(u64, u32)>,
    lease: u32,
    /// Checkpoints on the local disk.
    disk: Vec<Found>,
    program: Option<Program>,
    upload: Option<(String, u64, u64)>,
    away_until_ms: u64,
    total_steps: u64,
    step_ms: u64,
    save_ms: u64,
    every: u64,
    bytes: u64,
    /// Bytes a millisecond.
    rate: u64,
    catches: bool,
    catches_at_ms: u64,
    events: Vec<(u64, Event)>,
    spent_before: Money,
    machine_from_ms: u64,
    cap: Money,
}

const HOURLY: &str = "3.60";
const CAPS: [&str; 3] = ["0.15", "0.40", "2.00"];

fn spec(world: &World, has_test: bool) -> Spec {
    Spec {
        stop: Some(Signal::Term),
        has_test,
        failures_max: 3,
        backoff_ms: 1_000,
        backoff_max_ms: 60_000,
        budget: Some(Budget {
            cap: world.cap,
            per_hour: usd(HOURLY),
            increment_s: 1,
            minimum_s: 0,
            per_byte_out: usd("0"),
            tell_at: vec![0.5, 0.8, 1.0],
        }),
        billed_from_ms: world.now.mono_ms as i64,
        pace: Pace {
            step_ms: world.step_ms,
            save_ms: world.save_ms,
            bytes_per_s: world.rate as f64 * 1000.0,
            bytes: world.bytes,
        },
        margin_ms: 3_000,
        grace_ms: 30_000,
        flush_ms: 120_000,
        kill_stuck: false,
    }
}

/// What one attempt came to.
struct Lived {
    end: Option<End>,
    totals: Totals,
    spent: Money,
}

impl World {
    fn new(seed: u64) -> World {
        let mut rng = Rng(seed);
        let (step_ms, every) = (200 + rng.below(2_000), 2 + rng.below(10));
        let (save_ms, rate) = (100 + rng.below(4_000), 200 + rng.below(50_000));
        World {
            now: Now {
                mono_ms: 0,
                wall_ms: 1_780_000_000_000,
            },
            stored: None,
            lease: 0,
            disk: Vec::new(),
            program: None,
            upload: None,
            away_until_ms: 0,
            total_steps: 40 + rng.below(400),
            step_ms,
            save_ms,
            every,
            bytes: 1_000_000 + rng.below(40_000_000),
            rate,
            catches: rng.chance(70),
            catches_at_ms: 0,
            events: Vec::new(),
            spent_before: usd("0"),
            machine_from_ms: 0,
            cap: usd(CAPS[(seed % 3) as usize]),
            rng,
        }
    }

    fn money(&self, ms: u64) -> Money {
        let hours = lessee_model::Fixed::from_f64(ms as f64 / 3_600_000.0).expect("finite");
        usd(HOURLY).times(hours)
    }

    fn spent(&self) -> Money {
        let time = self.money(self.now.mono_ms - self.machine_from_ms);
        Money::new(self.spent_before.amount + time.amount, time.currency)
    }

    fn later(&mut self, ms: u64, event: Event) {
        self.events.push((self.now.mono_ms + ms, event));
    }

    /// Misfortune of this tick.
    fn misfortune(&mut self, phase: Phase) {
        let running = self.program.is_some();
        match self.rng.below(4_000) {
            0..=2 => {
                let at = self.now.wall_ms + 5_000 + self.rng.below(150_000) as i64;
                let source = ["aws", "gcp"][self.rng.below(2) as usize].to_owned();
                let at_wall_ms = Some(at);
                self.later(
                    0,
                    Event::Notice {
                        source,
                        kind: Kind::Ends,
                        at_wall_ms,
                    },
                );
            }
            3 => {
                let source = "aws".to_owned();
                self.later(
                    0,
                    Event::Notice {
                        source,
                        kind: Kind::AtRisk,
                        at_wall_ms: None,
                    },
                );
            }
            4 => self.later(
                0,
                Event::Withdrawn {
                    source: "aws".to_owned(),
                },
            ),
            5 | 6 if running => {
                self.program = None;
                let exited = [
                    Exited::Code(1),
                    Exited::OutOfMemory,
                    Exited::Signal(9),
                    Exited::Signal(15),
                ];
                let exited = exited[self.rng.below(4) as usize];
                self.later(0, Event::Exited(exited));
            }
            7 => self.away_until_ms = self.now.mono_ms + self.rng.below(60_000),
            8 => self.now.wall_ms += self.rng.below(7_200_000) as i64 - 3_600_000,
            9 if phase == Phase::Running => self.later(0, Event::Stuck { signs: 1 }),
            10 if self.rng.chance(5) => self.later(0, Event::StopAsked),
            11 if self.rng.chance(10) => self.later(
                0,
                Event::LedgerBroken {
                    reason: "full".to_owned(),
                },
            ),
            _ => {}
        }
    }

    fn work(&mut self) {
        let now = self.now.mono_ms;
        if self.program.is_some()
            && self.catches
            && self.catches_at_ms != 0
            && now >= self.catches_at_ms
        {
            self.catches_at_ms = 0;
            self.later(0, Event::Catches(Signals(1 << 14)));
        }
        let Some(program) = &mut self.program else {
            return;
        };
        if let Some((step, done_ms)) = program.saving {
            if now < done_ms {
                return;
            }
            program.saving = None;
            let found = Found {
                id: format!("step-{step}"),
                step: Some(step),
                bytes: self.bytes,
                save_ms: Some(self.save_ms),
            };
            self.disk.push(found.clone());
            let asked = program.asked;
            self.events.push((now, Event::Found(found)));
            if asked {
                self.program = None;
                // some end with 0 after a stop, and are not done
                let code = if self.rng.chance(50) {
                    Exited::Code(0)
                } else {
                    Exited::Signal(15)
                };
                self.events.push((now, Event::Exited(code)));
            }
            return;
        }
        while program.next_ms <= now {
            program.next_ms += self.step_ms;
            if program.step >= self.total_steps {
                self.program = None;
                self.events.push((now, Event::Exited(Exited::Code(0))));
                return;
            }
            program.step += 1;
            let due = program.step.is_multiple_of(self.every) || program.step == self.total_steps;
            if due || program.asked {
                program.saving = Some((program.step, now + self.save_ms));
                return;
            }
        }
    }

    fn net(&mut self, attempt: u32) {
        let now = self.now.mono_ms;
        let Some((id, begun_ms, done_ms)) = self.upload.clone() else {
            return;
        };
        if now < self.away_until_ms {
            // a cut network is tried again for a while
            if now > begun_ms + 90_000 {
                self.upload = None;
                self.events.push((
                    now,
                    Event::PublishFailed {
                        id,
                        reason: "away".to_owned(),
                    },
                ));
            }
            return;
        }
        if now < done_ms {
            return;
        }
        self.upload = None;
        if self.lease != attempt {
            self.events.push((
                now,
                Event::Fenced {
                    attempt: self.lease,
                },
            ));
            return;
        }
        let step: u64 = id.trim_start_matches("step-").parse().expect("a step");
        self.stored = Some((step, attempt));
        let (bytes, ms) = (self.bytes, now - begun_ms);
        self.events.push((now, Event::Published { id, bytes, ms }));
    }

    /// One attempt on one machine; `vanishes_ms`: the machine is gone then, without a word.
    fn live(
        &mut self,
        seed: u64,
        totals: Totals,
        has_test: bool,
        vanishes_ms: Option<u64>,
    ) -> Lived {
        let spec = spec(self, has_test);
        let (mut run, mut actions) = Run::new(spec);
        let mut end = None;
        let (mut fenced, mut finished) = (false, false);
        self.machine_from_ms = self.now.mono_ms;
        let begun = self.now.mono_ms;
        let mut attempt = 0;
        while end.is_none() {
            for action in std::mem::take(&mut actions) {
                assert!(end.is_none(), "seed {seed}: {action:?} after the end");
                match action {
                    Action::Claim => {
                        self.lease += 1;
                        attempt = self.lease;
                        let before = Totals {
                            spent: Some(self.spent_before),
                            ..totals
                        };
                        self.later(10, Event::Claimed { attempt, before });
                    }
                    Action::Restore => {
                        let step = self.stored.map(|(step, _)| step);
                        if self.now.mono_ms < self.away_until_ms {
                            let wait = self.away_until_ms - self.now.mono_ms;
                            self.later(
                                wait,
                                Event::Restored {
                                    step,
                                    found: step.is_some(),
                                },
                            );
                        } else {
                            self.later(
                                500,
                                Event::Restored {
                                    step,
                                    found: step.is_some(),
                                },
                            );
                        }
                    }
                    Action::Start => {
                        assert!(self.program.is_none(), "seed {seed}: two programs");
                        assert!(!fenced, "seed {seed}: started after it was fenced");
                        // what is safe is resumed from
                        let step = self.stored.map_or(0, |(step, _)| step);
                        self.disk.clear();
                        self.program = Some(Program {
                            step,
                            next_ms: self.now.mono_ms + 1_000,
                            saving: None,
                            asked: false,
                        });
                        self.catches_at_ms = self.now.mono_ms + 1 + self.rng.below(5_000);
                        self.later(0, Event::Started);
                    }
                    Action::Signal(signal) => {
                        assert_eq!(signal, Signal::Term);
                        let caught = self.catches && self.catches_at_ms == 0;
                        assert!(caught, "seed {seed}: a signal that nobody catches");
                        if let Some(program) = &mut self.program {
                            program.asked = true;
                        }
                    }
                    Action::Kill => {
                        if self.program.take().is_some() {
                            self.later(1, Event::Exited(Exited::Signal(9)));
                        }
                    }
                    Action::Publish(id) => {
                        assert!(!fenced, "seed {seed}: published after it was fenced");
                        assert!(self.upload.is_none(), "seed {seed}: two uploads");
                        let done = self.now.mono_ms + self.bytes / self.rate;
                        self.upload = Some((id, self.now.mono_ms, done));
                    }
                    Action::Rescan => {
                        for found in self.disk.clone() {
                            let step = found.step.unwrap_or(0);
                            if self.stored.is_none_or(|(stored, _)| stored < step) {
                                self.later(0, Event::Found(found));
                            }
                        }
                        self.later(0, Event::Rescanned);
                    }
                    Action::Test => {
                        let done = self
                            .stored
                            .is_some_and(|(step, _)| step >= self.total_steps);
                        self.later(100, Event::Tested { done });
                    }
                    Action::Release => {
                        assert!(
                            self.program.is_none(),
                            "seed {seed}: released with a program alive"
                        );
                    }
                    Action::Tell(Alarm::Spent { share }) => {
                        // billed by the second begun
                        let least = self.cap.amount.to_f64() * share - 0.001;
                        assert!(self.spent().amount.to_f64() >= least, "seed {seed}");
                    }
                    Action::Tell(_) => {}
                    Action::End(how) => end = Some(how),
                }
            }
            if end.is_some() {
                break;
            }
            let alive_ms = self.now.mono_ms - begun;
            if vanishes_ms.is_some_and(|ms| alive_ms >= ms) {
                finished = true;
            }
            if finished {
                break;
            }
            assert!(
                alive_ms < 20_000_000,
                "seed {seed}: never ends, {:?}",
                run.phase()
            );
            self.now.mono_ms += 100;
            self.now.wall_ms += 100;
            self.misfortune(run.phase());
            self.work();
            self.net(attempt);
            let now_ms = self.now.mono_ms;
            let mut due: Vec<(u64, Event)> = Vec::new();
            self.events.retain(|(at, event)| {
                let is_due = *at <= now_ms;
                if is_due {
                    due.push((*at, event.clone()));
                }
                !is_due
            });
            due.sort_by_key(|(at, _)| *at);
            due.push((now_ms, Event::Tick));
            for (_, event) in due {
                fenced |= matches!(event, Event::Fenced { .. });
                actions.extend(run.step(self.now, event));
            }
        }
        // the machine is stopped with the run
        self.program = None;
        self.upload = None;
        self.events.clear();
        self.disk.clear();
        let spent = self.spent();
        Lived {
            end,
            totals: run.totals(),
            spent,
        }
    }
}

#[test]
fn a_thousand_lives() {
    let (mut done, mut broke, mut resumed, mut vanished) = (0, 0, 0, 0);
    for seed in 0..1_000 {
        let mut world = World::new(seed);
        let has_test = seed % 2 == 0;
        let mut totals = Totals {
            interruptions: 0,
            failures: 0,
            failures_in_a_row: 0,
            spent: None,
        };
        let mut safe = 0;
        for _ in 0..60 {
            let vanishes = world.rng.chance(15).then(|| world.rng.below(120_000));
            let lived = world.live(seed, totals, has_test, vanishes);
            let stored = world.stored.map_or(0, |(step, _)| step);
            assert!(
                stored >= safe,
                "seed {seed}: step {safe} was safe, {stored} is"
            );
            resumed += usize::from(safe > 0);
            safe = stored;
            totals = lived.totals;
            world.spent_before = lived.spent;
            let spent = lived.spent.amount.to_f64();
            if lived.end.is_some() {
                assert!(
                    spent <= world.cap.amount.to_f64() + 1e-9,
                    "seed {seed}: {spent} was spent, {:?}",
                    lived.end
                );
            }
            match lived.end {
                Some(End::Done) => {
                    if has_test {
                        assert!(safe >= world.total_steps, "seed {seed}: done at {safe}");
                    }
                    done += 1;
                    break;
                }
                Some(End::Budget) => {
                    broke += 1;
                    break;
                }
                Some(End::Interrupted) => {}
                Some(_) => break,
                None => {
                    vanished += 1;
                    if spent >= world.cap.amount.to_f64() {
                        break;
                    }
                }
            }
            // another machine, with an empty disk, a minute later
            world.now.mono_ms += 60_000;
            world.now.wall_ms += 60_000;
        }
    }
    // the lives are of all kinds, or nothing was tested
    assert!(
        done > 200 && broke > 50 && resumed > 300 && vanished > 100,
        "{done} {broke} {resumed} {vanished}"
    );
}
