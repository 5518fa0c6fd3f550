//! What `viewer/` and `build/viewer.rs` gave.

/// The template.
pub(super) const PAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../viewer/assets/page.html"
));
const STYLE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../viewer/assets/style.css"
));
const SNAPSHOT_STYLE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../viewer/assets/snapshot.css"
));
/// A viewer: the program, and the script that starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Viewer {
    /// The program: gzip, then base64. Empty in a build with `SITE_SKIP_VIEWER`.
    pub program: &'static str,
    /// The one script, in pieces: wasm-bindgen's glue and what starts it, in one module.
    pub script: [&'static str; 3],
    /// The style, in pieces.
    pub style: [&'static str; 2],
}

/// For runtime reports.
pub(super) const LEAN: Viewer = Viewer {
    program: include_str!(concat!(env!("OUT_DIR"), "/viewer.wasm.gz.b64")),
    script: [
        include_str!(concat!(env!("OUT_DIR"), "/viewer.js")),
        "\n",
        BOOT,
    ],
    style: [STYLE, ""],
};
/// For everything.
pub(super) const WHOLE: Viewer = Viewer {
    program: include_str!(concat!(env!("OUT_DIR"), "/viewer-snapshot.wasm.gz.b64")),
    script: [
        include_str!(concat!(env!("OUT_DIR"), "/viewer-snapshot.js")),
        "\n",
        BOOT,
    ],
    style: [STYLE, SNAPSHOT_STYLE],
};
const BOOT: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../viewer/assets/boot.js"
));

/// Length of a text in pieces, in bytes.
pub(super) fn length(pieces: &[&str]) -> u64 {
    pieces.iter().map(|p| p.len() as u64).sum()
}

/// Whether this build can write pages.
#[must_use]
pub fn has_viewer() -> bool {
    !LEAN.program.is_empty() && !WHOLE.program.is_empty()
}

/// The static part of a viewer without data.
pub(super) const EMPTY: &str = "<section>
<h1>MemScope</h1>
<p>This page shows where device memory goes. Drop a PyTorch memory snapshot, a <b>runtime_report.json</b>, a <b>.memscope</b> \
file or an HTML report of MemScope on it. It needs scripts: where they are blocked or switched off, \
download this file and open it in a browser, or use <b>memscope render</b>. Nothing leaves this page.</p>
<p lang=\"zh-CN\">本页面显示设备显存的去向。请将 PyTorch 显存快照、<b>runtime_report.json</b>、<b>.memscope</b> 文件或 MemScope 的 HTML \
报告拖放到此处。本页面需要脚本：若脚本被阻止或关闭，请下载该文件并用浏览器打开，或使用 <b>memscope render</b>。数据不会离开本页面。</p>
</section>
";
