//! Every answer over the recorded reports, worked out again from the JSON by plain code.

use std::collections::{BTreeMap, BTreeSet};

use report::analyze::growth::{Growth, Kind, growth};
use report::analyze::holders::{Holders, What, holders};
use report::analyze::modules::{Figures, ModuleId, Modules, modules};
use report::analyze::pairing::{Partner, pair};
use report::analyze::peak::peak;
use report::analyze::phases::phases;
use report::analyze::steps::{self, steps};
use report::analyze::tensors::{Role, tensors};
use report::analyze::{summary, top};
use report::model::{Rank, Report};
use serde_json::Value;

use crate::support::{FIXTURES, load};

fn each(check: impl Fn(&str, &Rank, &[Value])) {
    for fixture in FIXTURES {
        let (rank, json) = load(fixture);
        check(fixture, &rank, json["runtime_trace"].as_array().unwrap());
    }
}

fn u(event: &Value, key: &str) -> u64 {
    event[key].as_u64().unwrap()
}

fn i(event: &Value, key: &str) -> i64 {
    event[key].as_i64().unwrap()
}

fn s<'a>(event: &'a Value, key: &str) -> &'a str {
    event[key].as_str().unwrap()
}

/// The first event with the highest figure.
fn first_highest(events: &[Value], key: &str) -> (u64, usize) {
    let highest = events.iter().map(|e| u(e, key)).max().unwrap();
    (
        highest,
        events.iter().position(|e| u(e, key) == highest).unwrap(),
    )
}

#[test]
fn peaks() {
    each(|fixture, rank, events| {
        let found = peak(rank);
        for (at, key) in [
            (found.allocated, "max_mem_allocated"),
            (found.sampled, "mem_allocated_after"),
            (found.reserved, "max_mem_reserved"),
        ] {
            let at = at.unwrap();
            assert_eq!(
                (at.bytes, at.event.unwrap()),
                first_highest(events, key),
                "{fixture} {key}"
            );
        }
        let gap = first_highest(events, "max_mem_allocated").0
            - first_highest(events, "mem_allocated_after").0;
        assert_eq!(found.between_events(), Some(gap));
        // What the source calls its peak is the highest sample.
        assert_eq!(
            rank.recorded_peak.as_ref().unwrap().memory_bytes,
            found.sampled.map(|p| p.bytes)
        );
    });
    let (rank, json) = load(FIXTURES[2]);
    let found = peak(&rank);
    let event = &json["runtime_trace"][found.allocated.unwrap().event.unwrap()];
    assert_eq!(found.allocated.unwrap().bytes, 4_178_647_040);
    assert_eq!(found.sampled.unwrap().bytes, 2_867_927_040);
    assert_eq!(event["step"], 5);
    assert_eq!(event["phase"], "backward");
    assert_eq!(event["module"], "lm_head.output[0]");
}

#[test]
fn phase_rows() {
    each(|fixture, rank, events| {
        let rows = phases(rank);
        let mut names: Vec<&str> = Vec::new();
        for e in events {
            if !names.contains(&s(e, "phase")) {
                names.push(s(e, "phase"));
            }
        }
        assert_eq!(
            rows.iter()
                .map(|r| rank.strings.get(r.phase))
                .collect::<Vec<_>>(),
            names,
            "{fixture}"
        );
        for (row, name) in rows.iter().zip(names) {
            let own: Vec<&Value> = events.iter().filter(|e| s(e, "phase") == name).collect();
            assert_eq!(row.count, own.len() as u64);
            let max = own.iter().map(|e| u(e, "mem_allocated_after")).max();
            assert_eq!(row.max_allocated, max);
            assert_eq!(
                row.max_reserved,
                own.iter().map(|e| u(e, "mem_reserved_after")).max()
            );
            assert_eq!(
                row.max_delta,
                own.iter().map(|e| i(e, "delta_allocated")).max()
            );
            assert_eq!(
                row.sum_delta,
                Some(own.iter().map(|e| i(e, "delta_allocated")).sum())
            );
            let first = events
                .iter()
                .position(|e| s(e, "phase") == name && Some(u(e, "mem_allocated_after")) == max);
            assert_eq!(row.event, first);
        }
    });
}

