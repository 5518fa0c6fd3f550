//! How frames, stacks, streams and pools of a memory snapshot are called.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use report::analyze::snapshot::Analysis;
use report::analyze::snapshot::categories::{Category, Certainty};
use report::analyze::snapshot::group::Key;
use report::analyze::snapshot::missing::Missing;
use report::analyze::snapshot::sites::Owner;
use report::model::StringId;
use report::model::snapshot::{FrameId, PoolIndex, StackId, StreamIndex, TraceId};

use crate::words::{Lang, Word};

/// What stands where there is no stack; every table, picture and verb says it so.
#[must_use]
pub fn missing_word(missing: Missing) -> Word {
    match missing {
        Missing::Stack => Word::NotRecorded,
        Missing::Frames => Word::NoPythonFrame,
        Missing::Either => Word::NoStackOrFrames,
    }
}

/// The word of a category of the profiler.
#[must_use]
pub fn series_word(category: report::model::SeriesCategory) -> Word {
    use report::model::SeriesCategory as S;
    match category {
        S::Parameter => Word::Parameters,
        S::OptimizerState => Word::OptimizerState,
        S::Input => Word::Inputs,
        S::Temporary => Word::Temporary,
        S::Activation => Word::Activations,
        S::Gradient => Word::Gradients,
        S::AutogradDetail => Word::AutogradDetail,
        S::Unknown => Word::Unknown,
    }
}

/// Names within one snapshot. Files are called by as many of their last parts as tell them apart;
/// files of packages by their path in the package's folder.
#[derive(Debug, Clone)]
pub struct Names {
    analysis: Arc<Analysis>,
    files: HashMap<StringId, String>,
}

impl Names {
    /// Looks at every file once.
    #[must_use]
    pub fn of(analysis: Arc<Analysis>) -> Self {
        let mut files: HashMap<StringId, String> = HashMap::new();
        let mut own: Vec<(StringId, String)> = Vec::new();
        let sites = analysis.sites();
        for (id, frame) in analysis.snapshot().frames.iter() {
            if files.contains_key(&frame.file) {
                continue;
            }
            let text = analysis.strings().get(frame.file).replace('\\', "/");
            let short = match sites.owner(id) {
                Owner::User => {
                    own.push((frame.file, text.clone()));
                    String::new()
                }
                _ => packaged(&text).to_owned(),
            };
            files.insert(frame.file, short);
        }
        for (id, path) in &own {
            let short = (1..)
                .map(|parts| tail(path, parts))
                .find(|short| {
                    let same = own.iter().filter(|(_, p)| ends(p, short)).count();
                    same <= 1 || *short == path.as_str()
                })
                .unwrap_or(path);
            files.insert(*id, short.to_owned());
        }
        Self { analysis, files }
    }

    /// The snapshot.
    #[must_use]
    pub fn analysis(&self) -> &Arc<Analysis> {
        &self.analysis
    }

    /// A file, short; empty for code without one.
    #[must_use]
    pub fn file(&self, id: StringId) -> &str {
        self.files.get(&id).map_or("", String::as_str)
    }

    /// A frame's whole path as the source writes it; `None` for code without one.
    #[must_use]
    pub fn path(&self, frame: FrameId) -> Option<&str> {
        let file = self.analysis.snapshot().frames.get(frame).file;
        Some(self.analysis.strings().get(file)).filter(|f| !f.is_empty() && *f != "??")
    }

    /// File and line: `train.py:31`; the function where there is no file.
    #[must_use]
    pub fn place(&self, frame: FrameId) -> String {
        let row = self.analysis.snapshot().frames.get(frame);
        match (self.file(row.file), row.line) {
            ("" | "??", _) => self.function(frame).into_owned(),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        }
    }

