//! Tests of the page's parts that need no embedded viewer.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

/// A page whatever the build embedded.
fn page(title: &str, fixed: &str, data: &[u8]) -> String {
    let page = Page::new(
        Lang::En,
        assets::LEAN,
        title.to_owned(),
        fixed.to_owned(),
        data.to_vec(),
    )
    .unwrap();
    let mut out = Vec::new();
    page.write(&mut out).unwrap();
    assert_eq!(page.size().unwrap(), out.len() as u64);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_placeholder_in_content_is_content() {
    let hostile = "{{script}} {{static}} {{data_bytes}} }} {{";
    let html = page(hostile, &format!("<p>{hostile}</p>"), b"x");
    assert!(html.contains(&format!("<title>{hostile}</title>")));
    assert!(html.contains(&format!("<p>{hostile}</p>")));
    assert_eq!(html.matches("data-bytes=").count(), 1);
}

#[test]
fn a_title_is_escaped() {
    let html = page("</title><script>alert(1)</script>", "", b"");
    assert!(html.contains("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>"));
}

#[test]
fn the_template_must_have_each_placeholder_once() {
    assert!(template::pieces(assets::PAGE).is_ok());
    for (template, what) in [
        ("{{lang}} {{lang}}", "the placeholder \"lang\" twice"),
        ("{{nonsense}}", "the unknown placeholder \"nonsense\""),
        ("{{lang", "a placeholder without its end"),
        ("nothing", "no placeholder \"lang\""),
    ] {
        let error = template::pieces(template).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("page.html has {what}; this is a defect of memscope")
        );
    }
}

#[test]
fn data_comes_back_and_chunks_have_at_most_16_mib() {
    for length in [
        0,
        1,
        2,
        3,
        4,
        49_151,
        49_153,
        (12 << 20) - 1,
        12 << 20,
        (12 << 20) + 1,
        (25 << 20) + 5,
    ] {
        let data: Vec<u8> = (0..length as u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let mut out = Vec::new();
        chunks::write(&data, &mut out).unwrap();
        assert_eq!(out.len() as u64, chunks::encoded(length as u64), "{length}");
        if length == 0 {
            assert!(out.is_empty());
            continue;
        }
        assert!(
            report::read::html::container("page", &out).unwrap() == data,
            "{length}"
        );
        let text = String::from_utf8(out).unwrap();
        for line in text.lines() {
            let inside = line.strip_prefix(report::read::html::CHUNK_OPEN).unwrap();
            assert!(
                inside
                    .strip_suffix(report::read::html::CHUNK_CLOSE)
                    .unwrap()
                    .len()
                    <= 16 << 20
            );
        }
    }
}

#[test]
fn sizes_are_judged() {
    assert_eq!(judge(10 << 20, false).unwrap(), Judgement::Fine);
    assert!(
        matches!(judge((10 << 20) + 1, false).unwrap(), Judgement::Warn(w) if w.contains("10.0 MiB, more than many"))
    );
    assert!(
        matches!(judge(51 << 20, false).unwrap(), Judgement::Warn(w) if w.contains("opens slowly"))
    );
    let error = judge(101 << 20, false).unwrap_err().to_string();
    assert!(
        error.starts_with("the page would have 101 MiB, ") && error.ends_with("use --force"),
        "{error}"
    );
    assert!(matches!(
        judge(101 << 20, true).unwrap(),
        Judgement::Warn(_)
    ));
}

#[test]
fn what_could_run_is_refused() {
    for (fixed, what) in [
        ("<script>alert(1)</script>", "a script element"),
        ("<P><SCRIPT src=x>", "a script element"),
        (
            "<img src=x onerror=alert(1)>",
            "a src that leads out of the page",
        ),
        ("<img onerror=alert(1)>", "the attribute onerror"),
        ("<svg/onload=alert(1)>", "the attribute onload"),
        ("<svg><path ONCLICK = 'x'/></svg>", "the attribute onclick"),
        (
            "<a href=\"javascript:alert(1)\">x</a>",
            "a href that leads out of the page",
        ),
        ("<p title='>' onclick=x>", "the attribute onclick"),
        ("<iframe srcdoc=x>", "a iframe element"),
        ("<meta http-equiv=refresh>", "a meta element"),
        ("<!-- x -->", "markup that is no element"),
        ("a < b", "a tag without end"),
    ] {
        let error = inert::check(fixed).unwrap_err().to_string();
        assert!(
            error.contains(&format!("would hold {what};")),
            "{fixed}: {error}"
        );
    }
    for fixed in [
        "",
        "<p>a &lt;script&gt; b</p>",
        "<a href=\"#x\">x</a>",
        "<svg role=\"img\" aria-label=\"a > b\"><path d='M0 0'/></svg>",
    ] {
        assert!(inert::check(fixed).is_ok(), "{fixed}");
    }
}

#[test]
fn the_policy_names_the_script_by_its_hash() {
    // sha256("abc"), from FIPS 180-2.
    let policy = policy::policy(&["a", "b", "c"]);
    assert!(policy.contains(
        "script-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=' 'wasm-unsafe-eval';"
    ));
    assert!(policy.starts_with("default-src 'none'; "));
}
