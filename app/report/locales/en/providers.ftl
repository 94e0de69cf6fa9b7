# Price APIs.

providers-no-api = no price API known for "{$name}"; there are {$known}
providers-key-missing = {$provider} shows its prices only to those with a key, and {$env} is not set
providers-base-url = "{$url}" cannot be the address of {$provider}'s price API: {$detail}
providers-plain-key = the key of {$provider} would travel unencrypted to {$url}
providers-client = cannot set up HTTPS: {$detail}
providers-unreachable = cannot reach {$url}: {$detail}
providers-timeout = no answer from {$url} within {$wait}
providers-denied = {$url} denied access (HTTP {$status})
providers-throttled = {$url} gets too many requests (HTTP 429) and asks to wait {$wait}
providers-status = {$url} answered HTTP {$status}
providers-leads-away = {$url} leads to another host, {$to}, which is not followed
providers-page-loop = the pages of {$url} lead back to one already read
providers-too-many-pages = {$url} has more than { $pages ->
    [one] { $pages } page
   *[other] { $pages } pages
}
providers-too-large = the answer of {$url} is larger than {$max}
providers-broken-off = the answer of {$url} broke off: {$detail}
providers-bad-answer = the answer of {$url} is not as expected at {$field}: {$detail}
providers-refused = {$url} refused the query: {$said}
hint-providers-import = prices of other providers come in with: lessee catalog import FILE
hint-providers-set-key = set {$env} to a key from the provider's console; reading prices is all it must be allowed to do
hint-providers-check-key = check {$env}: the key may be mistyped, revoked or without the right to read prices
hint-providers-check-network = check the network and the proxy (HTTPS_PROXY, NO_PROXY); the built-in and saved prices work without
hint-providers-base-url = write it like https://host or https://host/prefix, without ? and #
hint-providers-use-https = use an https:// address
hint-providers-ca = install the CA certificates of the system, or point SSL_CERT_FILE at them
hint-providers-later = try again later; the saved prices are unchanged
hint-providers-fewer-regions = ask for fewer regions with --region
hint-providers-changed = the API may have changed, or something stands in between; the saved prices are unchanged. Please report it
providers-skip-other-system = Windows or another licensed system
providers-skip-other-product = dedicated, reserved or local capacity, or not a plain machine
providers-skip-low-priority = "Low Priority", the retired predecessor of Spot
providers-skip-dev-test = for development and test subscriptions only
providers-skip-other-unit = unit, term or payment that does not convert to a price per hour
providers-skip-other-currency = another currency
providers-skip-not-in-effect = a past, future or secondary price of the same meter
providers-skip-broken-window = a placeholder that ends before it begins
providers-skip-unknown-type = the feed does not say which GPUs the type has, nor does the catalog
providers-skip-unknown-gpu = a GPU that is not known by that name and memory
providers-skip-count-differs = feed and catalog disagree on the number of GPUs
providers-skip-no-gpu = no GPU
providers-skip-zero-price = a price of 0
providers-skip-no-price = no price, or none for a part
providers-skip-implausible = so low that the unit of the feed must have changed
providers-skip-bid-floor = a floor for bids, not a price
providers-skip-not-for-rent = retired, hidden, rented out or not verified
providers-skip-duplicate = said twice; the dearer price was kept
providers-skip-over-cap = beyond the cap of a search
providers-skip-other-region = a region that was not asked for
providers-skip-unreadable = a field is missing or of the wrong kind
