//! Names that tell inputs apart and say nothing else about where they are.

use std::collections::HashMap;
use std::path::{Component, Path};

/// The names on the way to a file, the file's own last.
pub(super) fn components(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|c| match c {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

/// For each path the shortest end of it that no other path has; `stdin` is a name that is taken.
pub(super) fn apart(paths: &[Vec<String>], stdin: bool) -> Vec<String> {
    let mut depths = vec![1usize; paths.len()];
    loop {
        let names: Vec<String> = paths
            .iter()
            .zip(&depths)
            .map(|(path, &depth)| end(path, depth))
            .collect();
        let mut count: HashMap<&str, u32> = HashMap::new();
        for name in &names {
            *count.entry(name).or_default() += 1;
        }
        if stdin {
            *count.entry("stdin").or_default() += 1;
        }
        let mut grew = false;
        for ((name, depth), path) in names.iter().zip(&mut depths).zip(paths) {
            if count.get(name.as_str()).is_some_and(|&n| n > 1) && *depth < path.len() {
                *depth += 1;
                grew = true;
            }
        }
        if !grew {
            return names;
        }
    }
}

fn end(path: &[String], depth: usize) -> String {
    path.get(path.len().saturating_sub(depth)..)
        .unwrap_or(path)
        .join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&str]) -> Vec<String> {
        let paths: Vec<_> = paths.iter().map(|p| components(Path::new(p))).collect();
        apart(&paths, false)
    }

    #[test]
    fn names_are_as_short_as_they_can_be() {
        assert_eq!(
            names(&["/home/me/run/runtime_report.json"]),
            ["runtime_report.json"]
        );
        assert_eq!(
            names(&[
                "/r/rank00000/runtime_report.json",
                "/r/rank00001/runtime_report.json",
                "/x/a.json"
            ]),
            [
                "rank00000/runtime_report.json",
                "rank00001/runtime_report.json",
                "a.json"
            ]
        );
        assert_eq!(
            names(&["/a/x/r", "/b/x/r", "/c/y/r"]),
            ["a/x/r", "b/x/r", "y/r"]
        );
        assert_eq!(names(&["/r", "/a/r"]), ["r", "a/r"]);
        assert_eq!(
            apart(&[components(Path::new("/a/stdin"))], true),
            ["a/stdin"]
        );
    }
}
