//! Packing and opening again, and what becomes of damaged containers.

use base64::Engine as _;
use proptest::prelude::*;
use report::Error;
use report::container::{Container, Level, VERSION, pack};
use report::model::Report;
use report::read::{Input, html, read};

use crate::random::{self, Figures, config};
use crate::support::{self, FIXTURES, short};

fn open(bytes: &[u8]) -> Result<Report, Error> {
    Container::open("c.memscope", bytes.to_vec())?.report()
}

fn fixtures() -> Report {
    Report::of(FIXTURES.iter().map(|f| support::load(f).0).collect())
}

#[test]
fn fixtures_come_back_as_they_went_in() {
    let report = fixtures();
    for level in [0, 1, 6, 9] {
        let packed = pack(&report, "test 1", Level(level)).unwrap();
        assert_eq!(
            packed,
            pack(&report, "test 1", Level(level)).unwrap(),
            "the same bytes again"
        );
        let container = Container::open("c.memscope", packed.clone()).unwrap();
        assert_eq!(container.size(), packed.len());
        assert_eq!(container.header().generator, "test 1");
        assert_eq!(container.report().unwrap(), report);
        for (i, rank) in report.ranks.iter().enumerate() {
            assert_eq!(container.rank(i).unwrap(), *rank);
            let entry = &container.header().ranks[i];
            assert_eq!(entry.headline, report::container::Headline::of(rank));
            assert_eq!(entry.events, rank.events.len() as u64);
        }
        assert!(container.rank(3).is_err());
        let input = Input {
            name: "whatever",
            bytes: &packed,
        };
        assert_eq!(read(input).unwrap(), report, "told by its first bytes");
    }
}

#[test]
fn nothing_at_all() {
    for report in [
        Report::default(),
        Report::of(vec![report::model::Rank::default()]),
    ] {
        let packed = pack(&report, "", Level::default()).unwrap();
        assert_eq!(open(&packed).unwrap(), report);
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn any_report_comes_back(report in random::report(Figures::Any, 50), level in 0..10u32) {
        let packed = pack(&report, "random", Level(level)).unwrap();
        prop_assert_eq!(&packed, &pack(&report, "random", Level(level)).unwrap());
        prop_assert_eq!(open(&packed).unwrap(), report);
    }
}

/// Six events, packed.
fn small() -> (Report, Vec<u8>) {
    let report = Report::of(vec![support::read(short(FIXTURES[0], 6)).unwrap()]);
    let packed = pack(&report, "small", Level::default()).unwrap();
    (report, packed)
}

#[test]
fn any_byte_damaged() {
    let (report, packed) = small();
    let mut same = 0;
    for at in 0..packed.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut damaged = packed.clone();
            damaged[at] ^= change;
            match open(&damaged) {
                // Bytes 20 to 23 mean nothing yet.
                Ok(again) => {
                    assert_eq!(again, report, "byte {at}");
                    assert!((20..24).contains(&at), "byte {at} went unnoticed");
                    same += 1;
                }
                Err(e) => assert!(e.to_string().starts_with("c.memscope: "), "{e}"),
            }
        }
    }
    assert_eq!(same, 4 * 3);
}

#[test]
fn cut_off_anywhere() {
    let (_, packed) = small();
    for end in 0..packed.len() {
        let error = open(&packed[..end]).expect_err("cut off").to_string();
        assert!(
            error.ends_with("the container was damaged or cut off on its way: copy it again"),
            "{error}"
        );
    }
}

#[test]
fn other_versions() {
    let (_, mut packed) = small();
    for version in [0, VERSION + 1, u32::MAX] {
        packed[8..12].copy_from_slice(&version.to_le_bytes());
        let error = open(&packed).unwrap_err();
        assert!(
            matches!(error, Error::Version { found, supported: VERSION, .. } if found == version)
        );
        assert_eq!(
            error.to_string(),
            format!(
                "c.memscope: container format {version}, but this memscope reads up to {VERSION}; \
                 render the report again, or use a newer memscope"
            )
        );
    }
}

/// Sizes and counts that lie, with checksums that hold.
#[test]
fn lies_in_the_directory() {
    let (_, packed) = small();
    let length = u32::from_le_bytes(packed[12..16].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&packed[24..24 + length]).unwrap();
    let columns = header["ranks"][0]["columns"].as_array().unwrap().len();
    for field in ["count", "offset", "length", "raw"] {
        for column in 0..columns {
            for value in [
                0,
                1,
                1 << 30,
                1 << 31,
                1 << 32,
                1 << 40,
                i64::MAX as u64,
                u64::MAX,
            ] {
                let mut header = header.clone();
                header["ranks"][0]["columns"][column][field] = value.into();
                if field != "count" {
                    header["ranks"][0]["columns"][column]["deflate"] = true.into();
                }
                lie(&header, &packed[24 + length..]);
            }
        }
    }
    for (field, value) in [
        ("events", 1 << 40),
        ("recorded_top", u64::MAX),
        ("events", 0),
    ] {
        let mut header = header.clone();
        header["ranks"][0][field] = value.into();
        lie(&header, &packed[24 + length..]);
    }
    for coding in [
        "raw",
        "plain",
        "delta",
        "above",
        "beside",
        "difference",
        "high_water",
    ] {
        for column in 0..columns {
            let mut header = header.clone();
            header["ranks"][0]["columns"][column]["coding"] = coding.into();
            lie(&header, &packed[24 + length..]);
        }
    }
}

fn lie(header: &serde_json::Value, body: &[u8]) {
    let head = serde_json::to_vec(header).unwrap();
    let mut bytes = b"MEMSCOPE".to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(body);
    crate::bodies::container(&bytes);
}

fn page(chunks: &[&[u8]]) -> Vec<u8> {
    let mut page = String::from("<!doctype html><title>x</title><script>1 < 2</script>\n");
    for chunk in chunks {
        page.push_str(html::CHUNK_OPEN);
        page.push_str(&base64::engine::general_purpose::STANDARD.encode(chunk));
        page.push_str("\n</script>\n");
    }
    page.push_str("</html>");
    page.into_bytes()
}

#[test]
fn inside_a_page() {
    let (report, packed) = small();
    for size in [1, 2, 3, 100, 1000, packed.len()] {
        let page = page(&packed.chunks(size).collect::<Vec<_>>());
        assert_eq!(html::container("p.html", &page).unwrap(), packed);
        assert_eq!(
            read(Input {
                name: "p.html",
                bytes: &page
            })
            .unwrap(),
            report
        );
    }
    let whole = page(&[&packed]);
    let text = String::from_utf8(whole.clone()).unwrap();
    let start = text.find(html::CHUNK_OPEN).unwrap() + html::CHUNK_OPEN.len();
    let cut = html::container("p.html", &whole[..start + 100])
        .unwrap_err()
        .to_string();
    assert_eq!(
        cut,
        format!(
            "p.html: at byte {start}: expected the end of a data chunk, found the end of the file; \
             the page was cut off on its way: copy it again"
        )
    );
    let damaged = text.replacen("TUVN", "TU!N", 1);
    let error = html::container("p.html", damaged.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(&format!("p.html: at byte {start}: expected base64, found ")),
        "{error}"
    );
    assert!(html::container("p.html", &page(&[])).is_err());
}