#[test]
fn top_groups() {
    each(|fixture, rank, events| {
        let place = |e: &Value| ["event_type", "module", "phase"].map(|k| s(e, k).to_owned());
        let mut by_place: BTreeMap<[String; 3], Vec<usize>> = BTreeMap::new();
        for (n, e) in events.iter().enumerate() {
            by_place.entry(place(e)).or_default().push(n);
        }
        let groups = top::groups(&rank.events, |_| true);
        assert_eq!(groups.len(), by_place.len(), "{fixture}");
        for group in &groups {
            let name = [group.place.kind, group.place.module, group.place.phase]
                .map(|id| rank.strings.get(id).to_owned());
            let own = &by_place[&name];
            let values = |key: &str| own.iter().map(|&n| i(&events[n], key)).collect::<Vec<_>>();
            let allocated = values("mem_allocated_after");
            let max = *allocated.iter().max().unwrap();
            assert_eq!(group.count, own.len() as u64);
            assert_eq!(group.max_allocated, Some(max as u64));
            assert_eq!(
                group.event,
                own[allocated.iter().position(|&a| a == max).unwrap()]
            );
            assert_eq!(group.max_delta, values("delta_allocated").into_iter().max());
            assert_eq!(group.first_step, values("step").into_iter().min());
            assert_eq!(group.last_step, values("step").into_iter().max());
        }
        let order: Vec<_> = groups
            .iter()
            .map(|g| (std::cmp::Reverse(g.max_allocated), g.event))
            .collect();
        assert!(order.is_sorted());
        let last = top::groups(&rank.events, |n| u(&events[n], "step") == 2);
        let expected: BTreeSet<_> = events
            .iter()
            .filter(|e| u(e, "step") == 2)
            .map(place)
            .collect();
        assert_eq!(last.len(), expected.len());
    });
}

/// The path of the module that an event is about, by the rules of the public MemScope's hooks.
fn module_path(name: &str) -> &str {
    if let Some(parameter) = name.strip_prefix("param::") {
        return parameter.rfind('.').map_or("", |dot| &parameter[..dot]);
    }
    name.find(".output[")
        .or_else(|| name.find(".input["))
        .map_or(name, |at| &name[..at])
}

fn figures(events: &[&Value], lone: u64) -> Figures {
    let bytes = |key: &str| -> u64 {
        events
            .iter()
            .flat_map(|e| e[key].as_array().unwrap())
            .map(|t| u(t, "bytes"))
            .sum()
    };
    Figures {
        count: events.len() as u64,
        max_allocated: events.iter().map(|e| u(e, "mem_allocated_after")).max(),
        max_delta: events.iter().map(|e| i(e, "delta_allocated")).max(),
        total_delta: (!events.is_empty())
            .then(|| events.iter().map(|e| i(e, "delta_allocated")).sum()),
        output_bytes: bytes("outputs"),
        grad_bytes: bytes("grads"),
        unpaired: lone,
    }
}

fn total_below(
    tree: &Modules,
    id: ModuleId,
    totals: &BTreeMap<String, i64>,
    called: &BTreeSet<&str>,
) -> Option<i64> {
    let path = tree.path(id);
    if called.contains(path.as_str()) {
        return totals.get(&path).copied();
    }
    let below: Vec<i64> = tree.rows[id.0 as usize]
        .children
        .iter()
        .filter_map(|&c| total_below(tree, c, totals, called))
        .collect();
    if below.is_empty() {
        totals.get(&path).copied()
    } else {
        Some(below.iter().sum())
    }
}

