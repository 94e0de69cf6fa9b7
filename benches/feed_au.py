"""MLPerf Storage's accelerator utilisation, computed again from the raw step times of a feed report.

    python benches/feed_au.py REPORT.json...

Reads each pass of `passes` that was paced, and computes

    AU = compute time / total time, the first step left out

from nothing but the model's step time and the stamps at which steps ended: the compute time is (steps - 1) x step time, as
the benchmark's rules have it, and the total runs from the end of the first step to the end of the last. Printed beside
what the report says; ends with 1 where the two differ by more than 3 points, with 2 where there is nothing to compare.
"""

import json
import sys

POINTS = 3.0


def utilisation(step_s, ends):
    if len(ends) < 3 or step_s <= 0:
        return None
    total = ends[-1] - ends[0]
    return (len(ends) - 1) * step_s / total if total > 0 else None


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    compared, worst = 0, 0.0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        for one in report["passes"]:
            own = utilisation(one["model_step_s"], [s["end_s"] for s in one["steps"]])
            told = one["au"].get("value")
            if own is None or told is None:
                continue
            apart = abs(own - told) * 100
            compared, worst = compared + 1, max(worst, apart)
            print(
                f"{path} {one['source']}: {one['workers']} workers, {len(one['steps'])} steps,"
                f" report {told * 100:.2f} %, apart {own * 100:.2f} %, {apart:.2f} points"
            )
    if not compared:
        print("no pass with a utilisation")
        return 2
    print(f"{compared} passes, at most {worst:.2f} points apart")
    return 0 if worst <= POINTS else 1


if __name__ == "__main__":
    sys.exit(main())
