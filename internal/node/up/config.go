package up

import (
	"cmp"
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
	"adshard/search/words"
)

// Config is the configuration of a whole cluster on one machine.
type Config struct {
	// DB is the database: sqlite:PATH or postgres://USER@HOST/DATABASE.
	DB string `yaml:"db"`
	// DBInsecure allows databases on other machines to be reached without checking their certificate.
	DBInsecure bool `yaml:"db_insecure"`
	// Slaves is the number of slaves; Strategy places the groups on them. If it is 0, there are as many as Data or Barrels
	// holds stores of, and in a new directory as few as Replicas permits (settleSlaves).
	Slaves int `yaml:"slaves"`
	// Replicas is how many slaves hold each slice.
	Replicas int    `yaml:"replicas"`
	Strategy string `yaml:"strategy"`
	// Order says how groups lie on the ring: "hash", "advertiser" or "id". If it is empty, the cluster keeps its order; a new
	// cluster gets "hash".
	Order string `yaml:"order"`
	// StrategyOptions are options of the strategy, by name. Interval is the time between two iterations of the strategy; 0 means
	// no iterations.
	StrategyOptions map[string]string `yaml:"strategy_options"`
	Interval        time.Duration     `yaml:"interval"`
	// Distributors is the number of distributors. If it is 0, the balancer prepares slave data itself.
	Distributors int `yaml:"distributors"`
	// Data is the directory of the slaves' stores, one directory each (slave-0, …).
	Data string `yaml:"data"`
	// Barrels is a directory of stores built offline that is used instead of Data; if it is empty, Data is used.
	Barrels string `yaml:"barrels"`
	// HTTP is the address for queries. Admin is the address of the admin port.
	HTTP  string `yaml:"http"`
	Admin string `yaml:"admin"`
	// GRPC is the address for queries over gRPC; if it is empty, there is none.
	GRPC string `yaml:"grpc"`
	// Collector is the address for events of a collector. If it is empty, there is no collector, and answers have no tokens.
	Collector string `yaml:"collector"`
	// AdoptEvents, EventOrigins, KeepEvents, Quality and LearnEvery are settings of the collector.
	AdoptEvents  bool          `yaml:"adopt_events"`
	EventOrigins []string      `yaml:"event_origins"`
	KeepEvents   time.Duration `yaml:"keep_events"`
	Quality      string        `yaml:"quality"`
	LearnEvery   time.Duration `yaml:"learn_every"`
	// AdminHosts are further host names of the admin port (ports.Open).
	AdminHosts []string `yaml:"admin_hosts"`
	// DiscardDataOf and Currency are settings of the balancer.
	DiscardDataOf []string `yaml:"discard_data_of"`
	Currency      string   `yaml:"currency"`
	// Processes says that each part runs in a child process of its own.
	Processes bool `yaml:"processes"`
	// NoRestart says that child processes that end are not started again.
	NoRestart bool `yaml:"no_restart"`
	// Transport says how the master asks the slaves: TransportDirect or TransportStream.
	Transport string `yaml:"transport"`
	// Languages is a setting of all parts.
	Languages words.Languages `yaml:"languages"`
	// Lexicon, Profile, Reserve, Explain, Timeout, RequestIDs and MaxInFlight are settings of the master.
	Lexicon    string        `yaml:"lexicon"`
	Profile    string        `yaml:"profile"`
	Reserve    uint64        `yaml:"reserve_micros"`
	Explain    string        `yaml:"explain"`
	Timeout    time.Duration `yaml:"timeout"`
	RequestIDs string        `yaml:"request_ids"`
	// UnknownLocation is a setting of the master.
	UnknownLocation string `yaml:"unknown_location"`
	MaxInFlight     int    `yaml:"max_in_flight"`
	// Scorer is a setting of the master and the slaves.
	Scorer string `yaml:"scorer"`
	// SlowQueries and QueryLog are settings of the master.
	SlowQueries querylog.SlowConfig   `yaml:"slow_queries"`
	QueryLog    querylog.RecordConfig `yaml:"query_log"`
	// Traces is a setting of the master and the slaves, and RocksDBStatistics one of the slaves.
	Traces            tracing.Config `yaml:"traces"`
	RocksDBStatistics bool           `yaml:"rocksdb_statistics"`
	// Memory is the memory that all slaves together may use; 0 means the default of a slave for each of them. The memory of
	// other parts is not included.
	Memory config.Size `yaml:"memory"`
	// TLS and tokens are for the admin port; the parts talk to each other on loopback, without TLS. QueryTLS says how the ports
	// for queries use TLS. QueryInsecure allows those outside loopback without TLS.
	QueryTLS      certs.QueryTLS `yaml:"query_tls"`
	QueryInsecure bool           `yaml:"query_insecure"`

	certs.Settings `yaml:",inline"`

	linger time.Duration `yaml:"-"` // of the balancer, for tests; 0 means its default
}

