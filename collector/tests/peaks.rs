//! Which readings of a high-water mark are peaks.

use memscope::peaks::Mark;

const MIB: u64 = 1 << 20;

/// What is recorded of readings.
fn recorded(readings: &[Option<u64>]) -> Vec<u64> {
    let mut mark = Mark::default();
    readings.iter().filter_map(|r| mark.read(*r)).collect()
}

#[test]
fn a_peak_rises_by_more_than_a_mebibyte_and_a_thousandth() {
    let small = [Some(10 * MIB), Some(11 * MIB), Some(11 * MIB + 1)];
    assert_eq!(recorded(&small), [10 * MIB, 11 * MIB + 1]);
    // Above 1000 MiB a thousandth is more than a mebibyte.
    let large = 5000 * MIB;
    let readings = [
        Some(large),
        Some(large + 5 * MIB),
        Some(large + 5 * MIB + 1),
    ];
    assert_eq!(recorded(&readings), [large, large + 5 * MIB + 1]);
    // Small rises add up.
    let creeping: Vec<_> = (0..10).map(|n| Some(100 * MIB + n * MIB / 2)).collect();
    assert_eq!(
        recorded(&creeping),
        [100, 101, 103, 104].map(|n| match n {
            101 => 101 * MIB + MIB / 2,
            104 => 104 * MIB + MIB / 2,
            n => n * MIB,
        })
    );
}

#[test]
fn unknown_is_no_reading_and_nothing_is_no_peak() {
    assert_eq!(
        recorded(&[None, Some(0), None, Some(0), Some(2 * MIB)]),
        [2 * MIB]
    );
}

#[test]
fn what_is_passed_again_after_a_reset_is_no_peak() {
    let mut mark = Mark::default();
    assert_eq!(mark.read(Some(500 * MIB)), Some(500 * MIB));
    assert!(!mark.was_reset(Some(500 * MIB)));
    assert!(!mark.was_reset(None));
    assert!(mark.was_reset(Some(9 * MIB)));
    assert_eq!(mark.read(Some(9 * MIB)), None);
    assert_eq!(mark.read(Some(500 * MIB)), None);
    assert_eq!(mark.read(Some(502 * MIB)), Some(502 * MIB));
}
