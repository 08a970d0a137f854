package up

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"adshard/balance"
	clusters "adshard/balance/cluster"
	"adshard/balance/strategy"
	"adshard/events"
	"adshard/internal/node/access"
	"adshard/internal/node/balancer"
	"adshard/internal/node/certs"
	"adshard/internal/node/collector"
	"adshard/internal/node/config"
	"adshard/internal/node/database"
	"adshard/internal/node/home"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/master"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/ports"
	"adshard/internal/node/preflight"
	"adshard/internal/node/querylog"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/slave"
	"adshard/internal/node/tracing"
	"adshard/internal/outfile"
	"adshard/internal/ulimit"
)

// Config is the configuration of a whole cluster on one machine.
type Config struct {
	// DB is the database: sqlite:PATH or postgres://USER@HOST/DATABASE.
	DB string `yaml:"db"`
	// DBInsecure lets databases on other machines be reached without a check of their certificate.
	DBInsecure bool `yaml:"db_insecure"`
	// Slaves is the number of slaves; Strategy places the groups on them.
	Slaves int `yaml:"slaves"`
	// Replicas is how many slaves hold each slice.
	Replicas int    `yaml:"replicas"`
	Strategy string `yaml:"strategy"`
	// Order says how groups lie on the ring, "hash", "advertiser" or "id"; empty
	// means as they do already, or "hash" in a new cluster.
	Order string `yaml:"order"`
	// StrategyOptions are the strategy's own, by name; Interval is the time
	// between two of its iterations; 0 means none.
	StrategyOptions map[string]string `yaml:"strategy_options"`
	Interval        time.Duration     `yaml:"interval"`
	// Distributors is the number of distributors. If it is 0, the balancer prepares
	// node data itself.
	Distributors int `yaml:"distributors"`
	// Data is the directory of the slaves' stores, one directory each (slave-0, …).
	Data string `yaml:"data"`
	// Barrels is a directory of stores built offline, used in place of Data;
	// empty means none.
	Barrels string `yaml:"barrels"`
	// HTTP is the address for queries; Admin is the admin port.
	HTTP  string `yaml:"http"`
	Admin string `yaml:"admin"`
	// GRPC is the address for queries over gRPC; empty means none.
	GRPC string `yaml:"grpc"`
	// Collector is the address for events of a collector; empty means none, and answers have no
	// tokens.
	Collector string `yaml:"collector"`
	// AdoptEvents, EventOrigins, KeepEvents, Quality and LearnEvery are the collector's.
	AdoptEvents  bool          `yaml:"adopt_events"`
	EventOrigins []string      `yaml:"event_origins"`
	KeepEvents   time.Duration `yaml:"keep_events"`
	Quality      string        `yaml:"quality"`
	LearnEvery   time.Duration `yaml:"learn_every"`
	// AdminHosts are further host names of the admin port (ports.Open).
	AdminHosts []string `yaml:"admin_hosts"`
	// DiscardDataOf is the balancer's.
	DiscardDataOf []string `yaml:"discard_data_of"`
	// Processes runs each part in a child process of its own.
	Processes bool `yaml:"processes"`
	// NoRestart leaves child processes that end as they are.
	NoRestart bool `yaml:"no_restart"`
	// Transport is how the master asks the slaves: TransportDirect or TransportStream.
	Transport string `yaml:"transport"`
	// Lexicon, Profile, Reserve, Explain, Timeout, RequestIDs and MaxInFlight are the
	// master's.
	Lexicon    string        `yaml:"lexicon"`
	Profile    string        `yaml:"profile"`
	Reserve    uint64        `yaml:"reserve_micros"`
	Explain    string        `yaml:"explain"`
	Timeout    time.Duration `yaml:"timeout"`
	RequestIDs string        `yaml:"request_ids"`
	// UnknownLocation is as in the configuration of a master.
	UnknownLocation string `yaml:"unknown_location"`
	MaxInFlight     int    `yaml:"max_in_flight"`
	// Scorer is the master's and the slaves'.
	Scorer string `yaml:"scorer"`
	// SlowQueries and QueryLog are the master's, too.
	SlowQueries querylog.SlowConfig   `yaml:"slow_queries"`
	QueryLog    querylog.RecordConfig `yaml:"query_log"`
	// Traces is the master's and the slaves', RocksDBStatistics the slaves'.
	Traces            tracing.Config `yaml:"traces"`
	RocksDBStatistics bool           `yaml:"rocksdb_statistics"`
	// Memory is what all slaves together may take in memory; 0 means as much for each
	// as a slave's default. The other parts take theirs beside it.
	Memory config.Size `yaml:"memory"`
	// TLS and tokens are for the admin port: the parts speak to each other on loopback, without
	// TLS. QueryTLS is how the ports for queries use TLS; QueryInsecure lets those that are not on
	// loopback be without.
	QueryTLS      certs.QueryTLS `yaml:"query_tls"`
	QueryInsecure bool           `yaml:"query_insecure"`

	certs.Settings `yaml:",inline"`

	linger time.Duration `yaml:"-"` // of the balancer, for tests; 0: its default
}

