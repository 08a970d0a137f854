package balancer

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/balance/strategy"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/control/inetcd"
	"adshard/internal/node/database"
	"adshard/internal/node/distributor"
	"adshard/internal/node/identity"
	"adshard/internal/node/ports"
	"adshard/internal/node/preflight"
	"adshard/internal/ulimit"
)

// Config configures a balancer.
type Config struct {
	// DB is the backend database, e.g. sqlite:ads.db.
	DB string `yaml:"db"`
	// DBInsecure allows databases on other machines to be reached without checking their certificate.
	DBInsecure bool `yaml:"db_insecure"`
	// Listen is the address for slaves and masters. Advertise is the address that other processes are given; if it is
	// empty, they are given Listen. Admin is the address of the admin port; if it is empty, there is no admin port.
	Listen    string `yaml:"listen"`
	Advertise string `yaml:"advertise"`
	Admin     string `yaml:"admin"`
	// Balancers are the addresses of all balancers of the cluster, separated by commas, for slaves that are added by
	// command. It is empty if there is only one balancer.
	Balancers string `yaml:"balancers"`
	// AdminHosts are further host names of the admin port (ports.Open).
	AdminHosts []string `yaml:"admin_hosts"`
	// Slaves is how many slaves must have joined before the first plan.
	Slaves int `yaml:"slaves"`
	// Replicas is how many slaves hold each slice. Slaves that are not enough to form another shard of that many are
	// spares.
	Replicas int `yaml:"replicas"`
	// Strategy makes the plan. Order says how items lie on the ring: "hash", "advertiser" or "id". If it is empty,
	// the cluster keeps its order; a new cluster gets "hash".
	Strategy string `yaml:"strategy"`
	Order    string `yaml:"order"`
	// Limits are the capacities of slaves, by name; without limits, all slaves are equal.
	Limits map[string]Limit `yaml:"limits"`
	// StrategyOptions are options of the strategy, by name; those that are not given have their defaults.
	StrategyOptions map[string]string `yaml:"strategy_options"`
	// Interval is the time between two iterations of the strategy; 0 means no iterations. Budget is the share of all
	// items, 0 to 1, that may be moving at any time.
	Interval time.Duration `yaml:"interval"`
	Budget   float64       `yaml:"budget"`
	// LoadWeights combine the costs of a query into one number; HalfLife is the half-life of the decayed average of
	// these numbers.
	LoadWeights LoadWeights   `yaml:"load_weights"`
	HalfLife    time.Duration `yaml:"half_life"`
	// DeadAfter is how long after its last report a slave is considered lost, and no longer waited for. After
	// EvacuateAfter its slices are moved to other slaves; 0 means never.
	DeadAfter     time.Duration `yaml:"dead_after"`
	EvacuateAfter time.Duration `yaml:"evacuate_after"`
	// MasterLease is how long after its last call a master is waited for when a slice leaves a slave. Linger is how
	// long the slice then stays on that slave: as long as a query may last.
	MasterLease time.Duration `yaml:"master_lease"`
	Linger      time.Duration `yaml:"linger"`
	// ScrubInterval is the time between two passes that compare all served slices with the database; 0 means no
	// passes. ScrubShare is the share of a processor that a pass may use, above 0 and at most 1; with a smaller share
	// a pass takes longer.
	ScrubInterval time.Duration `yaml:"scrub_interval"`
	ScrubShare    float64       `yaml:"scrub_share"`
	// Events is the database of events, from which the admin port shows what campaigns have spent. If it is empty,
	// the port shows no spend.
	Events string `yaml:"events"`
	// Currency is the currency of amounts, which the console writes beside them. If it is empty, it writes none.
	Currency string `yaml:"currency"`
	// Distribute says that the balancer prepares slave data itself, in addition to any distributors in processes of
	// their own.
	Distribute bool `yaml:"distribute"`
	// TrustedDistributors are the advertised addresses (HOST:PORT) of the distributors that slaves may pull from; an
	// empty list means only distributors on this machine.
	TrustedDistributors []string `yaml:"trusted_distributors"`

	distributor.DataConfig `yaml:",inline"`

	// KeepChanges bounds the changes that the feed keeps for slaves that lag or are away; a slave that needs older
	// changes is filled again.
	KeepChanges uint64 `yaml:"keep_changes"`
	// ReaderAge is how long changes are kept for a reader of the feed, such as
	// another cluster's balancer, that no longer reports its position.
	ReaderAge time.Duration `yaml:"reader_age"`
	// StateKey is the key of the balancer's epoch and model in the database, and
	// its name as a reader of the feed.
	StateKey string `yaml:"state_key"`
	// Control is where the lease and the model are kept, etcd://HOST:PORT[,HOST:PORT…][/PREFIX]; if it is empty, they
	// are kept in the database.
	Control string `yaml:"control"`
	// ControlTLS names the certificate files for calls to etcd. Without files, etcd is called without TLS, which is
	// allowed for other machines only if Insecure is set.
	ControlTLS inetcd.TLS `yaml:"control_tls"`
	// DiscardDataOf lists ids of databases whose data slaves discard when they
	// register. A slave with data of any other database is refused.
	DiscardDataOf []string `yaml:"discard_data_of"`

	certs.Settings `yaml:",inline"`
}

