package faults

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/internal/clustertest"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/control/etcdtest"
	"adshard/internal/node/control/inetcd"
	"adshard/internal/node/httpapi/api"
)

// grid is a cluster: three shards of two slaves each, two masters, two balancers, of which one stands by, and a
// distributor besides those within the balancers.
type grid struct {
	t        *testing.T
	client   *clustertest.Client
	network  *network
	stock    *stock
	database *database
	security *security         // nil if parts use no TLS
	etcd     *etcdtest.Cluster // nil if the control state is in the database
	control  inetcd.TLS        // TLS settings of balancers for etcd
	changing *clustertest.Changes
	load     *load
	dir      string            // contains the slaves' directories
	disks    bool              // each slave has a disk of its own
	brakes   map[string]*brake // by slave, for disks that can be slow; nil if none can
	order    string
	strategy string
	logs     string // directory, or empty for no logs
	programs string // directory of the programs with which parts begin, or empty for this program; under mu

	mu    sync.Mutex
	parts map[string]*part // under mu
	// retired has the parts that were taken away.
	retired []*part // under mu
	// The slaves in use, and the number of replicas wanted; under mu.
	active   map[string]bool
	replicas int
	imported bool           // an import has ended; under mu
	by       map[string]int // how often each thing was done by hand, or ended by itself; under mu
	ended    []string       // parts that ended by themselves; under mu
	refused  refusals
}

// machine returns which faults of the grid can be played.
func (g *grid) machine() machine {
	return machine{hosts: g.network.why, disks: g.disks, fuse: g.brakes != nil, clock: shiftable()}
}

// part is a process of a grid.
type part struct {
	*clustertest.Process
	name, admin string // base URL of the admin port, or empty for none
	dir         string // directory of a slave

	// held is set while a fault keeps the process down, and forced if its last end was on purpose. ends are the times
	// at which it ended by itself; next is when it may be restarted. All are under the grid's mu.
	held, forced bool
	ends         []time.Time
	next         time.Time
}

// The ports of the parts on their hosts.
const (
	balancerPort, adminPort, slavePort, distributorPort, queryPort = 7000, 7001, 7100, 7200, 8080
)

func newGrid(t *testing.T, n *network, s *stock, d *database, sched *schedule, logs string) *grid {
	t.Helper()
	g := &grid{t: t, network: n, stock: s, database: d, parts: make(map[string]*part), active: make(map[string]bool),
		by: make(map[string]int), replicas: replicas, dir: t.TempDir(), order: sched.order, strategy: sched.strategy, logs: logs, programs: sched.programs}
	secure := (*tls.Config)(nil)
	if sched.tls {
		g.security = newSecurity(t)
		secure = g.security.client
	}
	if sched.etcd {
		g.etcd = g.newEtcd()
	}
	var admins []string
	for _, name := range balancerNames() {
		admins = append(admins, g.url(name, adminPort))
	}
	g.client = clustertest.NewClient(3*time.Second, secure, admins...)
	t.Cleanup(g.client.Close)
	g.disks = g.mount()
	g.brakeDisks(sched.slowable())
	_ = g.address(spare, slavePort) // no test should fail later, in another goroutine
	for _, name := range balancerNames() {
		g.balancer(name)
	}
	for _, name := range distributorNames() {
		g.distributor(name)
	}
	for _, name := range slaveNames() {
		g.slave(name)
	}
	for i := range 2 {
		g.master(fmt.Sprint("master-", i))
	}
	return g
}

// address returns HOST:PORT of a part's port.
func (g *grid) address(name string, port int) string {
	g.t.Helper()
	host, err := g.network.host(name)
	if err != nil {
		g.t.Fatal(err)
	}
	return fmt.Sprint(host, ":", port)
}

// url returns the base URL of a part's HTTP port.
func (g *grid) url(name string, port int) string {
	if g.security != nil {
		return "https://" + g.address(name, port)
	}
	return "http://" + g.address(name, port)
}

