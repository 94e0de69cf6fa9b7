# Performance: what fits and what bounds it.

perf-does-not-fit = does not fit: one GPU needs {$needed}, it offers {$available}
perf-no-rate = no {$what} is known for {$gpu}, so nothing is predicted
perf-not-a-training = The work is no training: it has no steps with gradients.
perf-sync-alone = Training { $model }: one GPU has no gradients to exchange.
perf-sync-share = Training { $model } (GPUs: { $gpus }): waiting for gradients takes { $share } % of a step ({ $low } to { $high } %). Arithmetic takes { $compute } and the exchange { $sync } at { $bus } GB/s, of a step of { $step }, in which some of it is hidden.
perf-sync-share-modelled = Training { $model } (GPUs: { $gpus }): the exchange of gradients takes { $sync } at { $bus } GB/s beside { $compute } of arithmetic, up to { $high } % of a step of { $step } where nothing hides it; what shows of it is within the arithmetic. No all-reduce was measured.
perf-wiring-single = One GPU: nothing to join.
perf-wiring-nvswitch = NVSwitch: each GPU reaches every other one alike (GPUs: { $gpus }). Pairs { $pairs } GB/s, all-reduce { $sum } GB/s.
perf-wiring-mesh = NVLink from each GPU to every other one, without switches (GPUs: { $gpus }). Pairs { $pairs } GB/s, all-reduce { $sum } GB/s.
perf-wiring-pairs = NVLink joins some pairs only; the others meet over PCIe, and what all do together is as slow as that (GPUs: { $gpus }). Pairs { $pairs } GB/s, all-reduce { $sum } GB/s.
perf-wiring-pcie = Loose PCIe: no NVLink between any two (GPUs: { $gpus }). Pairs { $pairs } GB/s, all-reduce { $sum } GB/s.
perf-wiring-unknown = What joins the GPUs ({ $gpus }) is not shown. Pairs { $pairs } GB/s, all-reduce { $sum } GB/s.
perf-no-spec = {$gpu} is not in the table of GPUs
perf-several-nodes = several machines: no formula for the network between them was fitted
perf-no-size = the row does not say how many bytes
perf-slice-copy = {$gpu} is a slice of a GPU: what it copies depends on its neighbours
perf-unsupported = {$gpu} (compute capability {$capability}) is too old: current software needs {$least}
perf-not-a-gpu = this machine has no GPU
perf-too-few-gpus = no way to split the model over the GPUs of this machine
perf-too-few-gpus-for-trial = one trial needs { $needed ->
    [one] { $needed } GPU
   *[other] { $needed } GPUs
}, the machines have {$available}
perf-tpot-unreachable = one output token takes {$best} ms at best, {$limit} ms are allowed
perf-ttft-unreachable = reading one prompt takes {$best} ms at best, {$limit} ms are allowed
perf-context = a request of {$needed} tokens is longer than the model's context of {$context}
perf-model-dimensions = {$model}: kind or dimensions do not suit this job (layers, hidden size, heads or forward GFLOPs are missing)
perf-ambiguous-gpu = the offer does not say exactly which GPU it is; predicted as {$gpu}, the slowest that fits
perf-spec-unverified = the data sheet figures of {$gpu} are not verified
perf-slice = a slice of a GPU: {$share} of its compute and bandwidth is assumed
perf-weight-only = {$gpu} has no units for this number format: it saves memory, the arithmetic runs in 16 bit
perf-no-bf16 = {$gpu} has no BF16: FP16 with loss scaling is assumed
perf-no-matrix-units = no matrix units are known for {$gpu}: its plain FP32 rate is used
perf-measured = measured values of the machine replace table values
perf-mixture = mixture of experts: few measurements exist, the range is wide
perf-network-assumed = the network between the machines is not known; {$gbps} Gbit/s are assumed
perf-pcie-sync = GPUs exchange data over PCIe: about {$lost} of the time goes to it, and on a badly wired host far more; measure with the probe
perf-pcie-tensor-parallel = the model is split over PCIe: the speed depends on how the host is wired; measure with the probe
perf-checkpointing-chosen = activations are recomputed so that the job fits or runs faster
perf-memory-nominal = usable GPU memory is not known; the nominal size is used
perf-assumed-utilisation = rests on an assumed utilisation of {$share} of the reference GPU
perf-vcpus-unknown = the number of CPU cores is not known: whether they can feed the GPUs was not checked
perf-cpu-feed = the CPU cores feed {$fed} samples per second, the GPUs could take {$demand}: they stand idle {$idle} of the time
perf-network-feed = the network feeds {$fed} samples per second, the GPUs could take {$demand}: they stand idle {$idle} of the time
perf-storage-feed = the storage feeds {$fed} samples per second, the GPUs could take {$demand}: they stand idle {$idle} of the time
perf-ttft-unloaded = reading a prompt takes {$prefill} on an idle machine; the wait under load is not predicted
perf-render-few-runs = the benchmark score rests on { $n ->
    [one] { $n } run
   *[other] { $n } runs
} only
perf-render-other-engine = scores are of Blender Cycles; {$engine} may scale differently
perf-no-rt-cores = {$gpu} has no ray-tracing cores
perf-no-tuned = no run on a vendor-tuned stack is known for `{ $what }`; tuned speeds exist for serving language models and for training ResNet-50 in mixed precision. Without --tier tuned the renter's speed is predicted.
perf-tuned-serving = what tuned servers reach (mean of TensorRT-LLM, vLLM and SGLang set up by vendors); default settings give less
perf-tuned-training = what vendors reach with a stack set up by hand (MLPerf Training); CPUs and storage are taken to keep up
perf-no-batch = the row does not say batch and number of GPUs
perf-other-stack = the result of `{ $model }` comes from another software stack than the benchmark's usual one
