package doctor

import (
	"time"

	"adshard/internal/node/httpapi/api"
)

// Look is what the ports of a cluster answered at one time.
type Look struct {
	At time.Time
	// Status and Slaves are what the balancer answered, both or neither; Unled says why it did not, Hung that it took too long.
	Status *api.BalanceStatus
	Slaves *api.SlaveList
	Unled  string
	Hung   bool
	// Ports are admin ports, that of the balancer first.
	Ports []Port
}

// Port is what an admin port answered.
type Port struct {
	Address string
	// Failed says why it did not answer, or "" if it did; Hung that it took too long.
	Failed string
	Hung   bool
	// NotReady says what /readyz misses, or "".
	NotReady string
	Metrics  []Sample
}

// Probe is a search that was made to see what it gives.
type Probe struct {
	Address string
	// Answer is nil when the search failed, for the reason Failed, or when none was made.
	Answer *api.SearchAnswer
	Failed string
}

// Wait is how long a port may take for one answer: one that needs more hangs.
const Wait = 2 * time.Second

// Examine returns what is wrong, the most harmful first, each finding below the one that explains it, of two checks of a cluster and a search. A
// lack of progress, and growth, show only between two looks that differ in time: two equal looks show
// neither.
func Examine(before, now *Look, probe *Probe) []Finding {
	e := &examination{before: before, now: now, took: now.At.Sub(before.At), probe: probe}
	e.slaves()
	e.search()
	e.plan()
	e.copies()
	e.steering()
	e.gauges()
	e.ratios()
	e.eventKeys()
	e.exposed()
	e.growth()
	e.ports()
	return sorted(e.folded())
}

type examination struct {
	findings
	before, now *Look
	took        time.Duration
	probe       *Probe
	unplanned   string // what is found of a cluster without a plan
}
