//! What a journal file's name says.

/// The parts of `HOST-PID-START.WRITER.core.jsonl` and `HOST-PID-START.WRITER.events.N.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileName {
    /// The host.
    pub host: String,
    /// The process.
    pub pid: u64,
    /// When the journal was begun, ns since 1970.
    pub start: u64,
    /// Who wrote it.
    pub writer: String,
    /// `None` for `core`, else the number of the part of `events`.
    pub part: Option<u64>,
}

impl FileName {
    /// Reads a file's name; `None` when it is not that of a journal.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let rest = name.strip_suffix(".jsonl")?;
        let (rest, part) = match rest.strip_suffix(".core") {
            Some(rest) => (rest, None),
            None => {
                let (rest, number) = rest.rsplit_once('.')?;
                let rest = rest.strip_suffix(".events")?;
                (rest, Some(number.parse().ok()?))
            }
        };
        let (rest, writer) = rest.rsplit_once('.')?;
        let (rest, start) = rest.rsplit_once('-')?;
        let (host, pid) = rest.rsplit_once('-')?;
        Some(Self {
            host: host.to_owned(),
            pid: pid.parse().ok()?,
            start: u64::from_str_radix(start, 16).ok()?,
            writer: writer.to_owned(),
            part,
        })
    }
}

/// Puts the files of one folder together by process, in order of their starts. A process number that
/// comes again (containers count from 1) is told by a writer that begins again.
#[must_use]
pub fn processes(names: &[String]) -> Vec<Vec<usize>> {
    let mut files: Vec<(FileName, usize)> = names
        .iter()
        .enumerate()
        .filter_map(|(i, n)| Some((FileName::of(n)?, i)))
        .collect();
    let key = |f: &FileName| (f.host.clone(), f.pid, f.start, f.writer.clone(), f.part);
    files.sort_by_key(|(f, _)| key(f));
    let mut out: Vec<(Vec<FileName>, Vec<usize>)> = Vec::new();
    for (file, i) in files {
        let same = out.last_mut().filter(|(others, _)| {
            others.iter().all(|o| {
                o.host == file.host
                    && o.pid == file.pid
                    && (o.writer != file.writer || o.start == file.start)
            })
        });
        match same {
            Some((others, of)) => {
                others.push(file);
                of.push(i);
            }
            None => out.push((vec![file], vec![i])),
        }
    }
    out.sort_by_key(|(f, _)| f.first().map(|f| f.start));
    out.into_iter().map(|(_, of)| of).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_told_apart() {
        let names: Vec<String> = [
            "node-1-a-7-1f.python.core.jsonl",
            "node-1-a-7-1f.python.events.10.jsonl",
            "node-1-a-7-1e.driver.core.jsonl",
            "node-1-a-7-ff.python.core.jsonl",
            "node-1-a-8-20.python.core.jsonl",
            "notes.jsonl",
            "x-y-z.python.core.jsonl",
        ]
        .map(str::to_owned)
        .to_vec();
        assert_eq!(
            processes(&names),
            [vec![2, 0, 1], vec![4], vec![3]],
            "7 began again at ff"
        );
        let name = FileName::of(&names[1]).unwrap();
        assert_eq!((name.host.as_str(), name.pid), ("node-1-a", 7));
        assert_eq!((name.start, name.part), (0x1f, Some(10)));
    }
}
