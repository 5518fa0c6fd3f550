//! Profiles for <https://www.speedscope.app>.

use std::collections::HashMap;

use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::group::{By, Key, group};
use report::analyze::snapshot::{Analysis, Instant};
use report::model::snapshot::FrameId;
use serde_json::{Value, json};

use super::{nowhere, title, when};
use crate::words::Lang;

/// A sampled profile in bytes: a sample is a stack, its weight the requested bytes of what lives
/// there at an instant; of everything that was ever allocated for `None`.
#[must_use]
pub fn speedscope(a: &Analysis, at: Option<Instant>, lang: Lang) -> String {
    let ids: Vec<AllocationId> = match at {
        Some(at) => a.live_at(at),
        None => a.replay.allocations.ids().collect(),
    };
    let name = match (at, lang) {
        (Some(at), _) => when(a, at, lang),
        (None, Lang::En) => "everything that was allocated".to_owned(),
        (None, Lang::Zh) => "全部分配".to_owned(),
    };
    let mut frames: Vec<Value> = Vec::new();
    let mut known: HashMap<Option<FrameId>, usize> = HashMap::new();
    let mut index = |id: Option<FrameId>| {
        *known.entry(id).or_insert_with(|| {
            frames.push(match id {
                Some(id) => {
                    let f = a.snapshot().frames.get(id);
                    let mut frame = json!({
                        "name": a.strings().get(f.name),
                        "file": a.strings().get(f.file),
                    });
                    if f.line > 0
                        && let Some(map) = frame.as_object_mut()
                    {
                        map.insert("line".to_owned(), json!(f.line));
                    }
                    frame
                }
                None => json!({ "name": nowhere(a, lang) }),
            });
            frames.len() - 1
        })
    };
    let mut samples: Vec<Vec<usize>> = Vec::new();
    let mut weights: Vec<u64> = Vec::new();
    let mut total = 0u64;
    for g in group(&a.replay, a.sites(), a.categories(), &ids, By::Stack) {
        let stack = match g.key {
            Key::Stack(Some(s)) => a.snapshot().stacks.get(s),
            _ => &[],
        };
        let sample: Vec<usize> = if stack.is_empty() {
            vec![index(None)]
        } else {
            stack.iter().rev().map(|&f| index(Some(f))).collect()
        };
        samples.push(sample);
        weights.push(g.bytes);
        total = total.saturating_add(g.bytes);
    }
    let file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": concat!("memscope ", env!("CARGO_PKG_VERSION")),
        "name": title(a, lang),
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled", "name": name, "unit": "bytes",
            "startValue": 0, "endValue": total,
            "samples": samples, "weights": weights,
        }],
    });
    file.to_string() + "\n"
}
