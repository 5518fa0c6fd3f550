//! One record as a line of JSON, written without an object in between.

/// A record that is being put together: its kind and its keys.
#[derive(Debug, Clone)]
pub struct Line {
    kind: &'static str,
    body: Vec<u8>,
}

impl Line {
    /// A record of a kind (`sample`), without keys yet.
    #[must_use]
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            body: Vec::with_capacity(512),
        }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The keys as they will be written: `,"step":3`.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    fn key(&mut self, key: &str) {
        self.body.extend_from_slice(b",\"");
        self.body.extend_from_slice(key.as_bytes());
        self.body.extend_from_slice(b"\":");
    }

    /// A whole number; nothing is written for `None`.
    #[must_use]
    pub fn number(mut self, key: &str, value: Option<u64>) -> Self {
        if let Some(value) = value {
            self.key(key);
            self.body
                .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        }
        self
    }

    /// A whole number with a sign; nothing is written for `None`.
    #[must_use]
    pub fn signed(mut self, key: &str, value: Option<i64>) -> Self {
        if let Some(value) = value {
            self.key(key);
            self.body
                .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        }
        self
    }

    /// A text; nothing is written for an empty one.
    #[must_use]
    pub fn text(mut self, key: &str, value: &str) -> Self {
        if !value.is_empty() {
            self.key(key);
            quote(&mut self.body, value);
        }
        self
    }

    /// An address or handle, as `"0x7f…"`; nothing is written for `None`.
    #[must_use]
    pub fn address(mut self, key: &str, value: Option<u64>) -> Self {
        if let Some(value) = value {
            self.key(key);
            hex(&mut self.body, value);
        }
        self
    }

    /// `true` or `false`.
    #[must_use]
    pub fn flag(mut self, key: &str, value: bool) -> Self {
        self.key(key);
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.body.extend_from_slice(word);
        self
    }

    /// JSON that stands already. A line break in it would end the record: it is replaced by a space,
    /// which means the same outside of strings (and inside of them JSON does not allow it).
    #[must_use]
    pub fn json(mut self, key: &str, json: &str) -> Self {
        self.key(key);
        self.body
            .extend(json.bytes().map(|b| if b == b'\n' { b' ' } else { b }));
        self
    }

    /// The whole line, its end included.
    pub(super) fn finish(&self, seq: u64, t: u64, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        out.clear();
        out.extend_from_slice(b"{\"k\":\"");
        out.extend_from_slice(self.kind.as_bytes());
        out.extend_from_slice(b"\",\"seq\":");
        out.extend_from_slice(digits.format(seq).as_bytes());
        out.extend_from_slice(b",\"t\":");
        out.extend_from_slice(digits.format(t).as_bytes());
        out.extend_from_slice(&self.body);
        out.extend_from_slice(b"}\n");
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

fn hex(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(b"\"0x");
    let first = (15 - value.max(1).leading_zeros() / 4) as i32;
    for nibble in (0..=first).rev() {
        out.push(DIGITS[(value >> (nibble * 4) & 15) as usize]);
    }
    out.push(b'"');
}

/// A JSON string of a text.
pub(crate) fn quote(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..=0x1f => {
                out.extend_from_slice(b"\\u00");
                out.push(DIGITS[(byte >> 4) as usize]);
                out.push(DIGITS[(byte & 15) as usize]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_json_whatever_is_in_them() {
        let line = Line::new("mark")
            .text("name", "a \"quoted\"\\ line\n\u{1}\tend \u{2028} é")
            .number("zero", Some(0))
            .number("unknown", None)
            .signed("less", Some(i64::MIN + 1))
            .address("ptr", Some(0x7f00_dead_beef_0000))
            .address("null", Some(0))
            .address("most", Some(u64::MAX))
            .flag("yes", true)
            .json("list", "[1,\n2]");
        let mut out = Vec::new();
        line.finish(7, u64::MAX, &mut out);
        assert_eq!(out.iter().filter(|b| **b == b'\n').count(), 1);
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value["k"], "mark");
        assert_eq!(value["seq"], 7);
        assert_eq!(value["t"], u64::MAX);
        assert_eq!(value["name"], "a \"quoted\"\\ line\n\u{1}\tend \u{2028} é");
        assert_eq!(value["zero"], 0);
        assert!(value.get("unknown").is_none());
        assert_eq!(value["less"], i64::MIN + 1);
        assert_eq!(value["ptr"], "0x7f00deadbeef0000");
        assert_eq!(value["null"], "0x0");
        assert_eq!(value["most"], "0xffffffffffffffff");
        assert_eq!(value["yes"], true);
        assert_eq!(value["list"][1], 2);
    }
}
