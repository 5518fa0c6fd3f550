//! The ranges of a state by pool and stream: free memory of one serves no request of another.

use super::super::replay::Replay;
use super::figures::of_spans;
use super::{Fragmentation, State};
use crate::model::snapshot::{PoolIndex, StreamIndex};

/// The ranges of one pool and stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// Pool; `None` when the source does not say.
    pub pool: Option<PoolIndex>,
    /// Stream.
    pub stream: StreamIndex,
    /// Their places in [`State::spans`], by address.
    pub spans: Vec<u32>,
    /// Their figures.
    pub figures: Fragmentation,
}

/// Every pool and stream of a state, most reserved first.
#[must_use]
pub fn pools(replay: &Replay, state: &State) -> Vec<Pool> {
    let mut out: Vec<Pool> = Vec::new();
    for (i, here) in state.spans.iter().enumerate() {
        let Some(span) = replay.spans.get(here.span) else {
            continue;
        };
        let same = |p: &&mut Pool| p.pool == span.pool && p.stream == span.stream;
        match out.iter_mut().find(same) {
            Some(pool) => pool.spans.push(i as u32),
            None => out.push(Pool {
                pool: span.pool,
                stream: span.stream,
                spans: vec![i as u32],
                figures: Fragmentation::default(),
            }),
        }
    }
    for pool in &mut out {
        let spans = pool
            .spans
            .iter()
            .filter_map(|&i| state.spans.get(i as usize));
        pool.figures = of_spans(replay, spans);
    }
    // Stable: equals stay in order of address.
    out.sort_by_key(|p| std::cmp::Reverse(p.figures.reserved));
    out
}
