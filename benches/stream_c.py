"""Memory bandwidth of the probe beside the C original of STREAM, in interleaved pairs.

    python benches/stream_c.py MEASURE STREAM.C [PAIRS]

MEASURE is the built example `measure` of io/probe; STREAM.C is the original source (www.cs.virginia.edu/stream), compiled
here with gcc -O3 -fopenmp, arrays as large as those that the probe chose, as many threads as there are processors. Best of the
repetitions of each loop, as STREAM counts, GB/s. A pair is STREAM, probe, STREAM. Raw pairs stand on the last line as JSON.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile

from pairs import told

LOOPS = ("copy", "scale", "add", "triad")


def stream(program):
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return [float(re.search(rf"^{loop}:\s+([\d.]+)", out, re.M | re.I).group(1)) / 1e3 for loop in LOOPS]


def probe(measure):
    out = subprocess.run([measure, "cpu"], check=True, capture_output=True, text=True).stdout
    stream = json.loads(out)["stream"]
    return stream["array_bytes"], [max(stream[f"{loop}_gbs"]["samples"]) for loop in LOOPS]


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    if not shutil.which("gcc"):
        print("skipped: gcc is not here")
        return 0
    measure, source = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/stream"
        size = probe(measure)[0] // 8
        command = ["gcc", "-O3", "-fopenmp", "-mcmodel=medium", f"-DSTREAM_ARRAY_SIZE={size}", source, "-o", program]
        subprocess.run(command, check=True)
        rows = [(stream(program), probe(measure)[1], stream(program)) for _ in range(pairs)]
    raw = {}
    for at, loop in enumerate(LOOPS):
        raw[loop] = [[round(side[at], 3) for side in row] for row in rows]
        print(told(loop, "STREAM", raw[loop]))
    print(json.dumps(raw))
    return 0


if __name__ == "__main__":
    sys.exit(main())
