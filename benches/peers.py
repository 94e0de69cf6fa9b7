"""SkyPilot and gpuhunt on the rows of `cargo xtask bench`, one task a process.

    python benches/peers.py TASK ROWS_DIR      TASK: sky-list, sky-optimize, gpuhunt-parse

The last line printed is JSON: the CPU seconds of the call alone and the rows that it went over.
HOME should be a scratch folder: SkyPilot reads its catalogue from ~/.sky/catalogs.
"""

import csv
import json
import os
import pathlib
import sys
import time

# gpuhunt file name -> SkyPilot cloud whose catalogue is one plain vms.csv
CLOUDS = {"lambdalabs": "lambda", "nebius": "do", "runpod": "fluidstack", "verda": "paperspace"}


def report(started, rows):
    print(json.dumps({"cpu_seconds": round(time.process_time() - started, 4), "rows": rows}))


def sky_name(name, memory):
    """A100 with 80 GB has a name of its own in SkyPilot."""
    return "A100-80GB" if (name, memory) == ("A100", "80.0") else name


def write_sky_catalog(rows_dir):
    """One SkyPilot row for an on-demand row and the spot row that follows it."""
    base = pathlib.Path.home() / ".sky/catalogs/v8"
    written = 0
    for source, cloud in CLOUDS.items():
        folder = base / cloud
        folder.mkdir(parents=True, exist_ok=True)
        with open(rows_dir / f"{source}.csv", newline="") as f, open(folder / "vms.csv", "w", newline="") as g:
            out = csv.writer(g)
            out.writerow("InstanceType AcceleratorName AcceleratorCount vCPUs MemoryGiB GpuInfo Price SpotPrice Region".split())
            for row in csv.DictReader(f):
                name = sky_name(row["gpu_name"], row["gpu_memory"])
                mib = float(row["gpu_memory"]) * 1024
                info = {
                    "Gpus": [{"Name": name, "Manufacturer": "NVIDIA", "Count": float(row["gpu_count"]),
                              "MemoryInfo": {"SizeInMiB": mib}}],
                    "TotalGpuMemoryInMiB": mib * float(row["gpu_count"]),
                }
                spot = row["spot"] == "True"
                # its tables hold one price a row: the spot rows get names of their own, so both sides have 128,000
                kind = row["instance_name"] + ("-spot" if spot else "")
                out.writerow([kind, name, float(row["gpu_count"]), float(row["cpu"]), float(row["memory"]), info,
                              row["price"], "", row["location"]])
                written += 1
    common = base / "common"
    common.mkdir(parents=True, exist_ok=True)
    names = sorted({sky_name(r["gpu_name"], r["gpu_memory"]) for r in csv.DictReader(open(rows_dir / "runpod.csv"))})
    lines = ["AcceleratorName,Clouds"] + [f"{name},\"{list(CLOUDS.values())}\"" for name in names]
    (common / "accelerators.csv").write_text("\n".join(lines) + "\n")
    return written


def prepared(rows_dir):
    """The catalogue is written once, by a process of its own: writing is not what is measured."""
    mark = pathlib.Path.home() / ".sky/rows.json"
    if not mark.exists():
        pid = os.fork()
        if pid == 0:
            rows = write_sky_catalog(rows_dir)
            mark.write_text(json.dumps(rows))
            os._exit(0)
        os.waitpid(pid, 0)
    return json.loads(mark.read_text())


def sky_list(rows_dir):
    rows = prepared(rows_dir)
    started = time.process_time()
    from sky import catalog

    found = catalog.list_accelerators(gpus_only=True, clouds=list(CLOUDS.values()))
    assert found, "SkyPilot lists nothing"
    report(started, rows)


def sky_optimize(rows_dir):
    rows = prepared(rows_dir)
    import sky
    from sky import check
    from sky.utils import registry

    clouds = [registry.CLOUD_REGISTRY.from_str(name) for name in CLOUDS.values()]
    # without credentials no cloud is enabled; the search itself is what is measured
    check.get_cached_enabled_clouds_or_refresh = lambda *_, **__: clouds
    started = time.process_time()
    for _ in range(2):  # the second one is warm
        started = time.process_time()
        with sky.Dag() as dag:
            task = sky.Task(run="true")
            task.set_resources(sky.Resources(accelerators="H100:8"))
        sky.optimizer.Optimizer.optimize(dag, quiet=True)
        assert task.best_resources is not None, "SkyPilot finds nothing"
    report(started, rows)


def gpuhunt_parse(rows_dir):
    os.environ["GPUHUNT_CATALOG_DIR"] = str(rows_dir)
    import gpuhunt

    catalog = gpuhunt.Catalog(balance_resources=False, auto_reload=False)
    started = time.process_time()
    found = catalog.query(provider=list(CLOUDS), min_gpu_count=1)
    assert found, "gpuhunt finds nothing"
    report(started, len(found))


if __name__ == "__main__":
    task, rows_dir = sys.argv[1], pathlib.Path(sys.argv[2])
    {"sky-list": sky_list, "sky-optimize": sky_optimize, "gpuhunt-parse": gpuhunt_parse}[task](rows_dir)
