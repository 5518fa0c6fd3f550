//! Two runtime reports side by side, against figures that are added up here from the JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use report::analyze::diff::align::Matched;
use report::analyze::diff::figures::Quantity;
use report::analyze::diff::{Comparison, Side, Status, Which};
use serde_json::Value;

use crate::support::load;

fn ddp() -> (Comparison, [Value; 2]) {
    let (a, x) = load("original_ddp/rank00000");
    let (b, y) = load("original_ddp/rank00001");
    (
        Comparison::of(Side::of(Arc::new(a)), Side::of(Arc::new(b))),
        [x, y],
    )
}

fn events(json: &Value) -> &Vec<Value> {
    json["runtime_trace"].as_array().unwrap()
}

fn most(json: &Value, key: &str) -> Option<u64> {
    events(json).iter().filter_map(|e| e[key].as_u64()).max()
}

#[test]
fn peaks_and_parts() {
    let (c, json) = ddp();
    for (quantity, key) in [
        (Quantity::PeakAllocated, "max_mem_allocated"),
        (Quantity::PeakReserved, "max_mem_reserved"),
        (Quantity::HighestSample, "mem_allocated_after"),
    ] {
        let pair = c
            .figures
            .iter()
            .find(|f| f.quantity == quantity)
            .unwrap()
            .pair;
        assert_eq!(
            (pair.a, pair.b),
            (most(&json[0], key), most(&json[1], key)),
            "{quantity:?}"
        );
        let delta = most(&json[1], key).unwrap() as i64 - most(&json[0], key).unwrap() as i64;
        assert_eq!(pair.delta(), Some(delta));
    }
    assert!(c.cannot.is_empty());
    let runtime = c.runtime.as_ref().unwrap();
    let parts = runtime.parts.as_ref().unwrap();
    let sum =
        |f: fn(&report::analyze::diff::runtime::Part) -> i64| parts.iter().map(f).sum::<i64>();
    let peak = |i: usize| most(&json[i], "max_mem_allocated").unwrap() as i64;
    assert_eq!(sum(|p| p.a.as_ref().map_or(0, |h| h.bytes)), peak(0));
    assert_eq!(sum(|p| p.b.as_ref().map_or(0, |h| h.bytes)), peak(1));
    assert_eq!(sum(|p| p.delta()), peak(1) - peak(0));
    assert!(
        parts.iter().any(|p| p.a.is_some() && p.b.is_some()),
        "{parts:?}"
    );
}

#[test]
fn phases_modules_and_steps() {
    let (c, json) = ddp();
    let runtime = c.runtime.as_ref().unwrap();
    // Count and highest allocated of each phase and step of each side.
    let sums = |json: &Value, key: &str| {
        let mut out: BTreeMap<String, (u64, Option<u64>)> = BTreeMap::new();
        for e in events(json) {
            let name = e[key]
                .as_str()
                .map_or_else(|| e[key].to_string(), str::to_owned);
            let slot = out.entry(name).or_default();
            slot.0 += 1;
            slot.1 = slot.1.max(e["mem_allocated_after"].as_u64());
        }
        out
    };
    for (n, which) in [Which::A, Which::B].into_iter().enumerate() {
        let phases: BTreeMap<String, _> = runtime
            .phases
            .iter()
            .filter_map(|p| Some((p.name.clone(), if which == Which::A { p.a } else { p.b }?)))
            .map(|(name, p)| (name, (p.count, p.max_allocated)))
            .collect();
        assert_eq!(phases, sums(&json[n], "phase"));
        let steps: BTreeMap<String, _> = runtime
            .steps
            .iter()
            .filter_map(|s| Some((s.name.clone(), if which == Which::A { s.a } else { s.b }?)))
            .map(|(name, s)| (name, ((s.end - s.start) as u64, s.sampled_peak)))
            .collect();
        assert_eq!(steps, sums(&json[n], "step"));
    }
    // Both ranks ran the same model.
    assert!(
        runtime
            .modules
            .iter()
            .all(|m| m.a.is_some() && m.b.is_some())
    );
    let same = runtime.phases.iter().map(|p| p.status(|p| p.sum_delta));
    assert!(
        same.into_iter()
            .all(|s| s != Status::New && s != Status::Gone)
    );
    // A step lies over the same step.
    let n = sums(&json[0], "step").len();
    assert_eq!(
        c.curves.align.matched,
        Matched::Steps {
            shared: n,
            only: (0, 0)
        }
    );
    for (k, part) in c.curves.align.parts.iter().enumerate() {
        for (side, range) in [(0, part.a), (1, part.b)] {
            let (from, to) = range.unwrap();
            let step = part.step;
            let rows = &events(&json[side])[from..to];
            assert!(rows.iter().all(|e| e["step"].as_i64() == step), "part {k}");
        }
    }
}
