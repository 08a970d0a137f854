package sizing

import (
	"math"
	"time"
)

const (
	// fullest is how busy machines may be while one is down. The rest is for moves, copies, changes, and what the
	// figures do not show.
	fullest = 0.75
	// free is the share of a machine's memory that is left to the operating system.
	free = 0.1
	// process is the memory that a slave and a master each take, whatever the slave holds.
	process = 64 << 20
	// MaxReplicas is the most replicas of a shard.
	MaxReplicas = 16
	// MaxMachines is the most slaves of a cluster.
	MaxMachines = 1024
)

// Limit is the resource that a grid lacks.
type Limit string

// The limits of a grid.
const (
	Enough     Limit = ""
	OfMemory   Limit = "memory"
	OfReplicas Limit = "replicas"
	OfCores    Limit = "cores"
	OfTime     Limit = "time"
)

// Grid is a grid of shards and replicas with its expected figures. Each machine runs one slave and one master.
type Grid struct {
	Shards   int `json:"shards"`
	Replicas int `json:"replicas"`
	Machines int `json:"machines"`
	// Keywords is the number of keywords of one slave. Bytes is the memory that the slave has for each. If not
	// everything is in memory, Bytes does not include what the system needs to cache the store's files.
	Keywords    float64 `json:"keywords_per_slave"`
	Bytes       float64 `json:"memory_bytes_per_keyword"`
	AllInMemory bool    `json:"all_in_memory"`
	// Busy is the share of the usable processor time that the busiest machine uses. P99 is in microseconds, or 0 if
	// the machines cannot keep up.
	Busy     float64 `json:"busy"`
	BusyDown float64 `json:"busy_one_down"`
	P99      float64 `json:"p99_us"`
	P99Down  float64 `json:"p99_one_down_us"`
	// Most is how many queries a second the grid can answer while one machine is down.
	Most float64 `json:"most_qps_one_down"`
	// Limit is the resource that the grid lacks.
	Limit Limit `json:"lacks,omitempty"`
}

// Grid returns the expected figures of a grid. Figures that come after the first limit are 0.
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

// load is like Grid, but without latencies.
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

// bytes returns the memory for each keyword on a machine with that many keywords. all reports whether everything that
// searches need fits. If it does not, the memory for keeping the store's files in the system's cache is subtracted.
func (f *Figures) bytes(memory uint64, keywords float64) (bytes float64, all bool) {
	left := (1-free)*float64(memory) - 2*process
	bytes = left / keywords
	if bytes >= f.Memory[len(f.Memory)-1].Bytes {
		return bytes, true
	}
	return max(0, bytes-f.Disk), false
}

// queue returns the queue of the busiest machine while `down` machines, 0 or 1, are down. The busiest machine is a
// replica of a shard that lacks one.
func (f *Figures) queue(n Need, g *Grid, down int) Queue {
	masters := n.QPS / float64(g.Machines-down) // queries a second at its master
	calls := n.QPS / float64(g.Replicas-down)   // calls a second at its slave
	busy := (masters*f.master(g.Shards) + calls*f.call(g.Keywords, g.Bytes)) / 1e6 / f.Usable
	return Queue{Cores: n.Cores, Busy: busy, Job: 1e6 * busy / (2*masters + calls)}
}

// master returns the processor time of a query at its master, and call that of a search at a slave.
func (f *Figures) master(shards int) float64 { return f.Query + float64(shards)*f.MasterCall }
func (f *Figures) call(keywords, bytes float64) float64 {
	t := f.search(keywords, bytes)
	return f.SlaveCall + t.Mean
}

// Work returns the processor time of a query in the whole cluster, in microseconds, with everything in memory: at its
// master and at all slaves.
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