// LoadWeights weighs the costs of a query: the cost of each posting examined, each match and each microsecond.
type LoadWeights struct {
	Examined float64 `yaml:"examined"`
	Matched  float64 `yaml:"matched"`
	Micros   float64 `yaml:"micros"`
}

// Limit is the capacity of a slave. Share is its strength relative to the others (0 means 1); Weight bounds the sum
// of its items' weights (0 means no bound).
type Limit struct {
	Share  uint32 `yaml:"share"`
	Weight uint64 `yaml:"weight"`
}

// DefaultConfig returns a configuration that lacks only DB.
func DefaultConfig() Config {
	return Config{
		Listen: "127.0.0.1:7000", Admin: "127.0.0.1:7001", Slaves: 3, Replicas: 1,
		Strategy: strategy.Default,
		Interval: cluster.DefaultInterval, Budget: cluster.DefaultBudget,
		LoadWeights: LoadWeights(load.DefaultWeights), HalfLife: load.DefaultHalfLife,
		DeadAfter: cluster.DefaultDeadAfter, EvacuateAfter: cluster.DefaultEvacuateAfter,
		MasterLease: cluster.DefaultMasterLease, Linger: cluster.DefaultLinger,
		ScrubInterval: cluster.DefaultScrub, ScrubShare: cluster.DefaultScrubShare, Distribute: true, DataConfig: distributor.DefaultDataConfig(),
		KeepChanges: 5_000_000, ReaderAge: 7 * 24 * time.Hour, StateKey: identity.DefaultStateKey, Settings: certs.DefaultSettings(),
	}
}

// controlPlace says where the lease is kept, in words for log and error messages.
func (c *Config) controlPlace() string {
	if c.Control != "" {
		return c.Control
	}
	return "the database"
}

