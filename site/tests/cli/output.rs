//! Files are whole or not there.

use crate::support::{
    ONE, directory, fixture, listing, memscope, memscope_in, memscope_with, put, small,
};

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let dir = directory();
    let text = small("0", "m");
    put(dir.path(), "good.json", &text);
    put(dir.path(), "bad.json", &text[..text.len() - 9]);
    put(dir.path(), "out.txt", "old");
    for verb in [
        &["summary"][..],
        &["summary", "--format", "json"],
        &["summary", "--format", "md"],
    ] {
        let done = memscope_in(
            dir.path(),
            verb.iter()
                .chain(&["good.json", "bad.json", "-o", "out.txt"]),
        );
        assert_eq!((done.code, done.text()), (1, ""));
    }
    let done = memscope_in(
        dir.path(),
        ["render", "good.json", "bad.json", "-o", "new.memscope"],
    );
    assert_eq!(done.code, 1);
    assert_eq!(listing(dir.path()), ["bad.json", "good.json", "out.txt"]);
    assert_eq!(
        std::fs::read_to_string(dir.path().join("out.txt")).unwrap(),
        "old"
    );
}

#[test]
fn a_file_gets_what_stdout_gets() {
    let dir = directory();
    for format in ["text", "markdown", "json"] {
        let stdout = memscope(["summary", ONE, "--format", format]);
        let out = dir.path().join(format);
        let run = [
            "summary".as_ref(),
            ONE.as_ref(),
            "--format".as_ref(),
            format.as_ref(),
            "-o".as_ref(),
            out.as_os_str(),
        ];
        let size = present::units::bytes(stdout.stdout.len() as u64);
        assert_eq!(
            memscope(run).ok(),
            format!("wrote {} ({size})\n", out.display())
        );
        assert_eq!(std::fs::read_to_string(&out).unwrap(), stdout.ok());
    }
    assert_eq!(listing(dir.path()), ["json", "markdown", "text"]);
}

#[test]
fn the_same_input_gives_the_same_container() {
    let dir = directory();
    for name in ["a.memscope", "b.memscope"] {
        let out = dir.path().join(name);
        memscope([
            "render".as_ref(),
            "original_ddp".as_ref(),
            "-o".as_ref(),
            out.as_os_str(),
        ])
        .ok();
    }
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(read("a.memscope") == read("b.memscope"));
    assert!(read("a.memscope").starts_with(report::container::MAGIC));
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::io::Read as _;
    use std::process::Stdio;
    let mut child = crate::support::command()
        .args(["summary", "original_ddp", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take().unwrap());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn stdin_is_as_good_as_a_file() {
    let stdin = memscope_with(&fixture(ONE), &["summary", "-"]);
    let file = memscope(["summary", ONE]);
    assert_eq!(
        stdin.ok().replacen("stdin\n", "runtime_report.json\n", 1),
        file.ok()
    );
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_files_obey_the_umask_and_old_ones_keep_their_mode() {
        let dir = directory();
        put(dir.path(), "a.json", small("0", "m"));
        let plain = put(dir.path(), "plain", "");
        let old = put(dir.path(), "old.txt", "old");
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o640)).unwrap();
        memscope_in(dir.path(), ["summary", "a.json", "-o", "new.txt"]).ok();
        memscope_in(dir.path(), ["summary", "a.json", "-o", "old.txt"]).ok();
        assert_eq!(mode(&dir.path().join("new.txt")), mode(&plain));
        assert_eq!(mode(&old), 0o640);
        assert_ne!(std::fs::read_to_string(&old).unwrap(), "old");
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = directory();
        put(dir.path(), "a.json", small("0", "m"));
        let target = put(dir.path(), "deep/real.txt", "old");
        let link = dir.path().join("link.txt");
        symlink("deep/real.txt", &link).unwrap();
        memscope_in(dir.path(), ["summary", "a.json", "-o", "link.txt"]).ok();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert!(
            std::fs::read_to_string(&target)
                .unwrap()
                .starts_with("Peak 6.00 KiB allocated")
        );
        assert_eq!(listing(&dir.path().join("deep")), ["real.txt"]);
    }

    #[test]
    fn devices_are_written_as_they_are() {
        assert_eq!(memscope(["summary", ONE, "-o", "/dev/null"]).code, 0);
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }

    #[test]
    fn a_full_disk_is_an_error() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let done = memscope(["summary", ONE, "-o", "/dev/full"]);
        assert_eq!((done.code, done.text()), (1, ""));
        assert!(
            done.stderr
                .starts_with("memscope: cannot write /dev/full: No space left on device"),
            "{}",
            done.stderr
        );
    }
}
