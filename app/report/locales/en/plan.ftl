# The plan: why offers fall away, what to know about the rest.

reject-provider = the provider is excluded by the workload
reject-region = the region is not among those the workload allows
reject-not-a-gpu = it is not a GPU (another kind of accelerator); lessee cannot predict it
reject-retired = the provider lists it as retired or preview; it can no longer (or not yet) be ordered
reject-gpu = the workload asks for other GPUs
reject-gpu-memory = memory per GPU is outside the range the workload asks for
reject-interconnect = its GPUs are connected more weakly than the workload demands, or nobody states how
reject-cpus = too few CPU cores per GPU
reject-ram = too little memory per GPU on the host
reject-price-cap = its price is above the cap
reject-price-missing = it has no usable price (missing or zero)
reject-spot = spot machines are not allowed by the workload
reject-purchase = this way to pay is not allowed by the workload
reject-nodes = it takes { $needed ->
    [one] { $needed } machine
   *[other] { $needed } machines
}; at most { $allowed ->
    [one] { $allowed } is
   *[other] { $allowed } are
} allowed
reject-deadline = it takes {$needed}; the deadline is {$allowed}
reject-budget = it costs {$needed}; the budget is {$allowed}
reject-never-finishes = interruptions come faster than it can make progress
warn-compliance-ask = Ask the provider about: {$words}. lessee cannot tell from price lists.
warn-labour-not-counted = Labour is not in the totals: give money.labour_rate to count it.
warn-probe-empty = The probe report lists no GPU; nothing could be taken from it.
warn-price-modelled = The price is modelled ({$source}), not published: check it before you rely on it.
warn-price-stale = The price is of {$date}: check it before you rely on it.
warn-price-unverified = The price comes from a third party ({$source}).
warn-machine-unverified = What is inside this machine was not verified with the provider.
warn-spot-risk-assumed = Nobody publishes how often this machine is taken back; {$per_hour} % per hour is assumed.
warn-spot-outlier = Its spot price of {$price} per GPU and hour is {$percent} % of the median ({$median}) of {$count} spot prices of this GPU: find out whether it can really be had before you rely on it.
warn-spot-without-checkpoint = Spot without checkpoints: an interruption loses everything.
warn-deadline-risk = One time in ten it takes {$p90}, longer than the deadline of {$allowed}.
warn-budget-risk = One time in ten it costs {$p90}, more than the budget of {$allowed}.
warn-cpus-unknown = Nobody states its CPU cores.
warn-ram-unknown = Nobody states its memory.
warn-commitment = Committed for { $months -> 
    [one] one month
   *[other] {$months} months
 }, used or not.
warn-stopped-is-billed = Standing stopped is billed here, or nobody says that it is not.
warn-at-least = Some costs are not published: the total is a lower bound.
unranked-ask-for-quote = no published price: ask for a quote
unranked-price-is-a-range = only a price range is known: ask for a quote
unranked-price-unverified = the price is not verified: answer what its import asked and import it again, or --constraints-allow-unverified ranks it
unranked-machine-unverified = what is inside the machine is not verified
unranked-price-undated = the price has no date
unranked-price-too-old = the price is too old to rank: ask for a current one
unranked-price-modelled = the price is only modelled: ask for a quote
unranked-no-exchange-rate = no exchange rate: give one with --money-rates

