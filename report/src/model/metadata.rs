//! Key-value facts that the source states about the run.

use serde::{Deserialize, Serialize};

/// A value as the source wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// JSON `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other finite number.
    Float(f64),
    /// A string, or a number that JSON has no form for (`NaN`, `Infinity`).
    Text(String),
    /// An object or array, as its JSON text.
    Json(String),
}

impl Value {
    /// The value as a number, also from a string that holds one (`"2"`).
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(i) => Some(*i as f64),
            Self::Float(f) => Some(*f),
            Self::Text(t) => t.trim().parse().ok().filter(|f: &f64| f.is_finite()),
            Self::Null | Self::Bool(_) | Self::Json(_) => None,
        }
    }

    /// The value as a person would write it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(b) => b.to_string(),
            Self::Int(i) => i.to_string(),
            Self::Float(f) => f.to_string(),
            Self::Text(t) | Self::Json(t) => t.clone(),
        }
    }
}

/// Facts in the order of the source. A repeated key keeps its last value, as in JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata(Vec<(String, Value)>);

impl Metadata {
    /// Sets `key`.
    pub fn set(&mut self, key: String, value: Value) {
        match self.0.iter_mut().find(|(k, _)| *k == key) {
            Some(slot) => slot.1 = value,
            None => self.0.push((key, value)),
        }
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The text of `key`, unless it is absent, null, empty or `unknown`.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key)
            .filter(|v| **v != Value::Null)
            .map(Value::text)
            .filter(|t| !t.is_empty() && t != "unknown")
    }

    /// The number of `key`.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(Value::number)
    }

    /// The whole number of `key`.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            Value::Int(i) => Some(*i),
            Value::Text(t) => t.trim().parse().ok(),
            Value::Float(f) if f.fract() == 0.0 && f.abs() < 9.0e15 => Some(*f as i64),
            _ => None,
        }
    }

    /// Every fact.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> + '_ {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// Number of facts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