// add adds a part, which the keeper starts.
func (g *grid) add(command, name, ready string, config map[string]any) *part {
	g.t.Helper()
	config["insecure"] = g.security == nil // separate hosts are not loopback
	if config["db"] != nil {
		config["db_insecure"] = true // PostgreSQL has no TLS here
	}
	if g.security != nil {
		files, err := g.security.issue(access.Role(command), name, long)
		if err != nil {
			g.t.Fatal(err)
		}
		config["tls"] = map[string]any{"mode": certs.Required, "cert": files.Cert, "key": files.Key, "ca": files.CA}
		if command == "master" {
			config["query_tls"] = map[string]any{"mode": certs.Required, "cert": files.Cert, "key": files.Key}
		}
	}
	p := &part{name: name, Process: clustertest.NewProcess(g.t, command, name, ready, config)}
	p.Under = g.network.enter(name)
	if p.Log = filepath.Join(g.t.TempDir(), name+".log"); g.logs != "" {
		p.Log = filepath.Join(g.logs, name+".log")
	}
	if config["admin"] != nil {
		p.admin = g.url(name, adminPort)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p.Programs = g.programs
	g.parts[name] = p
	return p
}

// trusted returns the addresses of all hosts.
func (g *grid) trusted() []string {
	if g.network.apart {
		return []string{prefix + "0/24"}
	}
	return []string{"127.0.0.0/8"}
}

// balancers returns the addresses of all balancers, as slaves and masters are given them.
func (g *grid) balancers() string {
	return strings.Join(g.addresses(balancerNames(), balancerPort), ",")
}

func (g *grid) addresses(names []string, port int) (list []string) {
	for _, name := range names {
		list = append(list, g.address(name, port))
	}
	return list
}

func (g *grid) balancer(name string) {
	config := map[string]any{
		"db": g.database.url, "listen": g.address(name, balancerPort), "admin": g.address(name, adminPort), "balancers": g.balancers(),
		"slaves": slaveCount, "replicas": replicas, "strategy": g.strategy, "order": g.order,
		"interval": "1s", "half_life": "2s", "dead_after": "2s", "evacuate_after": "6s", "master_lease": "3s", "linger": "1s",
		"scrub_interval": "10s", "scrub_share": 0.2,
		"trusted_distributors": append(g.addresses(distributorNames(), distributorPort), g.addresses(balancerNames(), balancerPort)...),
	}
	if g.etcd != nil {
		config["control"], config["control_tls"] = g.etcd.URL(), map[string]any{"ca": g.control.CA, "cert": g.control.Cert, "key": g.control.Key}
	}
	g.add("balancer", name, "balancer ", config)
}

func (g *grid) distributor(name string) {
	g.add("distributor", name, "distributor ", map[string]any{
		"name": name, "db": g.database.url, "balancer": g.balancers(), "listen": g.address(name, distributorPort),
		"admin": g.address(name, adminPort), "order": g.order,
	})
}

// slave adds a slave, which joins by itself.
func (g *grid) slave(name string) {
	dir := filepath.Join(g.dir, name)
	seen := dir // path for the slave
	if g.brakes[name] != nil {
		seen = g.through(name)
	}
	p := g.add("slave", name, "slave ", map[string]any{
		"name": name, "dir": filepath.Join(seen, "store"), "listen": g.address(name, slavePort), "admin": g.address(name, adminPort),
		"balancer": g.balancers(), "memory": "192MiB", "trusted_slaves": g.trusted(), "grace": "1s",
	})
	p.dir = filepath.Join(dir, "store")
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active[name] = true
}

func (g *grid) master(name string) {
	g.add("master", name, "ready ", map[string]any{
		"name": name, "http": g.address(name, queryPort), "admin": g.address(name, adminPort), "balancer": g.balancers(),
		"slaves": g.addresses(slaveNames(), slavePort), "query_insecure": g.security == nil,
	})
	g.client.Masters = append(g.client.Masters, g.url(name, queryPort))
}

func (g *grid) part(name string) *part {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.parts[name]
}

func (g *grid) all() (list []*part) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.parts {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *part) int { return strings.Compare(a.name, b.name) })
	return list
}

// note adds a line to the schedule's record.
func (g *grid) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.by[fmt.Sprintf(format, args...)]++
}

// whole reports whether all processes are ready, each shard has its replicas and each master gives complete answers.
// If not, why is the reason.
func (g *grid) whole() (ok bool, why string) {
	slaves, err := g.client.Slaves()
	if err != nil {
		return false, err.Error()
	}
	g.mu.Lock()
	active, want := len(g.active), g.replicas
	g.mu.Unlock()
	if why := wrongSets(slaves, active, want); why != "" {
		return false, why
	}
	for _, p := range g.all() {
		if p.admin != "" && !g.client.Ready(p.admin) {
			return false, p.name + " is not ready"
		}
	}
	for _, m := range g.client.Masters {
		a, err := g.client.AskAt(m, g.stock.questions[0].Params(false))
		if err != nil || !a.Coverage.Complete {
			return false, fmt.Sprintf("%s: %v, %+v", m, err, a.Coverage)
		}
	}
	return true, ""
}

// wrongSets describes what shards with the given number of replicas lack, or returns "".
func wrongSets(slaves []api.Slave, active, want int) string {
	of, asked := make(map[string]int), 0
	for _, s := range slaves {
		if s.State != api.SlaveStateActive {
			continue
		}
		asked++
		if !s.Alive || s.WaitsFor != "" && s.Shard != "" || s.Shard != "" && !s.Serving {
			return fmt.Sprintf("%s: alive %v, serving %v, waits for %q, trouble %q", s.Name, s.Alive, s.Serving, s.WaitsFor, s.Trouble)
		}
		of[s.Shard]++
	}
	if spares := of[""]; asked != active || spares >= want {
		return fmt.Sprintf("%d of %d slaves, %d of them spares", asked, active, spares)
	}
	for shard, n := range of {
		if shard != "" && n != want {
			return fmt.Sprintf("%s has %d replicas of %d", shard, n, want)
		}
	}
	return ""
}
