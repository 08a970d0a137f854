package doctor

import (
	"time"

	"adshard/internal/node/httpapi/api"
)

// Look holds the answers of a cluster's ports at one time.
type Look struct {
	At time.Time
	// Status and Slaves are the balancer's answers; either both or neither are set. Unled says why it did not answer, and Hung that it took
	// too long.
	Status *api.BalanceStatus
	Slaves *api.SlaveList
	Unled  string
	Hung   bool
	// Ports are the admin ports, the balancer's first.
	Ports []Port
}

// Port holds the answers of an admin port.
type Port struct {
	Address string
	// Failed says why the port did not answer, and Silence what kind of reason that is; both are "" if it did.
	Failed  string
	Silence Silence
	// NotReady says why /readyz reports that the process is not ready, or is "".
	NotReady string
	Metrics  []Sample
	// At is when the metrics were read, by the clock of this machine.
	At time.Time
}

// Probe is a search that was made as a test.
type Probe struct {
	Address string
	// Answer is nil if no search was made, or if it failed; in the latter case Failed and Silence say why, as for a Port. A search that
	// was answered with an error is Strange.
	Answer  *api.SearchAnswer
	Failed  string
	Silence Silence
}

// Silence is why a port did not answer.
type Silence string

// The reasons. Of a process whose port is not Closed or Hung nothing is known: it may be well.
const (
	Closed   Silence = "closed"   // nothing listens there
	Hung     Silence = "hung"     // it took the connection, and then too long
	Nameless Silence = "nameless" // the name of its host is not known
	CutOff   Silence = "cut off"  // its host cannot be reached
	Strange  Silence = "strange"  // the address is wrong, or one side does not take the other's certificate
)

// Elsewhere reports whether the reason lies between this machine and the host of the port, not in its process.
func (s Silence) Elsewhere() bool { return s == Nameless || s == CutOff }

// Wait is how long a port may take to answer; a process that needs longer hangs.
const Wait = 2 * time.Second

// Examine returns what is wrong, judging by two looks at a cluster and a search. The most harmful findings come first, and each finding
// that another one explains is below that one. Growth and a lack of progress show only between two looks taken at different times: two
// equal looks show neither.
func Examine(before, now *Look, probe *Probe) []Finding {
	e := &examination{before: before, now: now, took: now.At.Sub(before.At), probe: probe}
	e.nodes = e.nodesOfPorts()
	e.refusals()
	e.slaves()
	e.search()
	e.plan()
	e.copies()
	e.steering()
	e.gauges()
	e.ratios()
	e.eventKeys()
	e.exposed()
	e.settings()
	e.growth()
	e.ports()
	e.clocks()
	return sorted(e.folded())
}

type examination struct {
	findings
	before, now *Look
	took        time.Duration
	probe       *Probe
	nodes       []string // the process of each port, or "" if it is not known
}
