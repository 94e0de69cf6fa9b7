# What a quote leaves open.

quote-why-range = a range from { $low } to { $high }, not one price
quote-why-from-price = a price "from ..." is not what you would pay
quote-why-approximate = the price is only approximate
quote-why-on-request = the price is only given on request
quote-why-number-unreadable = the price cannot be read
quote-why-number-unclear = it is unclear which of the numbers is the price
quote-why-unit-unknown = the price does not say for how long: per hour, day, month or year?
quote-why-unit-unclear = it is unclear what the price is for
quote-why-currency-unknown = no currency is named; give one with --currency
quote-why-currency-conflict = two currencies in one price
quote-why-gpu-missing = no GPU is named
quote-why-gpu-several = several GPUs are named in one line
quote-why-gpu-unknown = `{ $name }` is not a known GPU (nearest: { $suggestion })
quote-why-gpu-ambiguous = { $gpu } comes with { $sizes }; which one is it?
quote-why-memory-mismatch = a { $gpu } does not have { $stated } GB
quote-why-count-unknown = it does not say how many GPUs the machine has
quote-why-count-conflict = two different numbers of GPUs
quote-why-scope-unclear = is the price for one GPU or for the whole machine?
quote-why-term-unclear = it is unclear for how long one commits
quote-why-term-unsupported = a commitment of { $months ->
    [one] { $months } month
   *[other] { $months } months
} is neither 1, 12 nor 36; it comes to { $price } an hour
quote-why-price-conflict = two different prices for the same thing
quote-why-price-zero = a price of 0
quote-why-price-negative = a negative price
quote-why-discount-unclear = it is unclear what the discount ({ $factor }) is taken off
quote-why-total-mismatch = the total stated ({ $stated }) is not the sum of its parts ({ $computed })
quote-why-implausible = { $price } an hour is far from any GPU price; something was misread
quote-why-not-a-machine = this is not the price of a GPU machine
quote-why-row-shape = { $cells ->
    [one] { $cells } cell
   *[other] { $cells } cells
} in a table of { $columns ->
    [one] { $columns } column
   *[other] { $columns } columns
}
quote-why-broken-yaml = the YAML cannot be read: { $why }
quote-why-memory-conflict = two different GPU memories are stated for one GPU
quote-why-quote-expired = the quote was valid until { $until }; ask whether it still holds
quote-why-memory-unreadable = the GPU memory cannot be read
quote-why-duplicate-offer = lines { $lines } state different prices for the same machine; which one holds?
quote-why-date-unclear = the date cannot be read for sure; write it as 2026-07-15
quote-why-date-in-future = the date { $date } is in the future
quote-why-last-line-unfinished = the file does not end with a line break: check the last price
