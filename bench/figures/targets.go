package figures

// line is one line of the table: a figure of a group of reports.
type line struct {
	group, figure string
	// what says in words what is measured.
	what string
	unit string
	// atLeast and atMost are targets; 0: none.
	atLeast, atMost float64
	// scale converts the figure's unit to the table's; 0: 1.
	scale float64
}

// Measured returns the directories whose changes make the table outdated.
func Measured() []string {
	return []string{"auction", "backend", "balance", "barrels", "ingest", "internal/node", "loadproxy", "schema", "search"}
}

// lines lists what docs/figures.md shows, in its order.
var lines = []line{
	{group: "import", figure: "rows", what: "import of an Editor file", unit: "rows/s", atLeast: 40_000},
	{group: "import-again", figure: "rows", what: "the same file again", unit: "rows/s"},
	{group: "build", figure: "keywords", what: "`barrels build`, one store", unit: "keywords/s", atLeast: 250_000},
	{group: "build-3", figure: "keywords", what: "`barrels build`, three stores", unit: "keywords/s"},

	{group: "store", figure: "search median", what: "search of one slave, one core: median", unit: "µs", atMost: 60},
	{group: "store", figure: "search p99", what: "p99", unit: "µs", atMost: 1000},
	{group: "store", figure: "both median", what: "expansion and search together: median", unit: "µs"},
	{group: "store", figure: "single pass, search median", what: "each query once: search, median", unit: "µs"},
	{group: "store", figure: "single pass, search p99", what: "p99", unit: "µs"},
	{group: "store", figure: "queries per second", what: "expansion and search, one core", unit: "queries/s"},
	{group: "store", figure: "expansion median", what: "query expansion, by the master: median", unit: "µs"},
	{group: "store", figure: "blocks read", what: "blocks read", unit: "per query"},
	{group: "store", figure: "allocations", what: "allocations, expansion included", unit: "per query"},
	{group: "store-exact", figure: "search median", what: "with exact counts: median", unit: "µs"},

	{group: "alone", figure: "latency median", what: "HTTP through master and 3 slaves, one query at a time: median", unit: "ms", scale: 1e-3, atMost: 1.5},
	{group: "alone", figure: "latency p99", what: "p99", unit: "ms", scale: 1e-3},
	{group: "load", figure: "answers per second", what: "open loop: answers", unit: "/s", atLeast: 2000},
	{group: "load", figure: "latency median", what: "median", unit: "ms", scale: 1e-3},
	{group: "load", figure: "latency p99", what: "p99", unit: "ms", scale: 1e-3, atMost: 50},
	{group: "load", figure: "incomplete", what: "incomplete answers", unit: ""},
	{group: "load", figure: "overloaded (503)", what: "refused at once (503)", unit: ""},
	{group: "load", figure: "processor used by the cluster", what: "processor used by the cluster", unit: "cores"},
	{group: "load", figure: "processor time of the cluster", what: "processor time of the cluster", unit: "µs/answer"},

	{group: "alone-processes", figure: "latency median", what: "a process each (`--processes`), one query at a time: median", unit: "ms", scale: 1e-3},
	{group: "load-processes", figure: "latency median", what: "a process each, open loop: median", unit: "ms", scale: 1e-3},
	{group: "load-processes", figure: "latency p99", what: "p99", unit: "ms", scale: 1e-3},
	{group: "load-processes", figure: "processor time of the cluster", what: "processor time of the cluster", unit: "µs/answer"},

	{group: "fresh", figure: "new keyword, median", what: "a new keyword is in the answers: median", unit: "ms"},
	{group: "fresh", figure: "new keyword, max", what: "slowest", unit: "ms", atMost: 1000},
	{group: "fresh", figure: "bid, median", what: "a changed bid: median", unit: "ms"},
	{group: "fresh", figure: "bid, max", what: "slowest", unit: "ms", atMost: 1000},
	{group: "fresh", figure: "group paused or enabled, median", what: "a group paused or enabled: median", unit: "ms"},
	{group: "fresh", figure: "group paused or enabled, max", what: "slowest", unit: "ms", atMost: 1000},
	{group: "fresh", figure: "budget exhausted or not, median", what: "a budget marked by the admin port: median", unit: "ms"},
	{group: "fresh", figure: "budget exhausted or not, max", what: "slowest", unit: "ms", atMost: 1000},

	{group: "up", figure: "first fill", what: "`adshard up`, empty slaves: ready after", unit: "s"},
	{group: "up", figure: "start on stores", what: "`adshard up` on built stores: ready after", unit: "s"},
	{group: "size", figure: "slaves, memory per keyword", what: "memory of the three slaves after the load", unit: "bytes/keyword"},
	{group: "size", figure: "slaves, anonymous memory per keyword", what: "of it anonymous", unit: "bytes/keyword"},
	{group: "size", figure: "stores, disk per keyword", what: "stores on disk", unit: "bytes/keyword"},
	{group: "size", figure: "database, disk per keyword", what: "database on disk", unit: "bytes/keyword"},
}
