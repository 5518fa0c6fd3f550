//! Fields that the recorded runs do not have.

use report::analyze::snapshot::findings::FindingKind;
use report::analyze::snapshot::replay::replay;
use report::model::Value;
use report::model::snapshot::{Action, Device, PoolId, TraceId};
use report::read::snapshot::read_json;

use super::fixtures::snapshot;

const NEW: &str = r#"{"segments": [{"device": 0, "address": 9223372036854779904, "total_size": 2097152, "stream": 7,
  "segment_type": "small", "segment_pool_id": [0, 3], "is_expandable": true, "frames": [], "blocks": [
  {"address": 9223372036854779904, "size": 1024, "requested_size": 1000, "state": "active_pending_free", "frames": []},
  {"address": 9223372036854780928, "size": 2096128, "requested_size": 0, "state": "inactive", "frames": []}]}],
 "device_traces": [[
  {"action": "segment_map", "addr": 9223372036854779904, "size": 2097152, "stream": 7, "pool_id": [0, 3], "time_us": 5},
  {"action": "alloc", "addr": 9223372036854779904, "size": 1000, "stream": 7, "pool_id": [0, 3], "time_us": 6,
   "compile_context": "Torch-Compiled Region: 0/0", "user_metadata": "{\"layer\":1}", "category": "input",
   "forward_frames": ["a.py:1 f\n", "b.py:2 g\n"], "internal_metadata": "mallocWithAddress",
   "frames": [{"name": "forward", "filename": "fx_generated_1.py", "line": 3, "fx_node_op": "call_function",
     "fx_node_name": "add", "fx_node_target": "aten.add", "fx_original_trace": "File a.py"}]},
  {"action": "annotate", "addr": 9223372036854779904, "size": 0, "stream": 0, "user_metadata": "logits", "time_us": 7},
  {"action": "oom", "device_free": 42, "size": 512, "stream": 0, "time_us": 8},
  {"action": "snapshot", "addr": 0, "size": 1024, "stream": 0, "time_us": 8},
  {"action": "free_requested", "addr": 9223372036854779904, "size": 1000, "stream": 7, "time_us": 9},
  {"action": "dance", "addr": 1, "size": 2, "stream": 0, "time_us": 9}], []],
 "allocator_settings": {"expandable_segments": true, "max_split_size": -1, "garbage_collection_threshold": 0.5,
   "roundup_power2_divisions": {"1": 0, "2": 4}},
 "external_annotations": [{"stage": "START", "name": "forward", "device": 0, "time_us": 6},
   {"stage": "END", "name": "forward", "device": 0, "time_us": 7}],
 "host_segments": [{"address": 4096, "size": 8192, "allocated": true, "active": true, "owner_private_pool_id": [0, 0]}],
 "host_traces": [[{"action": "alloc", "addr": 4096, "size": 8192, "stream": 0, "time_us": 4}]],
 "trace_alloc_overflowed": true}"#;

#[test]
fn of_the_newest_torch() {
    let rank = read_json("new.json", NEW.as_bytes()).unwrap();
    let s = snapshot(&rank);
    let text = |id| rank.strings.get(id);
    let row = s.events.row(1);
    assert_eq!(
        (row.action, row.address, row.size),
        (Action::Alloc, 9_223_372_036_854_779_904, 1000)
    );
    assert_eq!(s.pools[row.pool.unwrap().0 as usize], PoolId(0, 3));
    assert_eq!(row.time_ns, Some(6000));
    assert_eq!(text(row.compile_context), "Torch-Compiled Region: 0/0");
    assert_eq!(text(row.user_metadata), "{\"layer\":1}");
    assert_eq!(s.events.forward_frames.len(), 1);
    assert_eq!(text(s.events.forward_frames[0].1), "a.py:1 f\nb.py:2 g");
    assert_eq!(text(s.events.internal_metadata[0].1), "mallocWithAddress");
    assert_eq!(text(s.events.category[0].1), "input");
    let frame = s.stacks.get(row.stack.unwrap())[0];
    assert_eq!(text(s.frames.fx(frame).unwrap().target), "aten.add");
    assert_eq!(s.events.row(2).action, Action::Annotate);
    assert_eq!(s.events.device_free, [(TraceId(3), 42)]);
    assert_eq!(
        s.settings.get("trace_alloc_overflowed"),
        Some(&Value::Bool(true))
    );
    assert_eq!(s.annotations.len(), 2);
    assert_eq!(s.device_list(), [Device(0), Device::HOST]);
    assert_eq!(s.trace(Device::HOST), 7..8);
    let skipped: Vec<&str> = rank.skipped.iter().map(|k| k.what.as_str()).collect();
    assert_eq!(skipped, ["event of unknown action dance"]);

    let replay = replay(s, Device(0));
    assert!(replay.coverage.whole);
    assert_eq!(
        replay.requested.after,
        [0, 1000, 1000, 1000, 1000, 1000, 1000]
    );
    assert_eq!(replay.allocated.after, [0, 1024, 1024, 1024, 1024, 0, 0]);
    assert_eq!(replay.ooms, [TraceId(3)]);
    let kinds: Vec<_> = replay.findings.rows.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [FindingKind::Overflowed, FindingKind::PendingAtEnd]);
    crate::bodies::snapshot_answers(&rank);
    crate::bodies::repack(&report::model::Report::of(vec![rank]));
}

#[test]
fn inconsistent_histories_are_reported() {
    let pickle = super::make::snapshot(
        &[
            ("segment_alloc", 1 << 40, 20 << 20),
            ("alloc", 1 << 40, 4096),
            ("alloc", 1 << 40, 8192),
            ("free_requested", 7 << 40, 512),
            ("free_completed", 1 << 40, 8192),
            ("segment_free", 3 << 40, 20 << 20),
            ("alloc", 5 << 40, 512),
        ],
        &[],
    );
    let rank = report::read::snapshot::read_pickle("made", &pickle[..]).unwrap();
    let replay = replay(snapshot(&rank), Device(0));
    for kind in [
        FindingKind::AllocatedTwice,
        FindingKind::FreeOfUnknown,
        FindingKind::SegmentMismatch,
        FindingKind::OutsideSegments,
    ] {
        assert!(
            replay.findings.get(kind).is_some(),
            "{kind:?} {:?}",
            replay.findings
        );
    }
    crate::bodies::snapshot_answers(&rank);
}
