//! What nothing else beats in cost, time and risk at once.

/// Indices of the points that no other point dominates (lower or equal in all three, lower in one), in
/// order of the first coordinate. O(n log n + n x front). Points with a NaN never enter.
pub fn front(points: &[[f64; 3]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len())
        .filter(|i| points[*i].iter().all(|x| !x.is_nan()))
        .collect();
    let compare = |a: &usize, b: &usize| {
        let (p, q) = (&points[*a], &points[*b]);
        p[0].total_cmp(&q[0])
            .then(p[1].total_cmp(&q[1]))
            .then(p[2].total_cmp(&q[2]))
            .then(a.cmp(b))
    };
    order.sort_by(compare);
    let mut front: Vec<usize> = Vec::new();
    for candidate in order {
        let p = &points[candidate];
        // everything in the front costs no more than p, so only time and risk can save it
        let beaten = front.iter().any(|kept| {
            let q = &points[*kept];
            q[0] <= p[0] && q[1] <= p[1] && q[2] <= p[2]
        });
        if !beaten {
            front.push(candidate);
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn keeps_exactly_the_undominated() {
        let points = [
            [1.0, 9.0, 0.0],
            [2.0, 5.0, 0.0],
            [3.0, 6.0, 0.0],
            [1.5, 9.0, -1.0],
            [9.0, 1.0, 3.0],
            [f64::NAN, 0.0, 0.0],
        ];
        assert_eq!(front(&points), vec![0, 3, 1, 4]);
        assert_eq!(front(&[]), Vec::<usize>::new());
        assert_eq!(front(&[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), vec![0]);
    }
}
