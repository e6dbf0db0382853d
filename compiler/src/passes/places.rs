//! The places of a small array, each as an index, for passes that write one operation for each.

/// All of these extents, row by row.
pub fn places(extents: &[usize]) -> Vec<Vec<usize>> {
    extents.iter().fold(vec![Vec::new()], |before, &extent| {
        let longer = before
            .iter()
            .flat_map(|place| (0..extent).map(move |i| [&place[..], &[i]].concat()));
        longer.collect()
    })
}
