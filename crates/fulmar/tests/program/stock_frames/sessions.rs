//! Many sessions at a time: each is idle most of the time.

use std::time::Duration;

/// The number of sessions that run at a time.
const SESSIONS: usize = 8;

/// The time in which a wrong screen may become right; met by failing tests only.
pub(crate) const MENDS_WITHIN: Duration = Duration::from_secs(10);

/// Deals `work` out to threads, each of which gets its share and does all of it.
pub(crate) fn in_parallel<T: Send>(
    work: impl IntoIterator<Item = T>,
    run: impl Fn(std::vec::IntoIter<T>) + Sync,
) {
    let mut shares: Vec<Vec<T>> = (0..SESSIONS).map(|_| Vec::new()).collect();
    for (index, item) in work.into_iter().enumerate() {
        shares[index % SESSIONS].push(item);
    }
    std::thread::scope(|scope| {
        for share in shares.into_iter().filter(|share| !share.is_empty()) {
            scope.spawn(|| run(share.into_iter()));
        }
    });
}
