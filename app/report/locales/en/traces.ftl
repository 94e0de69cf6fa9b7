# Traces of spot markets: reading, showing, figures.
error-trace-column = { $file } has no column or zone “{ $column }”.
error-trace-counts-inverted = { $file }, { $zone }: the samples are counts, the largest { $most }. How many could not be had cannot be told from them.
error-trace-field = { $file } looks like “{ $format }”, but { $field } is missing.
error-trace-format = { $file } is none of the known trace formats. It begins with: { $head }
error-trace-json = { $file } line { $line }, column { $column } is not valid JSON: { $what }
error-trace-lengths = { $file }: the number of { $what } is { $found }, that of samples { $expected }.
error-trace-no-samples = No sample in { $file }.
error-trace-no-times = Prices by index, without times: { $file }.
error-trace-none = No trace in { $folder } (files looked at: { $files }).
error-trace-not-this-format = { $file } is not a trace of the format “{ $format }”.
error-trace-polarity = { $file }, { $zone }: { $ones } % of the samples (known: { $samples }) have the value 1, and the meaning of a 1 is not stated. If 1 is “available”, the zone was available { $ones } % of the time; if 1 is “not available”, { $zeros } %. Both meanings occur in published traces.
error-trace-polarity-conflict = { $file }, { $zone }: the file states the meaning of a 1 as “{ $stated }”, and --polarity says “{ $asked }”.
error-trace-value = { $file }, { $place }: “{ $text }” is not { $want }.
hint-trace-counts = Leave --polarity away: a count has one meaning.
hint-trace-documented = The fields of each format are in docs/reference/traces.md.
hint-trace-format = `lessee trace import --help` lists the formats; your own figures can be a CSV with the columns time, zone, available and, if you have them, price.
hint-trace-lengths = Both must come from the same recording; remove the prices or bring the right file.
hint-trace-no-times = Keep it beside the availability CSV files, or in the folder above `availability/`: the times are theirs.
hint-trace-polarity = Look it up where the trace comes from, then say --polarity available or --polarity unavailable.
hint-trace-polarity-conflict = Leave --polarity away, or correct the file if it is wrong.
trace-want-bucket = a range of interruption rates (0 to 4, or such as 5-10 or 20+)
trace-want-column = a known column or word
trace-want-count = a whole number of instances
trace-want-csv = a readable row
trace-want-event = an event that fits what came before
trace-want-gap = a whole number of seconds from 1 to 86400
trace-want-number = a number that makes sense there
trace-want-order = later than the row before
trace-want-polarity = one of “1=available” and “1=unavailable”
trace-want-price = a price above 0, the same wherever it is stated
trace-want-time = a time (RFC 3339, YYYY-MM-DD HH:MM:SS or Unix seconds)
trace-remark-asked-inferred = How many instances were asked for is not stated; the largest count, { $n }, stands for it.
trace-remark-bucket-per-hour = These rates are per hour.
trace-remark-bucket-per-month = These ranges count the trailing month, and how long the counted instances ran is not published: a range ranks types, it does not give a chance per hour.
trace-remark-censored = { $n ->
    [one] 1 node was
   *[other] { $n } nodes were
} still alive at the end of the log; how long they lived is not known.
trace-remark-gang-unsaid = The name says { $n }, the samples are 0 or 1: whether at least one of { $n } or all of them could be had is not said. These are different markets.
trace-remark-interval-censored = A name in this log is a slot that is filled again and again. An end is known only to lie between two checks, up to { $widest } apart (lives: { $n }).
trace-remark-more-pages = The answer was one page of several (NextToken): the history is not whole.
trace-remark-no-price-of-zone = No prices of this zone in { $file }; those of other zones are not used for it.
trace-remark-parts-differ = The parts add up to { $total } USD an hour, the price is { $price }.
trace-remark-polarity-overruled = In files of this format a 1 is known to mean “{ $known }”; --polarity says otherwise and is followed.
trace-remark-price-of-machine = The prices are those of a whole { $machine } (GPUs: { $gpus }); if the probe asked for a machine with one GPU, one costs about 1/{ $gpus } of that.
trace-remark-repeats = Rows that only repeat the price before them, and are no change: { $repeats } of { $rows }.
trace-remark-round-failed = A round that failed measured nothing: its sample is unknown, not 0.
trace-remark-rounds-joined = Rounds joined by time: { $n }.
trace-remark-rows-without-rate = { $n ->
    [one] 1 row
   *[other] { $n } rows
} without an eviction rate left out.
trace-remark-time-zone-unsaid = The times name no time zone and are taken as UTC.
trace-remark-unknown-samples = { $n ->
    [one] 1 sample is
   *[other] { $n } samples are
} unknown; unknown is not 0.
