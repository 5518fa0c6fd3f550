//! Whose journal it is and where it goes: ranks, folders, names of runs.

use std::path::{Path, PathBuf};

/// The folder of a run's reports when nothing else is said.
pub const DIRECTORY: &str = "memscope_outputs";

/// What a launcher says about this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// Number of the process in the run.
    pub rank: u32,
    /// Number of the process on its host.
    pub local: Option<u32>,
    /// How many processes the run has.
    pub world: Option<u32>,
    /// What said so: the variable's name, `argument` or `default`.
    pub source: String,
}

/// Where the journal and the reports of one rank go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// `DIR/rank00000`.
    pub folder: PathBuf,
    /// The process in its run.
    pub rank: Rank,
    /// Name of the run; the same for all of its ranks where the launcher names it.
    pub run: String,
    /// Name of the host.
    pub host: String,
}

/// Launchers' variables: rank, local rank, world size.
const LAUNCHERS: [[&str; 3]; 5] = [
    ["RANK", "LOCAL_RANK", "WORLD_SIZE"],
    [
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_SIZE",
    ],
    ["PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"],
    ["PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_SIZE"],
    ["SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"],
];

/// Variables that name a run, and what counts its restarts.
const RUNS: [[&str; 2]; 3] = [
    ["MEMSCOPE_RUN_ID", ""],
    ["TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"],
    ["SLURM_JOB_ID", "SLURM_RESTART_COUNT"],
];

impl Place {
    /// The place of this process: what is given, else `MEMSCOPE_DIR`, the launcher's variables, defaults.
    #[must_use]
    pub fn resolve(directory: Option<&Path>, rank: Option<u32>) -> Self {
        Self::resolve_in(directory, rank, &|name| std::env::var(name).ok())
    }

    /// As [`resolve`](Self::resolve), of other variables than this process's.
    #[must_use]
    pub fn resolve_in(
        directory: Option<&Path>,
        rank: Option<u32>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let variable = |name: &str| variable(name).filter(|v| !v.is_empty());
        let number = |name: &str| variable(name).and_then(|v| v.trim().parse::<u32>().ok());
        let rank = match rank {
            Some(rank) => Rank {
                rank,
                local: number("LOCAL_RANK"),
                world: number("WORLD_SIZE"),
                source: "argument".to_owned(),
            },
            None => LAUNCHERS
                .iter()
                .find_map(|[name, local, world]| {
                    Some(Rank {
                        rank: number(name)?,
                        local: number(local),
                        world: number(world),
                        source: (*name).to_owned(),
                    })
                })
                .unwrap_or_else(|| Rank {
                    rank: 0,
                    local: None,
                    world: None,
                    source: "default".to_owned(),
                }),
        };
        let run = RUNS
            .iter()
            .find_map(|[name, restarts]| {
                let run = variable(name)?;
                match variable(restarts) {
                    Some(n) if n != "0" => Some(format!("{run}.{n}")),
                    _ => Some(run),
                }
            })
            .unwrap_or_default();
        let directory = directory
            .map(Path::to_path_buf)
            .or_else(|| variable("MEMSCOPE_DIR").map(PathBuf::from))
            .unwrap_or_else(|| PathBuf::from(DIRECTORY));
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        Self {
            folder: directory.join(format!("rank{:05}", rank.rank)),
            rank,
            run,
            host,
        }
    }

    /// The host as it stands in file names: letters, digits and dots, at most 64.
    pub(crate) fn host_in_names(&self) -> String {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '.' {
                c
            } else {
                '_'
            }
        };
        let name: String = self.host.chars().take(64).map(plain).collect();
        if name.is_empty() {
            "host".to_owned()
        } else {
            name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)], rank: Option<u32>) -> Place {
        Place::resolve_in(None, rank, &|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, v)| (*v).to_owned())
        })
    }

    #[test]
    fn ranks_come_from_the_launcher() {
        let torchrun = place(
            &[
                ("RANK", "3"),
                ("LOCAL_RANK", "1"),
                ("WORLD_SIZE", "8"),
                ("SLURM_PROCID", "9"),
                ("TORCHELASTIC_RUN_ID", "job"),
                ("TORCHELASTIC_RESTART_COUNT", "2"),
            ],
            None,
        );
        assert_eq!(torchrun.folder, Path::new("memscope_outputs/rank00003"));
        assert_eq!(torchrun.rank.source, "RANK");
        assert_eq!(
            (torchrun.rank.local, torchrun.rank.world),
            (Some(1), Some(8))
        );
        assert_eq!(torchrun.run, "job.2");

        let slurm = place(
            &[("RANK", ""), ("SLURM_PROCID", "12"), ("MEMSCOPE_DIR", "/x")],
            None,
        );
        assert_eq!(slurm.folder, Path::new("/x/rank00012"));
        assert_eq!(slurm.rank.world, None);

        let none = place(&[("RANK", "not a number")], None);
        assert_eq!((none.rank.rank, none.rank.source.as_str()), (0, "default"));
        assert_eq!(
            place(&[("RANK", "3")], Some(5)).folder,
            Path::new("memscope_outputs/rank00005")
        );
    }
}
