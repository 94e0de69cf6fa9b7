# What the commands of catalog, buy and the rest say.

warning-label = warning:
facts-more-problems = { $n ->
    [one] one more row of your snapshots could not be read
   *[other] { $n } more rows of your snapshots could not be read
}
facts-built-in-only = That part of your own prices is not used now; the built-in prices are.
ask-no-terminal = this needs your consent, and nobody can be asked here
hint-yes = Add --yes if you mean it.

col-provider = Provider
col-instance-type = Type
col-region = Region
col-gpu = GPU
col-count = Count
col-purchase = Paid
col-price = Price/h
col-per-gpu = /GPU-h
col-currency = Cur
col-as-of = As of
col-marks = !
col-vcpus = vCPU
col-memory = RAM GiB
col-interconnect = Link
col-confidence = Checked
col-source = Source
col-name = Name
col-imported = Saved
col-rows = Prices
col-format = Format
col-file = File
col-change = Change
col-offer = Offer
col-old = Old
col-new = New
col-percent = Move
col-machine = Machine
col-key = Key
col-docs = Described at
col-line-number = Line
col-derivation = How reached
col-original = As written
col-why = Why
col-parameter = Parameter
col-low = Low
col-high = High
col-owned-low = Own/h, low
col-owned-high = Own/h, high
col-even-low = Even, low
col-even-high = Even, high
col-line = Line
col-quantity = Quantity
col-unit = Unit
col-unit-price = Unit price
col-amount = Amount
col-basis = Basis
col-field = Set by
col-finding = Finding

mark-unverified = not verified
mark-stale = old price, ask again
mark-undated = no date
mark-range = lower end of a range
mark-zero = price of 0, a defect of the source
mark-spot = spot, can be taken back
mark-term = committed for a month or longer
mark-own = your own price

machine-gpu = GPU
machine-usable-memory = usable memory per GPU
machine-interconnect = between the GPUs
machine-link = link per GPU, both directions
machine-vcpus = vCPU
machine-memory = RAM
machine-disk = local disk
machine-network = network
machine-rdma = between machines
machine-access = how the GPU is passed on
machine-status = status

change-changed = moved
change-added = new
change-removed = gone

catalog-list-title = Offers
catalog-list-basis = Prices are for a whole machine and one hour (/h) and for one GPU (/GPU-h), before tax unless the source says otherwise.
catalog-list-none = no offer matches
gpu-without-price = There is no price of { $gpu } here: no public one whose licence lets it be passed on is built in, and none of your own snapshots has one. To bring one: `lessee catalog refresh vast` (no key needed) or `lessee catalog refresh runpod` (with your key) asks a market, `lessee catalog import FILE` reads a quote as you got it.
catalog-list-region-unknown = { $n ->
    [one] One price whose source names no region was left out.
   *[other] { $n } prices whose source names no region were left out.
}
catalog-unknown-provider = no provider is known by the name `{ $name }`
catalog-show-none = there is no offer `{ $key }`
catalog-show-prices = Prices
catalog-note = Note: { $note }
catalog-original = As written in the quote: { $line }
hint-catalog-list = `lessee catalog list` prints the offers; their keys are the `key` of -o json: provider/instance_type@region.
origin-built-in = built in

snapshots-title = Your own snapshots
snapshots-none = You have no snapshots of your own yet; `lessee catalog import` and `lessee catalog refresh` make them.
snapshots-folder = They lie in { $path }.
snapshots-ask = Delete the snapshot `{ $name }` with { $rows ->
    [one] { $rows } price
   *[other] { $rows } prices
}, and all earlier versions of it?
snapshots-kept = nothing was deleted
snapshots-removed = The snapshot `{ $name }` is gone. Deleted:

diff-summary = { $changed ->
    [one] { $changed } price
   *[other] { $changed } prices
} moved, { $added } new, { $removed } gone, { $unchanged } as they were.

