//! Work on several things at a time, as many as there are cores.

use std::panic::resume_unwind;
use std::sync::Mutex;

/// What `work` makes of each item, in their order.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().ok()?.next();
    let some = || -> Vec<(usize, R)> {
        std::iter::from_fn(next)
            .map(|(i, item)| (i, work(item)))
            .collect()
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(some)).collect();
        handles
            .into_iter()
            .flat_map(|h| h.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let squares = map((0..100u64).collect(), |n| n * n);
        assert_eq!(squares, (0..100).map(|n| n * n).collect::<Vec<u64>>());
    }
}
