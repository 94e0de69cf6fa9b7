# The command line: errors, settings, tables.

error-label = error:
hint-label = hint:
hint-help = `lessee --help` lists the commands.
no-command = no command was given
usage-unknown-flag = there is no `{ $flag }` here
usage-unknown-command = there is no command `{ $word }`
usage-missing = { $what } is missing
usage-twice = { $flag } can be given only once
usage-conflict = { $one } and { $other } contradict each other
usage-no-value = { $flag } needs a value
usage-not-utf8 = the command line is not UTF-8
usage-unreadable = the command line cannot be read
usage-help = `{ $command } --help` lists what can be given.
json-ends-early = the JSON ends early: the file was cut off
json-broken = this is not JSON
hint-probe-schema = `lessee schema probe` describes a probe report.
bug = This is a bug in lessee { $version }, not a mistake of yours: { $detail }. Please report it together with the output of `lessee doctor`.

exit-done = Done
exit-no = The answer is no
exit-usage = Bad usage or input
exit-unreachable = The outside world could not be reached, or the answer could not be written
exit-credentials = Credentials are missing or were refused
exit-budget = Stopped by the budget guard
exit-preempted = Preempted and could not go on
exit-cannot-tell = It cannot be told
exit-stuck = Stuck and stopped
exit-bug = A bug

file-read = cannot read { $path }: { $detail }
file-write = cannot write { $path }: { $detail }
export-extension = --export { $path }: the extension does not name a format
export-onto-input = --export { $path }: this file is an input of the same command, and would be written over
table-unknown-column = there is no column `{ $key }` here

setting-bad-value = `{ $value }` is not a value for { $key }
setting-examples = Valid values look like: { $examples }.
setting-bad-time = `{ $value }` is not a time: write it like 2026-11-30T12:00:00Z
setting-no-home = the home folder is not known: set HOME, or XDG_CONFIG_HOME, XDG_DATA_HOME and XDG_CACHE_HOME
setting-file-too-large = { $path } is too large for a settings file

yes = yes
no = no

col-setting = Setting
col-value = Value
col-origin = From
col-variable = Variable
col-what = What
col-path = Path
col-exists = There?
col-document = Document
col-model = Model
col-kind = Kind
col-params = Params (1e9)
col-active = Active (1e9)
col-layers = Layers
col-hidden = Hidden
col-context = Context
col-check = Check
col-result = Result
col-found = Found

config-title = Settings in force
config-path-title = Files and folders
config-remove = To remove everything that lessee keeps, delete { $catalog } (your own prices) and { $cache } (can be made again at any time). Nothing else is written.
path-user-config = your settings
path-project-config = settings of the project
path-catalog = your own catalog snapshots
path-cache = cache

version-catalog = catalog: { $offers ->
    [one] { $offers } offer
   *[other] { $offers } offers
}, newest price of { $date }

schema-title = Schemas
schema-unknown = there is no schema `{ $name }`
schema-workload = the file that describes a job
schema-plan = answer of plan -o json
schema-prediction = answer of predict -o json
schema-prediction-table = answer of predict --table -o json
schema-import = answer of catalog import -o json
schema-probe = measurements of a rented machine
schema-probe-diff = two reports of machines side by side
schema-buy = answer of buy -o json
schema-buy-input = the file of buy
schema-why-not = answer of plan --why-not -o json
schema-catalog = answer of catalog list -o json
schema-offer = answer of catalog show -o json
schema-catalog-diff = answer of catalog diff -o json
schema-catalog-doctor = answer of catalog doctor -o json
schema-error = what stderr says with -o json
schema-models = the known models (a table, not a schema)
models-title = Known models

health-title = Check of the installation
health-ok = ok
health-broken = BROKEN
health-version = version
health-catalog-folder = your snapshots
health-cache-folder = cache
health-time = local time
health-language = language
health-clock = clock
health-key = API key
health-folder = { $path } ({ $state })
health-there = there, writable
health-not-yet = not there yet, made when needed
health-read-only = cannot be written to
health-not-a-folder = something that is not a folder is in the way
health-catalog = catalog
health-snapshots = snapshot
health-catalog-state = { $offers ->
    [one] { $offers } offer
   *[other] { $offers } offers
}, newest price of { $date } ({ $days ->
    [0] today
    [one] { $days } day old
   *[other] { $days } days old
})
health-clock-behind = the clock is { $days ->
    [one] { $days } day
   *[other] { $days } days
} behind the newest price: ages of prices cannot be trusted
health-key-set = { $name } is set (ends in { $tail })
health-key-short = { $name } is set, but too short for a key
health-key-unset = { $name } is not set
