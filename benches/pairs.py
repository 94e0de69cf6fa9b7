"""What the benchmarks that pair the probe with a peer share: the interval of a median, and how a row of pairs is told.

A pair is peer, probe, peer: the two runs of the peer against each other show what the machine does by itself.
"""

import random
import statistics


def interval(ratios):
    """95 % of the median, by 2,000 draws with replacement; the seed is fixed."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def told(name, peer, rows):
    """One line for rows of (peer, probe, peer)."""
    ratios = [ours / ((a + b) / 2) for a, ours, b in rows]
    itself = [b / a for a, _, b in rows]
    low, high = interval(ratios)
    low_self, high_self = interval(itself)
    return (
        f"{name}: {peer} {statistics.median(a for a, _, _ in rows):.4g},"
        f" probe {statistics.median(o for _, o, _ in rows):.4g},"
        f" probe/{peer} {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f}),"
        f" {peer}/{peer} {statistics.median(itself):.3f} ({low_self:.3f} to {high_self:.3f})"
    )
