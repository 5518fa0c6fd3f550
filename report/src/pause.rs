//! Long work in pieces.
//!
//! A page that computes for half a second is frozen for half a second. So what is long is an `async`
//! function that asks between two pieces whether to pause; who has nothing else to do runs it to its
//! end with [`now`]. Nothing here waits, ticks or knows a clock: the caller does.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// What is waited for in a pause.
pub type Wait = Pin<Box<dyn Future<Output = ()>>>;

/// Rows of a table in a piece: well below a millisecond's work for most tables.
pub const PIECE: usize = 1 << 13;

/// Whoever may want to pause.
#[derive(Clone, Copy)]
pub struct Pauses<'a> {
    ask: Option<&'a dyn Fn() -> Option<Wait>>,
}

impl<'a> Pauses<'a> {
    /// No pauses.
    pub const NONE: Pauses<'static> = Pauses { ask: None };

    /// Asks `ask` between two pieces; where it gives something, that is waited for.
    #[must_use]
    pub fn new(ask: &'a dyn Fn() -> Option<Wait>) -> Self {
        Self { ask: Some(ask) }
    }

    /// The place between two pieces.
    pub async fn here(&self) {
        if let Some(wait) = self.ask.and_then(|ask| ask()) {
            wait.await;
        }
    }
}

impl std::fmt::Debug for Pauses<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pauses({})", self.ask.is_some())
    }
}

/// Does a piece of work in a function of its own. Browsers compile a function better when it is called
/// often, but never while it runs: a loop over a million rows inside of one call stays slow.
#[inline(never)]
pub fn piece<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Runs work that does not wait ([`Pauses::NONE`]) to its end.
pub fn now<F: Future>(work: F) -> F::Output {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        // Without pauses the first poll is the last.
        if let Poll::Ready(output) = work.as_mut().poll(&mut context) {
            return output;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future;

    use super::*;

    #[test]
    fn pauses_are_asked_for_and_waited_for() {
        let (asked, waited) = (Cell::new(0), std::rc::Rc::new(Cell::new(0)));
        let ask = || -> Option<Wait> {
            asked.set(asked.get() + 1);
            let waited = std::rc::Rc::clone(&waited);
            (asked.get() % 2 == 0).then(|| -> Wait {
                let mut first = true;
                Box::pin(future::poll_fn(move |_| {
                    if std::mem::take(&mut first) {
                        return Poll::Pending;
                    }
                    waited.set(waited.get() + 1);
                    Poll::Ready(())
                }))
            })
        };
        let pauses = Pauses::new(&ask);
        now(async {
            for _ in 0..10 {
                pauses.here().await;
            }
        });
        assert_eq!((asked.get(), waited.get()), (10, 5));
        now(Pauses::NONE.here());
    }
}
