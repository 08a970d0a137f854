package sizing

import (
	"math"
	"time"
)

const (
	// fullest is how busy machines may be while one is down: what is above is for moves,
	// copies, changes, and what the figures do not show.
	fullest = 0.75
	// free is the part of a machine's memory that its system keeps.
	free = 0.1
	// process is what a slave and a master take each, whatever the slave holds.
	process = 64 << 20
	// MaxReplicas is the most replicas that a shard may have.
	MaxReplicas = 16
	// MaxMachines is the most slaves that a cluster may have.
	MaxMachines = 1024
)

// Limit is what a grid lacks.
type Limit string

// What a grid may lack.
const (
	Enough     Limit = ""
	OfMemory   Limit = "memory"
	OfReplicas Limit = "replicas"
	OfCores    Limit = "cores"
	OfTime     Limit = "time"
)

// Grid is one grid of shards and replicas, and what is expected of it. Each machine runs
// one slave and one master.
type Grid struct {
	Shards   int `json:"shards"`
	Replicas int `json:"replicas"`
	Machines int `json:"machines"`
	// Keywords are those of one slave. Bytes is the memory that it has for each. If not all
	// is in memory, what the system needs to cache the store's files is not included.
	Keywords    float64 `json:"keywords_per_slave"`
	Bytes       float64 `json:"memory_bytes_per_keyword"`
	AllInMemory bool    `json:"all_in_memory"`
	// Busy is the share of the usable processor time in use, of the busiest machine; P99 in
	// microseconds, 0 if the machines cannot keep up.
	Busy     float64 `json:"busy"`
	BusyDown float64 `json:"busy_one_down"`
	P99      float64 `json:"p99_us"`
	P99Down  float64 `json:"p99_one_down_us"`
	// Most is how many queries a second it can answer while one machine is down.
	Most float64 `json:"most_qps_one_down"`
	// Limit is what it lacks.
	Limit Limit `json:"lacks,omitempty"`
}

// Grid returns what is expected of a grid. Quantities that follow the first limit are 0.
func (f *Figures) Grid(n Need, shards, replicas int) Grid {
	g := f.load(n, shards, replicas)
	if g.Limit != Enough {
		return g
	}
	g.P99 = f.p99(n, &g, 0)
	if g.P99Down = f.p99(n, &g, 1); g.P99Down > float64(n.P99)/float64(time.Microsecond) {
		g.Limit = OfTime
	}
	return g
}

// load is Grid without latencies.
func (f *Figures) load(n Need, shards, replicas int) Grid {
	g := Grid{Shards: shards, Replicas: replicas, Machines: shards * replicas, Keywords: math.Ceil(float64(n.Keywords) / float64(shards))}
	g.Bytes, g.AllInMemory = f.bytes(n.Memory, g.Keywords)
	switch {
	case g.Bytes < f.Memory[0].Bytes:
		g.Limit = OfMemory
		return g
	case replicas < 2:
		g.Limit = OfReplicas
		return g
	}
	g.Busy = f.queue(n, &g, 0).Busy / float64(n.Cores)
	g.BusyDown = f.queue(n, &g, 1).Busy / float64(n.Cores)
	g.Most = n.QPS * fullest / g.BusyDown
	if g.BusyDown > fullest {
		g.Limit = OfCores
	}
	return g
}

// bytes is the memory for each of that many keywords on a machine. If it does not suffice
// for all that searches need, the store's files are to stay in the system's cache.
func (f *Figures) bytes(memory uint64, keywords float64) (bytes float64, all bool) {
	left := (1-free)*float64(memory) - 2*process
	bytes = left / keywords
	if bytes >= f.Memory[len(f.Memory)-1].Bytes {
		return bytes, true
	}
	return max(0, bytes-f.Disk), false
}

// queue is the busiest machine while that many machines are down, 0 or 1: it is a replica
// of a shard that lacks one.
func (f *Figures) queue(n Need, g *Grid, down int) Queue {
	masters := n.QPS / float64(g.Machines-down) // queries a second that its master has
	calls := n.QPS / float64(g.Replicas-down)   // that its slave has
	busy := (masters*f.master(g.Shards) + calls*f.call(g.Keywords, g.Bytes)) / 1e6 / f.Usable
	return Queue{Cores: n.Cores, Busy: busy, Job: 1e6 * busy / (2*masters + calls)}
}

// master is the processor time of a query at its master, call that of a search at a slave.
func (f *Figures) master(shards int) float64 { return f.Query + float64(shards)*f.MasterCall }
func (f *Figures) call(keywords, bytes float64) float64 {
	t := f.search(keywords, bytes)
	return f.SlaveCall + t.Mean
}

// Work is the processor time of a query in the whole cluster, in microseconds, with
// everything in memory: at its master and at all slaves.
func (f *Figures) Work(shards int, keywords float64) (master, slaves float64) {
	return f.master(shards), float64(shards) * f.call(keywords, math.Inf(1))
}

func (f *Figures) p99(n Need, g *Grid, down int) float64 {
	t := f.Exceeded(0.01, g.Shards, g.Keywords, g.Bytes, f.queue(n, g, down))
	if math.IsInf(t, 0) {
		return 0
	}
	return math.Round(10*t) / 10
}