// How slaves are asked (Config.Transport): TransportDirect, those of the master's process
// within it, or TransportStream, all of them over streams, as they are elsewhere.
const (
	TransportDirect = "direct"
	TransportStream = "stream"
)

// MaxSlaves is the most slaves that RunUp starts.
const MaxSlaves = 64

// DefaultConfig returns the defaults; DB has none.
func DefaultConfig() Config {
	return Config{
		Slaves: 3, Replicas: 1, Strategy: strategy.Default, Interval: clusters.DefaultInterval, Data: "data", HTTP: "127.0.0.1:8080", Admin: "127.0.0.1:8081",
		KeepEvents: events.Remembered, Quality: collector.QualityGiven, LearnEvery: collector.DefaultLearnEvery, Transport: TransportDirect, Profile: master.ProfileDefault, Reserve: master.DefaultReserve, Explain: master.ExplainAuto,
		Timeout: searchapi.DefaultTimeout, RequestIDs: searchapi.RequestIDsGiven, UnknownLocation: master.ExcludeUnknown, MaxInFlight: searchapi.DefaultMaxInFlight, QueryLog: querylog.DefaultRecordConfig(), Traces: tracing.DefaultConfig(),
		QueryTLS: certs.QueryTLS{Mode: certs.Off}, Settings: certs.DefaultSettings(),
	}
}

// memory is what all slaves together may take.
func (c *Config) memory() config.Size {
	if c.Memory > 0 {
		return c.Memory
	}
	return config.Size(c.Slaves) * slave.DefaultMemory
}

// need is what this process needs of the system; with Processes, what that of the largest part needs, which has the same limits.
func (c *Config) need() ulimit.Need {
	n := ulimit.Need{Files: ports.OwnFiles, Memory: uint64(c.memory())}
	if c.Processes {
		n.Memory /= uint64(c.Slaves)
	}
	for i := range c.Slaves {
		files := slave.Files(filepath.Join(c.stores().Path, home.StoreName(i)))
		if c.Processes {
			n.Files = max(n.Files, ports.OwnFiles+files)
		} else {
			n.Files += files
		}
	}
	n.Files = max(n.Files, ports.LeastFiles)
	return n
}