#[test]
fn module_tree() {
    each(|fixture, rank, events| {
        let tree = modules(rank, &pair(rank));
        let of_modules: Vec<&Value> = events
            .iter()
            .filter(|e| s(e, "event_type") != "step")
            .collect();
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for e in &of_modules {
            let path = module_path(s(e, "module"));
            let dots = path.match_indices('.').map(|(at, _)| path[..at].to_owned());
            paths.extend(dots.chain([path.to_owned()]));
        }
        let called: BTreeSet<&str> = of_modules
            .iter()
            .map(|e| s(e, "module"))
            .filter(|m| module_path(m) == *m)
            .collect();
        let found: BTreeSet<String> = (0..tree.rows.len())
            .map(|n| tree.path(ModuleId(n as u32)))
            .collect();
        assert_eq!(found, paths, "{fixture}");
        assert_eq!(tree.rows.len(), paths.len(), "no path twice");
        let mut totals = BTreeMap::new();
        for (n, module) in tree.rows.iter().enumerate() {
            let path = tree.path(ModuleId(n as u32));
            let own: Vec<&Value> = of_modules
                .iter()
                .copied()
                .filter(|e| module_path(s(e, "module")) == path)
                .collect();
            assert_eq!(module.own, figures(&own, 0), "{fixture} {path}");
            assert_eq!(
                module.calls,
                own.iter().filter(|e| s(e, "module") == path).count() as u64
            );
            totals.extend(module.own.total_delta.map(|t| (path.clone(), t)));
        }
        for (n, module) in tree.rows.iter().enumerate() {
            let id = ModuleId(n as u32);
            let path = tree.path(id);
            let prefix = format!("{path}.");
            let all: Vec<&Value> = of_modules
                .iter()
                .copied()
                .filter(|e| {
                    let p = module_path(s(e, "module"));
                    p == path || p.starts_with(&prefix)
                })
                .collect();
            let total_delta = total_below(&tree, id, &totals, &called);
            assert_eq!(
                module.rolled,
                Figures {
                    total_delta,
                    ..figures(&all, 0)
                },
                "{fixture} {path}"
            );
            let at = module.event.unwrap();
            assert_eq!(
                Some(u(&events[at], "mem_allocated_after")),
                module.rolled.max_allocated
            );
        }
        let roots: i64 = tree
            .roots
            .iter()
            .map(|r| tree.rows[r.0 as usize].rolled.total_delta.unwrap())
            .sum();
        assert_eq!(tree.total_delta, roots);
        for e in &of_modules {
            let id = tree.of(rank.strings.find(s(e, "module")).unwrap()).unwrap();
            assert_eq!(tree.path(id), module_path(s(e, "module")));
        }
    });
}

#[test]
fn pairs() {
    each(|fixture, rank, events| {
        let pairing = pair(rank);
        let mut open: Vec<usize> = Vec::new();
        let mut pairs = 0;
        for (n, e) in events.iter().enumerate() {
            match s(e, "phase") {
                "forward_pre" => open.push(n),
                "forward" => {
                    // The recorded hooks nest without a gap.
                    let pre = open.pop().unwrap();
                    assert_eq!(events[pre]["module"], e["module"]);
                    assert_eq!(events[pre]["step"], e["step"]);
                    assert_eq!(pairing.partner(n), Partner::Event(pre));
                    assert_eq!(pairing.partner(pre), Partner::Event(n));
                    pairs += 1;
                }
                _ => assert_eq!(pairing.partner(n), Partner::Unpaired),
            }
        }
        assert!(open.is_empty(), "{fixture}");
        assert_eq!(
            (pairing.pairs, pairing.lone_pre, pairing.lone_post),
            (pairs, 0, 0)
        );
    });
}

