//! Help and completions.

use crate::support::memscope;

const VERBS: [&str; 5] = [
    "render",
    "visualize-runtime",
    "summary",
    "viewer",
    "completions",
];

#[test]
fn every_verb_has_help_with_examples() {
    for verb in VERBS {
        let help = memscope([verb, "--help"]);
        let text = help.ok();
        assert!(text.contains(&format!("Usage: memscope {verb}")), "{text}");
        assert!(
            text.contains(&format!("Examples:\n  memscope {verb}")),
            "{text}"
        );
        let short = memscope([verb, "-h"]);
        assert!(!short.ok().contains("Examples:"));
    }
    let whole = memscope(["--help"]);
    assert!(whole.ok().starts_with("Shows where GPU memory goes"));
    assert!(whole.ok().contains("Exit codes: 0 done, 1 "));
    assert!(VERBS.iter().all(|v| whole.ok().contains(v)));
}

#[test]
fn the_version_is_that_of_the_crate() {
    assert_eq!(
        memscope(["--version"]).ok(),
        format!("memscope {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn completions_know_every_verb() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = memscope(["completions", shell]);
        for verb in VERBS {
            assert!(script.ok().contains(verb), "{shell} does not know {verb}");
        }
    }
}