// Validate lists all faults.
func (c *Config) Validate() error {
	var k config.Check
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH or postgres://USER@HOST/DATABASE")
	database.CheckVerified(&k, "db", c.DB, c.DBInsecure)
	k.Number("slaves", c.Slaves, 1, MaxSlaves)
	k.Number("replicas", c.Replicas, 1, min(balance.MaxReplicas, c.Slaves))
	k.Number("distributors", c.Distributors, 0, MaxSlaves)
	balancer.CheckStrategy(&k, c.Strategy, c.StrategyOptions, c.Interval)
	balancer.CheckOrder(&k, c.Strategy, c.Order)
	k.That(c.Data != "" || c.Barrels != "", "data", "must not be empty")
	k.Address("http", c.HTTP, true)
	k.Address("admin", c.Admin, false)
	k.Apart("admin", c.Admin, "http", c.HTTP)
	k.Address("grpc", c.GRPC, false)
	k.Apart("grpc", c.GRPC, "http", c.HTTP)
	k.Apart("grpc", c.GRPC, "admin", c.Admin)
	k.Address("collector", c.Collector, false)
	k.Apart("collector", c.Collector, "http", c.HTTP)
	k.Apart("collector", c.Collector, "admin", c.Admin)
	k.Apart("collector", c.Collector, "grpc", c.GRPC)
	collector.CheckCounting(&k, c.KeepEvents, c.Quality, c.LearnEvery)
	k.That(c.Quality == collector.QualityGiven || c.Collector != "", "quality", "is learned by a collector: give its address (collector)")
	k.Hosts("admin_hosts", c.AdminHosts)
	k.Origins("event_origins", c.EventOrigins)
	c.Settings.Check(&k)
	c.CheckListen(&k, "admin", c.Admin)
	c.QueryTLS.Check(&k)
	c.QueryTLS.CheckListen(&k, "http", c.HTTP, c.QueryInsecure)
	c.QueryTLS.CheckListen(&k, "grpc", c.GRPC, c.QueryInsecure)
	c.QueryTLS.CheckListen(&k, "collector", c.Collector, c.QueryInsecure)
	k.That(!c.Processes || c.TLS.Mode == certs.Off, "tls.mode", "is for one process here; start the programs by themselves to have TLS between them")
	master.CheckProfile(&k, c.Profile)
	k.That(c.Reserve > 0, "reserve_micros", "must be positive")
	master.CheckExplain(&k, c.Explain, c.Admin)
	k.Duration("timeout", c.Timeout, time.Millisecond, httpapi.MaxTimeout)
	c.SlowQueries.Check(&k, "slow_queries")
	c.QueryLog.Check(&k, "query_log")
	c.Traces.Check(&k, "traces")
	least := memlimit.Least(c.Slaves)
	if c.Processes {
		least = config.Size(c.Slaves) * memlimit.Least(1)
	}
	k.That(c.Memory == 0 || c.Memory >= least, "memory", "%v is too little for %d slaves; give at least %v", c.Memory, c.Slaves, least)
	k.OneOf("request_ids", c.RequestIDs, searchapi.RequestIDsGiven, searchapi.RequestIDsOwn)
	k.OneOf("unknown_location", c.UnknownLocation, master.ExcludeUnknown, master.IncludeUnknown)
	k.Number("max_in_flight", c.MaxInFlight, 1, 1<<16)
	k.OneOf("transport", c.Transport, TransportDirect, TransportStream)
	return k.Err()
}

// CheckStart makes the checks of a start and changes nothing; --check-config calls it, too. Validate comes before it.
func (c *Config) CheckStart(ctx context.Context, log *slog.Logger) error {
	k := preflight.Begin(ctx, c.need(), log)
	id, counts := k.Database(c.DB)
	if c.AdoptEvents {
		counts = ""
	}
	if !c.Processes {
		k.Credentials(&c.Settings, access.Balancer, "")
	}
	m := c.master(loopback)
	m.CheckQueries(k)
	k.AddError(home.Check(c.stores(), id))
	k.Dir(c.stores().Path)
	k.AddError(outfile.CheckStore(filepath.Join(c.stores().Path, home.StoreName(0))))
	if c.Collector != "" {
		k.Events(collector.EventsOf(c.DB), counts)
	}
	k.Listen(map[string]string{"http": c.HTTP, "grpc": c.GRPC, "admin": c.Admin, "collector": c.Collector})
	return k.Err()
}

// state are the files and directories that only the program's owner may read, beside those of its credentials.
func (c *Config) state() []string {
	state := append(database.Files(c.DB), c.stores().Path)
	if c.Collector != "" {
		state = append(state, database.Files(collector.EventsOf(c.DB))...)
	}
	return append(state, c.QueryLog.Paths()...)
}
