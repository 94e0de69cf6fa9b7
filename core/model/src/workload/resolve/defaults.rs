//! `data/defaults.toml`: what is taken for a field that nobody gave.

use std::collections::HashMap;

/// Values of `data/defaults.toml`: section -> name -> number (nested sections joined by a dot).
#[derive(Clone, Debug, Default)]
pub struct Defaults(HashMap<String, f64>);

impl Defaults {
    /// # Errors
    /// The text is not TOML.
    pub fn from_toml(text: &str) -> Result<Defaults, String> {
        let table: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        let mut out = HashMap::new();
        flatten("", &toml::Value::Table(table), &mut out);
        Ok(Defaults(out))
    }

    /// The default at a path such as `setup.ready.labour_hours`.
    pub fn get(&self, path: &str) -> f64 {
        self.0.get(path).copied().unwrap_or(0.0)
    }
}

fn flatten(prefix: &str, value: &toml::Value, out: &mut HashMap<String, f64>) {
    match value {
        toml::Value::Table(table) => {
            for (name, inner) in table {
                let path = if prefix.is_empty() {
                    name.clone()
                } else {
                    format!("{prefix}.{name}")
                };
                flatten(&path, inner, out);
            }
        }
        other => {
            if let Some(x) = other
                .as_float()
                .or_else(|| other.as_integer().map(|i| i as f64))
            {
                out.insert(prefix.to_owned(), x);
            }
        }
    }
}