    /// A frame's function; of C++ without its parameters.
    #[must_use]
    pub fn function(&self, frame: FrameId) -> Cow<'_, str> {
        let row = self.analysis.snapshot().frames.get(frame);
        function(self.analysis.strings().get(row.name))
    }

    /// Function and place in one line, for what is read by itself.
    #[must_use]
    pub fn whole(&self, frame: FrameId) -> String {
        let (function, place) = (self.function(frame), self.place(frame));
        if function == place {
            place
        } else {
            format!("{function}  {place}")
        }
    }

    /// Where a stack's memory comes from: the user's line; what is missing for none.
    #[must_use]
    pub fn site(&self, stack: Option<StackId>, lang: Lang) -> String {
        let frame = stack.and_then(|s| self.analysis.sites().place(s));
        frame.map_or_else(|| self.nowhere(lang).to_owned(), |f| self.place(f))
    }

    /// As [`Self::site`], of something that entry `born` made.
    #[must_use]
    pub fn site_since(&self, stack: Option<StackId>, born: Option<TraceId>, lang: Lang) -> String {
        let missing = self.analysis.missing_since(born);
        match stack.and_then(|s| self.analysis.sites().place(s)) {
            Some(frame) => self.place(frame),
            None => missing_word(missing).text(lang).to_owned(),
        }
    }

    /// What stands where a group has no stack.
    #[must_use]
    pub fn nowhere(&self, lang: Lang) -> &'static str {
        missing_word(self.analysis.missing()).text(lang)
    }

    /// The innermost function outside torch with its line: of models mostly the `forward` of the
    /// module at work. `None` without a recorded stack.
    #[must_use]
    pub fn innermost(&self, stack: Option<StackId>) -> Option<String> {
        let frame = stack.and_then(|s| self.analysis.sites().innermost(s))?;
        Some(self.whole(frame))
    }

    /// A stream: its place in order of first appearance, and its handle.
    #[must_use]
    pub fn stream(&self, stream: StreamIndex, lang: Lang) -> String {
        stream_name(&self.analysis, stream, lang)
    }

    /// A memory pool.
    #[must_use]
    pub fn pool(&self, pool: Option<PoolIndex>, lang: Lang) -> String {
        pool_name(&self.analysis, pool, lang)
    }

    /// What a group has in common.
    #[must_use]
    pub fn key(&self, key: Key, lang: Lang) -> String {
        let frame = |frame: Option<FrameId>, name: &dyn Fn(FrameId) -> String| {
            frame.map_or_else(|| self.nowhere(lang).to_owned(), name)
        };
        match key {
            Key::Stack(stack) => self.site(stack, lang),
            Key::Line(f) => frame(f, &|f| self.place(f)),
            Key::Function(f) => frame(f, &|f| self.function(f).into_owned()),
            Key::Category(category, _) => category_word(category).text(lang).to_owned(),
            Key::Stream(stream) => self.stream(stream, lang),
            Key::Pool(pool) => self.pool(pool, lang),
            Key::Span(Some(span)) => format!("g{}", span.0),
            Key::Span(None) => Word::Unknown.text(lang).to_owned(),
        }
    }
}

/// A stream by its handle; `stream 0` is the default one.
#[must_use]
pub fn stream_name(analysis: &Analysis, stream: StreamIndex, lang: Lang) -> String {
    let handle = analysis.snapshot().streams.get(usize::from(stream.0));
    match handle {
        Some(0) => format!("{} 0", Word::Stream.text(lang)),
        Some(handle) => format!("{} 0x{handle:x}", Word::Stream.text(lang)),
        None => Word::Unknown.text(lang).to_owned(),
    }
}

/// A memory pool by both halves of its id.
#[must_use]
pub fn pool_name(analysis: &Analysis, pool: Option<PoolIndex>, lang: Lang) -> String {
    let id = pool.and_then(|p| analysis.snapshot().pools.get(p.0 as usize));
    match id {
        Some(id) if *id == report::model::snapshot::PoolId::DEFAULT => {
            Word::DefaultPool.text(lang).to_owned()
        }
        Some(id) => format!("{} ({}, {})", Word::Pool.text(lang), id.0, id.1),
        None => Word::PoolNotRecorded.text(lang).to_owned(),
    }
}

/// The name of a category.
#[must_use]
pub fn category_word(category: Category) -> Word {
    match category {
        Category::Parameter => Word::Parameters,
        Category::Gradient => Word::Gradients,
        Category::OptimizerState => Word::OptimizerState,
        Category::Activation => Word::Activations,
        Category::Temporary => Word::Temporary,
        Category::Input => Word::Inputs,
        Category::Unknown => Word::Unknown,
    }
}

/// How sure a category is, in a word.
#[must_use]
pub fn certainty_word(certainty: Certainty) -> Word {
    match certainty {
        Certainty::Recorded => Word::Recorded,
        Certainty::Stated => Word::Stated,
        Certainty::Likely => Word::Likely,
        Certainty::Possible => Word::Possible,
        Certainty::None => Word::Unknown,
    }
}

/// Why memory was given a category, in one line.
#[must_use]
pub fn evidence(category: Category, certainty: Certainty) -> Word {
    match (category, certainty) {
        (_, Certainty::Recorded) => Word::WhyRecorded,
        (_, Certainty::Stated) => Word::WhyStated,
        (Category::Parameter, _) => Word::WhyParameter,
        (Category::Gradient, Certainty::Likely) => Word::WhyGradient,
        (Category::Gradient, _) => Word::WhyGradientMaybe,
        (Category::OptimizerState, Certainty::Likely) => Word::WhyOptimizer,
        (Category::OptimizerState, _) => Word::WhyOptimizerMaybe,
        (Category::Activation, Certainty::Likely) => Word::WhyActivation,
        (Category::Activation, _) => Word::WhyActivationMaybe,
        (Category::Temporary, Certainty::Likely) => Word::WhyTemporary,
        (Category::Temporary, _) => Word::WhyTemporaryMaybe,
        (Category::Input, _) => Word::WhyInput,
        (Category::Unknown, _) => Word::WhyUnknown,
    }
}

