//! Source lines, against the trace itself.

use e2e::harness::{Options, Page, with};
use e2e::{fixture, units};

use crate::live::open;
use crate::trace::{Block, Trace};

const FIXTURE: &str = "oom_fragmentation/snapshot.pickle";

/// The figures of the blocks of one line after an event: current, live, peak, allocated, freed,
/// count.
fn profile(blocks: &[&Block], at: usize) -> [u64; 6] {
    let born: Vec<&&Block> = blocks.iter().filter(|b| b.born <= at).collect();
    let gone = |b: &Block, at: usize| b.freed.is_some_and(|f| f <= at);
    let live = |at: usize| {
        let mut sum = 0;
        for b in &born {
            if b.born <= at && !gone(b, at) {
                sum += b.size;
            }
        }
        sum
    };
    let allocated: u64 = born.iter().map(|b| b.size).sum();
    let freed: u64 = born.iter().filter(|b| gone(b, at)).map(|b| b.size).sum();
    // A line is highest right after one of its own allocations.
    let peak = born.iter().map(|b| live(b.born)).max().unwrap_or(0);
    let count = born.iter().filter(|b| !gone(b, at)).count() as u64;
    let all = born.len() as u64;
    [live(at), count, peak, allocated, freed, all]
}

#[test]
fn every_line_at_any_instant_and_by_file() {
    let trace = Trace::read(&fixture(FIXTURE));
    with(Options::default(), async |page: &Page| {
        for at in [trace.events() / 2, trace.events() - 1] {
            open(page, FIXTURE, &format!("view=lines&at=t{at}")).await;
            let table = page.table("lines").await;
            let mut seen = 0;
            for row in &table.rows {
                let blocks: Vec<&Block> = trace
                    .blocks
                    .iter()
                    .filter(|b| b.user_line() == row[0].text)
                    .collect();
                let must = profile(&blocks, at);
                seen += must[5];
                for (cell, must) in row[2..8].iter().zip(must) {
                    let is = cell.raw.as_deref().unwrap();
                    assert_eq!(is, must.to_string(), "{} at t{at}: {row:?}", row[0].text);
                }
                assert_eq!(row[4].text, units::size(must[2]));
            }
            let all = trace.blocks.iter().filter(|b| b.born <= at).count();
            assert_eq!(seen, all as u64, "no line is missing");
            page.click("lines-by-file").await;
            let table = page.table("files").await;
            let sum: u64 = table
                .column("current")
                .iter()
                .map(|c| c.raw.as_ref().unwrap().parse::<u64>().unwrap())
                .sum();
            let live: u64 = trace.live_after(at).iter().map(|b| b.size).sum();
            assert_eq!(sum, live);
        }
    });
}
