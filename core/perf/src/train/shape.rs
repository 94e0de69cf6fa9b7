//! A language model in the numbers that the training formula takes.

use crate::formula::train_llm::Shape;
use crate::nofit::NoFit;
use lessee_model::{ModelSpec, Msg};

/// # Errors
/// `model_unsuitable`: layers or hidden size are not known.
pub(crate) fn shape(model: &ModelSpec) -> Result<Shape, NoFit> {
    let (Some(layers), Some(hidden)) = (model.layers, model.hidden) else {
        return Err(NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-dimensions").arg("model", &*model.name),
        ));
    };
    let width = match (model.heads, model.head_dim) {
        (Some(heads), Some(dim)) => heads * dim,
        _ => hidden,
    };
    let vocab = model.vocab.unwrap_or(0.0);
    let mixture = model.active_params < model.params;
    // the table that looks tokens up multiplies nothing, unless it is also the output layer
    let looked_up = if mixture || !shares_its_table(model, layers, hidden, width, vocab) {
        vocab * hidden
    } else {
        0.0
    };
    Ok(Shape {
        layers,
        hidden,
        attention_width: width,
        multiplied: (model.active_params - looked_up).max(0.5 * model.active_params),
        params: model.params,
        vocab,
        routed: if mixture {
            model.experts_per_token.unwrap_or(1.0)
        } else {
            0.0
        },
    })
}

/// Whether input and output share one table of `vocab x hidden`: what the layers leave of the parameters tells.
fn shares_its_table(model: &ModelSpec, layers: f64, hidden: f64, width: f64, vocab: f64) -> bool {
    let table = vocab * hidden;
    let Some(ffn) = model.ffn.filter(|_| table > 0.0) else {
        return false;
    };
    let keys = match (model.kv_heads, model.head_dim) {
        (Some(heads), Some(dim)) => heads * dim,
        _ => width,
    };
    let attention = 2.0 * hidden * (width + keys);
    let left = |matrices: f64| model.params - layers * (attention + matrices * hidden * ffn);
    // three matrices where gated, two otherwise: the larger that leaves room for one table
    let rest = if left(3.0) > 0.7 * table {
        left(3.0)
    } else {
        left(2.0)
    };
    rest < 1.5 * table
}

/// A dense network of `params` parameters with the usual proportions, for tables that name nothing else:
/// hidden size about 100 times the layers, 12 H^2 parameters a layer.
pub(crate) fn usual(params: f64, vocab: f64) -> Shape {
    const HIDDEN_PER_LAYER: f64 = 100.0;
    let hidden = (params * HIDDEN_PER_LAYER / 12.0).cbrt();
    Shape {
        layers: hidden / HIDDEN_PER_LAYER,
        hidden,
        attention_width: hidden,
        multiplied: params,
        params,
        vocab,
        routed: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessee_model::{Basis, Confidence, ModelKind, Provenance};

    fn model(params: f64, layers: f64, hidden: f64, kv: f64, ffn: f64, vocab: f64) -> ModelSpec {
        ModelSpec {
            name: "m".into(),
            kind: ModelKind::Llm,
            params,
            active_params: params,
            layers: Some(layers),
            hidden: Some(hidden),
            heads: Some(hidden / 128.0),
            kv_heads: Some(kv),
            head_dim: Some(128.0),
            ffn: Some(ffn),
            vocab: Some(vocab),
            experts: None,
            experts_per_token: None,
            kv_bytes_per_token: None,
            context: None,
            forward_gflops: None,
            why: Provenance::new(Basis::Published, Confidence::General, "test", None),
        }
    }

    #[test]
    fn one_table_or_two_is_seen_from_the_parameters() {
        // 8B: 6.98e9 in layers, two tables of 0.525e9; the one for input multiplies nothing
        let two = shape(&model(8.03e9, 32.0, 4096.0, 8.0, 14336.0, 128_256.0)).expect("shape");
        assert!((two.multiplied - (8.03e9 - 128_256.0 * 4096.0)).abs() < 1.0);
        // 1.3B without gates: 1.21e9 in layers, one table
        let one = shape(&model(1.316e9, 24.0, 2048.0, 16.0, 8192.0, 50_368.0)).expect("shape");
        assert_eq!(one.multiplied, 1.316e9);
    }

    #[test]
    fn usual_proportions_come_near_real_networks() {
        // 7B: 32 layers of 4,096; what counts is layers x hidden
        let s = usual(6.66e9, 50_000.0);
        let units = s.layers * s.hidden;
        assert!((units / (32.0 * 4096.0) - 1.0).abs() < 0.15, "{units}");
    }
}
