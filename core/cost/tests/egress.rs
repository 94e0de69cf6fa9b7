//! Marginal tiers to the cent, and what is wrong in the field.

mod common;

use common::*;
use lessee_cost::{tier_parts, tiered_cost};
use lessee_model::{Bytes, Fixed, LineKind, Tiers};
use proptest::prelude::*;

/// Volume in TB of 1,024 GB -> cost through a whole bill.
fn through_the_bill(tiers: &Tiers, tb: f64, used_gb: f64) -> String {
    let mut world = World::new(3600.0, "1");
    world.tariff.egress_internet = known(tiers.clone());
    world.tariff.object_storage = per_month("0");
    world.workload.data.out = Bytes(tb * TB);
    world.workload.data.egress_used = Bytes::from_gb(used_gb);
    let bill = world.bill();
    let sum = bill
        .lines
        .iter()
        .filter(|l| l.kind == LineKind::Egress)
        .map(|l| match &l.amount {
            lessee_model::Quantified::Known(m) => m.amount,
            other => panic!("{other:?}"),
        })
        .fold(Fixed::ZERO, |a, b| a + b);
    lessee_model::Money::new(sum, lessee_model::Currency::USD).to_cents()
}

#[test]
fn aws_and_azure_egress_to_the_cent() {
    let aws = aws_egress();
    let azure = tiers(
        "100",
        &[("10240", "0.087"), ("51200", "0.083"), ("153600", "0.07")],
    );
    for (tb, fresh, used_up, on_azure) in [
        (10.0, "912.60", "921.60", "882.18"),
        (50.0, "4394.20", "4403.20", "4281.86"),
        (150.0, "11562.20", "11571.20", "11449.86"),
    ] {
        assert_eq!(through_the_bill(&aws, tb, 0.0), fresh, "{tb} TB");
        assert_eq!(through_the_bill(&aws, tb, 100.0), used_up, "{tb} TB");
        assert_eq!(through_the_bill(&aws, tb, 1e6), used_up, "{tb} TB");
        assert_eq!(through_the_bill(&azure, tb, 0.0), on_azure, "{tb} TB");
    }
    // half of the allowance is left
    assert_eq!(through_the_bill(&aws, 10.0, 50.0), "917.10");
}

/// A published optimiser charges whole volumes at the wrong tier; these are the same prices, marginal.
#[test]
fn marginal_where_the_field_goes_wrong() {
    let aws = tiers(
        "0",
        &[
            ("10240", "0.09"),
            ("51200", "0.085"),
            ("153600", "0.07"),
            ("", "0.05"),
        ],
    );
    let azure = tiers(
        "0",
        &[
            ("10240", "0.0875"),
            ("51200", "0.083"),
            ("153600", "0.07"),
            ("", "0.05"),
        ],
    );
    let gcp = tiers("0", &[("1024", "0.12"), ("10240", "0.11"), ("", "0.08")]);
    for (tib, a, z, g) in [
        (5.0, 460.7, 447.9, 573.4),
        (10.0, 921.5, 895.9, 1136.6),
        (10.01, 922.4, 896.8, 1137.5),
        (20.0, 1791.9, 1745.8, 1955.8),
        (49.9, 4394.4, 4287.1, 4405.2),
        (50.0, 4403.1, 4295.6, 4413.4),
        (100.0, 7987.1, 7879.6, 8509.4),
        (150.0, 11571.1, 11463.6, 12605.4),
        (500.0, 29491.2, 29383.6, 41277.4),
    ] {
        let volume = Fixed::from_f64(tib * 1024.0).expect("finite");
        for (tiers, right) in [(&aws, a), (&azure, z), (&gcp, g)] {
            let cost = tiered_cost(tiers, volume, Fixed::ZERO).amount.to_f64();
            // the table cuts off after one decimal and starts counting at the second GB
            assert!((cost - right).abs() < 0.13, "{tib} TiB: {cost} for {right}");
        }
    }
}

#[test]
fn beyond_the_last_published_bound_is_unknown_not_free() {
    let mut world = World::new(3600.0, "1");
    world.tariff.egress_internet = known(tiers("0", &[("1024", "0.12"), ("10240", "0.11")]));
    world.tariff.object_storage = unknown("0.02", "0.03");
    world.workload.data.out = Bytes(20.0 * TB);
    let bill = world.bill();
    assert!(bill.at_least);
    let egress = lines(&bill, LineKind::Egress);
    assert_eq!(
        egress,
        vec![
            ("1024".into(), "122.88".into()),
            ("9216".into(), "1013.76".into()),
            ("10240".into(), "unknown".into()),
        ]
    );
}

prop_compose! {
    /// Falling prices over rising bounds.
    fn falling()(steps in prop::collection::vec((1u32..100_000, 1u32..1_000), 1..6), first in 1u32..100_000)
        -> Tiers {
        let mut from = Fixed::ZERO;
        let mut price = i128::from(first) + steps.iter().map(|s| i128::from(s.1)).sum::<i128>();
        let last = steps.len() - 1;
        let tiers = steps.iter().enumerate().map(|(i, (width, drop))| {
            let to = from + Fixed::from_int(i64::from(*width));
            let tier = lessee_model::tariff::Tier {
                from,
                to: (i < last).then_some(to),
                price: lessee_model::Money::new(Fixed::from_raw(price * 10_000_000), lessee_model::Currency::USD),
            };
            from = to;
            price -= i128::from(*drop);
            tier
        }).collect();
        Tiers { unit: lessee_model::tariff::VolumeUnit::GB, allowance: Fixed::ZERO, tiers }
    }
}

proptest! {
    #[test]
    fn tiers_are_continuous_monotone_and_concave(t in falling(), a in 0u64..600_000_000, step in 1u64..1_000_000) {
        // whole thousandths of a GB, so that products are exact
        let x = |n: u64| Fixed::from_raw(i128::from(n) * 1_000_000_000);
        let cost = |n: u64| tiered_cost(&t, x(n), Fixed::ZERO).amount;
        let (c0, c1, c2) = (cost(a), cost(a + step), cost(a + 2 * step));
        prop_assert!(c0 <= c1 && c1 <= c2);
        prop_assert!(c2 - c1 <= c1 - c0, "concave");
        let dearest = t.tiers[0].price.amount.times(x(step));
        prop_assert!(c1 - c0 <= dearest, "continuous: no jump");
    }

    #[test]
    fn parts_add_up_to_volume_and_cost(t in falling(), n in 0u64..600_000_000, free in 0u64..1_000_000) {
        let (volume, free) = (Fixed::from_raw(i128::from(n) * 1_000_000_000), Fixed::from_raw(i128::from(free) * 1_000_000_000));
        let mut parts = Vec::new();
        tier_parts(&t.tiers, volume, free, |part| parts.push(part));
        let sum = parts.iter().fold(Fixed::ZERO, |s, p| s + p.quantity);
        let cost = parts.iter().fold(Fixed::ZERO, |s, p| s + p.price.amount.times(p.quantity));
        prop_assert_eq!(sum, volume);
        prop_assert_eq!(cost, tiered_cost(&t, volume, free).amount);
        prop_assert!(cost <= tiered_cost(&t, volume, Fixed::ZERO).amount);
    }
}
