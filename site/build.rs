//! Embeds the viewer: builds the package `viewer` for wasm32 with a nested cargo, runs wasm-bindgen
//! as a library, and leaves `viewer.js` (the glue) and `viewer.wasm.gz.b64` (the program) in
//! `OUT_DIR` for `include_str!`; then the same with the feature `snapshot` as
//! `viewer-snapshot.js` and `viewer-snapshot.wasm.gz.b64`.
//!
//! * `SITE_SKIP_VIEWER=1` embeds nothing: for check, clippy, rust-analyzer and tests that need no
//!   page. Such a `memscope` refuses to write pages.
//! * `SITE_VIEWER_WASM=FILE` takes a `viewer.wasm` that was built before (as rustc leaves it, before
//!   wasm-bindgen) instead of either.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm-release";

/// What the viewer is made of, from the root of the workspace.
const INPUTS: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "report/Cargo.toml",
    "report/src",
    "site/build.rs",
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

fn main() -> Result<()> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let workspace = here.parent().context("site/ stands in no workspace")?;
    println!("cargo::rerun-if-env-changed=SITE_SKIP_VIEWER");
    println!("cargo::rerun-if-env-changed=SITE_VIEWER_WASM");
    for input in INPUTS {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(input).display()
        );
    }
    check_assets(&workspace.join("viewer/assets"))?;
    if env::var_os("SITE_SKIP_VIEWER").is_some_and(|v| !v.is_empty() && v != "0") {
        return PROGRAMS
            .iter()
            .try_for_each(|(name, _)| embed(&out, name, "", ""));
    }
    for (name, features) in PROGRAMS {
        let wasm = match env::var_os("SITE_VIEWER_WASM").filter(|v| !v.is_empty()) {
            Some(path) => {
                println!("cargo::rerun-if-changed={}", Path::new(&path).display());
                PathBuf::from(path)
            }
            None => build_viewer(workspace, &out, features)?,
        };
        let (glue, program) = bind(&wasm)?;
        embed(&out, name, &glue, &STANDARD.encode(gzip(&program)?))?;
    }
    Ok(())
}

fn variable(name: &str) -> Result<OsString> {
    env::var_os(name).with_context(|| format!("cargo did not set {name}"))
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

/// The same bytes for the same program: no name, no time.
fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut gz = flate2::GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), flate2::Compression::best());
    gz.write_all(bytes)?;
    Ok(gz.finish()?)
}

/// Builds `viewer` with a nested cargo and gives the path of its `viewer.wasm`.
fn build_viewer(workspace: &Path, out: &Path, features: &[&str]) -> Result<PathBuf> {
    let target_dir = target_dir(out);
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .current_dir(workspace)
        .args([
            "build",
            "--package",
            "viewer",
            "--lib",
            "--profile",
            PROFILE,
            "--target",
            TARGET,
        ])
        .args(features)
        .arg("--target-dir")
        .arg(&target_dir);
    if workspace.join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    for (name, _) in env::vars_os() {
        if leaks(&name) {
            cargo.env_remove(name);
        }
    }
    // A build.build-dir in some config.toml would bring the outer cargo's lock back, and with it a
    // wait without end (rust-lang/cargo#17053).
    cargo.env("CARGO_BUILD_BUILD_DIR", &target_dir);
    // Flags in the environment also take the place of those in any config.toml, which were meant
    // for another target.
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

/// Flags that take the paths of this machine out of panic messages: a report is passed on, and
/// must neither tell whose machine built the viewer nor differ because of it.
fn remap(workspace: &Path) -> OsString {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|h| h.join(".cargo")));
    let mut flags = OsString::new();
    for (from, to) in [(Some(workspace.to_owned()), "memscope"), (home, "cargo")] {
        let Some(from) = from else { continue };
        if !flags.is_empty() {
            // What separates flags in CARGO_ENCODED_RUSTFLAGS.
            flags.push("\x1f");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    flags
}

/// `<target>/viewer-wasm`, so that all profiles of the outer build share one nested build. It is
/// never the outer target directory itself: the outer cargo holds that one's lock.
fn target_dir(out: &Path) -> PathBuf {
    // OUT_DIR is <target>/[<triple>/]<profile>/build/site-<hash>/out in the layout that cargo has
    // had so far; anything else gets a directory in OUT_DIR, which is slower but always right.
    let build = out
        .ancestors()
        .nth(2)
        .filter(|p| p.file_name() == Some(OsStr::new("build")));
    let target = build.and_then(|build| {
        build
            .ancestors()
            .skip(1)
            .take(3)
            .find(|p| p.join("CACHEDIR.TAG").is_file())
    });
    target.unwrap_or(out).join("viewer-wasm")
}

/// Whether a variable was meant for the outer build (or set by it) and would harm the nested one.
fn leaks(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    const EXACT: [&str; 16] = [
        "CARGO_ENCODED_RUSTDOCFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_DIR",
        "CLIPPY_ARGS",
        "HOST",
        "OUT_DIR",
        "RUSTC",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTDOCFLAGS",
        "RUSTFLAGS",
        "TARGET",
    ];
    const PREFIXES: [&str; 8] = [
        "CARGO_BUILD_",
        "CARGO_CFG_",
        "CARGO_FEATURE_",
        "CARGO_LLVM_COV",
        "CARGO_MANIFEST_",
        "CARGO_PKG_",
        "CARGO_PROFILE_",
        "LLVM_PROFILE",
    ];
    EXACT.contains(&name.as_ref())
        || (PREFIXES.iter().any(|p| name.starts_with(p)) && name != "CARGO_BUILD_JOBS")
        || (name.starts_with("CARGO_TARGET_") && name.ends_with("_RUSTFLAGS"))
}
