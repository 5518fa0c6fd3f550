//! Values of any kind, kept as the source wrote them.

use std::io::Read;

use super::{Json, Number};
use crate::error::Result;
use crate::model::Value;

/// Longer objects and arrays in metadata are cut; what is cut is said in the text itself.
const MAX_JSON: usize = 64 << 10;

impl<R: Read> Json<'_, R> {
    /// Reads one value; objects and arrays become their JSON text.
    pub(crate) fn value(&mut self) -> Result<Value> {
        Ok(match self.peek()? {
            Some(b'"') => Value::Text(self.string()?.to_owned()),
            Some(b'n') if self.word("null")? => Value::Null,
            Some(b't') if self.word("true")? => Value::Bool(true),
            Some(b'f') if self.word("false")? => Value::Bool(false),
            Some(b'{' | b'[') => {
                let mut text = String::new();
                self.json_text(&mut text, MAX_JSON)?;
                Value::Json(text)
            }
            _ => match self.number()? {
                Number::Int(i) => i64::try_from(i).map_or(Value::Text(i.to_string()), Value::Int),
                Number::Float(f) => Value::Float(f),
                Number::NotFinite(word) => Value::Text(word.to_owned()),
            },
        })
    }

    /// Reads an object or array as its JSON text, however long.
    #[cfg(feature = "snapshot")]
    pub(crate) fn whole_text(&mut self) -> Result<String> {
        let mut text = String::new();
        self.json_text(&mut text, usize::MAX)?;
        Ok(text)
    }

    /// Depth is bounded by the lexer, so this recursion is too.
    fn json_text(&mut self, text: &mut String, most: usize) -> Result<()> {
        let object = self.peek()? == Some(b'{');
        let (open, close) = if object { ('{', '}') } else { ('[', ']') };
        if object {
            self.open_object()?;
        } else {
            self.open_array()?;
        }
        text.push(open);
        let mut first = true;
        let mut cut = 0u64;
        loop {
            let was_first = first;
            let kept = text.len() <= most;
            let key = if object {
                let Some(key) = self.key(&mut first)? else {
                    break;
                };
                kept.then(|| quoted(key))
            } else if self.element(&mut first)? {
                None
            } else {
                break;
            };
            if !kept {
                self.skip()?;
                cut += 1;
                continue;
            }
            if !was_first {
                text.push_str(", ");
            }
            if let Some(key) = key {
                text.push_str(&key);
                text.push_str(": ");
            }
            self.json_element(text, most)?;
        }
        // One note a level: a note an element would make a hostile text grow instead of shrink.
        if cut > 0 {
            text.push_str(&format!(", … {cut} more"));
        }
        text.push(close);
        Ok(())
    }

    fn json_element(&mut self, text: &mut String, most: usize) -> Result<()> {
        if matches!(self.peek()?, Some(b'{' | b'[')) {
            return self.json_text(text, most);
        }
        match self.value()? {
            Value::Text(t) => text.push_str(&quoted(&t)),
            other => text.push_str(&other.text()),
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
