//! `memscope run`: a Python program with the package `memscope` looking on, without a change to it.
//!
//! The package's folder `_bootstrap` goes first on PYTHONPATH, so that every Python of the run, workers of
//! a launcher included, waits for torch. The program keeps its streams, its signals and its exit code.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::{Args, CommandFactory as _, Parser as _, ValueEnum, ValueHint};

use super::args::Cli;
use super::failure::Usage;
use super::{library, note, python, signals};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope run train.py --epochs 1
      reports in memscope_outputs/rank00000/
  memscope run -o out --history 5,10-12 -- train.py --epochs 1
      PyTorch's memory history on in steps 5, 10, 11 and 12
  memscope run -m package.train --epochs 1
  memscope run torchrun --nproc-per-node 8 train.py
      one folder a rank

The Python is MEMSCOPE_PYTHON, that of VIRTUAL_ENV, or python3 on PATH. Everything that can be set is in
docs/collector-python.md. The exit code is the program's; 128 and the signal's number where one ended it.")]
pub(super) struct Run {
    /// Where reports go [default: MEMSCOPE_DIR, or memscope_outputs]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Steps in which PyTorch's memory history is on: 0-2, 5,10-12, %100 or off [default: 0-2]
    #[arg(long, value_name = "STEPS")]
    history: Option<String>,
    /// When modules are recorded [default: sampled]
    #[arg(long, value_name = "WHEN")]
    modules: Option<Modules>,
    /// Record what the CUDA driver allocates as well: NCCL, cuBLAS, contexts
    #[arg(long)]
    driver: bool,
    /// Leave the journal only
    #[arg(long)]
    no_report: bool,
    /// A script with its arguments, -m and a module, or a command that starts Python
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

/// When modules are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Modules {
    /// Never
    Off,
    /// In steps 0-3 and every 100th, all of them with shapes and gradients
    Sampled,
    /// As sampled, and in all other steps the figures of blocks and their parts (up to 5 % of a step)
    Every,
    /// In every step, all of them with shapes and gradients (20 % of a step and more)
    Full,
}

/// Runs the program; gives its exit code.
pub(super) fn run(a: &Run) -> Result<ExitCode> {
    let found = python::find()?;
    let package = python::package(&found)?;
    let directory = a
        .output
        .clone()
        .or_else(|| {
            env::var_os("MEMSCOPE_DIR")
                .filter(|d| !d.is_empty())
                .map(PathBuf::from)
        })
        .unwrap_or_else(|| PathBuf::from("memscope_outputs"));
    // The program may change its folder.
    let directory = std::path::absolute(&directory)
        .with_context(|| format!("{}: not a folder's name", directory.display()))?;
    let mut command = command(&a.program, &found)?;
    command
        .env("PYTHONPATH", python::path(&package)?)
        .env("MEMSCOPE_DIR", &directory)
        // Made below, when all ranks have ended, however they did.
        .env("MEMSCOPE_FINALIZE", "off");
    if let Some(history) = &a.history {
        check_steps(history)?;
        command.env("MEMSCOPE_HISTORY", history);
    }
    if let Some(modules) = a.modules.and_then(|m| m.to_possible_value()) {
        command.env("MEMSCOPE_MODULES", modules.get_name());
    }
    if a.driver {
        library::inject(&mut command)?;
    }
    let shown = a.program.first().map(|p| p.to_string_lossy().into_owned());
    let status = signals::run(&mut command)
        .with_context(|| format!("{}: cannot be started", shown.unwrap_or_default()))?;
    tell(&directory, !a.no_report);
    Ok(signals::code(status))
}

/// What is run: a script or module by the Python, a command as it is.
fn command(program: &[OsString], python: &Path) -> Result<Command> {
    let Some((first, rest)) = program.split_first() else {
        bail!(Usage(
            "nothing to run: name a script, -m and a module, or a command".to_owned()
        ));
    };
    let script =
        first == "-m" || first == "-c" || Path::new(first).extension() == Some(OsStr::new("py"));
    let mut command = if script {
        let mut command = Command::new(python);
        command.arg(first);
        command
    } else if Path::new(first).components().count() == 1 {
        // Beside the Python first: a torchrun of another Python would run that one.
        let beside = python.with_file_name(first);
        Command::new(if beside.is_file() {
            beside.as_os_str()
        } else {
            first
        })
    } else if Path::new(first).exists() {
        Command::new(first)
    } else {
        bail!(Usage(format!(
            "{}: no such file",
            Path::new(first).display()
        )));
    };
    if first != "-m" && first != "-c" && script && !Path::new(first).exists() {
        bail!(Usage(format!(
            "{}: no such script",
            Path::new(first).display()
        )));
    }
    command.args(rest);
    Ok(command)
}

