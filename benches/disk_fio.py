"""Storage figures of the probe beside fio's, on the same file, in interleaved pairs.

    python benches/disk_fio.py MEASURE FILE [PAIRS [SECONDS]]

MEASURE is the built example `measure` of io/probe; FILE is an existing file of some GiB, which is only read. fio runs its
psync engine with as many jobs as the probe has threads, both with O_DIRECT. A pair is fio, probe, fio: the two runs of fio
against each other show what the disk does by itself. Printed for each depth: medians, the median ratio of probe over fio
with its 95 % interval, fio over fio, and the raw pairs as JSON on the last line. Without fio the script says so and ends
with 0.
"""

import json
import shutil
import subprocess
import sys

from pairs import told


def fio(path, kind, threads, seconds):
    # a job of its own region would be another test: in sequence all jobs share the file by offsets
    size = ["--offset_increment=%d%%" % (100 // threads), "--size=%d%%" % (100 // threads)] if kind == "read" else []
    out = subprocess.run(
        ["fio", "--name=x", f"--filename={path}", "--readonly", "--ioengine=psync", "--direct=1", "--thread",
         f"--rw={'randread' if kind == 'random' else 'read'}", f"--bs={'4k' if kind == 'random' else '1m'}",
         f"--numjobs={threads}", "--group_reporting", "--time_based", f"--runtime={seconds}", "--norandommap",
         "--output-format=json", *size],
        check=True, capture_output=True, text=True,
    ).stdout
    read = json.loads(out[out.index("{"):])["jobs"][0]["read"]
    return read["iops"] if kind == "random" else read["bw_bytes"] / 1e9


def probe(measure, path, kind, threads, seconds):
    verb = "random" if kind == "random" else "stream"
    out = subprocess.run([measure, verb, path, str(threads), str(seconds)], check=True, capture_output=True, text=True)
    report = json.loads(out.stdout)
    if not report["direct"]:
        sys.exit("O_DIRECT was refused here: nothing to compare")
    return report["random"][0]["mean_iops"] if kind == "random" else report["read"][0]["gbs"]["value"]


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    if not shutil.which("fio"):
        print("skipped: fio is not here")
        return 0
    measure, path = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 3
    raw = []
    for kind, threads in (("random", 1), ("random", 4), ("random", 16), ("read", 1), ("read", 4)):
        rows = []
        for _ in range(pairs):
            before = fio(path, kind, threads, seconds)
            ours = probe(measure, path, kind, threads, seconds)
            rows.append((before, ours, fio(path, kind, threads, seconds)))
        print(told(f"{kind} x{threads}", "fio", rows), flush=True)
        raw.append({"kind": kind, "threads": threads, "fio_probe_fio": rows})
    print(json.dumps(raw))
    return 0


if __name__ == "__main__":
    sys.exit(main())
