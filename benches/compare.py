"""aiconfigurator and GenZ on a table of measurements, for `cargo xtask compare`.

    python benches/compare.py TOOL TABLE OUT DATA      TOOL: aiconfigurator, genz

TABLE has the columns of inference tables; OUT gets the same rows with `predicted,reason,cpu_seconds` appended.
`cpu_seconds` is that of the call of the row, blank where an earlier row asked for the same run. DATA is this
repository's `data` folder: GenZ takes any GPU and dense model as numbers, so it is given ours (dense tensor rates;
its own list has sparse ones and no card of a renter). Nothing is fetched from the network.
"""

import contextlib
import csv
import functools
import io
import logging
import pathlib
import re
import sys
import time
import warnings

# GPU of data/gpu/specs.csv -> system of aiconfigurator; those of GUESSED come without kernel tables
SYSTEMS = {
    "A100-SXM4-80GB": "a100_sxm", "H100-SXM5-80GB": "h100_sxm", "H200-SXM-141GB": "h200_sxm",
    "B200-SXM-180GB": "b200_sxm", "B300-SXM-270GB": "b300_sxm", "GB200 (per GPU)": "gb200",
    "GB300 (per GPU)": "gb300", "L40S": "l40s", "RTX PRO 6000 Blackwell Server": "rtx_pro_6000_server",
    "L4": "l4", "A30": "a30", "A100-PCIE-80GB": "a100_pcie", "H100-PCIE-80GB": "h100_pcie",
}
GUESSED = {"l4", "a30", "a100_pcie", "h100_pcie"}
# name in tables -> the name of the same network whose configuration the package carries
CONFIGURED = {
    "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Meta-Llama-3.1-8B",
    "meta-llama/Llama-3.1-70B": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "llama-3.1-70b": "meta-llama/Meta-Llama-3.1-70B",
    "nvidia/Qwen3-32B-NVFP4": "Qwen/Qwen3-32B",
    "nvidia/DeepSeek-R1-NVFP4": "deepseek-ai/DeepSeek-R1",
}
# checkpoints published in that format: the package infers the details better than its own list states them
NATIVE = {
    "openai/gpt-oss-120b": "fp4", "Qwen/Qwen3-235B-A22B-FP8": "fp8",
    "deepseek-ai/DeepSeek-R1": "fp8", "deepseek-ai/DeepSeek-V3": "fp8",
}
WEIGHTS = {"": "bf16", "f16": "bf16", "fp16": "bf16", "bf16": "bf16", "fp8": "fp8", "fp4": "fp4"}
# largest machine with module boards; a sample row above it multiplied two kinds of parallelism over the same GPUs
MODULES = 8


class Refused(Exception):
    """The tool has no answer for the row; the text is the reason shown."""