// Validate returns an error that lists all faults of the configuration, or nil.
func (c *Config) Validate() error {
	var k config.Check
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH or postgres://USER@HOST/DATABASE")
	database.CheckEvents(&k, c.Events, c.DB)
	database.CheckVerified(&k, "db", c.DB, c.DBInsecure)
	database.CheckVerified(&k, "events", c.Events, c.DBInsecure)
	k.Address("listen", c.Listen, true)
	k.Address("advertise", c.Advertise, false)
	k.Addresses("balancers", c.Balancers, false)
	k.Address("admin", c.Admin, false)
	k.Apart("admin", c.Admin, "listen", c.Listen)
	k.Hosts("admin_hosts", c.AdminHosts)
	c.Settings.Check(&k)
	c.CheckListen(&k, "listen", c.Listen)
	c.CheckListen(&k, "admin", c.Admin)
	k.Number("slaves", c.Slaves, 1, 1<<16)
	k.Number("replicas", c.Replicas, 1, min(balance.MaxReplicas, c.Slaves))
	CheckStrategy(&k, c.Strategy, c.StrategyOptions, c.Interval)
	CheckOrder(&k, c.Strategy, c.Order)
	k.That(c.Budget >= 0 && c.Budget <= 1, "budget", "%g; it must be 0 to 1", c.Budget)
	for _, w := range []float64{c.LoadWeights.Examined, c.LoadWeights.Matched, c.LoadWeights.Micros} {
		k.That(w >= 0 && w <= 1e9, "load_weights", "%g; it must be 0 to 1,000,000,000", w)
	}
	k.That(c.LoadWeights != LoadWeights{}, "load_weights", "must not all be 0")
	k.Duration("half_life", c.HalfLife, time.Second, time.Hour)
	k.Duration("dead_after", c.DeadAfter, time.Second, time.Hour)
	k.Duration("evacuate_after", c.EvacuateAfter, 0, 365*24*time.Hour)
	k.Duration("master_lease", c.MasterLease, time.Second, time.Hour)
	k.Duration("linger", c.Linger, time.Millisecond, time.Hour)
	for _, address := range c.TrustedDistributors {
		k.Address("trusted_distributors", address, true)
	}
	k.Duration("scrub_interval", c.ScrubInterval, 0, 365*24*time.Hour)
	k.That(c.ScrubShare > 0 && c.ScrubShare <= 1, "scrub_share", "%g; it must be above 0, at most 1", c.ScrubShare)
	c.DataConfig.Check(&k)
	k.Duration("reader_age", c.ReaderAge, time.Minute, 10*365*24*time.Hour)
	k.That(c.StateKey != "", "state_key", "must not be empty")
	CheckCurrency(&k, c.Currency)
	c.checkControl(&k)
	return k.Err()
}

// CheckCurrency checks the currency of amounts.
func CheckCurrency(k *config.Check, code string) {
	letters := strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	k.That(code == "" || len(code) == 3 && letters, "currency", "%q; write the three letters of ISO 4217, such as CZK", code)
}

// checkControl checks the settings for a control state in etcd.
func (c *Config) checkControl(k *config.Check) {
	files := c.ControlTLS
	if c.Control != "" {
		members, _, err := inetcd.Parse(c.Control)
		k.That(err == nil, "control", "this is not etcd://HOST:PORT,HOST:PORT/PREFIX, without user or password") // the text may have a password
		k.That(files != inetcd.TLS{} || c.Insecure || !slices.ContainsFunc(members, func(m string) bool { return !certs.Local(m) }), "control_tls",
			"is needed, since etcd is called on other machines; write insecure: true to call it without TLS")
	}
	k.That(c.Control != "" || files == inetcd.TLS{}, "control_tls", "is of no use without control")
	k.That(files.CA != "" || files == inetcd.TLS{}, "control_tls.ca", "is needed with control_tls.cert and control_tls.key")
	k.That((files.Cert == "") == (files.Key == ""), "control_tls.cert", "and control_tls.key are given together")
}

// CheckOrder checks the configured order of keys, if any, and whether the strategy works in it.
func CheckOrder(k *config.Check, name, order string) {
	if order == "" {
		return
	}
	k.OneOf("order", order, balance.Orders()...)
	if o, ok := balance.ParseOrder(order); ok {
		err := strategy.CheckOrder(name, o)
		k.That(err == nil, "order", "%v", err)
	}
}

// CheckStrategy checks a strategy and the time between its iterations.
func CheckStrategy(k *config.Check, name string, options map[string]string, interval time.Duration) {
	_, err := strategy.Named(name, options)
	k.That(err == nil, "strategy", "%v", err)
	k.Duration("interval", interval, 0, 365*24*time.Hour)
}

// CheckStart makes the checks of a start and changes nothing; --check-config calls it, too. Call Validate first.
func (c *Config) CheckStart(ctx context.Context, log *slog.Logger) error {
	k := preflight.Begin(ctx, ulimit.Need{Files: ports.LeastFiles}, log)
	k.Database(c.DB)
	k.Credentials(&c.Settings, access.Balancer, "")
	k.AddError(c.ControlTLS.Check()) // it names the key and the file
	k.Listen(map[string]string{"listen": c.Listen, "admin": c.Admin})
	return k.Err()
}
