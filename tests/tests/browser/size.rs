//! The size gate: what a report weighs.

use std::io::Write as _;

use base64::Engine as _;

use crate::pages;

fn gzip(bytes: &[u8]) -> usize {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap().len()
}

fn between<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    let from = page.find(open).unwrap_or_else(|| panic!("no {open}")) + open.len();
    let from = from + page[from..].find('>').unwrap() + 1;
    &page[from..from + page[from..].find(close).unwrap()]
}

#[test]
fn a_report_is_small() {
    let page = std::fs::read_to_string(pages::ddp()).unwrap();
    // The program stands in the page gzipped, as base64.
    let program = between(&page, "id=\"memscope-wasm\"", "</script>");
    let program = base64::engine::general_purpose::STANDARD
        .decode(program)
        .unwrap()
        .len();
    let glue = gzip(between(&page, "id=\"memscope-boot\"", "</script>").as_bytes());
    let style = gzip(between(&page, "<style", "</style>").as_bytes());
    let (viewer, whole) = (program + glue + style, page.len());
    let said = format!(
        "HTML of original_ddp, both ranks: {whole} bytes (limit 900,000)\n\
         viewer, gzipped: {viewer} bytes = program {program} + glue {glue} + style {style} (limit 450,000)"
    );
    println!("{said}");
    assert!(whole < 900_000 && viewer < 450_000, "{said}");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let again = pages::temporary("again.html");
    e2e::render(&[&e2e::fixture("original_ddp")], again.clone());
    assert!(
        std::fs::read(again).unwrap() == std::fs::read(pages::ddp()).unwrap(),
        "two pages of one input differ"
    );
}