#[test]
fn step_rows() {
    each(|fixture, rank, events| {
        let rows = steps(rank);
        let last = u(events.last().unwrap(), "step");
        assert_eq!(rows.len() as u64, last + 1, "{fixture}");
        assert_eq!(steps::count(&rows) as u64, last + 1);
        assert_eq!(steps::complete(rank, &rows), Some(true));
        for (n, row) in rows.iter().enumerate() {
            let own: Vec<usize> = (0..events.len())
                .filter(|&k| u(&events[k], "step") == n as u64)
                .collect();
            let (first, last) = (own[0], *own.last().unwrap());
            let max = |key: &str| own.iter().map(|&k| u(&events[k], key)).max();
            assert_eq!(row.step, Some(n as i64));
            assert_eq!((row.start, row.end), (first, last + 1));
            assert_eq!(
                row.allocated_start,
                Some(u(&events[first], "mem_allocated_before"))
            );
            assert_eq!(
                row.allocated_end,
                Some(u(&events[last], "mem_allocated_after"))
            );
            assert_eq!(
                row.reserved_end,
                Some(u(&events[last], "mem_reserved_after"))
            );
            assert_eq!(row.sampled_peak, max("mem_allocated_after"));
            assert_eq!(row.high_water, max("max_mem_allocated"));
            assert_eq!(
                row.reserved_peak,
                max("max_mem_reserved").max(max("mem_reserved_after"))
            );
        }
    });
}

fn of_kind(found: &[Growth], kind: Kind) -> Vec<Growth> {
    found.iter().filter(|g| g.kind == kind).copied().collect()
}

/// Allocated at the `step_end` of each step, with the start of the recording in front.
fn troughs(events: &[Value]) -> Vec<u64> {
    let first = u(&events[0], "mem_allocated_before");
    let ends = events.iter().filter(|e| s(e, "phase") == "step_end");
    [first]
        .into_iter()
        .chain(ends.map(|e| u(e, "mem_allocated_after")))
        .collect()
}

/// What the optimizer's first step added.
fn optimizer(events: &[Value]) -> (usize, u64) {
    let at = |phase: &str| events.iter().position(|e| s(e, "phase") == phase).unwrap();
    let (start, end) = (at("optimizer_step_start"), at("optimizer_step_end"));
    (
        end,
        u(&events[end], "mem_allocated_after") - u(&events[start], "mem_allocated_after"),
    )
}

#[test]
fn growth_of_the_leaking_rank() {
    let (rank, json) = load(FIXTURES[2]);
    let events = json["runtime_trace"].as_array().unwrap();
    let found = growth(&rank);
    let troughs = troughs(events);
    for pair in troughs.windows(2).skip(1) {
        assert_eq!(pair[1] - pair[0], 67_108_864, "what the recording says");
    }
    let [leak] = of_kind(&found, Kind::Leak)[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (leak.bytes_per_step, leak.since_step, leak.bytes),
        (67_108_864, 0, 6 * 67_108_864)
    );
    assert_eq!(leak.level, troughs.last().copied());
    assert_eq!(leak.event, events.len() - 1);
    let [baseline] = of_kind(&found, Kind::Baseline)[..] else {
        panic!("{found:?}")
    };
    let (at, added) = optimizer(events);
    assert_eq!(baseline.since_step, 0);
    assert_eq!(baseline.bytes as u64, troughs[1] - troughs[0] - 67_108_864);
    assert_eq!(baseline.during, Some((at, added as i64)));
    assert_eq!(events[at]["phase"], "optimizer_step_end");
    let [reserved] = of_kind(&found, Kind::Reserved)[..] else {
        panic!("{found:?}")
    };
    let end = |step: u64, key: &str| {
        events
            .iter()
            .filter(|e| u(e, "step") == step)
            .map(|e| u(e, key))
            .max()
            .unwrap()
    };
    assert_eq!(end(3, "mem_reserved_after") >> 20, 4462);
    assert_eq!(end(2, "mem_reserved_after") >> 20, 3962);
    assert_eq!(reserved.since_step, 3);
    assert_eq!(
        reserved.bytes as u64,
        end(3, "mem_reserved_after") - end(2, "mem_reserved_after")
    );
    let rise = end(3, "max_mem_allocated") - end(2, "max_mem_allocated");
    assert_eq!(rise >> 20, 65);
    assert_eq!(reserved.allocated_rise, Some(rise as i64));
    assert_eq!(events[reserved.event]["module"], "lm_head.output[0]");
    assert!(of_kind(&found, Kind::Normal).is_empty());
}

