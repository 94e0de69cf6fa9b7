//! Rent or own.

use lessee_cost::{BuyDefault, BuyError, BuyReport, Choice, buy_report, parse_buy, resolve_buy};
use lessee_model::{Basis, Confidence, Explain, Fixed, Money, Msg, Provenance, Sourced};

/// The built-in table, as the loader hands it over.
fn defaults() -> Vec<BuyDefault> {
    let text = include_str!("../../../data/buy_defaults.csv");
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    rows.records()
        .map(|row| {
            let row = row.expect("row");
            let cell = |i: usize| row.get(i).expect("cell");
            BuyDefault {
                parameter: cell(0).to_owned(),
                low: cell(1).parse().ok(),
                high: cell(2).parse().ok(),
                default: cell(3).parse().ok(),
                unit: cell(4).to_owned(),
                note: cell(8).to_owned(),
                why: Provenance::new(
                    Basis::Assumed,
                    Confidence::General,
                    cell(6),
                    cell(5).parse().ok(),
                ),
            }
        })
        .collect()
}

fn report(text: &str) -> BuyReport {
    let file = parse_buy(text, "buy.toml").expect("file");
    buy_report(&resolve_buy(&file, &defaults(), None).expect("input"))
}

/// Nothing but the machine and the rent.
const BARE: &str = r#"
[node]
price = "292000 USD"
gpus = 8
power_kw = 0
extras = 0
[site]
network = "0 USD"
[people]
fte_per_node = 0
[upkeep]
spares = 0
maintenance = 0
insurance = 0
[plan]
horizon_months = 50
utilisation = "50%"
cost_of_capital = 0
residual = 0
lead_months = 0
[rent]
price = "2 USD"
price_fall = 0
"#;

#[test]
fn by_hand_without_interest() {
    let r = report(BARE);
    // 292,000 USD over 8 x 730 x 50 = 292,000 hours: 1 USD an hour at full use
    assert_eq!(r.gpu_hours, 146_000.0);
    assert_eq!(r.owned_per_gpu_hour.to_cents(), "2.00");
    assert_eq!(r.rented_per_gpu_hour.to_cents(), "2.00");
    assert!((r.break_even_utilisation.expect("some") - 0.5).abs() < 1e-9);
    assert_eq!(r.break_even_month, Some(50));
    let r = report(&BARE.replace("50%", "80%"));
    assert_eq!(
        (r.cheaper, r.owned_per_gpu_hour.to_cents().as_str()),
        (Choice::Own, "1.25")
    );
    // 292,000 / (8 x 730 x 0.8 x 2) = 31.25 months
    assert_eq!(r.break_even_month, Some(32));
    let r = report(&BARE.replace("50%", "20%"));
    assert_eq!((r.cheaper, r.break_even_month), (Choice::Rent, None));
}

#[test]
fn waiting_for_delivery_pays_rent_and_falling_rents_help_renting() {
    let r = report(&BARE.replace("lead_months = 0", "lead_months = 10"));
    // ten of fifty months are rented: 20 % of 2 USD more
    assert_eq!(r.owned_per_gpu_hour.to_cents(), "2.40");
    // owned hours only: 292,000 / (40 x 5,840 x 2)
    assert!((r.break_even_utilisation.expect("some") - 0.625).abs() < 1e-9);
    let falling = report(&BARE.replace("price_fall = 0", "price_fall = 0.3"));
    assert!(falling.rented_per_gpu_hour.amount < r.rented_per_gpu_hour.amount);
    let interest = report(&BARE.replace("cost_of_capital = 0", "cost_of_capital = 0.1"));
    assert!(interest.owned_per_gpu_hour.amount > report(BARE).owned_per_gpu_hour.amount);
}

