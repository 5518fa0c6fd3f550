//! Allocator events: every entry of the trace, found by stack, address, size, action and name.

use e2e::harness::{Options, Page, with};
use e2e::units;
use report::model::snapshot::Action;

use crate::memory::{Played, gpt2, snapshot};

async fn count(page: &Page) -> usize {
    let text = page.text("row-count").await;
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn every_entry_is_there_with_its_running_totals() {
    let s = snapshot();
    let played = Played::of(&s);
    with(Options::default(), async |page: &Page| {
        page.open(&format!("{}#view=entries", gpt2())).await;
        assert_eq!(count(page).await, s.events.len());
        let table = page.top_of("entries", 400).await;
        let column = |id: &str| table.columns.iter().position(|c| c == id).unwrap();
        for (i, row) in table.rows.iter().enumerate() {
            let event = s.events.row(i);
            assert_eq!(row[column("entry")].text, format!("t{i}"));
            assert_eq!(row[column("action")].text, event.action.word());
            assert_eq!(row[column("size")].raw, Some(event.size.to_string()));
            assert_eq!(row[column("address")].text, format!("{:#x}", event.address));
            let (requested, reserved) = played.curves[i];
            assert_eq!(row[column("requested")].raw, Some(requested.to_string()));
            assert_eq!(row[column("reserved")].raw, Some(reserved.to_string()));
            assert_eq!(row[column("requested")].text, units::size(requested));
        }
        // Largest first, after one press on the head.
        page.click_css("th[data-column=size] button").await;
        let sorted = page.top_of("entries", 50).await;
        let mut sizes: Vec<u64> = (0..s.events.len()).map(|i| s.events.row(i).size).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        for (row, size) in sorted.rows.iter().zip(sizes) {
            assert_eq!(row[column("size")].raw, Some(size.to_string()));
        }
    });
}

#[test]
fn filters_and_searches_find_what_a_plain_walk_finds() {
    let s = snapshot();
    let played = Played::of(&s);
    let rows = || (0..s.events.len()).map(|i| s.events.row(i));
    with(Options::default(), async |page: &Page| {
        page.open(&format!("{}#view=entries", gpt2())).await;
        page.choose("filter-action", "segment_alloc").await;
        let segments = rows().filter(|r| r.action == Action::SegmentAlloc).count();
        assert_eq!(count(page).await, segments);
        page.choose("filter-action", "").await;
        page.fill("filter-min", "16MiB").await;
        page.fill("filter-max", "32MiB").await;
        let sized = rows()
            .filter(|r| (16 << 20..=32 << 20).contains(&r.size))
            .count();
        assert!(sized > 0);
        assert_eq!(count(page).await, sized);
        // What is no size is marked and filters nothing.
        page.fill("filter-max", "large").await;
        let invalid = page
            .js("return document.querySelector('[data-testid=filter-max]').getAttribute('aria-invalid')")
            .await;
        assert_eq!(invalid, serde_json::json!("true"));
        page.fill("filter-min", "").await;
        page.fill("filter-max", "").await;
        // One allocation by its name: handed out, asked back, given back.
        let (address, _, born, _) = played.blocks[700];
        page.fill("search", &played.name(address, born)).await;
        assert_eq!(count(page).await, 3);
        // An address inside a block: all its uses and the segment that holds it.
        page.fill("search", &format!("{:#x}", address + 1)).await;
        let holds = rows()
            .filter(|r| r.address <= address + 1 && address + 1 < r.address + r.size)
            .count();
        assert_eq!(count(page).await, holds);
        page.fill("search", "no such thing").await;
        assert!(page.has("[data-testid=nothing]").await);
    });
}

#[test]
fn an_entry_leads_to_the_state_of_the_allocator() {
    with(Options::default(), async |page: &Page| {
        page.open(&format!("{}#view=entries", gpt2())).await;
        page.click_css("#row-entries-5").await;
        assert!(page.text("picked-title").await.starts_with("t5 · "));
        page.click("show-state").await;
        let address = page.address().await;
        assert!(
            address.contains("view=state") && address.contains("at=t5"),
            "{address}"
        );
    });
}
