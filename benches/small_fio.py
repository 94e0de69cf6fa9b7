"""Rate at which the probe reads small files beside fio's, on the same folder, in interleaved pairs.

    python benches/small_fio.py MEASURE FOLDER SIZE [PAIRS]

MEASURE is the built example `measure` of io/probe; FOLDER holds four folders with as many files of SIZE bytes each, some
thousands in all, which are only read, each once a run: by one thread, and by four (of fio one a folder). The page cache
forgets the files before each run, so that nobody pays for what the other left there. fio opens a file, reads it with one
pread and closes it (psync, openfiles=1), in the order of the folder; the probe reads in random order, as training does. Files
per second; a pair is fio, probe, fio. Raw pairs stand on the last line as JSON.
"""

import json
import os
import shutil
import subprocess
import sys

from pairs import told


def forget(folder):
    for parent, _, names in os.walk(folder):
        for name in names:
            file = os.open(f"{parent}/{name}", os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def fio(folder, size, threads):
    forget(folder)
    parts = sorted(e.path for e in os.scandir(folder) if e.is_dir()) if threads > 1 else [folder]
    jobs = [arg for n, part in enumerate(parts) for arg in (f"--name=j{n}", f"--opendir={part}")]
    out = subprocess.run(
        ["fio", "--rw=read", f"--bs={size}", "--ioengine=psync", "--thread", "--file_service_type=sequential",
         "--openfiles=1", "--readonly", "--invalidate=1", "--group_reporting", "--output-format=json", *jobs],
        check=True, capture_output=True, text=True,
    ).stdout
    job = json.loads(out[out.index("{"):])["jobs"][0]
    return job["read"]["bw_bytes"] / size


def probe(measure, folder, threads):
    forget(folder)
    out = subprocess.run([measure, "small", folder, str(threads), "20"], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)["small"]["per_second"]["value"]


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    if not shutil.which("fio"):
        print("skipped: fio is not here")
        return 0
    measure, folder, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    raw = {}
    for threads in (1, 4):
        rows = [
            (fio(folder, size, threads), probe(measure, folder, threads), fio(folder, size, threads))
            for _ in range(pairs)
        ]
        raw[str(threads)] = [[round(x) for x in row] for row in rows]
        print(told(f"small files x{threads}", "fio", rows), flush=True)
    print(json.dumps(raw))
    return 0


if __name__ == "__main__":
    sys.exit(main())