#[test]
fn lines_multiply_out_and_defaults_are_marked() {
    let r = report("[rent]\nprice = \"2.5 USD\"\n");
    for (sum, lines) in [(r.capex, &r.capex_lines), (r.opex_per_year, &r.opex_lines)] {
        let mut total = Fixed::ZERO;
        for line in lines {
            let quantity: Fixed = line.quantity.parse().expect("decimal");
            assert_eq!(
                line.unit_price.times(quantity),
                line.amount,
                "{}",
                line.kind
            );
            total += line.amount.amount;
        }
        assert_eq!(sum.amount, total);
    }
    assert_eq!(r.capex.to_cents(), "364000.00"); // 325,000 + 12 %
    for p in &r.parameters {
        assert_eq!(p.assumed, p.name != "rent_price", "{}", p.name);
        assert_eq!(p.assumed, p.why.basis == Basis::Assumed, "{}", p.name);
    }
    // the two texts on colocation that conflict by a factor of four are shown as such
    let colocation = r
        .parameters
        .iter()
        .find(|p| p.name == "colocation")
        .expect("there");
    assert!(colocation.note.contains("150-250") && colocation.low == Some(37.0));
    for name in [
        "utilisation",
        "colocation",
        "cost_of_capital",
        "price_fall_of_rent",
    ] {
        let row = r
            .sensitivity
            .iter()
            .find(|s| s.parameter == name)
            .expect(name);
        assert!(
            row.owned_per_gpu_hour_low != row.owned_per_gpu_hour_high
                || name == "price_fall_of_rent",
            "{name}"
        );
    }
    assert!(
        !r.sensitivity.iter().any(|s| s.parameter == "pue"),
        "colocation includes cooling"
    );
    let json = serde_json::to_value(&r).expect("json");
    assert_eq!(json["schema"], "lessee/buy/v1");
    let back: BuyReport = serde_json::from_value(json).expect("round trip");
    assert_eq!(back.capex, r.capex);
}

#[test]
fn an_own_site_pays_for_cooling_instead_of_kilowatts() {
    let text = "[node]\nprice = \"300000 USD\"\npower_kw = 10\n[site]\nkind = \"own\"\nenergy = \"0.1 USD\"\npower_share = 1\npue = 1.5\n[rent]\nprice = \"2 USD\"\n";
    let r = report(text);
    assert!(!r.opex_lines.iter().any(|l| l.kind == "colocation"));
    let energy = r
        .opex_lines
        .iter()
        .find(|l| l.kind == "energy")
        .expect("line");
    // 10 kW x 1.5 x 8,760 h x 0.1
    assert_eq!(energy.amount.to_cents(), "13140.00");
}

