"""The public simulator of Can't Be Late and SkyNomad (`sky_spot`) on the jobs of `lessee simulate`.

    python benches/spot_peer.py LESSEE [TABLES]

LESSEE is the binary. TABLES holds traces/spot/aws-2022-10; left out, LESSEE_TABLES names it, else it is ../shared/data
beside the repository. `sky_spot` is on no package index: it is imported where Python finds it, or from the folder that
LESSEE_SKY_SPOT names. Without simulator or records the script says what is missing and ends with 0; with 1 where a job
costs something else here and there.

Printed for each policy and deadline: the mean cost, the largest difference of one job, CPU ms a job (of lessee also
that of the replay alone), and sky_spot's over lessee's.
"""

import contextlib
import importlib.util
import io
import json
import logging
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import types

SERIES = "us-west-2b_v100_1"  # the peer takes the on-demand price from the name of the file
WORK_H, OVERHEAD_H, DEADLINES_H = 48, 0.1, (52, 70)
ON_DEMAND, SPOT = 3.06, 0.9731  # those of the peer are constants of its code; other costs would show here as a difference
STARTS = 36
AGREE = 1e-4  # USD
RUNS = 5
# one replay is too short to be told from the start of a process: the same jobs again and again, as long as an argument
# may be (Linux: 128 KiB)
ARGUMENT = 100_000
GET_IT = """\
    git clone --depth 1 https://github.com/FrontierCS/Frontier-CS
    export LESSEE_SKY_SPOT=$PWD/Frontier-CS/research/problems/cant_be_late/common/cant-be-late-simulator"""
# the peer imports these, for its command line, its progress bar and its uploads; no replay calls them
ONLY_IMPORTED = ("wandb", "ray", "openai", "pulp", "tqdm", "configargparse", "colorama", "pandas", "matplotlib")


def skip(why):
    print(f"    skipped, spot simulator: {why}")
    sys.exit(0)


def import_peer():
    folder = os.environ.get("LESSEE_SKY_SPOT")
    if folder:
        if not (pathlib.Path(folder) / "sky_spot").is_dir():
            sys.exit(f"LESSEE_SKY_SPOT: there is no sky_spot/ in {folder}")
        sys.path.insert(0, folder)
    if importlib.util.find_spec("sky_spot") is None:
        skip(f"sky_spot (MIT, Python) is not here. A folder of a public repository has it:\n{GET_IT}")
    for name in ONLY_IMPORTED:
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].run = None  # wandb: no run to log into
    try:
        import sky_spot.env
        import sky_spot.simulate
        import sky_spot.strategies.strategy
        import sky_spot.task
        import sky_spot.utils
    except ModuleNotFoundError as error:
        skip(f"sky_spot needs the Python package {error.name}")
    return sky_spot


def policies(sky_spot):
    """Greedy and Uniform Progress (Wu et al., NSDI 2024) on the peer's engine, by lessee's names.

    The engine has a guard of its own for the last moment, so only the safety net of the paper is here. Work done is
    added up as it comes: the peer sums a list of all ticks in each tick, which is not for a policy to pay.
    """
    kind = sky_spot.utils.ClusterType

    class Netted(sky_spot.strategies.strategy.Strategy):
        def reset(self, env, task):
            super().reset(env, task)
            self.done = 0.0

        def ticks_needed(self, starts):
            return math.ceil((self.task_duration - self.done + starts * self.restart_overhead) / self.env.gap_seconds)

        def _step(self, last_cluster_type, has_spot):
            self.done += self.task_done_time[-1]
            if self.task_duration - self.done < 1e-3:
                return kind.NONE
            running = self.env.cluster_type  # not that of the last tick: spot may be gone since
            left = math.floor((self.deadline - self.env.elapsed_seconds) / self.env.gap_seconds)
            if running != kind.SPOT and self.ticks_needed(starts=2) >= left:
                return kind.ON_DEMAND
            return self.choose(running, has_spot)

    class Greedy(Netted):
        NAME = "lessee_bench_greedy"

        def choose(self, running, has_spot):
            return kind.SPOT if has_spot else kind.NONE

    class UniformProgress(Netted):
        NAME = "lessee_bench_uniform_progress"

        def line(self, seconds):
            return seconds * self.task_duration / self.deadline

        def choose(self, running, has_spot):
            elapsed = self.env.elapsed_seconds
            if running == kind.ON_DEMAND:
                ahead = self.done > self.line(elapsed + 2 * self.restart_overhead)
                return kind.SPOT if has_spot and ahead else kind.ON_DEMAND
            if has_spot:
                return kind.SPOT
            return kind.ON_DEMAND if self.done < self.line(elapsed) else kind.NONE

    return {"greedy": Greedy, "uniform-progress": UniformProgress}


def find_record(argument):
    beside = pathlib.Path(__file__).resolve().parent.parent.parent / "shared/data"
    tables = pathlib.Path(argument or os.environ.get("LESSEE_TABLES") or beside)
    record = tables / "traces/spot/aws-2022-10" / f"{SERIES}.json"
    if not record.exists():
        skip(f"there is no traces/spot/aws-2022-10 in {tables} (LESSEE_TABLES names another folder)")
    return record


def inverted(record, folder):
    """The record as the peer reads it: 1 is *not* available there. What nobody measured is not available, as here."""
    with open(record) as f:
        trace = json.load(f)
    assert trace["metadata"]["polarity"] == "1=available", "the record has another polarity"
    written = folder / record.name
    data = [0 if up == 1 else 1 for up in trace["data"]]
    written.write_text(json.dumps({"metadata": {"gap_seconds": trace["metadata"]["gap_seconds"]}, "data": data}))
    return written, trace["metadata"]["gap_seconds"], trace["metadata"]["first_tick"], len(data)


