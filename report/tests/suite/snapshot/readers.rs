//! Every writer of the same data, and what is refused.

use report::model::snapshot::{Action, Device, StackId};
use report::read::snapshot::{read_json, read_pickle};

use super::fixtures::{SNAPSHOTS, bytes, load, plain, snapshot};
use super::make::Pickle;
use crate::support::{Pieces, Random};

#[test]
fn every_writer_of_the_same_run_gives_the_same_tables() {
    let first = load("cpp_pickle", "snapshot_p3.pickle.xz");
    let text = |rank: &report::model::Rank, id| rank.strings.get(id).to_owned();
    for file in [
        "snapshot_p2.pickle.xz",
        "snapshot_p3.pickle.xz",
        "snapshot_p5.pickle.xz",
        "snapshot_cpp.pickle.gz",
        "snapshot.json.gz",
    ] {
        let other = load("cpp_pickle", file);
        assert!(other.skipped.is_empty(), "{file}: {:?}", other.skipped);
        let (a, b) = (snapshot(&first), snapshot(&other));
        // The C++ writer came three events earlier.
        let n = a.events.len().min(b.events.len());
        assert!(a.events.len() - n <= 3, "{file}");
        for i in 0..n {
            let (x, y) = (a.events.row(i), b.events.row(i));
            let key =
                |r: report::model::snapshot::TraceRow| (r.action, r.address, r.size, r.time_ns);
            assert_eq!(key(x), key(y), "{file} {i}");
        }
        let names = |rank: &report::model::Rank, stack: Option<StackId>| {
            let s = snapshot(rank);
            let frames = s.stacks.get(stack.unwrap_or_default()).iter();
            let frames = frames.map(|&f| s.frames.get(f));
            // Paths were renamed in each file by itself.
            let names = frames.map(|f| (text(rank, f.name), f.line));
            names.collect::<Vec<_>>()
        };
        for i in 0..n {
            assert_eq!(
                names(&first, a.events.stack(i)),
                names(&other, b.events.stack(i))
            );
        }
        assert_eq!(a.segments.len(), b.segments.len(), "{file}");
        assert_eq!(a.blocks.address, b.blocks.address, "{file}");
        assert_eq!(a.blocks.requested, b.blocks.requested, "{file}");
        assert_eq!(a.blocks.state, b.blocks.state, "{file}");
        assert_eq!(a.annotations.len(), b.annotations.len(), "{file}");
        if !file.contains("cpp") {
            assert_eq!(a.settings, b.settings, "{file}");
        }
    }
    let bare = load("cpp_pickle", "bare_list.pickle");
    assert_eq!(snapshot(&bare).events.len(), 0);
    assert!(!snapshot(&bare).segments.is_empty());
}

#[test]
fn the_same_in_whatever_pieces_it_comes() {
    for (fixture, file, _) in SNAPSHOTS.into_iter().filter(|f| f.0 != "kv_cache_generate") {
        let whole = plain(fixture, file);
        let first = read_pickle("s", &whole[..]).unwrap();
        let pieces = Pieces {
            rest: &whole,
            most: 5000,
            random: Random(7),
        };
        assert_eq!(first, read_pickle("s", pieces).unwrap(), "{fixture}");
    }
}

#[test]
fn compressed_runtime_reports() {
    let plain = crate::support::bytes("original_memscope/rank00000");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &plain).unwrap();
    let packed = gzip.finish().unwrap();
    let input = |bytes| report::read::Input { name: "r", bytes };
    assert_eq!(
        report::read::read(input(&packed)).unwrap(),
        report::read::read(input(&plain)).unwrap()
    );
    let cut = report::read::read(input(&packed[..packed.len() / 2]));
    assert!(cut.is_err());
}

#[test]
fn opcodes_that_execute_are_refused_by_name() {
    for (code, name) in [
        (&b"cos\nsystem\n"[..], "GLOBAL"),
        (b"\x93", "STACK_GLOBAL"),
        (b"R", "REDUCE"),
        (b"b", "BUILD"),
        (b"ios\nsystem\n", "INST"),
        (b"o", "OBJ"),
        (b"\x81", "NEWOBJ"),
        (b"\x92", "NEWOBJ_EX"),
        (b"P1\n", "PERSID"),
        (b"Q", "BINPERSID"),
        (b"\x82\x01", "EXT1"),
        (b"\x83\x01\x00", "EXT2"),
        (b"\x84\x01\x00\x00\x00", "EXT4"),
    ] {
        let pickle = Pickle::new().op(b"}(").text("segments").op(code).done();
        let error = read_pickle("s.pickle", &pickle[..])
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            format!(
                "s.pickle: at byte 17: expected plain data, found the opcode {name}, which imports or calls code; \
                 MemScope runs no code from a file: this is not what torch.cuda.memory._dump_snapshot writes"
            )
        );
    }
    for (head, found) in [
        (&b"\x80\x01]."[..], "protocol 1"),
        (b"\x80\x06].", "protocol 6"),
        (b"\x80\x04I1\n.", "the opcode INT of protocol 0 or 1"),
        (b"\x80\x04\xff", "byte 0xff"),
    ] {
        let error = read_pickle("s", head).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
}

#[test]
fn addresses_of_nine_bytes_and_unknown_fields() {
    let pickle = Pickle::new()
        .op(b"}(")
        .text("device_traces")
        .op(b"](](}(")
        .text("action")
        .text("oom")
        .text("addr")
        .int(u64::MAX - 5)
        .text("device_free")
        .int(1 << 40)
        .text("brand_new")
        .int(3)
        .op(b"ueeu")
        .done();
    let rank = read_pickle("s", &pickle[..]).unwrap();
    let s = snapshot(&rank);
    assert_eq!(s.events.address, [u64::MAX - 5]);
    assert_eq!(s.events.action, [Action::Oom]);
    assert_eq!(s.events.device_free[0].1, 1 << 40);
    assert_eq!(
        crate::support::skipped(&rank, "unknown field of an event: brand_new"),
        1
    );
    assert_eq!(s.device_list(), [Device(0)]);
}

#[test]
fn torch_2_0_history() {
    let json = br#"[{"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 512, "active_size": 512,
        "requested_size": 100, "stream": 0, "segment_type": "small", "blocks": [
        {"size": 512, "state": "active_allocated", "history": [{"addr": 4096, "real_size": 100,
         "frames": [{"name": "f", "filename": "a.py", "line": 7}]}]},
        {"size": 2096640, "state": "inactive"}]}]"#;
    let rank = read_json("old.json", &json[..]).unwrap();
    let s = snapshot(&rank);
    assert_eq!(s.blocks.address, [4096, 4608]);
    assert_eq!(s.blocks.requested.get(0), Some(100));
    let first = s.blocks.get(report::model::snapshot::BlockId(0));
    assert_eq!(s.stacks.get(first.stack.unwrap()).len(), 1);
    assert!(rank.skipped.is_empty(), "{:?}", rank.skipped);
}

#[test]
fn formats_by_first_bytes() {
    use report::read::Format;
    let detect = |bytes: &[u8]| Format::detect("x", bytes).unwrap();
    assert_eq!(detect(b"\x80\x04\x95"), Format::Snapshot);
    assert_eq!(detect(b"[{}]"), Format::SnapshotJson);
    assert_eq!(detect(b"{\"segments\": []}"), Format::SnapshotJson);
    assert_eq!(detect(b"{\"runtime_trace\": []}"), Format::RuntimeReport);
    assert_eq!(
        detect(&bytes("cpp_pickle", "snapshot.json.gz")),
        Format::Compressed
    );
}