#[test]
fn growth_of_the_others() {
    for fixture in &FIXTURES[..2] {
        let (rank, json) = load(fixture);
        let events = json["runtime_trace"].as_array().unwrap();
        let found = growth(&rank);
        let troughs = troughs(events);
        assert!(
            troughs[1..].windows(2).all(|p| p[0] == p[1]),
            "what the recording says"
        );
        assert!(
            of_kind(&found, Kind::Leak).is_empty(),
            "{fixture}: {found:?}"
        );
        let [normal] = of_kind(&found, Kind::Normal)[..] else {
            panic!("{found:?}")
        };
        assert_eq!(normal.level, troughs.last().copied());
        let [baseline] = of_kind(&found, Kind::Baseline)[..] else {
            panic!("{found:?}")
        };
        let (at, added) = optimizer(events);
        assert_eq!(baseline.bytes as u64, troughs[1] - troughs[0]);
        assert_eq!(baseline.during, Some((at, added as i64)));
    }
}

fn part(found: &Holders, wanted: &What) -> i64 {
    found
        .parts
        .iter()
        .filter(|p| p.what == *wanted)
        .map(|p| p.bytes)
        .sum()
}

#[test]
fn what_holds_the_peak() {
    each(|fixture, rank, events| {
        let found = holders(rank, &growth(rank)).unwrap();
        let (bytes, at) = first_highest(events, "max_mem_allocated");
        assert_eq!((found.peak, found.event), (bytes, at));
        assert_eq!(
            found.parts.iter().map(|p| p.bytes).sum::<i64>() as u64,
            bytes,
            "{fixture}"
        );
        assert!(found.parts.is_sorted_by_key(|p| std::cmp::Reverse(p.bytes)));
        let troughs = troughs(events);
        let step = u(&events[at], "step") as usize;
        assert_eq!(part(&found, &What::Before) as u64, troughs[0]);
        let earlier: i64 = found
            .parts
            .iter()
            .filter(|p| {
                matches!(
                    p.what,
                    What::Optimizer(_) | What::Baseline(_) | What::Leak(_) | What::Kept
                )
            })
            .map(|p| p.bytes)
            .sum();
        assert_eq!(earlier as u64, troughs[step] - troughs[0]);
        assert_eq!(
            part(&found, &What::Optimizer(0)) as u64,
            optimizer(events).1
        );
        // What each module of the step added up to the event before the peak.
        let first = events
            .iter()
            .position(|e| u(e, "step") == step as u64)
            .unwrap();
        let mut by_path: BTreeMap<String, (i64, BTreeSet<&str>)> = BTreeMap::new();
        let mut below = troughs[step];
        for e in &events[first..at] {
            let after = u(e, "mem_allocated_after");
            let path = module_path(s(e, "module"));
            let numbered = path.split('.').position(|p| p.parse::<u32>().is_ok());
            let (key, member) = match numbered {
                Some(n) => {
                    let parts: Vec<&str> = path.split('.').collect();
                    let member = parts[..=n].join(".").len();
                    (format!("{}.*", parts[..n].join(".")), &path[..member])
                }
                None => (path.to_owned(), path),
            };
            if after != below {
                let slot = by_path.entry(key).or_default();
                slot.0 += after as i64 - below as i64;
                slot.1.insert(member);
            }
            below = after;
        }
        by_path.retain(|_, (bytes, _)| *bytes != 0);
        let told: BTreeMap<String, (i64, usize)> = found
            .parts
            .iter()
            .filter_map(|p| match &p.what {
                What::Module { path, modules } => {
                    Some((path.clone(), (p.bytes, *modules as usize)))
                }
                _ => None,
            })
            .collect();
        let expected: BTreeMap<String, (i64, usize)> = by_path
            .into_iter()
            .map(|(k, (b, m))| (k, (b, m.len())))
            .collect();
        assert_eq!(told, expected, "{fixture}");
        assert_eq!(
            part(&found, &What::Between(at - 1, at)) as u64,
            bytes - below
        );
    });
    let (rank, _) = load(FIXTURES[2]);
    let found = holders(&rank, &growth(&rank)).unwrap();
    assert_eq!(
        part(&found, &What::Leak(0)),
        5 * 67_108_864,
        "five steps before the peak's leaked"
    );
}

