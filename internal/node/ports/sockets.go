package ports

import (
	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/conns"
)

// Sockets limits the connections that others open to a process, by purpose. Together the limits
// leave enough files for the stores, the database and the process's own connections. Neither
// queries nor peers can use up the admin port's share.
type Sockets struct{ Queries, Peers, Admin *conns.Pool }

const (
	// OwnFiles is the number of files that a process has open before any client connects.
	OwnFiles = 64
	// Upper limits, regardless of how many files a process may open.
	mostQueries = 1 << 14
	mostPeers   = 1 << 12
	mostAdmin   = 64
	// leastSpare is the least number of files to be divided.
	leastSpare = 32
)

// LeastFiles is the least number of files that a process without stores must be able to open.
const LeastFiles = OwnFiles + leastSpare

// newSockets divides the files that a process may open and does not need itself: a quarter for
// queries, a quarter for peers, and an eighth for the admin port.
func newSockets(files uint64) *Sockets {
	spare := max(leastSpare, int(min(files, 1<<20))-OwnFiles)
	return &Sockets{
		Queries: conns.New(min(mostQueries, spare/4)),
		Peers:   conns.New(min(mostPeers, spare/4)),
		Admin:   conns.New(min(mostAdmin, spare/8)),
	}
}

// register registers the metrics of the connections.
func (s *Sockets) register(r prometheus.Registerer) {
	for name, pool := range map[string]*conns.Pool{"queries": s.Queries, "peers": s.Peers, "admin": s.Admin} {
		labels := prometheus.Labels{"port": name}
		r.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "adshard_connections", ConstLabels: labels,
				Help: "Connections that others have opened."}, func() float64 { return float64(pool.Open()) }),
			prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "adshard_connections_evicted_total", ConstLabels: labels,
				Help: "Silent connections that were closed to make room."}, func() float64 { return float64(pool.Evicted()) }))
	}
}
