"""JPEG decode rate of the feed test beside Pillow's, on the same pictures, one core each, in interleaved pairs.

    python benches/decode_pillow.py MEASURE FOLDER [PAIRS [SECONDS]]

MEASURE is the built example `measure` of io/probe; FOLDER holds JPEGs, all read into memory by both sides before the clock
starts. Pillow (or Pillow-SIMD, whichever this Python has) opens, converts to RGB and loads each picture. Pictures per
second of decoding; both run on one processor (taskset). A pair is Pillow, probe, Pillow. Raw pairs are on the last line.
"""

import io
import json
import os
import subprocess
import sys
import time

import PIL
from PIL import Image, features

from pairs import told


def pillow(pictures, seconds):
    count, start = 0, time.perf_counter()
    while True:
        for data in pictures:
            Image.open(io.BytesIO(data)).convert("RGB").load()
            count += 1
        took = time.perf_counter() - start
        if took >= seconds:
            return count / took


def probe(measure, folder, seconds):
    # a fifth of the cap goes to each of four passes, roughly; only the one from memory without a pace is looked at
    out = subprocess.run(
        [measure, "feed", "1", "0.001", str(seconds * 7), folder], check=True, capture_output=True, text=True
    ).stdout
    stages = json.loads(out)["passes"][-1]["stages"]
    return stages["samples"] / stages["decode_s"]


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    measure, folder = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 3.0
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pictures = []
    for name in sorted(os.listdir(folder)):
        if name.lower().endswith((".jpg", ".jpeg")):
            with open(f"{folder}/{name}", "rb") as file:
                pictures.append(file.read())
    rows = []
    for _ in range(pairs):
        before = pillow(pictures, seconds)
        ours = probe(measure, folder, seconds)
        rows.append([round(before, 2), round(ours, 2), round(pillow(pictures, seconds), 2)])
    turbo = features.version("libjpeg_turbo")
    print(f"Pillow {PIL.__version__}, libjpeg-turbo {turbo}, {len(pictures)} pictures")
    print(told("decode/s", "Pillow", rows))
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
