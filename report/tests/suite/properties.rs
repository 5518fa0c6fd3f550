//! What must hold for any tables.

use proptest::prelude::*;
use report::analyze::levels::Levels;
use report::analyze::pairing::{Partner, pair};
use report::model::{Bytes, Rank, Report};

use crate::bodies::{everything, naive_span};
use crate::random::{Figures, config, rank};

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn levels_as_a_walk(
        values in proptest::collection::vec(proptest::option::weighted(0.8, any::<u64>()), 0..2000),
        ranges in proptest::collection::vec((0..2100usize, 0..2100usize), 20),
    ) {
        let mut column = Bytes::default();
        for v in values {
            // u64::MAX is the mark of the absent.
            column.push(v.map(|v| v >> 1));
        }
        let levels = Levels::of(&column);
        for (a, b) in ranges {
            prop_assert_eq!(levels.span(&column, a, b), naive_span(&column, a, b));
        }
        prop_assert_eq!(levels.span(&column, 0, usize::MAX), naive_span(&column, 0, column.len()));
    }

    /// Sums that must agree, see [`everything`]: parts of the peak, events by group, by phase, by
    /// step and by module, and that partners are mutual.
    #[test]
    fn sums_agree(rank in rank(Figures::Small, 120)) {
        everything(&Report::of(vec![rank]));
    }

    #[test]
    fn extreme_figures_do_not_panic(rank in rank(Figures::Any, 60)) {
        everything(&Report::of(vec![rank]));
    }

    #[test]
    fn pairs_as_a_walk(rank in rank(Figures::Small, 80)) {
        let (partners, pairs) = naive_pairs(&rank);
        let found = pair(&rank);
        prop_assert_eq!(found.pairs, pairs);
        for (i, partner) in partners.iter().enumerate() {
            prop_assert_eq!(found.partner(i), *partner);
        }
        let lone = partners.iter().filter(|&&p| p == Partner::Missing).count() as u64;
        prop_assert_eq!(found.lone_pre + found.lone_post, lone);
    }
}

/// Looks through all open calls for every event.
fn naive_pairs(rank: &Rank) -> (Vec<Partner>, u64) {
    let events = &rank.events;
    let phase = |i: usize| rank.strings.get(events.phase[i]);
    let used = |name: &str| (0..events.len()).any(|i| phase(i) == name);
    let mut out = vec![Partner::Unpaired; events.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut pairs = 0;
    for i in 0..events.len() {
        if i > 0 && events.step.get(i) != events.step.get(i - 1) {
            open.clear();
        }
        let pre = format!("{}_pre", phase(i));
        // A phase that has a `_pre` of its own comes second, whatever its own name ends with.
        if used(&pre) {
            let found = open
                .iter()
                .rposition(|&p| phase(p) == pre && events.module[p] == events.module[i]);
            out[i] = found.map_or(Partner::Missing, |at| Partner::Event(open[at]));
            if let Some(at) = found {
                out[open[at]] = Partner::Event(i);
                open.truncate(at);
                pairs += 1;
            }
        } else if phase(i).ends_with("_pre") {
            out[i] = Partner::Missing;
            open.push(i);
        }
    }
    (out, pairs)
}
