# Workloads, and words that every part uses.

span-ms = { $n } ms
span-s = { $n } s
span-min = { $n } min
span-min-s = { $m } min { $s } s
span-h = { $n } h
span-h-min = { $h } h { $m } min
span-d = { $n } d
span-d-h = { $d } d { $h } h

error-at = { $place }: { $problem }
hint-did-you-mean = Did you mean `{ $word }`?
hint-known-words = Known here: { $words }.

workload-empty = the workload is empty
workload-hint-empty = Start from a file in `examples/`, or give the fields as flags; `lessee schema workload` describes them all.
workload-missing = `{ $field }` is missing
workload-hint-flag = Add it to the file, or give { $flag }.
workload-not-positive = `{ $field }` must be greater than zero, not { $value }
workload-negative = `{ $field }` must be zero or more, not { $value }
workload-bad-value = this value does not fit: { $detail }
workload-unknown-field = `{ $field }` is not a known field
workload-unknown-word = `{ $field }` is not a known word here
workload-unknown-gpu = no GPU is known by the name `{ $name }`
workload-unknown-model = no model is known by the name `{ $name }`
workload-hint-custom-model = `lessee schema models` lists the known models; for another one write model = "custom" and give its dimensions in a [model] section.
workload-licence-price = licence { $index } (`{ $name }`) needs exactly one price: per_node_hour or per_node_month
workload-bad-location = `{ $value }` is not a place: write `office`, `internet`, or provider:region such as `aws:us-east-1`
workload-min-over-max = min_nodes ({ $min }) is greater than max_nodes ({ $max })
workload-bad-rate = the exchange rate from { $from } to { $to } must be greater than zero
workload-wrong-section = there is a [{ $section }] section, but kind is `{ $kind }`

purchase-on-demand = on demand
purchase-spot = spot
purchase-month = by the month
purchase-year-1 = 1 year
purchase-year-3 = 3 years
purchase-mix = mix

confidence-verified = verified
confidence-secondary = from a third party
confidence-general = common knowledge
confidence-unverified = not verified

basis-measured = measured
basis-quoted = quoted
basis-published = published
basis-modelled = modelled
basis-assumed = assumed

table-hidden-columns = Not shown for lack of width: { $columns }. A wider terminal, --columns or -o csv shows them.
table-more = { $n } more: --limit N or --all shows them, and so does -o csv.

line-compute = compute
line-boot = boot
line-setup = set-up
line-idle = idle
line-block-storage = block storage
line-object-storage = object storage
line-requests = requests
line-ingress = data in
line-cross-region = between regions
line-egress = data out
line-public-ip = public IP
line-interruption = interruptions
line-commitment-unused = unused commitment
line-support = support
line-labour = labour
line-licence = licences
line-tax = tax
line-exchange = exchange

bound-compute = compute
bound-memory-bandwidth = GPU memory bandwidth
bound-gradient-sync = gradient sync
bound-cpu-feed = CPU feed
bound-storage-feed = storage feed
bound-network = network
workload-out-of-range = `{$field}` must be between {$least} and {$most}, not {$value}
workload-too-large = `{$field}` = {$value} is too large to describe a real job
