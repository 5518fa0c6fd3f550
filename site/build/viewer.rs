//! The viewer: builds the package `viewer` for wasm32, runs wasm-bindgen as a library, and leaves
//! `viewer.js` (the glue) and `viewer.wasm.gz.b64` (the program) in `OUT_DIR` for `include_str!`; then
//! the same with the feature `snapshot` as `viewer-snapshot.js` and `viewer-snapshot.wasm.gz.b64`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::nested::{nested, remap, target_dir};
use super::{gzip, skipped};

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm-release";

/// What the viewer is made of, from the root of the workspace.
pub(super) const INPUTS: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "report/Cargo.toml",
    "report/src",
    "site/build",
    "viewer/Cargo.toml",
    "viewer/assets",
    "viewer/present/Cargo.toml",
    "viewer/present/src",
    "viewer/src",
];

/// The programs: name and features. Both come from one target directory, so that what they share is
/// compiled once.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("viewer", &[]),
    ("viewer-snapshot", &["--features", "snapshot"]),
];

/// Builds or takes the programs and leaves them in `OUT_DIR`.
pub(super) fn embed_all(workspace: &Path, out: &Path) -> Result<()> {
    println!("cargo::rerun-if-env-changed=SITE_VIEWER_WASM");
    check_assets(&workspace.join("viewer/assets"))?;
    if skipped() {
        return PROGRAMS
            .iter()
            .try_for_each(|(name, _)| embed(out, name, "", ""));
    }
    for (name, features) in PROGRAMS {
        let wasm = match env::var_os("SITE_VIEWER_WASM").filter(|v| !v.is_empty()) {
            Some(path) => {
                println!("cargo::rerun-if-changed={}", Path::new(&path).display());
                PathBuf::from(path)
            }
            None => build_viewer(workspace, out, features)?,
        };
        let (glue, program) = bind(&wasm)?;
        embed(out, name, &glue, &STANDARD.encode(gzip(&program)?))?;
    }
    Ok(())
}

/// Writes the two files, but only where they change: what includes them is not compiled in vain.
fn embed(out: &Path, name: &str, glue: &str, program: &str) -> Result<()> {
    for (end, text) in [("js", glue), ("wasm.gz.b64", program)] {
        let path = out.join(format!("{name}.{end}"));
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// What stands inside an element of the page must not end it.
fn check_assets(assets: &Path) -> Result<()> {
    for (name, end) in [
        ("boot.js", "</script"),
        ("style.css", "</style"),
        ("snapshot.css", "</style"),
    ] {
        let path = assets.join(name);
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        check_text(name, &text, end)?;
    }
    Ok(())
}

/// `end` would close the element, `<!--` change how its end is found; the HTML parser changes `\r`
/// and NUL, and then the hash in the content security policy would not match.
fn check_text(name: &str, text: &str, end: &str) -> Result<()> {
    let lower = text.to_ascii_lowercase();
    for bad in [end, "<!--", "\r", "\0"] {
        ensure!(
            !lower.contains(bad),
            "{name} contains {bad:?}: it could not stand in the page as it is"
        );
    }
    Ok(())
}

/// Runs wasm-bindgen: the glue's JavaScript and the finished program.
fn bind(wasm: &Path) -> Result<(String, Vec<u8>)> {
    let mut output = wasm_bindgen_cli_support::Bindgen::new()
        .input_path(wasm)
        .out_name("viewer")
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate_output()
        .with_context(|| format!("wasm-bindgen could not process {}", wasm.display()))?;
    ensure!(
        output.snippets().values().all(Vec::is_empty) && output.local_modules().is_empty(),
        "the viewer or one of its crates uses JavaScript snippets (#[wasm_bindgen(module or inline_js)]): \
         they cannot stand in one inline script"
    );
    let glue = output.js().to_owned();
    check_text("wasm-bindgen's glue", &glue, "</script")?;
    Ok((glue, output.wasm_mut().emit_wasm()))
}

/// Builds `viewer` with a nested cargo and gives the path of its `viewer.wasm`.
fn build_viewer(workspace: &Path, out: &Path, features: &[&str]) -> Result<PathBuf> {
    let target_dir = target_dir(out, "viewer-wasm");
    let mut cargo = nested(workspace, &target_dir)?;
    cargo
        .args(["--package", "viewer", "--lib", "--profile", PROFILE])
        .args(["--target", TARGET])
        .args(features);
    let mut flags = remap(workspace);
    // Leptos then erases the types of views: a smaller program that compiles faster.
    flags.push("\x1f--cfg\x1ferase_components");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags);
    let status = cargo
        .status()
        .context("cannot start cargo to build the viewer")?;
    if !status.success() {
        bail!(
            "the viewer could not be built for {TARGET} (cargo's messages are above). \
             If \"can't find crate for `core`\" is among them, run: rustup target add {TARGET}. \
             To build memscope without pages, set SITE_SKIP_VIEWER=1"
        );
    }
    let wasm = target_dir.join(TARGET).join(PROFILE).join("viewer.wasm");
    ensure!(
        wasm.exists(),
        "cargo built the viewer but left no {}: is its crate-type still cdylib?",
        wasm.display()
    );
    Ok(wasm)
}
