//! Is a spot price believable? Compared with the spot prices of the same GPU at all other places: one odd
//! region far below them is warned of, not trusted blindly.
//!
//! Not here: whether it may be ranked (`feasible`), and what interruptions cost (`lessee-cost`).

use crate::PlanInput;
use lessee_model::gpu::same_memory;
use lessee_model::{Basis, Fixed, GpuRef, Machine, Money, Msg, Price, Purchase};

/// Medians that were already taken in this plan; few different GPUs reach the finals.
#[derive(Default)]
pub(crate) struct SpotMedians(Vec<(GpuRef, Option<(f64, usize)>)>);

impl SpotMedians {
    /// What to tell of this spot price, if it is far below the others.
    pub(crate) fn warning(
        &mut self,
        input: &PlanInput<'_>,
        machine: &Machine,
        price: &Price,
    ) -> Option<Msg> {
        let (median, count) = self.median(input, &machine.gpu)?;
        let own = per_gpu(input, machine, price)?;
        if own >= input.rules.spot_outlier_share * median {
            return None;
        }
        let money = |x: f64| {
            let amount = Fixed::from_f64(x).unwrap_or(Fixed::ZERO).round(4);
            Money::new(amount, input.workload.money.currency)
        };
        Some(
            Msg::new("warn-spot-outlier")
                .arg("price", money(own))
                .arg("median", money(median))
                .arg("percent", (100.0 * own / median).round())
                .arg("count", count),
        )
    }

    /// Median over all spot prices of the GPU, in the currency of the plan, and how many there are.
    fn median(&mut self, input: &PlanInput<'_>, gpu: &GpuRef) -> Option<(f64, usize)> {
        if let Some((_, known)) = self.0.iter().find(|(g, _)| g == gpu) {
            return *known;
        }
        let catalog = input.catalog;
        let same: Vec<bool> = catalog
            .machines
            .iter()
            .map(|m| same_gpu(&m.gpu, gpu))
            .collect();
        let offers = catalog.offers.iter();
        let mut prices: Vec<f64> = offers
            .filter(|offer| same[offer.machine.0 as usize])
            .filter_map(|offer| {
                let price = offer.price(Purchase::Spot)?;
                per_gpu(input, catalog.machine(offer), price)
            })
            .collect();
        prices.sort_by(f64::total_cmp);
        let enough = prices.len() >= input.rules.spot_outlier_prices.max(1);
        let median = enough.then(|| {
            let (low, high) = (prices[(prices.len() - 1) / 2], prices[prices.len() / 2]);
            ((low + high) / 2.0, prices.len())
        });
        self.0.push((gpu.clone(), median));
        median
    }
}

fn same_gpu(a: &GpuRef, b: &GpuRef) -> bool {
    a.model == b.model
        && (a.form.is_none() || b.form.is_none() || a.form == b.form)
        && match (a.memory_gb, b.memory_gb) {
            (Some(x), Some(y)) => same_memory(x, y),
            _ => true,
        }
}

/// Of one whole GPU and hour; `None` for what is no price of a seller.
fn per_gpu(input: &PlanInput<'_>, machine: &Machine, price: &Price) -> Option<f64> {
    let money = &input.workload.money;
    let converted = money.fx.convert(price.per_hour, money.currency).ok()?;
    let each = converted.amount.to_f64() / machine.gpu_equivalents();
    let real = price.why.basis != Basis::Modelled && price.high.is_none();
    (real && each.is_finite() && each > 0.0).then_some(each)
}