// The values of Config.Transport. With TransportDirect, the master asks the slaves in its own process directly. With
// TransportStream, it asks all slaves over streams, as in other clusters.
const (
	TransportDirect = "direct"
	TransportStream = "stream"
)

// MaxSlaves is the largest number of slaves that Run starts.
const MaxSlaves = 64

// DefaultConfig returns the defaults. DB has no default.
func DefaultConfig() Config {
	return Config{
		Replicas: 1, Strategy: strategy.Default, Interval: clusters.DefaultInterval, Data: "data", HTTP: "127.0.0.1:8080", Admin: "127.0.0.1:8081",
		KeepEvents: events.Remembered, Quality: collector.QualityGiven, LearnEvery: collector.DefaultLearnEvery, Transport: TransportDirect, Profile: master.ProfileDefault, Reserve: master.DefaultReserve, Explain: master.ExplainAuto,
		Timeout: searchapi.DefaultTimeout, RequestIDs: searchapi.RequestIDsGiven, UnknownLocation: master.ExcludeUnknown, MaxInFlight: searchapi.DefaultMaxInFlight, QueryLog: querylog.DefaultRecordConfig(), Traces: tracing.DefaultConfig(),
		QueryTLS: certs.QueryTLS{Mode: certs.Off}, Settings: certs.DefaultSettings(),
	}
}

// memory returns the memory that all slaves together may use.
func (c *Config) memory() config.Size {
	if c.Memory > 0 {
		return c.Memory
	}
	return config.Size(c.slaves()) * slave.DefaultMemory
}

// slaves returns the number of slaves, or the least number until it is settled.
func (c *Config) slaves() int { return cmp.Or(c.Slaves, c.Replicas) }

// settleSlaves chooses the number of slaves if the configuration does not. One slave for each replica answers at the
// least cost: a query asks every shard, and shards on one machine share its memory and its processors.
func (c *Config) settleSlaves() error {
	if c.Slaves > 0 {
		return nil
	}
	if n := home.Slaves(c.stores().Path); n > 0 {
		c.Slaves = n
		return c.Validate() // there may be too few for the replicas
	}
	c.Slaves = c.Replicas
	return nil
}

// need returns what this process needs from the system. With Processes, that is the need of the most demanding part, since all parts
// have the same limits.
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

// Validate returns an error that lists all faults, or nil.
func (c *Config) Validate() error {
	var k config.Check
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH or postgres://USER@HOST/DATABASE")
	database.CheckVerified(&k, "db", c.DB, c.DBInsecure)
	k.Number("slaves", c.Slaves, 0, MaxSlaves)
	k.Number("replicas", c.Replicas, 1, min(balance.MaxReplicas, cmp.Or(c.Slaves, MaxSlaves)))
	k.Number("distributors", c.Distributors, 0, MaxSlaves)
	balancer.CheckStrategy(&k, c.Strategy, c.StrategyOptions, c.Interval)
	balancer.CheckOrder(&k, c.Strategy, c.Order)
	balancer.CheckCurrency(&k, c.Currency)
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
	least := memlimit.Least(c.slaves())
	if c.Processes {
		least = config.Size(c.slaves()) * memlimit.Least(1)
	}
	k.That(c.Memory == 0 || c.Memory >= least, "memory", "%v is too little for %d slaves; give at least %v", c.Memory, c.slaves(), least)
	k.OneOf("request_ids", c.RequestIDs, searchapi.RequestIDsGiven, searchapi.RequestIDsOwn)
	k.OneOf("unknown_location", c.UnknownLocation, master.ExcludeUnknown, master.IncludeUnknown)
	k.Number("max_in_flight", c.MaxInFlight, 1, 1<<16)
	k.OneOf("transport", c.Transport, TransportDirect, TransportStream)
	return k.Err()
}

// CheckStart settles the number of slaves, makes the checks of a start, and changes nothing on disk; --check-config calls
// it, too. Call Validate first.
func (c *Config) CheckStart(ctx context.Context, log *slog.Logger) error {
	if err := c.settleSlaves(); err != nil {
		return err
	}
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
	key := "data"
	if c.Barrels != "" {
		key = "barrels"
	}
	k.Of(key, c.stores().Path, home.Check(c.stores(), id))
	k.Dir(key, c.stores().Path)
	k.Of(key, c.stores().Path, outfile.CheckStore(filepath.Join(c.stores().Path, home.StoreName(0))))
	if c.Collector != "" {
		k.Events("db", collector.EventsOf(c.DB), counts)
	}
	k.Listen(map[string]string{"http": c.HTTP, "grpc": c.GRPC, "admin": c.Admin, "collector": c.Collector})
	return k.Err()
}

// state returns the files and directories that only the program's owner may read, besides those of its credentials.
func (c *Config) state() []string {
	state := append(database.Files(c.DB), c.stores().Path)
	if c.Collector != "" {
		state = append(state, database.Files(collector.EventsOf(c.DB))...)
	}
	return append(state, c.QueryLog.Paths()...)
}
