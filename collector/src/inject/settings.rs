//! What the environment asks of the injected library.

/// Bytes from which an allocation has a backtrace when no number is given.
const FROM: u64 = 1 << 20;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    /// Allocations of this many bytes and more carry a native backtrace (`MEMSCOPE_BACKTRACE`).
    pub(super) backtrace: Option<u64>,
    /// CUPTI is left to others (`MEMSCOPE_POLL`).
    pub(super) poll: bool,
}

impl Settings {
    /// Of this process's variables.
    pub(super) fn from_environment() -> Self {
        Self::of(&|name| std::env::var(name).ok())
    }

    fn of(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name| variable(name).filter(|v| !v.is_empty());
        Self {
            backtrace: set("MEMSCOPE_BACKTRACE").map(|v| v.trim().parse().unwrap_or(FROM)),
            poll: set("MEMSCOPE_POLL").is_some_and(|v| v != "0"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read() {
        let of = |backtrace: &str, poll: &str| {
            Settings::of(&|name| {
                Some(
                    if name == "MEMSCOPE_POLL" {
                        poll
                    } else {
                        backtrace
                    }
                    .to_owned(),
                )
            })
        };
        assert_eq!(
            of("", ""),
            Settings {
                backtrace: None,
                poll: false
            }
        );
        assert_eq!(
            of("4096", "0"),
            Settings {
                backtrace: Some(4096),
                poll: false
            }
        );
        assert_eq!(
            of("yes", "1"),
            Settings {
                backtrace: Some(FROM),
                poll: true
            }
        );
    }
}
