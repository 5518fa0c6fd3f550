//! Names of what an allocator holds.

use report::analyze::snapshot::allocations::{AllocationId, SpanId};
use report::analyze::snapshot::categories::{Category, Certainty};
use report::analyze::snapshot::{Analysis, Named};
use report::model::snapshot::{PoolId, PoolIndex, StackId, StreamIndex};

use crate::visible::short;
use crate::words::{Lang, Word};

/// The name of a reserved range: `g3`.
#[must_use]
pub fn span(analysis: &Analysis, id: SpanId) -> String {
    analysis.name(Named::Span(id))
}

/// The name of an allocation: `b7f3c40000000_2`.
#[must_use]
pub fn allocation(analysis: &Analysis, id: AllocationId) -> String {
    analysis.name(Named::Allocation(id))
}

/// `train.py:31`: the last part of the path of the line that a stack is known by.
#[must_use]
pub fn short_line(analysis: &Analysis, stack: StackId) -> Option<String> {
    let frame = analysis.sites().line(stack)?;
    let frame = analysis.snapshot().frames.get(frame);
    let file = analysis.strings().get(frame.file);
    let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
    Some(format!("{}:{}", short(last, 40), frame.line))
}

/// `/home/u/train.py:31 make`: the line that a stack is known by, and its function.
#[must_use]
pub fn long_line(analysis: &Analysis, stack: StackId) -> Option<String> {
    let frame = analysis.sites().place(stack)?;
    let frame = analysis.snapshot().frames.get(frame);
    let (file, name) = (
        analysis.strings().get(frame.file),
        analysis.strings().get(frame.name),
    );
    Some(format!("{file}:{} {name}", frame.line))
}

/// The line of an allocation or range, or that its stack is not recorded.
#[must_use]
pub fn line_or(analysis: &Analysis, stack: Option<StackId>, lang: Lang) -> String {
    stack
        .and_then(|s| long_line(analysis, s))
        .unwrap_or_else(|| Word::StackNotRecorded.text(lang).to_owned())
}

/// A pool: the default one, or a private one with its id.
#[must_use]
pub fn pool(analysis: &Analysis, pool: Option<PoolIndex>, lang: Lang) -> String {
    let id = pool.and_then(|p| analysis.snapshot().pools.get(p.0 as usize));
    match (id, lang) {
        (None, _) => "–".to_owned(),
        (Some(&PoolId::DEFAULT), Lang::En) => "default pool".to_owned(),
        (Some(&PoolId::DEFAULT), Lang::Zh) => "默认内存池".to_owned(),
        (Some(PoolId(a, b)), Lang::En) => format!("private pool ({a}, {b})"),
        (Some(PoolId(a, b)), Lang::Zh) => format!("私有内存池 ({a}, {b})"),
    }
}

/// A stream by its number in order of appearance; the default one by its name.
#[must_use]
pub fn stream(analysis: &Analysis, stream: StreamIndex, lang: Lang) -> String {
    let handle = analysis.snapshot().streams.get(usize::from(stream.0));
    match (handle, lang) {
        (Some(0), Lang::En) => "default stream".to_owned(),
        (Some(0), Lang::Zh) => "默认流".to_owned(),
        (_, Lang::En) => format!("stream {}", stream.0),
        (_, Lang::Zh) => format!("流 {}", stream.0),
    }
}

/// A category.
#[must_use]
pub fn category(category: Category, lang: Lang) -> &'static str {
    let word = match category {
        Category::Parameter => Word::CatParameter,
        Category::Gradient => Word::CatGradient,
        Category::OptimizerState => Word::CatOptimizer,
        Category::Activation => Word::CatActivation,
        Category::Temporary => Word::CatTemporary,
        Category::Input => Word::CatInput,
        Category::Unknown => Word::CatUnknown,
    };
    word.text(lang)
}

/// How sure a category is; nothing where it is not a guess at all.
#[must_use]
pub fn certainty(certainty: Certainty, lang: Lang) -> Option<&'static str> {
    let word = match certainty {
        Certainty::Stated => Word::CertainStated,
        Certainty::Likely => Word::CertainLikely,
        Certainty::Possible => Word::CertainPossible,
        Certainty::None => return None,
    };
    Some(word.text(lang))
}