plan-title = Plan
plan-nothing = Nothing in the catalog can do this job as described. The reasons are below; --why-not OFFER names them for one offer.
plan-answer = {$name}: rent {$nodes} x {$machine} ({$gpu}) from {$provider} in {$region}, {$purchase}: {$total} in total, {$time}.
plan-answer-at-least = {$name}: rent {$nodes} x {$machine} ({$gpu}) from {$provider} in {$region}, {$purchase}: at least {$total} in total, {$time}.
plan-legend = ~ = not verified with the provider; ≥ = some costs are not published. lessee plan ... --explain 1 shows where every number comes from.
plan-front = Not beaten in cost, time and risk at once
plan-front-ranks = Ranks: {$ranks}
plan-bill-of-first = The bill of #1
plan-at-least = "?" = not published. The total counts nothing for it and is a lower bound.
plan-warnings = Mind
plan-unranked = Not ranked
plan-rejected = Dropped: { $count ->
    [one] { $count } offer
   *[other] { $count } offers
}
plan-assumptions = Assumed (change any of them in the workload or by flag)
plan-assumptions-derived = * follows from the other fields
plan-assumed = {$field} was not given; {$value} is assumed
plan-derived = {$field} was not given; {$value} follows from the other fields
plan-and-more = {" "}and {$count} more
plan-footer = Catalog: { $offers ->
    [one] { $offers } offer
   *[other] { $offers } offers
}, newest price of {$date}. Prices change: look at the date of each.
plan-col-offer = Offer
plan-col-gpu = GPUs
plan-col-purchase = Paid
plan-col-total = Total
plan-col-p90 = Total p90
plan-col-duration = Time
plan-col-bound = Bound by
plan-col-price = Price/h
plan-col-date = Price of
plan-per-run = Per run
plan-per-1M-tokens = /1M out tokens
plan-per-frame = /frame
plan-per-trial = /trial
plan-per-gpu-hour = /GPU-hour
unit-token = tokens
unit-sample = samples
unit-frame = frames
unit-trial = trials
unit-gpu-hour = GPU-hours
rejected-provider-not-wanted = { $n } from providers that the workload excludes
rejected-region-not-wanted = { $n } in other regions
rejected-not-a-gpu = { $n ->
    [one] { $n } is not a GPU
   *[other] { $n } are not GPUs
}
rejected-machine-not-orderable = { $n ->
    [one] { $n } is retired or preview
   *[other] { $n } are retired or preview
}
rejected-gpu-not-wanted = { $n ->
    [one] { $n } has other GPUs than asked for
   *[other] { $n } have other GPUs than asked for
}
rejected-gpu-memory-out-of-range = { $n ->
    [one] { $n } has other GPU memory than asked for
   *[other] { $n } have other GPU memory than asked for
}
rejected-interconnect-too-weak = { $n ->
    [one] { $n } connects its GPUs too weakly
   *[other] { $n } connect their GPUs too weakly
}
rejected-too-few-cpus = { $n ->
    [one] { $n } has too few CPU cores
   *[other] { $n } have too few CPU cores
}
rejected-too-little-ram = { $n ->
    [one] { $n } has too little memory
   *[other] { $n } have too little memory
}
rejected-price-above-cap = { $n ->
    [one] { $n } costs more per hour than the cap
   *[other] { $n } cost more per hour than the cap
}
rejected-price-missing = { $n ->
    [one] { $n } has no usable price
   *[other] { $n } have no usable price
}
rejected-spot-not-allowed = { $n ->
    [one] { $n } is spot only
   *[other] { $n } are spot only
}
rejected-purchase-not-wanted = { $n ->
    [one] { $n } is sold in other ways
   *[other] { $n } are sold in other ways
}
rejected-too-many-nodes = { $n } would need too many machines
rejected-deadline-missed = { $n ->
    [one] { $n } misses the deadline
   *[other] { $n } miss the deadline
}
rejected-over-budget = { $n ->
    [one] { $n } costs more than the budget
   *[other] { $n } cost more than the budget
}
rejected-never-finishes = { $n } would be interrupted faster than progress is made
explain-title = Where the numbers of #{$rank} come from
explain-machine = Machine: {$gpu}, {$vcpus} vCPU, {$ram} GiB memory, GPUs linked by {$link}, network {$network} Gbit/s
explain-price = Price: {$price} per machine and hour ({$purchase}), {$source}, {$date}, {$confidence}
explain-speed = Speed
explain-rate = {$rate} {$unit} per second (between {$low} and {$high}), bound by {$bound}
explain-duration = Time: {$median}; nine times in ten below {$p90}; { $interruptions ->
    [one] { $interruptions } interruption
   *[other] { $interruptions } interruptions
} expected
explain-layout = Layout: data parallel {$dp}, tensor parallel {$tp}, pipeline {$pp}, ZeRO stage {$zero}, batch {$batch}
explain-memory = Memory of one GPU
explain-bill = The bill, line by line
explain-months-hours = Months: { $hours } h each, because no start was given (start = "2027-01-28" or --start counts the provider's calendar months)
explain-months-calendar = Months: those of the calendar in { $zone } ({ $confidence }), where this provider's billing months begin; the job starts there at { $start }
explain-col-term = Term
explain-col-value = Value
explain-col-formula = Formula
explain-col-source = Source
memory-weights = Weights
memory-gradients = Gradients
memory-optimizer = Optimizer
memory-activations = Activations
memory-kv-cache = KV cache
memory-overhead = Runtime and buffers
memory-sum = Together {$total} of {$usable} usable
bill-col-kind = Kind
bill-col-what = What
bill-col-quantity = Quantity
bill-col-unit-price = Unit price
bill-col-amount = Amount
bill-col-basis = Basis
bill-col-note = Note
bill-total = Total
bill-at-least = at least
unknown = not stated
why-not-title = Why not?
why-not-unranked = can do the job, but is not ranked: {$reason}
why-not-unranked-total = can do the job for about {$total}, but is not ranked: {$reason}
why-not-behind = can do the job: { $nodes ->
    [one] { $nodes } machine
   *[other] { $nodes } machines
}, {$purchase}, {$total}: {$factor} times the best, {$time} against {$best_time}
why-not-ranked = is in the plan: rank {$rank}, { $nodes ->
    [one] { $nodes } machine
   *[other] { $nodes } machines
}, {$purchase}, {$total}
why-not-unknown-offer = Nothing in the catalog is called {$offer}.
plan-unknown-rank = There is no rank {$rank}: the plan has { $count ->
    [one] { $count } option
   *[other] { $count } options
}.
plan-needs-file = Name a workload file (- = standard input), or give --kind and its fields as flags.
plan-probe-unreadable = {$file} is not a probe report: {$detail}
file-too-large = {$path} is larger than {$largest}: this is not the kind of file that is expected here
file-not-utf8 = {$path} is not UTF-8 text (first wrong byte at offset {$offset})
hint-utf8 = Save it as UTF-8.
rejected-does-not-fit = { $n ->
    [one] { $n } does not hold it in its memory
   *[other] { $n } do not hold it in their memory
}
rejected-no-spec = { $n ->
    [one] { $n } has a GPU whose data are not known
   *[other] { $n } have a GPU whose data are not known
}
rejected-no-rate = { $n ->
    [one] { $n } has a GPU that cannot compute in this number format, or nobody says how fast
   *[other] { $n } have a GPU that cannot compute in this number format, or nobody says how fast
}
rejected-unsupported = { $n } cannot run this kind of work
rejected-model-unsuitable = { $n ->
    [one] { $n } is not suited to this model
   *[other] { $n } are not suited to this model
}
rejected-tpot-unreachable = { $n ->
    [one] { $n } is too slow for the time per token
   *[other] { $n } are too slow for the time per token
}
rejected-ttft-unreachable = { $n ->
    [one] { $n } is too slow for the first token
   *[other] { $n } are too slow for the first token
}
rejected-context-too-long = { $n } cannot hold a context this long
plan-col-nodes = Machines
unranked-region-unknown = the provider does not say in which region it stands: ask
warn-nearest-budget = The cheapest way to do it costs {$total}.
warn-nearest-deadline = The fastest way that remains takes {$time}.
warn-line-unverified = Part of its bill rests on tariffs that are not verified.
plan-why-first = Options with a lower total are listed, but not first: their price is modelled or old, or more of their bill is not published (?), so that they may well end up dearer.
per-instance-hour = instance-hours
per-GB = GB
per-GiB = GiB
per-GB-month = GB-months
per-GiB-month = GiB-months
per-hour = hours
per-job = job
per-month = months
per-node-hour = machine-hours
per-node-month = machine-months
per-spend = of the spend
per-1000-requests = thousand requests
plan-nothing-ranked = Nothing can be ranked. What could do the job is listed below with what is missing to compare it.
plan-limit-without-rate = The limit of {$limit} cannot be compared with totals in {$to}: there is no exchange rate from {$from}.
hint-give-rate = Give a dated rate: {$flag}

# Spot, replayed on records.
plan-spot = Spot
spot-replayed = policy {$policy}: {$mean} on average, nine times in ten below {$p90}; in time for {$share} % of the starts on the record (replayed: {$starts}), { $interruptions ->
    [one] { $interruptions } interruption
   *[other] { $interruptions } interruptions
} on average
spot-hedged = policy {$policy}, needed machines: {$machines}. {$mean} on average, nine times in ten below {$p90}; paid for on average: {$spot} on spot, {$instead} on demand; all that are needed answer {$ready} % of the time on the record
explain-spot-hedge = Spot machines beyond those needed: {$spare}; always on demand: {$floor}. It is the cheapest of the hedges tried that is whole long enough. Spot machines taken away over the whole job: {$lost}. The record lasts {$record}; parts of it that "nine times in ten" is taken over: {$parts}
spot-rates = No record speaks for these; over the range of their rates of interruption the bill is: { $list }
spot-rates-refused = Their records could not be replayed (see the warnings); over the range of their rates of interruption the bill is: { $list }
spot-rate = no record speaks for it; over the range of its rate of interruption ({$basis}) between {$low} and {$high}
spot-rate-open = no record speaks for it; over the range of its rate of interruption ({$basis}) from {$low} to never finished
explain-spot-rule = A record speaks for an offer if it names its provider, its region or zone, and its machine, or its GPU and their number.
explain-spot-source = Record: {$source}
explain-spot-deadline = Deadline of the replay: {$deadline} ({$assumed}); the record holds it {$times} times
spot-deadline-assumed = taken, because the workload sets none
spot-deadline-own = the workload's, less set-up
explain-spot-time = On average: {$lost} paid without lasting progress, {$waiting} waiting for spot, {$instead} on demand in its place
explain-spot-save = Save a checkpoint every {$every} of work, if a save ({$save}) stops it; every {$background}, if it goes on in the background: there saves, their requests and the work lost cost least. {$notice}
spot-notice-none = No warning before the machine is taken is known.
spot-notice-fits = A save that begins with the provider's warning is done in time, if the job reacts to it; do not count on it.
spot-notice-short = The provider's warning is too short for a save.
warn-spot-not-replayed = A record speaks for it but could not be replayed: {$why}.
unranked-spot-not-replayed = a record speaks for it, but only the cheapest spot options are replayed: narrow the search to see it
unranked-spot-does-not-pay = on its record spot is not clearly cheaper than on demand
warn-spot-short-record = The record holds the deadline only {$times} times: it says little of other weeks.
warn-spot-holes = {$percent} % of the replayed time nobody measured; it counts as not available.
spot-refused-none = there are no records
spot-refused-no-on-demand = no price on demand in the same currency is known to fall back on
spot-refused-brief = it is too short to tell one part of it from another
spot-refused-deadline = not even on demand is in time
spot-refused-short = it lasts {$have}, the deadline {$need}
spot-refused-gang = in { $zone } the recorder asked for at most { $asked } at once, so nothing is known of { $gang }
spot-refused-long = in { $zone } a time in the record is wrong: length in ticks { $ticks }
trace-speaks-for-hidden = { $zone } ({ $source }) speaks for { $offer }, but no offer that it speaks for is shown on spot: it decided nothing here. `--why-not { $offer }` says why it is not; `--top` shows more.
trace-speaks-for-none = { $zone } ({ $source }) speaks for no offer: it needs the provider, the region and the machine (or its GPU and their number, `V100:8`) of one. It says: { $provider }, { $region }, { $machine }.
trace-without-availability = there is no record of availability in { $source }, so nothing to replay
explain-spot-modelled = Modelled, not measured: on markets generated from that range (lives that know no age, and lives as recorded elsewhere) the policy is {$policy}, machine time costs {$low} to {$high} on average, and at least {$share} % of the starts are in time for a deadline of {$deadline} ({$assumed})
plan-accepted-nothing = Nothing that a plan prices is in { $file }: neither an environment that was read nor a log of tickets of a week or more.
hint-plan-accepted = `lessee accept env ... -o json --export env.json` or `lessee accept support LOG -o json --export support.json` make one
plan-measured-hidden = What { $file } measured decided nothing here: it speaks for { $offer }, which is not shown. `--why-not { $offer }` says why it is not; `--top` shows more.
plan-measured-nowhere = What { $file } measured decided nothing here: no offer is { $what }.
