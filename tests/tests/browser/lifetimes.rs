//! Lifetimes, against the trace itself.

use e2e::fixture;
use e2e::harness::{Options, Page, with};
use e2e::units;

use crate::live::{figures, open};
use crate::trace::Trace;

#[test]
fn without_steps_the_page_says_so_and_shows_no_growth() {
    with(Options::default(), async |page: &Page| {
        open(page, "oom_fragmentation/snapshot.pickle", "view=lifetimes").await;
        let said = page.text("said-survivors").await;
        assert!(said.contains("not annotated with steps"), "{said}");
        assert!(!page.has("[data-testid='table-survivors']").await);
    });
}

#[test]
fn a_leak_is_said_in_one_sentence() {
    with(Options::default(), async |page: &Page| {
        open(page, "ddp/rank00001/snapshot.pickle.xz", "view=lifetimes").await;
        let said = page.text("said-survivors").await;
        // The run keeps one tensor of 64 MiB a step; see the fixture's README.
        assert!(
            said.starts_with("64.0 MiB per step stay from ranks.py:51"),
            "{said}"
        );
        let table = page.table("survivors").await;
        let growth = table.column("bytes_per_step");
        assert_eq!(growth[0].raw, Some((64u64 << 20).to_string()));
        // What came in one step only does not grow by the step.
        for (growth, steps) in growth.iter().zip(table.column("steps")) {
            let once = steps.raw.as_deref() == Some("1");
            assert_eq!(growth.raw.is_none(), once, "{growth:?} in {steps:?} steps");
        }
        page.choose("keep", "10").await;
        let said = page.text("said-survivors").await;
        assert!(said.contains("at least 12 steps"), "{said}");
        assert!(page.address().await.contains("keep=10"));
        page.click("lang").await;
        let said = page.text("said-survivors").await;
        assert!(said.contains("至少需要 12 步"), "{said}");
    });
}

#[test]
fn short_lived_memory_is_what_the_trace_says() {
    const FIXTURE: &str = "cycle_garbage/snapshot.pickle";
    let trace = Trace::read(&fixture(FIXTURE));
    let peak: u64 = trace.live_at_peak().iter().map(|b| b.size).sum();
    let brief: Vec<u64> = trace
        .blocks
        .iter()
        .filter(|b| b.size >= peak / 100 && b.freed.is_some_and(|f| f - b.born <= 64))
        .map(|b| b.size)
        .collect();
    with(Options::default(), async |page: &Page| {
        open(page, FIXTURE, "view=lifetimes").await;
        let said = page.text("said-brief").await;
        let Some(largest) = brief.iter().max() else {
            assert!(said.starts_with("No allocation"), "{said}");
            return;
        };
        assert!(said.contains(&units::size(*largest)), "{said}");
        let bytes = figures(page, "brief", "bytes").await;
        assert_eq!(bytes.iter().sum::<u64>(), brief.iter().sum::<u64>());
        let count = figures(page, "brief", "count").await;
        assert_eq!(count.iter().sum::<u64>(), brief.len() as u64);
    });
}