/// A path within the folder that packages or Python's library are installed in.
fn packaged(path: &str) -> &str {
    let inside = ["site-packages/", "dist-packages/"];
    let package = inside
        .iter()
        .find_map(|p| path.split_once(p))
        .map(|(_, rest)| rest);
    let library = || {
        let (_, rest) = path.split_once("/lib/python")?;
        rest.split_once('/').map(|(_, rest)| rest)
    };
    package.or_else(library).unwrap_or(path)
}

/// The last parts of a path.
fn tail(path: &str, parts: usize) -> &str {
    let at = path.rmatch_indices('/').nth(parts - 1);
    at.and_then(|(at, _)| path.get(at + 1..)).unwrap_or(path)
}

/// Whether a path is or ends with these parts.
fn ends(path: &str, tail: &str) -> bool {
    path.strip_suffix(tail)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// A function's name without what C++ puts in brackets: a template's name can fill a screen.
///
/// ```
/// use present::names::function;
/// assert_eq!(function("forward"), "forward");
/// assert_eq!(function("<lambda>"), "<lambda>");
/// assert_eq!(function("at::(anonymous namespace)::f(c10::ArrayRef<long>, int)"), "at::f");
/// assert_eq!(function("at::Tensor c10::call<at::Tensor, long>(long) const"), "c10::call");
/// assert_eq!(function("void* operator new(unsigned long)"), "operator new");
/// ```
#[must_use]
pub fn function(name: &str) -> Cow<'_, str> {
    if !name.contains("::") && !name.contains('(') {
        return Cow::Borrowed(name);
    }
    let mut out = String::new();
    let mut depth = 0u32;
    let plain = name.replace("(anonymous namespace)::", "");
    for c in plain.chars() {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    let out = out.trim().trim_end_matches(" const").trim_end();
    if let Some((_, operator)) = out.split_once(" operator") {
        return Cow::Owned(format!("operator{operator}"));
    }
    // What stands before the name is what it returns.
    let own = out.rsplit(' ').next().unwrap_or(out);
    Cow::Owned(if own.is_empty() { name } else { own }.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// One allocation a file, each from one frame.
    fn names(files: &[&str]) -> Names {
        let event = |(i, file): (usize, &&str)| {
            let address = (i + 1) * 4096;
            format!(
                r#"{{"action": "alloc", "addr": {address}, "size": 512, "stream": 0,
                    "frames": [{{"name": "f", "filename": "{file}", "line": {i}}}]}}"#
            )
        };
        let events: Vec<String> = files.iter().enumerate().map(event).collect();
        let json = format!(
            r#"{{"segments": [], "device_traces": [[{}]]}}"#,
            events.join(",")
        );
        let rank = report::read::snapshot::read_json("a.json", json.as_bytes()).unwrap();
        Names::of(Arc::new(Analysis::of(Arc::new(rank)).unwrap()))
    }

    #[test]
    fn every_file_has_a_short_name_of_its_own() {
        let names = names(&[
            "/home/u/run/train.py",
            "/home/u/run/model/block.py",
            "/home/u/run/other/block.py",
            "/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py",
            "C:/work/a/data.py",
        ]);
        let places: Vec<String> = (0..5).map(|i| names.place(FrameId(i))).collect();
        assert_eq!(
            places,
            [
                "train.py",
                "model/block.py:1",
                "other/block.py:2",
                "torch/nn/modules/linear.py:3",
                "data.py:4"
            ]
        );
        assert_eq!(names.path(FrameId(0)), Some("/home/u/run/train.py"));
        assert_eq!(names.site(None, Lang::En), "stack not recorded");
    }

    #[test]
    fn files_are_told_apart_by_their_last_parts() {
        assert_eq!(tail("/a/b/c.py", 1), "c.py");
        assert_eq!(tail("/a/b/c.py", 2), "b/c.py");
        assert_eq!(tail("c.py", 3), "c.py");
        assert!(ends("/a/c.py", "c.py") && !ends("/a/bc.py", "c.py"));
        assert_eq!(
            packaged("/x/lib/python3.12/site-packages/torch/nn/a.py"),
            "torch/nn/a.py"
        );
        assert_eq!(packaged("/usr/lib/python3.12/threading.py"), "threading.py");
    }
}
