//! Files that nobody should write.

use report::read::snapshot::read_pickle;

use super::fixtures::plain;
use super::make::Pickle;
use crate::bodies;
use crate::mutation::mutate;
use crate::support::Random;

#[test]
fn cut_off_anywhere() {
    let whole = plain("outside_allocator", "snapshot.pickle");
    for end in 0..whole.len() {
        let error = read_pickle("s", &whole[..end]).unwrap_err().to_string();
        assert!(error.starts_with("s: at byte "), "{error}");
    }
    bodies::snapshot(&whole);
}

#[test]
fn damaged() {
    let mut random = Random(0x5eed);
    for (fixture, file, runs) in [
        ("outside_allocator", "snapshot.pickle", 3000),
        ("other_process", "snapshot.pickle", 1000),
        ("cuda_graphs", "snapshot.pickle", 200),
        ("multi_stream", "snapshot.pickle.xz", 60),
    ] {
        let seed = plain(fixture, file);
        for _ in 0..runs {
            bodies::snapshot(&mutate(&seed, &mut random));
        }
    }
}

#[test]
fn damaged_containers() {
    let mut random = Random(0x5eed);
    for (fixture, file) in [
        ("outside_allocator", "snapshot.pickle"),
        ("cuda_graphs", "snapshot.pickle"),
    ] {
        let rank = super::fixtures::load(fixture, file);
        let report = report::model::Report::of(vec![rank]);
        let seed = report::container::pack(&report, "s", report::container::Level(0)).unwrap();
        for _ in 0..400 {
            bodies::container(&mutate(&seed, &mut random));
        }
    }
}

#[test]
fn lists_that_grow_without_end() {
    // One list of a frame, appended to itself by name again and again, and used each time.
    let mut p = Pickle::new()
        .op(b"}(")
        .text("name")
        .text("f")
        .text("filename")
        .text("a.py")
        .op(b"uq\x000]q\x01");
    for _ in 0..200_000 {
        p = p.op(b"h\x00a");
    }
    let error = read_pickle("s", &p.done()[..]).unwrap_err().to_string();
    assert!(error.contains("one that grows without end"), "{error}");
}

#[test]
fn counts_that_lie() {
    for (bytes, found) in [
        (&b"\x80\x04X\xff\xff\xff\xff"[..], "bytes"),
        (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "bytes"),
        (b"\x80\x04]r\xff\xff\xff\xff", "slot 4294967295"),
        (b"\x80\x04\x8b\xff\xff\xff\xff", "4294967295 bytes"),
        (b"\x80\x04j\x01\x00\x00\x00", "slot 1, which is empty"),
        (b"\x80\x04e", "APPENDS with too few"),
        (b"\x80\x04(((", "the end of the file"),
    ] {
        let error = read_pickle("s", bytes).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
    let deep = [&b"\x80\x04"[..], &[b'('; 100_000]].concat();
    assert!(read_pickle("s", &deep[..]).is_err());
}
