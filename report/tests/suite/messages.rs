//! What people read when an input is refused: the name, the place, what was expected, what stands
//! there and what to do, word for word.

use report::read::{Input, read};

fn message(bytes: &[u8]) -> String {
    let by_stream = report::read::read_runtime_report("r.json", bytes);
    by_stream.expect_err("refused").to_string()
}

fn detected(bytes: &[u8]) -> String {
    read(Input {
        name: "r.json",
        bytes,
    })
    .expect_err("refused")
    .to_string()
}

#[test]
fn of_broken_json() {
    const CUT: &str = "the file is cut off: copy it again, or let the run that writes it finish";
    const DAMAGED: &str = "the file is damaged or was edited: write it again";
    const TOP: &str =
        "expected an object with runtime_trace, peak, top_events, metadata or comparisons";
    const GIVE: &str = "give MemScope the runtime_report.json of a run";
    const LARGE: &str = "no device has so many bytes: check what wrote this file";
    const DEEP: &str = "no runtime report nests so deep: check what wrote this file";
    let deep = format!("{{\"x\": {}", "[".repeat(1000));
    for (text, expected) in [
        (&b""[..], format!("r.json: at byte 0: {TOP}, found the end of the file; {CUT}")),
        (b" ", format!("r.json: at byte 1: {TOP}, found the end of the file; {CUT}")),
        (b"[1]", format!("r.json: at byte 0: {TOP}, found `[1]`; {GIVE}")),
        (b"hello", format!("r.json: at byte 0: {TOP}, found `hello`; {GIVE}")),
        (b"{}", format!("r.json: at byte 0: {TOP}, found an object with none of them; {GIVE}")),
        (br#"{"peak": "#, format!("r.json: at byte 9: expected a value, found the end of the file; {CUT}")),
        (br#"{"peak": nul"#, format!("r.json: at byte 9: expected a value, found `nul`; {CUT}")),
        (br#"{"peak": nul}"#, format!("r.json: at byte 9: expected a value, found `nul}}`; {DAMAGED}")),
        (br#"{"peak": {"step": 01}}"#, format!("r.json: at byte 18: expected a number as JSON writes it, found `01}}}}`; {DAMAGED}")),
        (br#"{"peak": {"step": 3 4}}"#, format!("r.json: at byte 20: expected ',' or '}}', found `4}}}}`; {DAMAGED}")),
        (br#"{"peak": {"step" 3}}"#, format!("r.json: at byte 17: expected ':' after a key, found `3}}}}`; {DAMAGED}")),
        (br#"{"peak": {step: 3}}"#, format!("r.json: at byte 10: expected a key in quotes or '}}', found `step: 3}}}}`; {DAMAGED}")),
        (br#"{"peak": {"step": 3,}}"#, format!("r.json: at byte 20: expected a key in quotes, found `}}}}`; {DAMAGED}")),
        (br#"{"runtime_trace": [1,]}"#, format!("r.json: at byte 21: expected another element after ',', found `]}}`; {DAMAGED}")),
        (br#"{"runtime_trace": [1 2]}"#, format!("r.json: at byte 21: expected ',' or ']', found `2]}}`; {DAMAGED}")),
        (br#"{"peak": {"phase": "back"#, format!("r.json: at byte 24: expected the closing quote of a string, found the end of the file; {CUT}")),
        (br#"{"peak": {"phase": "\x"}}"#, format!("r.json: at byte 20: expected an escape that JSON knows, found `\\\\x\\\"}}}}`; {DAMAGED}")),
        (br#"{"peak": {"phase": "\u12g4"}}"#, format!("r.json: at byte 20: expected four hexadecimal digits after \\u, found `\\\\u12g4\\\"}}}}`; {DAMAGED}")),
        (b"{\"peak\": {\"phase\": \"a\nb\"}}", "r.json: at byte 21: expected no raw control character inside a string, found byte 0x0a; JSON writes it as \\u00xx: write the file again".to_owned()),
        (b"{\"peak\": {\"phase\": \"a\xffb\"}}", "r.json: at byte 21: expected UTF-8 text, found byte 0xff; save the file as UTF-8".to_owned()),
        (b"{\"peak\": {\"phase\": \"\\n\xe6\x97\"}}", "r.json: at byte 22: expected UTF-8 text, found byte 0xe6; save the file as UTF-8".to_owned()),
        (br#"{"peak": {}} {"peak": {}}"#, "r.json: at byte 13: expected the end of the file after the report's closing '}', found `{\\\"peak\\\": {}}`; the file holds more than one JSON text: split it".to_owned()),
        (br#"{"peak": {"memory_bytes": 9223372036854775808}}"#, format!("r.json: at byte 26: expected peak.memory_bytes between -2^63 and 2^63, found 9223372036854775808; {LARGE}")),
        (br#"{"peak": {"memory_bytes": 1e30}}"#, format!("r.json: at byte 26: expected peak.memory_bytes between -2^63 and 2^63, found a larger number; {LARGE}")),
        (deep.as_bytes(), format!("r.json: at byte 262: expected at most 256 levels of nesting, found one more; {DEEP}").replace("262", &(6 + 255).to_string())),
    ] {
        assert_eq!(message(text), expected, "for {}", String::from_utf8_lossy(text.get(..60).unwrap_or(text)));
    }
}

#[test]
fn of_other_files() {
    let expected = |found: &str| {
        let snapshot = if cfg!(feature = "snapshot") {
            " a journal, a PyTorch memory snapshot, a trace or memory timeline of its profiler,"
        } else {
            ""
        };
        format!(
            "r.json: at byte 0: expected a runtime_report.json,{snapshot} a .memscope container or an HTML report of MemScope, \
             found {found}; give MemScope one of those"
        )
    };
    for (bytes, found) in [
        (&b""[..], "an empty input"),
        (b" \n\t", "only white space"),
        (b"hello", "\"hello\""),
        (b"\xff\xfe{\0}\0", "UTF-16 text (save it as UTF-8)"),
        (b"\xfe\xff\0{", "UTF-16 text (save it as UTF-8)"),
        (b"PK\x03\x04", "a ZIP archive (extract it first)"),
    ] {
        assert_eq!(detected(bytes), expected(found));
    }
    assert_eq!(
        detected(b"<html></html>"),
        "r.json: at byte 13: expected an HTML report of MemScope with its data, found a page without; \
         give the page that `memscope render` wrote"
    );
    // UTF-16 without its mark looks like JSON at first.
    assert_eq!(
        detected(b"{\0\"\0p\0\"\0:\x001\0}\0"),
        "r.json: at byte 1: expected a key in quotes or '}', found `\\0\\\"\\0p\\0\\\"\\0:\\01\\0}\\0`; \
         the file is damaged or was edited: write it again"
    );
}

#[test]
fn of_a_source_that_fails() {
    let error =
        report::read::read_runtime_report("r.json", crate::support::Failing(br#"{"peak": {"#))
            .unwrap_err();
    assert_eq!(
        error.to_string(),
        "r.json: at byte 10: reading failed: the disk is gone"
    );
}
