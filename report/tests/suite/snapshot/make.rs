//! Pickles made by hand.

/// Writes opcodes.
#[derive(Default, Clone)]
pub struct Pickle(pub Vec<u8>);

impl Pickle {
    pub fn new() -> Self {
        Self(vec![0x80, 4])
    }

    pub fn op(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn text(mut self, text: &str) -> Self {
        self.0.push(b'X');
        self.0.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// As CPython: LONG1 for what fits no other.
    pub fn int(mut self, value: u64) -> Self {
        let bytes = i128::from(value).to_le_bytes();
        let mut n = 1;
        while (value >> (8 * n - 1)) != 0 && n < 9 {
            n += 1;
            if n == 9 {
                break;
            }
        }
        self.0.push(0x8a);
        self.0.push(n as u8);
        self.0.extend_from_slice(&bytes[..n]);
        self
    }

    pub fn done(self) -> Vec<u8> {
        self.op(b".").0
    }
}

/// One event as the tests name it: action, address, size.
pub type Event = (&'static str, u64, u64);

/// Address, size, and blocks of address, size, requested (0 for a free one).
pub type Segment = (u64, u64, Vec<(u64, u64, u64)>);

/// A snapshot of one device with these events and segments.
pub fn snapshot(events: &[Event], segments: &[Segment]) -> Vec<u8> {
    let mut p = Pickle::new().op(b"}(").text("segments").op(b"](");
    for (address, size, blocks) in segments {
        p = p
            .op(b"}(")
            .text("device")
            .int(0)
            .text("address")
            .int(*address);
        p = p.text("total_size").int(*size).text("stream").int(0);
        p = p
            .text("segment_type")
            .text(if *size == 2 << 20 { "small" } else { "large" });
        p = p.text("is_expandable").op(&[0x89]).text("blocks").op(b"](");
        for (address, size, requested) in blocks {
            p = p
                .op(b"}(")
                .text("address")
                .int(*address)
                .text("size")
                .int(*size);
            p = p.text("requested_size").int(*requested).text("state");
            p = p.text(if *requested > 0 {
                "active_allocated"
            } else {
                "inactive"
            });
            p = p.op(b"u");
        }
        p = p.op(b"eu");
    }
    p = p.op(b"e").text("device_traces").op(b"](](");
    for (i, (action, address, size)) in events.iter().enumerate() {
        p = p
            .op(b"}(")
            .text("action")
            .text(action)
            .text("addr")
            .int(*address);
        p = p.text("size").int(*size).text("stream").int(0);
        p = p.text("time_us").int(1000 + i as u64).op(b"u");
    }
    p.op(b"eeu").done()
}
