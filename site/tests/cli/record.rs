//! `memscope record`: the environment of the command, its exit, and what is said. What the library
//! itself records is tested in `collector`.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::support::{Done, command, finish};

/// A library that is there: these commands have no driver that would load it.
fn recorded(folder: &std::path::Path) -> Command {
    let library = folder.join("libmemscope.so");
    std::fs::write(&library, "").unwrap();
    let mut command = command();
    command
        .current_dir(folder)
        .env("MEMSCOPE_LIBRARY", "libmemscope.so")
        .env_remove("CUDA_INJECTION64_PATH")
        .env_remove("MEMSCOPE_DIR")
        .arg("record");
    command
}

fn sh(folder: &std::path::Path, options: &[&str], script: &str) -> Done {
    finish(
        recorded(folder)
            .args(options)
            .args(["--", "sh", "-c", script]),
    )
}

const NOTHING: &str = "memscope: nothing was recorded: no process of the command initialised CUDA, or none \
                       could load the library (it says why on stderr)\n";

#[test]
fn the_command_gets_the_library_and_keeps_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $CUDA_INJECTION64_PATH; echo $MEMSCOPE_DIR; echo $MEMSCOPE_BACKTRACE-$MEMSCOPE_POLL; exit 7";
    let done = sh(
        folder.path(),
        &["-o", "out", "--backtrace=4096", "--poll"],
        script,
    );
    assert_eq!((done.code, done.stderr.as_str()), (7, NOTHING));
    let here = folder.path().canonicalize().unwrap();
    let expected = format!(
        "{}\n{}\n4096-1\n",
        here.join("libmemscope.so").display(),
        here.join("out").display()
    );
    assert_eq!(done.text(), expected);

    let done = sh(
        folder.path(),
        &["--backtrace"],
        "echo $MEMSCOPE_BACKTRACE-$MEMSCOPE_POLL",
    );
    assert_eq!((done.code, done.text()), (0, "1048576-\n"));
    let done = sh(folder.path(), &[], "kill -9 $$");
    assert_eq!((done.code, done.stderr.as_str()), (137, NOTHING));
}

#[test]
fn journals_are_named_with_why_they_hold_less() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        mkdir -p $MEMSCOPE_DIR/rank00000/journal && cd $MEMSCOPE_DIR/rank00000/journal
        echo '{"k":"header","seq":0,"t":1}' > host-1-1.driver.core.jsonl
        echo '{"k":"update","seq":1,"t":2,"sources":[{"name":"cupti_callbacks","status":"denied","reason":"CUPTI is held by X (error 39)"}]}' >> host-1-1.driver.core.jsonl
        echo '{}' > host-1-1.python.core.jsonl"#;
    let done = sh(folder.path(), &["-o", "out"], script);
    let out = folder.path().canonicalize().unwrap().join("out");
    let expected = format!(
        "memscope: allocations were not seen, the device was asked from time to time: CUPTI is held by X \
         (error 39)\nmemscope: recorded {0}/rank00000/journal/host-1-1.driver.core.jsonl; memscope render {0} \
         shows it\n",
        out.display()
    );
    assert_eq!((done.code, done.stderr), (0, expected));
    // The next command's are told apart from those.
    assert_eq!(sh(folder.path(), &["-o", "out"], "true").stderr, NOTHING);
}

#[test]
fn another_tools_library_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let nsight = "/opt/nvidia/nsight-systems/libToolsInjection64.so";
    let mut command = recorded(folder.path());
    command
        .env("CUDA_INJECTION64_PATH", nsight)
        .args(["--", "true"]);
    finish(&mut command).fails(
        2,
        &format!(
            "memscope: CUDA_INJECTION64_PATH is {nsight} already (Nsight Systems): the driver loads one library \
             only. Run without that tool, or unset the variable"
        ),
    );
    let mut command = recorded(folder.path());
    command
        .env("MEMSCOPE_LIBRARY", "gone.so")
        .args(["--", "true"]);
    let done = finish(&mut command);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("gone.so is no file"),
        "{}",
        done.stderr
    );
    let done = finish(recorded(folder.path()).args(["--", "no-such-command"]));
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("no-such-command: cannot be started"),
        "{}",
        done.stderr
    );
}

#[test]
fn signals_reach_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    let mut child = recorded(folder.path())
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    let kill = Command::new("kill").arg(child.id().to_string()).status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(9));
}
