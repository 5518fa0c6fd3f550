//! Every figure of the recorded reports against what `serde_json` makes of the same bytes.

use report::model::{Events, Figure, Metadata, Rank, StringId, TensorListId, Value as Fact};
use serde_json::Value;

use crate::support::{FIXTURES, bytes, load};

#[test]
fn every_figure_of_every_event() {
    for fixture in FIXTURES {
        let (rank, json) = load(fixture);
        compare(&rank, &rank.events, &json["runtime_trace"]);
        compare(&rank, &rank.recorded_top, &json["top_events"]);
        assert!(rank.skipped.is_empty(), "{fixture}: {:?}", rank.skipped);
    }
}

fn compare(rank: &Rank, events: &Events, json: &Value) {
    let json = json.as_array().unwrap();
    assert_eq!(events.len(), json.len());
    assert!(!events.is_empty());
    let text = |id: StringId| rank.strings.get(id);
    for (i, event) in json.iter().enumerate() {
        assert_eq!(
            event.as_object().unwrap().len(),
            16,
            "the test knows all fields"
        );
        let row = events.row(i);
        assert_eq!(text(row.kind), event["event_type"]);
        assert_eq!(text(row.module), event["module"]);
        assert_eq!(text(row.phase), event["phase"]);
        assert_eq!(text(row.notes), event["notes"]);
        assert_eq!(row.step, event["step"].as_i64());
        for (figure, value, key) in [
            (
                Figure::AllocatedBefore,
                row.allocated_before,
                "mem_allocated_before",
            ),
            (
                Figure::AllocatedAfter,
                row.allocated_after,
                "mem_allocated_after",
            ),
            (
                Figure::ReservedBefore,
                row.reserved_before,
                "mem_reserved_before",
            ),
            (
                Figure::ReservedAfter,
                row.reserved_after,
                "mem_reserved_after",
            ),
            (Figure::MaxAllocated, row.max_allocated, "max_mem_allocated"),
            (Figure::MaxReserved, row.max_reserved, "max_mem_reserved"),
        ] {
            assert_eq!(
                value,
                Some(event[key].as_u64().unwrap()),
                "{key} of event {i}"
            );
            assert_eq!(events.column(figure).get(i), value);
        }
        assert_eq!(
            row.delta_allocated,
            Some(event["delta_allocated"].as_i64().unwrap())
        );
        assert_eq!(
            row.delta_reserved,
            Some(event["delta_reserved"].as_i64().unwrap())
        );
        for (list, key) in [
            (row.inputs, "inputs"),
            (row.outputs, "outputs"),
            (row.grads, "grads"),
        ] {
            tensors(rank, list, &event[key]);
        }
    }
}

fn tensors(rank: &Rank, list: TensorListId, json: &Value) {
    let json = json.as_array().unwrap();
    let list_bytes: u64 = json.iter().map(|t| t["bytes"].as_u64().unwrap()).sum();
    assert_eq!(rank.tensors.list_bytes(list), list_bytes);
    let list = rank.tensors.list(list);
    assert_eq!(list.len(), json.len());
    for (&id, json) in list.iter().zip(json) {
        assert_eq!(json.as_object().unwrap().len(), 6);
        let tensor = rank.tensors.get(id).unwrap();
        assert_eq!(rank.strings.get(tensor.name), json["name"]);
        assert_eq!(rank.strings.get(tensor.dtype), json["dtype"]);
        assert_eq!(rank.strings.get(tensor.device), json["device"]);
        assert_eq!(tensor.requires_grad, json["requires_grad"].as_bool());
        assert_eq!(tensor.bytes, json["bytes"].as_u64());
        let shape: Vec<i64> = json["shape"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d.as_i64().unwrap())
            .collect();
        assert_eq!(tensor.shape, shape);
    }
}

#[test]
fn facts_and_peak() {
    for fixture in FIXTURES {
        let (rank, json) = load(fixture);
        let raw = String::from_utf8(bytes(fixture)).unwrap();
        facts(&rank.metadata, &json["metadata"], &raw);
        facts(&rank.comparisons, &json["comparisons"], &raw);
        let peak = rank.recorded_peak.as_ref().unwrap();
        let json_peak = &json["peak"];
        assert_eq!(json_peak.as_object().unwrap().len(), 5);
        assert_eq!(peak.phase.as_deref(), json_peak["phase"].as_str());
        assert_eq!(peak.module.as_deref(), json_peak["module"].as_str());
        assert_eq!(peak.step, json_peak["step"].as_i64());
        assert_eq!(peak.memory_bytes, json_peak["memory_bytes"].as_u64());
        assert_eq!(peak.reserved_bytes, json_peak["reserved_bytes"].as_u64());
        assert!(peak.memory_bytes.is_some() && peak.phase.is_some());
        assert_eq!(rank.device().as_deref(), Some("NVIDIA H200"));
        assert_eq!(rank.number().unwrap().to_string(), json["metadata"]["rank"]);
        assert_eq!(
            rank.world_size().unwrap().to_string(),
            json["metadata"]["world_size"]
        );
    }
}

fn facts(facts: &Metadata, json: &Value, raw: &str) {
    let json = json.as_object().unwrap();
    assert_eq!(facts.len(), json.len());
    let mut at = 0;
    for (key, value) in facts.iter() {
        match (&json[key], value) {
            (Value::String(a), Fact::Text(b)) => assert_eq!(a, b),
            (Value::Number(a), Fact::Float(b)) => {
                assert_eq!(a.as_f64().unwrap().to_bits(), b.to_bits())
            }
            other => panic!("{key}: {other:?}"),
        }
        // In the order of the source: each stands behind the one before.
        let place = raw.rfind(&format!("\n    \"{key}\": ")).unwrap();
        assert!(place > at, "{key}");
        at = place;
    }
}

#[test]
fn the_source_is_described() {
    for fixture in FIXTURES {
        let (rank, _) = load(fixture);
        let bytes = bytes(fixture);
        assert_eq!(rank.source.name, "runtime_report.json");
        assert_eq!(rank.source.format, "runtime_report.json");
        assert_eq!(rank.source.bytes, bytes.len() as u64);
        assert_eq!(rank.source.crc32, crc32fast::hash(&bytes));
    }
}

#[test]
fn ranks_come_in_the_order_of_their_numbers() {
    let read = |f: &str| load(f).0;
    let report = report::model::Report::of(vec![read(FIXTURES[2]), read(FIXTURES[1])]);
    let numbers: Vec<_> = report.ranks.iter().map(Rank::number).collect();
    assert_eq!(numbers, [Some(0), Some(1)]);
}
