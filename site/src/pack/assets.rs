//! What `viewer/` and `build.rs` gave.

/// The template.
pub(super) const PAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../viewer/assets/page.html"
));
/// The style.
pub(super) const STYLE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../viewer/assets/style.css"
));
/// The program: gzip, then base64. Empty in a build with `SITE_SKIP_VIEWER`.
pub(super) const PROGRAM: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.wasm.gz.b64"));
const GLUE: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.js"));
const BOOT: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../viewer/assets/boot.js"
));
/// The one script, in pieces: wasm-bindgen's glue and what starts it, in one module.
pub(super) const SCRIPT: [&str; 3] = [GLUE, "\n", BOOT];

/// Length of a text in pieces, in bytes.
pub(super) fn length(pieces: &[&str]) -> u64 {
    pieces.iter().map(|p| p.len() as u64).sum()
}

/// Whether this build can write pages.
#[must_use]
pub fn has_viewer() -> bool {
    !PROGRAM.is_empty() && !GLUE.is_empty()
}

/// The static part of a viewer without data.
pub(super) const EMPTY: &str = "<section>
<h1>MemScope</h1>
<p>This page shows where device memory goes. Drop a <b>runtime_report.json</b>, a <b>.memscope</b> file \
or an HTML report of MemScope on it. It needs scripts: where they are blocked or switched off, \
download this file and open it in a browser, or use <b>memscope render</b>. Nothing leaves this page.</p>
<p lang=\"zh-CN\">本页面显示设备显存的去向。请将 <b>runtime_report.json</b>、<b>.memscope</b> 文件或 MemScope 的 HTML \
报告拖放到此处。本页面需要脚本：若脚本被阻止或关闭，请下载该文件并用浏览器打开，或使用 <b>memscope render</b>。数据不会离开本页面。</p>
</section>
";
