//! Long work in pieces: a page that opens a history of a million entries answers keys and paints
//! meanwhile.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use report::Error;
use report::container::Container;
use report::model::Rank;
use report::model::snapshot::Device;
use report::pause::{Pauses, Wait};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

use crate::data::RankData;

/// Entries from which a rank is decoded in pieces; fewer take less than a frame.
const LONG: u64 = 20_000;
/// Milliseconds of work between two pauses.
const WORK: f64 = 10.0;

thread_local! {
    static UNDER_WAY: Cell<u32> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<js_sys::Function>> = const { RefCell::new(Vec::new()) };
}

/// Whether decoding a rank takes long.
pub(crate) fn is_long(container: &Container, rank: usize) -> bool {
    let entry = container.header().ranks.get(rank);
    entry
        .and_then(|r| r.snapshot.as_ref())
        .is_some_and(|s| s.events >= LONG)
}

/// Decodes a rank, unless its `tables` are there already, and asks what the first screen needs of
/// the chosen device.
pub(crate) async fn rank(
    container: &Container,
    rank: usize,
    tables: Option<Arc<Rank>>,
    device: Option<Device>,
) -> Result<RankData, Error> {
    let clock = Clock::new();
    let ask = || clock.ask();
    let pauses = Pauses::new(&ask);
    let tables = match tables {
        Some(tables) => Ok(tables),
        None => container.rank_in_pieces(rank, pauses).await.map(Arc::new),
    };
    let read = match tables {
        Ok(tables) => Ok(RankData::in_pieces(tables, device, pauses).await),
        Err(e) => Err(e),
    };
    // What shows it begins with a piece of its own.
    task().await;
    read
}

/// Work that [`all_done`] waits for.
pub(crate) struct Work(());

impl Work {
    pub(crate) fn begin() -> Self {
        UNDER_WAY.set(UNDER_WAY.get() + 1);
        Self(())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        UNDER_WAY.set(UNDER_WAY.get().saturating_sub(1));
        if UNDER_WAY.get() == 0 {
            for done in WAITING.take() {
                done.call0(&JsValue::NULL).ok();
            }
        }
    }
}

/// Waits until nothing is under way.
pub(crate) async fn all_done() {
    if UNDER_WAY.get() > 0 {
        let promise = js_sys::Promise::new(&mut |resolve, _| {
            WAITING.with_borrow_mut(|w| w.push(resolve));
        });
        JsFuture::from(promise).await.ok();
    }
}

/// Tells when it is time to pause.
struct Clock {
    performance: Option<web_sys::Performance>,
    last: Rc<Cell<f64>>,
}

impl Clock {
    fn new() -> Self {
        let performance = web_sys::window().and_then(|w| w.performance());
        let now = performance.as_ref().map_or(0.0, |p| p.now());
        Self {
            performance,
            last: Rc::new(Cell::new(now)),
        }
    }

    fn ask(&self) -> Option<Wait> {
        let performance = self.performance.clone()?;
        if performance.now() - self.last.get() < WORK {
            return None;
        }
        let last = Rc::clone(&self.last);
        Some(Box::pin(async move {
            task().await;
            last.set(performance.now());
        }))
    }
}

/// Waits for the next task of the browser, in between others and frames. A message comes at once,
/// where a timer would come after four milliseconds.
pub(crate) async fn task() {
    let Ok(channel) = MessageChannel::new() else {
        return;
    };
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        channel.port1().set_onmessage(Some(&resolve));
        channel.port2().post_message(&JsValue::NULL).ok();
    });
    JsFuture::from(promise).await.ok();
    channel.port1().close();
}
