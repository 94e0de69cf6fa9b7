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
value-wrong-kind = { $expected } is expected here, not `{ $found }`
value-number = a number such as 2.5
value-count = a whole number
value-yes-no = true or false
value-text = text in double quotes
value-list = a list in square brackets, such as ["a", "b"]
value-pair = two values in square brackets, such as [1, 2]
value-section = a section of its own, with a line for each field
value-nothing = nothing
value-size = a size such as "500GB", "1.5TB" or "16GiB"
value-time = a time such as "2027-01-28", "2027-01-28T09:00" or "2027-01-28T09:00+08:00"
value-duration = a duration such as "90s", "30min", "12h" or "30d"
value-amount = an amount with its currency, such as "12.50 USD"
value-field-missing = `{ $field }` is missing here
value-twice = this stands twice
value-not-a-size = `{ $text }` is not a size: write it like `500GB`, `1.5TB` or `16GiB`
value-not-a-duration = `{ $text }` is not a duration: write it like `90s`, `30min`, `12h` or `30d`
value-not-a-count = `{ $text }` is not a count: write it like `200`, `1.3M` or `2e12`
value-not-a-share = `{ $text }` is not a share from 0 to 1: write it like `6%` or `0.06`
value-share-expected = a share from 0 to 1 is expected here, such as `6%` or `0.06`
value-negative = `{ $text }` is negative: only zero or more makes sense here
value-not-a-currency = `{ $text }` is not a currency: three letters such as USD or CNY are needed
value-not-an-amount = `{ $text }` is not an amount: write it like `12.50 USD`
value-amount-too-large = `{ $text }` is more money than there is: amounts go up to 1e15
value-not-a-range = `{ $text }` is not a range: write it like `8`, `1..8`, `24GB..80GB` or `24GB..`
value-not-a-time = `{ $text }` is not a time for a start: write 2027-01-28, 2027-01-28T09:00 or 2027-01-28T09:00+08:00
value-not-a-date = `{ $text }` is not a date: write 2026-08-03, 2026-08 or 2026
value-names-no-gpu = `{ $text }` names no GPU: write it like `A100-80GB:8`
toml-unquoted = text must stand in double quotes
toml-unclosed = a quote or bracket that is opened here is not closed
toml-number = this is not a number as TOML writes it
toml-pair = a line must be `name = value`
toml-other = this is not TOML
toml-hint = In TOML a section begins with [name], each line below it is `name = value`, and text stands in double quotes.
rate-to-itself = the exchange rate from { $from } to { $to } is between a currency and itself
rate-in-future = the exchange rate from { $from } to { $to } is of { $date }, a day that has not come yet
rate-twice = the exchange rate from { $from } to { $to } is given twice: keep one
rate-contradiction = the exchange rate of { $rate } from { $from } to { $to } contradicts the others, which say { $other }: correct one of them
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
table-more-json = { $n } more: -o json has them all.
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