import-summary = Read as { $format }, { $encoding }: { $offers ->
    [one] one price
   *[other] { $offers } prices
}, { $questions ->
    [0] no questions
    [one] one question
   *[other] { $questions } questions
}, { $ignored ->
    [0] no line passed over
    [one] one line without a price passed over
   *[other] { $ignored } lines without a price passed over
}.
import-questions = Could not be read for sure
import-saved = Saved { $n ->
    [one] one price
   *[other] { $n } prices
} as `{ $name }`.
import-where =
    File: { $path }
    To remove it: lessee catalog remove { $name }
import-dry-run = Nothing was saved (--dry-run).
import-nothing = Nothing was saved: no price could be read for sure.

refresh-title = Fetched offers
refresh-apis-title = Price APIs
refresh-no-key = none needed
refresh-asking = asking the price API of { $provider } ...
refresh-offline = --offline forbids asking the price API of { $provider }
hint-refresh-offline = Leave out --offline, or bring the prices as a file: lessee catalog import FILE.
refresh-nothing = Nothing usable came back ({ $skipped ->
    [one] { $skipped } row
   *[other] { $skipped } rows
} left out); an earlier snapshot was kept.
refresh-skipped = { $n } left out, { $reason } ({ $examples })

buy-title = Rent or own
buy-own = Owning is cheaper over this horizon.
buy-rent = Renting is cheaper over this horizon.
buy-totals = Present value over { $months ->
    [one] { $months } month
   *[other] { $months } months
} for { $gpus ->
    [one] { $gpus } GPU
   *[other] { $gpus } GPUs
} used { $percent } % of the time: own { $owned }, rent { $rented }.
buy-per-hour = One used GPU-hour: own { $owned }, rent { $rented }.
buy-even-at = Owning pays from a utilisation of { $percent } %.
buy-even-never = Owning pays at no utilisation.
buy-month = Owning has paid for itself in month { $month }.
buy-month-none = Owning does not pay for itself within { $months ->
    [one] { $months } month
   *[other] { $months } months
}.
buy-sensitivity = What the answer depends on, largest effect first
buy-lines = What owning costs: bought once, then every year
buy-parameters = Every number used
buy-parameters-note = What is marked assumed is a default that nobody checked for you: put your own value into the file under the name in the column "Set by".
buy-no-offer = there is no on-demand price for `{ $key }`
buy-sum-capex = paid at the start
buy-sum-opex = paid every year
buy-sum-residual = sold for at the end

buy-line-nodes = machines
buy-line-fabric-and-racks = fabric and racks
buy-line-purchase-tax = tax on the purchase
buy-line-colocation = colocation
buy-line-energy = energy
buy-line-people = people
buy-line-spares = spare parts
buy-line-maintenance = maintenance contract
buy-line-insurance = insurance
buy-line-network = internet access

buy-parameter-node-price-8x-h100 = price of one machine
buy-parameter-node-count = machines
buy-parameter-gpus-per-node = GPUs per machine
buy-parameter-node-power-max-8x-h100 = highest power of a machine
buy-parameter-fabric-and-rack-extras = fabric and racks
buy-parameter-purchase-tax = tax on the purchase
buy-parameter-colocation = colocation
buy-parameter-energy = energy
buy-parameter-average-power-share = average power
buy-parameter-pue = power of the building
buy-parameter-network-uplink = internet access
buy-parameter-people-fte-per-node = people per machine
buy-parameter-people-cost = cost of a person
buy-parameter-spares = spare parts
buy-parameter-maintenance-contract = maintenance contract
buy-parameter-insurance = insurance
buy-parameter-horizon = horizon
buy-parameter-utilisation = utilisation
buy-parameter-cost-of-capital = cost of capital
buy-parameter-residual-value-36-months = value at the end
buy-parameter-lead-time = time until the first job
buy-parameter-rent-price = rent
buy-parameter-rent-discount = discount on the rent
buy-parameter-price-fall-of-rent = fall of rents

col-code = Code
col-oldest = Oldest
col-examples = Examples
catalog-doctor-title = Suspect offers
catalog-doctor-none = Nothing suspect was found.
catalog-doctor-summary = { $findings ->
    [one] One finding
   *[other] { $findings } findings
} over { $prices ->
    [one] { $prices } price
   *[other] { $prices } prices
} (one price can have several). They are marked, not removed; what is not verified, undated or 0 is never ranked.
