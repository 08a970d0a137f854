package doctor

import (
	"time"

	"adshard/internal/node/httpapi/api"
)

// Look is what the ports of a cluster answered at one time.
type Look struct {
	At time.Time
	// Status and Slaves are what the balancer answered, both or neither; Unled says why it did not.
	Status *api.BalanceStatus
	Slaves *api.SlaveList
	Unled  string
	// Ports are admin ports, that of the balancer first.
	Ports []Port
}

// Port is what an admin port answered.
type Port struct {
	Address string
	// Failed says why it did not answer, or "" if it did.
	Failed string
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

// Examine returns what is wrong, the most harmful first, of two checks of a cluster and a search. A
// lack of progress, and growth, show only between two looks that differ in time: two equal looks show
// neither.
func Examine(before, now *Look, probe *Probe) []Finding {
	e := &examination{before: before, now: now, took: now.At.Sub(before.At)}
	e.slaves()
	e.search(probe)
	e.plan()
	e.copies()
	e.steering()
	e.gauges()
	e.ratios()
	e.eventKeys()
	e.exposed()
	e.growth()
	e.ports()
	return e.sorted()
}

type examination struct {
	findings
	before, now *Look
	took        time.Duration
}