def on_peer(sky_spot, strategy, trace, gap, deadline, starts, folder):
    """Costs in the order of the starts, and CPU seconds a job; reading the record is left out."""
    envs = []
    for start in starts:
        # the peer rounds hours up to a tick: half a tick less keeps a rounding error from adding one
        hours = max(start - 0.5, 0) * gap / 3600
        envs.append(sky_spot.env.TraceEnv(str(trace), hours))
    args = types.SimpleNamespace(deadline_hours=deadline, restart_overhead_hours=[OVERHEAD_H])
    best = math.inf
    for _ in range(RUNS):
        task = sky_spot.task.SingleTask({"duration": WORK_H})
        started = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            stats = sky_spot.simulate.simulate(
                envs=envs, strategy=strategy(args), task=task, trace_file=str(trace), deadline_hours=deadline,
                restart_overhead_hours=[OVERHEAD_H], env_start_hours=0, output_dir=str(folder), kwargs={},
                output_filename="peer.json", silent=True, dump_history=False,
            )
        best = min(best, (time.process_time() - started) / len(starts))
    return stats["costs"], best


class Lessee:
    """`lessee simulate` with none of the user's settings."""

    def __init__(self, binary, record, home):
        self.command = [binary, "simulate", "--trace", str(record), "--job-hours", str(WORK_H),
                        "--overhead-hours", str(OVERHEAD_H), "--spot-price", str(SPOT), "--on-demand-price",
                        str(ON_DEMAND)]
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("LESSEE_", "LC_", "XDG_"))}
        self.env.update(HOME=str(home), LANG="C.UTF-8", TZ="UTC", NO_COLOR="1")

    def run(self, policy, deadline, starts, output):
        more = ["--policy", policy, "--deadline-hours", str(deadline), "--start-tick", ",".join(map(str, starts)),
                "--output", output]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(self.command + more, env=self.env, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"lessee simulate ended with {done.returncode}\n{done.stderr}")
        return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def costs(self, policy, deadline, starts):
        text, _ = self.run(policy, deadline, starts, "json")
        found = {job["start_tick"]: float(job["cost"]["amount"])
                 for job in json.loads(text)["jobs"] if job["policy"] == policy}
        return [found[start] for start in starts]

    def cpu_seconds(self, policy, deadline, starts):
        """Of one job, and of its replay alone; and the jobs of a run.

        A job: a run over many less a run over one, so that start and reading do not count. `simulate` replays each
        job on on-demand too, to measure savings against: a run of that alone is taken away for the second figure.
        """
        again = ARGUMENT // len(",".join(map(str, starts)) + ",")
        jobs = len(starts) * again
        many, one, other = [math.inf] * 3
        for _ in range(RUNS):  # in turn: other work on the machine then falls on all three
            many = min(many, self.run(policy, deadline, starts * again, "table")[1])
            other = min(other, self.run("on-demand", deadline, starts * again, "table")[1])
            one = min(one, self.run(policy, deadline, starts[:1], "table")[1])
        return (many - one) / (jobs - 1), (many - other) / jobs, jobs


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    binary = pathlib.Path(sys.argv[1]).resolve()
    sky_spot = import_peer()
    record = find_record(sys.argv[2] if len(sys.argv) == 3 else None)
    logging.disable(logging.CRITICAL)  # the peer reports each act of its guard: not a time to charge it for
    build = binary.parent.name if binary.parent.name in ("debug", "release", "dist") else "unknown"
    print(f"    spot replay: {SERIES}, {WORK_H} h of work, {OVERHEAD_H} h a start, {STARTS} start ticks; "
          f"sky_spot {sky_spot.__version__}, Python {sys.version.split()[0]}; lessee: {build} build")
    print(f"    {'policy':<17} {'deadline':>8} {'sky_spot':>9} {'lessee':>9} {'largest':>9} "
          f"{'sky_spot':>9} {'lessee':>8} {'alone':>8} {'ratio':>6}")
    print(f"    {'':<17} {'h':>8} {'USD':>9} {'USD':>9} {'diff. USD':>9} {'CPU-ms':>9} {'CPU-ms':>8} {'CPU-ms':>8}")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        trace, gap, first, ticks = inverted(record, folder)
        lessee = Lessee(str(binary), record, folder)
        for name, strategy in policies(sky_spot).items():
            for deadline in DEADLINES_H:
                last = ticks - math.ceil(deadline * 3600 / gap) - 2  # the peer looks two ticks past the end
                starts = [first + (last - first) * i // (STARTS - 1) for i in range(STARTS)]
                theirs, their_cpu = on_peer(sky_spot, strategy, trace, gap, deadline, starts, folder)
                ours = lessee.costs(name, deadline, starts)
                our_cpu, alone, jobs = lessee.cpu_seconds(name, deadline, starts)
                off = max(abs(a - b) for a, b in zip(theirs, ours, strict=True))
                worst = max(worst, off)
                print(f"    {name:<17} {deadline:>8} {sum(theirs) / STARTS:>9.4f} {sum(ours) / STARTS:>9.4f} "
                      f"{off:>9.1e} {their_cpu * 1e3:>9.2f} {our_cpu * 1e3:>8.4f} {alone * 1e3:>8.4f} "
                      f"{their_cpu / our_cpu:>6,.0f}")
    print(f"    costs as means of a job; the largest difference of a job is {worst:.1e} USD (may be {AGREE:.0e})\n"
          f"    CPU of one job, best of {RUNS} runs: sky_spot in a warm process, the record read before; lessee a run of "
          f"{jobs:,}\n    jobs less a run of one, with the on-demand job that it replays beside each; alone: without that")
    if worst > AGREE:
        sys.exit("the costs differ")


if __name__ == "__main__":
    main()
