# What `predict` says.

predict-title = Predicted speed
predict-col-machine = Machine
predict-col-rate = { $unit }/s
predict-col-low = Low
predict-col-high = High
predict-col-bound = Bound by
predict-col-duration = Duration
predict-col-memory = Memory of one GPU
predict-refused = cannot do it
predict-range-note = Low and high hold 80 % of measured values. GPUs named alone have no CPUs, disks or network: what feeds them is not counted; name a machine of the catalog to count it.
predict-needs-gpu = no GPU is named
hint-predict-gpu = Name GPUs with --gpu H100:8 (may be repeated), or a machine of the catalog with --machine aws/p5.48xlarge.
predict-table-summary = { $predicted } of { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
} predicted.
predict-col-family = Formula
predict-col-rows = Rows
predict-col-measured = Measured
predict-col-median = Median error
predict-col-p90 = 90 % below
predict-col-inside = In range
predict-refused-heading = Not predicted (rows: why)
predict-refused-more = { $rows } more rows for other reasons: see -o json.
predict-csv-note = -o csv gives every row with predicted, low, high and reason.
error-measurements = { $file } line { $line } is not a table of measurements: { $what }
hint-measurements = Three sets of columns are read: gpu, model, metric, input_len ... (inference); gpu, model, metric, global_batch ... (training); device, metric, blender_version ... (rendering). docs/reference/formats.md lists them.
perf-unknown-metric = no formula answers the metric `{ $metric }`
perf-no-anchor = nothing measured is known of `{ $workload }` to scale from
perf-model-unknown = `{ $model }` is not in the table of models
perf-missing-value = the row leaves `{ $column }` blank, which this prediction needs
perf-altered-run = the network was altered, by pruning or sparsity: { $note }
perf-out-of-range = the numbers of this row are beyond any machine: no `{ $metric }` follows from them
predict-measured-other = What { $file } measured is of { $what } and says nothing of { $gpu }: not used there.
