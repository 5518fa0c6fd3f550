//! What the page must show of a run, computed from its JSON. None of `report` or `present` is
//! used: a mistake there must not be made here as well.

mod modules;

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::harness::Cell;
use crate::run::{Event, Run, Tensor};
use crate::units;

pub use modules::{flat_modules, tree_modules};

/// A row of cells.
pub type Row = Vec<Cell>;

fn unknown() -> Cell {
    Cell {
        text: "–".to_owned(),
        raw: None,
    }
}

fn size(v: Option<u64>) -> Cell {
    v.map_or_else(unknown, |v| Cell {
        text: units::size(v),
        raw: Some(v.to_string()),
    })
}

fn delta(v: Option<i64>) -> Cell {
    v.map_or_else(unknown, |v| Cell {
        text: units::delta(v),
        raw: Some(v.to_string()),
    })
}

fn number(v: Option<i64>) -> Cell {
    v.map_or_else(unknown, |v| Cell {
        text: units::number(v),
        raw: Some(v.to_string()),
    })
}

fn count(n: usize) -> Cell {
    number(Some(n as i64))
}

fn share(v: f64) -> Cell {
    Cell {
        text: units::share(v),
        raw: Some(v.to_string()),
    }
}

fn text(t: &str) -> Cell {
    Cell {
        text: t.to_owned(),
        raw: None,
    }
}