/// The same texts as the package's `settings.Steps`.
fn check_steps(text: &str) -> Result<()> {
    let number = |t: &str| t.trim().parse::<u64>().is_ok();
    let part = |t: &str| match (t.strip_prefix('%'), t.split_once('-')) {
        (Some(every), _) => number(every) && every.trim() != "0",
        (None, Some((first, last))) => number(first) && number(last),
        (None, None) => number(t),
    };
    if matches!(text, "off" | "none" | "all" | "every" | "on")
        || text.split(',').all(|t| part(t.trim()))
    {
        return Ok(());
    }
    bail!(Usage(format!(
        "--history {text}: expected steps such as 0-2, 5,10-12 or %100, or off"
    )))
}

/// Says where reports are, and has them made. What fails here does not change the program's exit.
fn tell(directory: &Path, report: bool) {
    let mut ranks: Vec<PathBuf> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("journal").is_dir())
        .collect();
    ranks.sort();
    let Some(first) = ranks.first() else {
        note(
            "nothing was recorded: no module of PyTorch was called and no optimizer stepped. Where the \
             program starts Python with -I or -E, PYTHONPATH is ignored; call memscope.start() in it",
        );
        return;
    };
    if report && Cli::command().find_subcommand("finalize").is_some() {
        let arguments = [
            OsStr::new("memscope"),
            OsStr::new("finalize"),
            directory.as_os_str(),
        ];
        match Cli::try_parse_from(arguments)
            .map_err(anyhow::Error::from)
            .and_then(super::dispatch)
        {
            Ok(()) => return,
            Err(error) => note(&format!("no report was made: {error:#}")),
        }
    }
    let more = match ranks.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    note(&format!("recorded in {}{more}", first.display()));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn line(program: &[&str]) -> Vec<String> {
        let program: Vec<OsString> = program.iter().map(OsString::from).collect();
        let command = command(&program, Path::new("/venv/bin/python")).unwrap();
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|a| a.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn scripts_modules_and_commands_are_told_apart() {
        assert_eq!(
            line(&["-m", "a.b", "-x"]),
            ["/venv/bin/python", "-m", "a.b", "-x"]
        );
        assert_eq!(
            line(&["torchrun", "--x", "t.py"]),
            ["torchrun", "--x", "t.py"]
        );
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("train.py");
        std::fs::write(&script, "").unwrap();
        let script = script.to_str().unwrap();
        assert_eq!(
            line(&[script, "-o", "x"]),
            ["/venv/bin/python", script, "-o", "x"]
        );
        let beside = folder.path().join("torchrun");
        std::fs::write(&beside, "").unwrap();
        let found = command(&["torchrun".into()], &folder.path().join("python")).unwrap();
        assert_eq!(found.get_program(), beside);
        assert!(command(&["none.py".into()], Path::new("python")).is_err());
        assert!(command(&["./none".into()], Path::new("python")).is_err());
    }

    #[test]
    fn arguments_of_the_program_are_its_own() {
        let parse = |arguments: &[&str]| match Cli::try_parse_from(arguments).unwrap().verb {
            super::super::args::Verb::Run(a) => a,
            other => panic!("{other:?}"),
        };
        let a = parse(&[
            "memscope",
            "run",
            "-o",
            "d",
            "train.py",
            "-o",
            "x",
            "--history",
            "y",
        ]);
        assert_eq!(a.output.as_deref(), Some(Path::new("d")));
        assert_eq!(a.program, ["train.py", "-o", "x", "--history", "y"]);
        assert_eq!(a.history, None);
        assert_eq!(
            parse(&["memscope", "run", "-m", "p", "-q"]).program,
            ["-m", "p", "-q"]
        );
        assert_eq!(
            parse(&["memscope", "run", "--", "t.py", "--"]).program,
            ["t.py", "--"]
        );
        assert!(Cli::try_parse_from(["memscope", "run"]).is_err());
    }

    #[test]
    fn steps_are_checked_before_a_run() {
        for good in ["off", "0", "0-2", "5,10-12", "%100", "0-3,%100"] {
            assert!(check_steps(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "1-", "%0", "1,,2", "-1"] {
            assert!(check_steps(bad).is_err(), "{bad}");
        }
    }
}
