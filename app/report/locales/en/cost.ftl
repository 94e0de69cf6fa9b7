# The bill.

bill-compute = useful work: { $nodes } x { $type } for { $time }{ $discount }
bill-own-discount = , list price { $list } less your { $percent } %
bill-on-demand-instead = on demand while spot is away or time runs short: { $nodes } x { $type } for { $time }
bill-rounding = billed time is rounded up by an unknown step
bill-price-range = up to the upper end of the price range
bill-boot = boot: { $nodes } x { $type }, { $time } ({ $percentile }th percentile){ $discount }
bill-boot-unknown = boot time
bill-setup = set-up before useful work: { $nodes } x { $type } for { $time }{ $discount }
bill-idle = idle: { $nodes } x { $type } for { $time }{ $discount }
bill-interruption = work repeated after { $count ->
    [one] { $count } interruption
   *[other] { $count } interruptions
}: { $nodes } x { $type } for { $time }{ $discount }
bill-spare-replicas = machines beyond those needed: spare ones and those that start, { $count ->
    [one] { $count } spot machine taken away
   *[other] { $count } spot machines taken away
}: { $nodes } x { $type } for { $time }{ $discount }
bill-interruption-unknown = work repeated after interruptions
bill-stopped-billed = standing stopped, billed here: { $nodes } for { $time }
bill-stopped-unknown = standing stopped: { $nodes } for { $time }
bill-commitment-unused = unused part of the commitment: { $nodes } x { $terms } x { $months ->
    [one] 1 month
   *[other] { $months } months
}, { $used } % used, { $reuse } % of the rest filled by other work, { $upfront } % paid at the start{ $calendar }
bill-disk-local = local disk of { $local } GB, included (needed: { $disk })
bill-disk-running = disk while running: { $nodes } x { $disk }
bill-disk-stopped = disk while stopped: { $nodes } x { $disk }
bill-data-kept = data kept: { $size } for { $time }
bill-results-kept = results kept: { $size } for { $time }
bill-checkpoints-during = checkpoints during the job: { $written } x { $size }, at most { $kept } at once
bill-checkpoints-after = checkpoints after the job: { $kept } x { $size } for { $keep }
bill-put-data = storing { $files ->
    [one] { $files } file
   *[other] { $files } files
}
bill-put-results = storing { $count ->
    [one] { $count } result or checkpoint
   *[other] { $count } results and checkpoints
}
bill-get-data = reading { $files ->
    [one] { $files } file
   *[other] { $files } files
} { $reads ->
    [one] { $reads } time
   *[other] { $reads } times
}
bill-get-again = reading { $count ->
    [one] { $count } object
   *[other] { $count } objects
} again after interruptions
bill-data-in = data in: { $size }
bill-data-between-regions = data from another region: { $size }
bill-data-leaves-source = data leave where they are now: { $size }
bill-results-out = results out: { $size } over { $months ->
    [one] { $months } month
   *[other] { $months } months
} ({ $used } of the first month's allowance used before{ $calendar })
bill-results-out-china = results out to mainland China: { $size } over { $months ->
    [one] { $months } month
   *[other] { $months } months
} ({ $used } of the first month's allowance used before{ $calendar })
bill-results-other-region = results to another region: { $size } over { $months ->
    [one] { $months } month
   *[other] { $months } months
} ({ $used } of the first month's allowance used before{ $calendar })
bill-public-ip = { $nodes ->
    [one] { $nodes } public address
   *[other] { $nodes } public addresses
}
bill-labour-setup = people: { $hours } h of set-up
bill-labour-incidents = people: { $hours } h for { $interruptions ->
    [one] { $interruptions } interruption
   *[other] { $interruptions } interruptions
}
bill-labour-support-wait = people: { $hours } h waiting for support
bill-licence = licence { $name }, { $nodes ->
    [one] { $nodes } machine
   *[other] { $nodes } machines
}
bill-support-share = support plan: { $percent } % of the spend
bill-support-minimum = support plan: minimum for { $months ->
    [one] { $months } month
   *[other] { $months } months
}{ $calendar }
bill-calendar = ; calendar months in { $zone }
bill-calendar-terms = ; by date, { $hours } h in { $zone }: the price of { $priced } h of its months
bill-tax = tax of { $percent } %
bill-exchange = exchange { $from } to { $to } at { $rate }, fee { $percent } %

cost-unknown-price-range = only a price range is known
cost-unknown-on-demand = nobody publishes what { $provider } takes for this machine on demand
cost-unknown-spot-risk = nobody publishes how often { $provider } takes spot machines back
cost-unknown-stopped = { $provider } does not say whether a stopped machine is billed
cost-unknown-billing = { $provider } does not publish how it rounds billed time
cost-unknown-boot = nobody measured how long machines of { $provider } take to boot
cost-unknown-upper-tier = the price beyond this volume is not published
cost-unknown-source-egress = what the present provider charges for letting data out is not known
cost-unknown-egress = the price of data out is not published or could not be verified
cost-unknown-inter-region = the price between regions is not published
cost-unknown-ingress = the price of data in is not published
cost-unknown-object-storage = the price of object storage is not published
cost-unknown-block-storage = the price of disks is not published
cost-unknown-requests = the price of requests is not published
cost-unknown-public-ip = the price of a public address is not published

buy-missing = `{ $field }` is missing
buy-bad-value = `{ $field }` cannot be { $value }
buy-no-rate = `{ $field }` is in { $from }, and there is no exchange rate to { $to }
buy-range-unknown = `{ $name }` is no parameter that has a range
buy-range-bad = the range of `{ $name }`, [{ $low }, { $high }], must go from a lower to a higher number within { $least } and { $most }, with the value used in it
buy-hint-range = Correct the two numbers, or set the value itself inside them; the column "Set by" of the answer names its field.
buy-warning-horizon-within-lead = The machines would arrive only when the horizon has ended: they do no work in it, and all of it is rented. Compare over a longer plan.horizon_months.
buy-hint-missing = Add { $field } to the file; `lessee schema buy-input` describes every field.
buy-hint-value = `lessee schema buy-input` describes what each field means and its unit.
buy-hint-rate = Add to [money]: rates = [{"{"} from = "{ $from }", to = "{ $to }", rate = ..., as_of = "2026-11-30" {"}"}].