/// Events whose `key` is the same, in order of their first.
fn grouped<'a, K: std::hash::Hash + Eq + Clone>(
    run: &'a Run,
    key: impl Fn(&'a Event) -> K,
    keep: impl Fn(&'a Event) -> bool,
) -> Vec<(K, Vec<usize>)> {
    let mut at: HashMap<K, usize> = HashMap::new();
    let mut out: Vec<(K, Vec<usize>)> = Vec::new();
    for (i, e) in run.events.iter().enumerate().filter(|(_, e)| keep(e)) {
        let k = key(e);
        let slot = *at.entry(k.clone()).or_insert(out.len());
        if slot == out.len() {
            out.push((k, Vec::new()));
        }
        out[slot].1.push(i);
    }
    out
}

fn highest(run: &Run, of: &[usize]) -> Option<u64> {
    of.iter().filter_map(|&i| run.events[i].after).max()
}

fn largest_delta(run: &Run, of: &[usize]) -> Option<i64> {
    of.iter().filter_map(|&i| run.events[i].delta).max()
}

fn sum_delta(run: &Run, of: &[usize]) -> Option<i64> {
    of.iter()
        .filter_map(|&i| run.events[i].delta)
        .reduce(|a, b| a + b)
}

/// The phases table.
#[must_use]
pub fn phases(run: &Run) -> Vec<Row> {
    let row = |(phase, of): (&str, Vec<usize>)| {
        vec![
            text(phase),
            count(of.len()),
            size(highest(run, &of)),
            delta(largest_delta(run, &of)),
            delta(sum_delta(run, &of)),
        ]
    };
    grouped(run, |e| e.phase.as_str(), |_| true)
        .into_iter()
        .map(row)
        .collect()
}

/// The steps table. Steps of the fixtures stand together.
#[must_use]
pub fn steps(run: &Run) -> Vec<Row> {
    let row = |(step, of): (Option<i64>, Vec<usize>)| {
        let events: Vec<&Event> = of.iter().map(|&i| &run.events[i]).collect();
        let max =
            |f: &dyn Fn(&Event) -> Option<u64>| size(events.iter().filter_map(|e| f(e)).max());
        vec![
            number(step),
            count(of.len()),
            size(events[0].before),
            max(&|e| e.after),
            max(&|e| e.max_allocated),
            size(events[events.len() - 1].after),
            max(&|e| e.max_reserved),
        ]
    };
    grouped(run, |e| e.step, |_| true)
        .into_iter()
        .map(row)
        .collect()
}

/// The top events, one row a place, of those that `keep` accepts.
#[must_use]
pub fn places(run: &Run, keep: impl Fn(&Event) -> bool) -> Vec<Row> {
    let key = |e: &Event| (e.kind.clone(), e.module.clone(), e.phase.clone());
    let mut all = grouped(run, key, keep);
    let best = |of: &[usize]| {
        let most = highest(run, of);
        of.iter()
            .copied()
            .find(|&i| run.events[i].after == most)
            .unwrap_or(of[0])
    };
    all.sort_by(|(_, a), (_, b)| {
        highest(run, b)
            .cmp(&highest(run, a))
            .then(best(a).cmp(&best(b)))
    });
    all.into_iter()
        .map(|((kind, module, phase), of)| {
            let steps: Vec<i64> = of.iter().filter_map(|&i| run.events[i].step).collect();
            let range = match (steps.iter().min(), steps.iter().max()) {
                (Some(a), Some(b)) if a == b => a.to_string(),
                (Some(a), Some(b)) => format!("{a}–{b}"),
                _ => "–".to_owned(),
            };
            vec![
                size(highest(run, &of)),
                text(&module),
                text(&phase),
                text(&kind),
                count(of.len()),
                text(&range),
                number(run.events[best(&of)].step),
                delta(largest_delta(run, &of)),
            ]
        })
        .collect()
}

/// Every event that `keep` accepts, in the order of the trace.
#[must_use]
pub fn events(run: &Run, keep: impl Fn(&Event) -> bool) -> Vec<Row> {
    let partners = run.partners();
    let row = |(i, e): (usize, &Event)| {
        let partner = match partners[i] {
            Some(p) => p.to_string(),
            None => String::new(),
        };
        vec![
            count(i),
            number(e.step),
            text(&e.phase),
            text(&e.module),
            text(&e.kind),
            size(e.before),
            size(e.after),
            delta(e.delta),
            size(e.reserved),
            delta(e.delta_reserved),
            size(e.max_allocated),
            size(e.max_reserved),
            text(&partner),
            text(&e.notes),
        ]
    };
    run.events
        .iter()
        .enumerate()
        .filter(|(_, e)| keep(e))
        .map(row)
        .collect()
}

/// The tensors table, for all roles or one.
#[must_use]
pub fn tensors(run: &Run, role: Option<&str>) -> Vec<Row> {
    let partners = run.partners();
    let mut all: Vec<(&str, &str, &Tensor, usize, i64)> = Vec::new();
    let mut at: HashMap<(&str, &str, String), usize> = HashMap::new();
    for (i, e) in run.events.iter().enumerate() {
        // Both events of a pair name the same inputs: the first one counts.
        let second = partners[i].is_some_and(|p| p < i);
        let inputs: &[Tensor] = if second { &[] } else { &e.inputs };
        for (role, list) in [
            ("input", inputs),
            ("output", &e.outputs),
            ("gradient", &e.grads),
        ] {
            for t in list {
                let slot = *at
                    .entry((role, &e.module, format!("{t:?}")))
                    .or_insert(all.len());
                if slot == all.len() {
                    all.push((role, &e.module, t, i, 0));
                }
                all[slot].4 += 1;
            }
        }
    }
    all.sort_by(|a, b| b.2.bytes.cmp(&a.2.bytes).then(a.3.cmp(&b.3)));
    all.into_iter()
        .filter(|t| role.is_none_or(|r| r == t.0))
        .map(|(role, module, t, _, times)| {
            let shape: Vec<String> = t.shape.iter().map(i64::to_string).collect();
            let grad = t.requires_grad.map_or("–".to_owned(), |g| g.to_string());
            vec![
                size(t.bytes),
                text(role),
                text(module),
                text(&format!("[{}]", shape.join(", "))),
                text(&t.dtype),
                text(&t.device),
                text(&grad),
                number(Some(times)),
                text(&t.name),
            ]
        })
        .collect()
}

/// Sorts rows by a column: unknown figures lowest, equals in the order they had. Columns of
/// `numeric` hold numbers in their text.
pub fn sort(rows: &mut [Row], column: usize, descending: bool, numeric: bool) {
    let figure = |c: &Cell| -> Option<f64> {
        let text = if numeric {
            Some(&c.text)
        } else {
            c.raw.as_ref()
        };
        text.and_then(|t| t.parse().ok())
    };
    let figures = numeric || rows.iter().any(|r| r[column].raw.is_some());
    rows.sort_by(|a, b| {
        let (a, b) = (&a[column], &b[column]);
        let order = if figures {
            figure(a).partial_cmp(&figure(b)).unwrap_or(Ordering::Equal)
        } else {
            a.text.cmp(&b.text)
        };
        if descending { order.reverse() } else { order }
    });
}