#[test]
fn tensor_rows() {
    each(|fixture, rank, events| {
        let mut expected: BTreeMap<(u8, String, String), (u64, usize)> = BTreeMap::new();
        for (n, e) in events.iter().enumerate() {
            for (role, key) in [(0, "inputs"), (1, "outputs"), (2, "grads")] {
                // Both hooks of a call name the same inputs.
                if role == 0 && s(e, "phase") == "forward" {
                    continue;
                }
                for t in e[key].as_array().unwrap() {
                    let slot = expected
                        .entry((role, s(e, "module").to_owned(), describe(t)))
                        .or_insert((0, n));
                    slot.0 += 1;
                }
            }
        }
        let rows = tensors(rank);
        assert_eq!(rows.len(), expected.len(), "{fixture}");
        for row in &rows {
            let t = rank.tensors.get(row.tensor).unwrap();
            let text = |id| rank.strings.get(id);
            let role = match row.role {
                Role::Input => 0,
                Role::Output => 1,
                Role::Gradient => 2,
            };
            let description = format!(
                "{} {:?} {} {} {:?} {:?}",
                text(t.name),
                t.shape,
                text(t.dtype),
                text(t.device),
                t.requires_grad,
                t.bytes
            );
            let (count, event) = expected[&(role, text(row.module).to_owned(), description)];
            assert_eq!((row.count, row.event, row.bytes), (count, event, t.bytes));
        }
        assert!(rows.is_sorted_by_key(|r| (std::cmp::Reverse(r.bytes), r.event)));
    });
}

fn describe(t: &Value) -> String {
    let shape: Vec<i64> = t["shape"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d.as_i64().unwrap())
        .collect();
    format!(
        "{} {:?} {} {} {:?} {:?}",
        s(t, "name"),
        shape,
        s(t, "dtype"),
        s(t, "device"),
        t["requires_grad"].as_bool(),
        t["bytes"].as_u64()
    )
}

/// The names that scripts rely on (DESIGN.md), and the figures under them.
#[test]
fn machine_readable_summary() {
    let ranks = FIXTURES[1..].iter().map(|f| load(f).0).collect();
    let out = serde_json::to_value(summary::summary(&Report::of(ranks))).unwrap();
    assert_eq!(out["format"], "memscope.summary");
    assert_eq!(out["version"], 1);
    let rank = &out["ranks"][1];
    for (place, value) in [
        ("/rank", 1.into()),
        ("/world_size", 2.into()),
        ("/device", "NVIDIA H200".into()),
        ("/complete", true.into()),
        ("/steps", 6.into()),
        ("/events", 1626.into()),
        ("/peak/allocated/bytes", 4_178_647_040_u64.into()),
        ("/peak/allocated/step", 5.into()),
        ("/peak/allocated/phase", "backward".into()),
        ("/peak/allocated/module", "lm_head.output[0]".into()),
        ("/peak/reserved/bytes", 4_678_746_112_u64.into()),
        ("/peak/requested/bytes", Value::Null),
        ("/end/allocated", 1_548_887_552_u64.into()),
        ("/end/reserved", 4_678_746_112_u64.into()),
        ("/end/requested", Value::Null),
        ("/end/active", Value::Null),
        ("/end/inactive_split", Value::Null),
        ("/growth/0/kind", "baseline".into()),
        ("/growth/0/place", "optimizer_step_end".into()),
        ("/growth/1/kind", "leak".into()),
        ("/growth/1/bytes_per_step", 67_108_864.into()),
        ("/growth/1/since_step", 0.into()),
        ("/growth/2/kind", "reserved".into()),
        ("/skipped", Value::Array(Vec::new())),
    ] {
        assert_eq!(rank.pointer(place), Some(&value), "{place}");
    }
}