def rows_of(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


class Facts:
    """GPUs and models by the spellings that tables use."""

    def __init__(self, data):
        self.specs = {r["name"]: r for r in rows_of(data / "gpu/specs.csv")}
        self.aliases = {r["alias"].lower(): r for r in rows_of(data / "gpu/aliases.csv")}
        self.models = {}
        for row in rows_of(data / "models.csv"):
            for name in [row["name"], *row["aliases"].split("|")]:
                self.models[name.lower()] = row

    def gpu(self, name):
        if name in self.specs:
            return self.specs[name]
        alias = self.aliases.get(name.lower())
        if alias:
            for spec in self.specs.values():
                same = spec["model"] == alias["model"] and alias["form"] in ("", spec["form"])
                if same and alias["memory_gb"] in ("", spec["memory_gb"]):
                    return spec
        raise Refused("GPU not known")

    def model(self, name):
        name = name.split("/")[-1].lower()
        row = self.models.get(name) or self.models.get(name.removesuffix("-nvfp4").removesuffix("-fp8"))
        if row is None:
            raise Refused("model not known")
        return row


def answer(row, ttft_ms, tpot_ms, tokens_s):
    """The measured quantity out of what a tool predicts."""
    found = {"tpot_ms": tpot_ms, "ttft_ms": ttft_ms, "output_tok_s": tokens_s, "decode_tok_s": tokens_s}
    if found.get(row["metric"]) is None:
        raise Refused(f"metric {row['metric']}")
    return found[row["metric"]]


class Aiconfigurator:
    def __init__(self, facts):
        import aiconfigurator_core
        from aiconfigurator.sdk import perf_database

        # each call lists all tables on disk again, seconds of reading YAML: kept, as a service would
        for name in ("get_supported_databases", "get_latest_database_version", "get_version_slots"):
            setattr(perf_database, name, remembered(getattr(perf_database, name)))
        from aiconfigurator.cli.api import cli_estimate

        self.estimate = cli_estimate
        self.facts = facts
        package = pathlib.Path(aiconfigurator_core.__file__).parent
        self.configs = package / "model_configs"
        # its own list of the serving sweep says how each deployment was laid out; only rows of TABLE are looked up
        self.layouts = {r["id"]: r for r in rows_of(package / "systems/silicon_sample.csv") if r["mode"] == "agg"}

    def question(self, row):
        engine = row["engine"].split(" ")[0].lower()
        if engine not in ("trtllm", "vllm", "sglang"):
            raise Refused(f"engine {engine}")
        system = SYSTEMS.get(self.facts.gpu(row["gpu"])["name"])
        if system is None:
            raise Refused("GPU without tables")
        model = CONFIGURED.get(row["model"], row["model"])
        if not (self.configs / f"{model.replace('/', '--')}_config.json").exists():
            model = CONFIGURED.get(self.facts.model(row["model"])["name"], "")
        if not model:
            raise Refused("model configuration not in the package")
        layout = self.layouts.get(row["note"])
        tp, attention, moe_tp, moe_ep, quant = split(row), 1, None, None, {}
        if layout:
            tp = number(layout, "tp_size")
            attention = max(number(layout, "attention_dp_size"), 1)
            moe_tp, moe_ep = number(layout, "moe_tp_size"), number(layout, "moe_ep_size")
            if NATIVE.get(model) != row["precision"]:
                quant = {k: layout[k] for k in ("gemm_quant_mode", "moe_quant_mode") if layout[k]}
            # tp x ep of one machine, written as so many GPUs
            root = round((tp * attention) ** 0.5)
            if tp * attention > MODULES and root * root == tp * attention and not system.startswith("gb"):
                attention = root if attention > 1 else 1
                tp, moe_ep = root // attention, root if moe_ep > 1 else 1
                moe_tp = root // moe_ep
        elif WEIGHTS.get(row["precision"].lower()) == "fp8":
            quant = {"gemm_quant_mode": "fp8"}
        dense = not self.facts.model(row["model"])["experts"]
        return dict(
            model_path=model, system_name=system, backend_name=engine, tp_size=tp, attention_dp_size=attention,
            moe_tp_size=None if dense else moe_tp or None, moe_ep_size=None if dense else moe_ep or None,
            isl=int(row["input_len"]), osl=int(row["output_len"]),
            batch_size=max(round(float(row["batch"]) / attention), 1),
            database_mode="SOL" if system in GUESSED else "SILICON", **quant,
        )

    def ask(self, question):
        r = self.estimate(**question)
        return float(r.ttft), float(r.tpot), float(r.raw["tokens/s"])


class Genz:
    """The operator roofline of GenZ at full efficiency, its default."""

    def __init__(self, facts):
        from GenZ import decode_moddeling, prefill_moddeling
        from GenZ.Models.default_models import ModelConfig

        self.decode, self.prefill, self.config = decode_moddeling, prefill_moddeling, ModelConfig
        self.facts = facts

    def question(self, row):
        spec, model = self.facts.gpu(row["gpu"]), self.facts.model(row["model"])
        if model["experts"] or not model["kv_heads"]:
            raise Refused("dense models only")
        bits = WEIGHTS.get(row["precision"].lower())
        flops = spec["bf16_dense_tflops"] or spec["fp16_dense_tflops"]
        if bits is None or not flops:
            raise Refused(f"precision {row['precision']}")
        if row["metric"] == "ttft_ms":
            raise Refused("no queue, so no first token under load")
        gpus = split(row)
        layers = row["engine"].startswith("llama.cpp")  # splits by layer, the others by tensor
        link = float(spec["link_total_bidir_gbs"] or 0) / 2 or 2.0 ** int(spec["pcie_gen"]) * 2
        return dict(
            gpu=(float(flops), float(spec["memory_gb"]), float(spec["mem_bw_gbs"]), link),
            network=tuple(int(model[k]) for k in ("vocab", "hidden", "ffn", "layers", "heads", "kv_heads", "head_dim")),
            bits=bits, batch=max(round(float(row["batch"] or 1)), 1),
            prompt=int(row["input_len"] or 0), output=int(row["output_len"]),
            tp=1 if layers else gpus, pp=gpus if layers else 1,
        )

    def ask(self, q):
        flops, memory, bandwidth, link = q["gpu"]
        system = {"Flops": flops, "Memory_size": memory, "Memory_BW": bandwidth, "ICN": link, "real_values": True}
        vocab, hidden, ffn, layers, heads, kv_heads, head_dim = q["network"]
        model = self.config(
            model="table", vocab_size=vocab, hidden_size=hidden, intermediate_size=ffn, num_ffi=2,
            num_decoder_layers=layers, num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_dim,
        )
        same = dict(model=model, system_name=system, bits=q["bits"], tensor_parallel=q["tp"],
                    pipeline_parallel=q["pp"], parallelism_heirarchy=f"TP{{{q['tp']}}}_EP{{1}}_PP{{{q['pp']}}}")
        # a beam of one; the context half-way through the answer
        step = self.decode(batch_size=q["batch"], Bb=1, input_tokens=q["prompt"] + q["output"] // 2, **same)
        step_ms = float(step["Latency"])
        if not q["prompt"]:
            return None, step_ms, float(step["Throughput"])
        # in-flight batching: while a request writes its answer, the others of the batch have their prompts read
        prompt_ms = float(self.prefill(batch_size=1, input_tokens=q["prompt"], **same)["Latency"])
        tpot = step_ms + prompt_ms * (q["batch"] - 1) / q["output"]
        whole = q["batch"] * prompt_ms + q["output"] * step_ms
        return None, tpot, 1000 * q["batch"] * q["output"] / whole


def split(row):
    """GPUs that one copy of the model lies on: `4`; `2 adp0` in the column for tensor parallelism."""
    return int(float(row["n_gpu"] or 0)) or int(float((row["tp"] or "1").split()[0]))


def number(row, name):
    return int(float(row[name] or 0))


def remembered(function):
    seen = {}

    @functools.wraps(function)
    def call(*args, **kwargs):
        key = repr((args, sorted(kwargs.items())))
        if key not in seen:
            seen[key] = function(*args, **kwargs)
        return seen[key]

    return call


def reason(error):
    text = " ".join(str(error).split())
    if isinstance(error, Refused):
        return text
    if text.startswith("OOM") or "would not fit on chip" in text:
        return "does not fit in memory"
    if "should be divisible by tp_size" in text:
        return "tensor parallelism does not divide the heads"
    if "perf database error" in text:
        # what is missing, without paths and shapes
        missing = re.match(r"perf database error: ([\w ]+?) missing", text)
        quant = re.search(r"quant:? [\"'](\w+)", text)
        return f"no table of {missing[1] if missing else 'this'}" + (f" {quant[1]}" if quant else "")
    return f"{type(error).__name__}: {text[:80]}"


def main():
    tool, table, out, data = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    rows = rows_of(table)
    model = {"aiconfigurator": Aiconfigurator, "genz": Genz}[tool](Facts(data))
    asked = {}
    for row in rows:
        row.update(predicted="", reason="", cpu_seconds="")
        try:
            question = model.question(row)
            key = repr(question)
            if key not in asked:
                started = time.process_time()
                with contextlib.redirect_stdout(io.StringIO()):
                    try:
                        asked[key] = model.ask(question)
                    except Exception as error:
                        asked[key] = error
                row["cpu_seconds"] = round(time.process_time() - started, 6)
            if isinstance(asked[key], Exception):
                raise asked[key]
            row["predicted"] = answer(row, *asked[key])
        except Exception as error:  # whatever a tool stumbles over is its answer to that row
            row["reason"] = reason(error)
    with open(out, "w", newline="") as f:
        writer = csv.DictWriter(f, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
