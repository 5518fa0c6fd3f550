//! Pickles, walked opcode by opcode.
//!
//! **Nothing is executed.** A pickle is a program for a small stack machine; what makes pickles
//! dangerous are the opcodes that import and call. They are refused by name, as are those of
//! protocol 0 and 1 that no snapshot has. All others build plain values, which go straight to a
//! [`Builder`](super::snapshot::builder::Builder): no object tree comes into being.
//!
//! Two shapes make up nearly all of a snapshot and have a short way: an event with known fields
//! (`event`), and a list of frames that are all in the memo (`frames`). Both look at the bytes
//! first and leave everything as it was when they meet something else, so the stack machine in
//! `walk` alone decides what a file means.

mod bytes;
mod event;
mod frames;
mod memo;
mod opcode;
mod shape;
mod walk;
mod window;

use std::io::Read;

use crate::error::Result;
use crate::model::Rank;

/// Reads a pickle from a stream that has `size` bytes, where that is known.
pub(crate) fn read(name: &str, source: impl Read, size: Option<u64>) -> Result<Rank> {
    walk::Walk::new(name, source, size).read(true)
}

/// Reads a pickle without the short ways, to hold them against.
#[cfg(test)]
pub(crate) fn read_slowly(name: &str, source: impl Read) -> Result<Rank> {
    walk::Walk::new(name, source, None).read(false)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Read as _;

    /// The short ways are ways to the same tables, and to the same errors.
    #[test]
    fn short_ways_change_nothing() {
        for file in [
            "annotated/snapshot.pickle.xz",
            "cuda_graphs/snapshot.pickle",
            "cpp_pickle/snapshot_cpp.pickle.gz",
            "cpp_pickle/snapshot_p2.pickle.xz",
            "expandable_same_work/snapshot.pickle",
            "multi_stream/snapshot.pickle.xz",
            "resnet50_profiler/snapshot.pickle.xz",
        ] {
            let path = format!("{}/../tests/fixtures/{file}", env!("CARGO_MANIFEST_DIR"));
            let packed = std::fs::read(path).unwrap();
            let mut bytes = Vec::new();
            let mut plain = super::super::compressed::uncompressed(&packed[..]).unwrap();
            plain.read_to_end(&mut bytes).unwrap();
            let fast = super::read("s", &bytes[..], Some(bytes.len() as u64)).unwrap();
            assert_eq!(fast, super::read_slowly("s", &bytes[..]).unwrap(), "{file}");
            // Every seventh byte changed in turn, over the part with the events.
            for at in (bytes.len() / 2..bytes.len()).step_by(bytes.len() / 2 / 60 + 7) {
                let mut bytes = bytes.clone();
                bytes[at] ^= 0x11;
                let fast = super::read("s", &bytes[..], Some(1 << 60)).map_err(|e| e.to_string());
                let slow = super::read_slowly("s", &bytes[..]).map_err(|e| e.to_string());
                assert_eq!(fast, slow, "{file} changed at {at}");
            }
        }
    }
}