#[test]
fn errors_say_what_where_and_how_to_mend() {
    let wrong = parse_buy("[node]\nprise = \"1 USD\"\n", "buy.toml").expect_err("misspelt");
    match &wrong {
        BuyError::Parse { line, hint, .. } => {
            let price = Msg::new("hint-did-you-mean").arg("word", "price");
            assert_eq!((*line, hint), (2, &Some(price)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(wrong.hints().len(), 1);
    let resolve = |text: &str| {
        resolve_buy(&parse_buy(text, "b").expect("file"), &defaults(), None).expect_err("bad")
    };
    assert_eq!(
        resolve(""),
        BuyError::Missing {
            field: "rent.price"
        }
    );
    // the built-in price is for eight H100 and is not used for anything else
    assert_eq!(
        resolve("[node]\ngpu = \"L40S\"\n[rent]\nprice = \"1 USD\"\n"),
        BuyError::Missing {
            field: "node.price"
        }
    );
    assert!(matches!(
        resolve("[node]\nprice = \"2000000 CNY\"\npower_kw = 10\n[rent]\nprice = \"12 CNY\"\n"),
        BuyError::NoRate { .. }
    ));
    for text in [
        "[rent]\nprice = \"-1 USD\"\n",
        "[rent]\nprice = \"1 USD\"\n[plan]\nhorizon_months = 0\n",
        "[rent]\nprice = \"1 USD\"\n[plan]\nhorizon_months = nan\n",
        "[rent]\nprice = \"1 USD\"\n[node]\ncount = 1e300\n",
        "[rent]\nprice = \"1 USD\"\n[site]\npue = 0.5\n",
    ] {
        assert!(matches!(resolve(text), BuyError::Value { .. }), "{text}");
    }
    assert!(parse_buy("[plan]\nutilisation = \"150%\"\n", "b").is_err());
}

#[test]
fn an_offer_of_the_catalogue_and_yuan_with_a_rate() {
    let text = "[node]\nprice = \"2100000 CNY\"\n[[money.rates]]\nfrom = \"USD\"\nto = \"CNY\"\nrate = 7.0\nas_of = \"2026-11-28\"\n[rent]\noffer = \"x/y@z\"\n";
    let file = parse_buy(text, "b").expect("file");
    let rent: Money = "2 USD".parse().expect("money");
    let input = resolve_buy(
        &file,
        &defaults(),
        Some(Sourced::new(rent, Provenance::user("offer"))),
    )
    .expect("input");
    let report = buy_report(&input);
    let p = |name: &str| {
        report
            .parameters
            .iter()
            .find(|p| p.name == name)
            .expect("there")
    };
    assert_eq!(
        (p("rent_price").value, p("rent_price").assumed),
        (14.0, false)
    );
    assert!((p("energy").value - 0.7).abs() < 1e-9);
    assert_eq!(report.capex.currency.as_str(), "CNY");
    assert_eq!(
        resolve_buy(&file, &defaults(), None).expect_err("no price"),
        BuyError::Missing {
            field: "rent.price"
        }
    );
}

#[test]
fn tax_falls_on_everything_bought_on_both_sides_but_not_on_people() {
    let taxed = |text: &str| text.replace("extras = 0", "extras = 0\ntax = 0.1");
    let (plain, with) = (report(BARE), report(&taxed(BARE)));
    assert_eq!(plain.rented_per_gpu_hour.to_cents(), "2.00");
    assert_eq!(with.rented_per_gpu_hour.to_cents(), "2.20");
    assert_eq!(with.owned_per_gpu_hour.to_cents(), "2.20");
    // the same share on both sides moves no decision
    assert_eq!(with.break_even_month, plain.break_even_month);
    assert_eq!(
        with.break_even_utilisation.map(|u| (u * 1e9).round()),
        plain.break_even_utilisation.map(|u| (u * 1e9).round())
    );
    let text = "[node]\nprice = \"300000 USD\"\npower_kw = 10\n[rent]\nprice = \"2 USD\"\n";
    let (plain, with) = (
        report(text),
        report(&text.replace("power_kw", "tax = 0.1\npower_kw")),
    );
    let people = plain
        .opex_lines
        .iter()
        .find(|l| l.kind == "people")
        .expect("line")
        .amount
        .amount;
    let tax = with
        .opex_lines
        .iter()
        .find(|l| l.kind == "purchase_tax")
        .expect("line");
    let bought = plain.opex_per_year.amount - people;
    assert_eq!(tax.quantity, bought.to_string());
    assert_eq!(
        with.opex_per_year.amount,
        plain.opex_per_year.amount + tax.amount.amount
    );
}

fn refused(text: &str) -> BuyError {
    let file = parse_buy(text, "buy.toml").expect("file");
    resolve_buy(&file, &defaults(), None).expect_err("refused")
}

#[test]
fn ranges_are_checked_like_every_other_value() {
    let with = |ranges: &str| format!("{BARE}\n[ranges]\n{ranges}\n");
    let error = refused(&with("utilization = [0.3, 0.9]"));
    let suggestion = Some("utilisation".to_owned());
    assert!(
        matches!(&error, BuyError::RangeName { suggestion: s, .. } if *s == suggestion),
        "{error}"
    );
    for wrong in [
        "utilisation = [0.9, 0.3]",
        "utilisation = [0.5, 0.5]",
        "utilisation = [0.3, 7.0]",
        "utilisation = [-1.0, 0.9]",
        "utilisation = [nan, 0.9]",
        "utilisation = [0.3, inf]",
        // 50 % is used
        "utilisation = [0.6, 0.9]",
    ] {
        let error = refused(&with(wrong));
        assert!(matches!(error, BuyError::Range { .. }), "{wrong}: {error}");
        assert_eq!(error.field().as_deref(), Some("ranges.utilisation"));
    }
    let good = report(&with("utilisation = [0.3, 0.9]"));
    let row = good
        .sensitivity
        .iter()
        .find(|r| r.parameter == "utilisation");
    assert_eq!(row.map(|r| (r.low, r.high)), Some((0.3, 0.9)));
}

#[test]
fn machines_that_come_after_the_horizon_are_warned_of() {
    assert!(report(BARE).warnings.is_empty());
    for lead in ["50", "60"] {
        let late = report(&BARE.replace("lead_months = 0", &format!("lead_months = {lead}")));
        assert_eq!(late.warnings, ["horizon_within_lead"]);
        assert_eq!(late.break_even_month, None);
    }
}
