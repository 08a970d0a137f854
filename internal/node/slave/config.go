package slave

import (
	"context"
	"log/slog"
	"time"

	"adshard/barrels/rocks"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/copying"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/ports"
	"adshard/internal/node/preflight"
	"adshard/internal/node/scorers"
	"adshard/internal/node/tracing"
	"adshard/internal/node/wire"
	"adshard/internal/outfile"
	"adshard/internal/ulimit"
	"adshard/search/words"
)

// Config is a slave's configuration.
type Config struct {
	// Name is the slave's name: unique in the cluster, and the same after a restart.
	Name string `yaml:"name"`
	// Zone names what fails together with the slave, such as its host or rack; replicas are in different zones. It is empty if unknown.
	Zone string `yaml:"zone"`
	// Listen is the address for masters. Advertise is the address that masters are given; if it is empty, they are given Listen, which
	// must then name a host. Admin is the address of the admin port; if it is empty, there is no admin port.
	Listen    string `yaml:"listen"`
	Advertise string `yaml:"advertise"`
	Admin     string `yaml:"admin"`
	// AdminHosts are further host names of the admin port (ports.Open).
	AdminHosts []string `yaml:"admin_hosts"`
	// Dir is the directory of the store; it is created if it is missing.
	Dir string `yaml:"dir"`
	// Balancer is the balancer's address. If there are standby balancers, it is the list of all addresses, separated by commas. If it is
	// empty, the slave waits until it is adopted (`adshard slaves add`).
	Balancer string `yaml:"balancer"`
	// Memory is the memory that the process may use in total: for RocksDB, for data cached for searches, for Go's heap and for the
	// program itself.
	Memory config.Size `yaml:"memory"`
	// MaxInFlight bounds the searches under way; further ones are refused at once.
	MaxInFlight int `yaml:"max_in_flight"`
	// LoadCounted is the approximate number of searches per second whose cost is counted, or 0.
	LoadCounted int `yaml:"load_counted"`
	// Grace is how long a starting slave waits for a balancer before it serves the
	// data that it has.
	Grace time.Duration `yaml:"grace"`
	// BucketBytes bounds the answer to a pull; the bound is lower if Memory is small.
	BucketBytes int `yaml:"bucket_bytes"`
	// CopyFrom is the address of a slave whose store is copied if there is no store in Dir. If it is empty, the slave is filled as the
	// balancer decides.
	CopyFrom string `yaml:"copy_from"`
	// CopyRate bounds the bytes per second that copies read or write on this slave.
	CopyRate config.Size `yaml:"copy_rate"`
	// TrustedSlaves are the addresses (10.0.0.8) and networks (10.0.0.0/24) of the slaves that may copy this one's store; an empty list
	// means only those on this machine.
	TrustedSlaves []string `yaml:"trusted_slaves"`

	// Languages are those whose words have stems; a store of others is not opened.
	Languages words.Languages `yaml:"languages"`
	// Scorer is the file of the model that scores candidates (docs/scorer.md); if it is empty, there is no scorer.
	Scorer string `yaml:"scorer"`
	// RocksDBStatistics makes RocksDB count its work, for metrics. That costs memory, and slows down searches that read from files.
	RocksDBStatistics bool `yaml:"rocksdb_statistics"`
	// Traces says where spans are sent of searches that masters trace.
	Traces tracing.Config `yaml:"traces"`

	certs.Settings `yaml:",inline"`

	plan memlimit.Plan `yaml:"-"` // set by Within
	// Models are the models of Scorer, for all parts of a process, or nil if there are none (ReadModels).
	Models *scorers.File `yaml:"-"`

	aside string `yaml:"-"` // present path of the store that was in Dir, or "" if it was not set aside (Replace)
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{
		Name: "slave-0", Listen: "127.0.0.1:7100", Admin: "127.0.0.1:7101", Dir: "data/slave-0",
		Balancer: "127.0.0.1:7000", Memory: DefaultMemory, MaxInFlight: 128, LoadCounted: 1000, Grace: 2 * time.Second, BucketBytes: 4 << 20,
		CopyRate: copying.DefaultRate, Traces: tracing.DefaultConfig(), Settings: certs.DefaultSettings(),
	}
}

// DefaultMemory is the default of Memory.
const DefaultMemory = 1 << 30

// Validate returns an error that lists all faults, or nil.
func (c *Config) Validate() error {
	var k config.Check
	k.Name("name", c.Name)
	k.That(len(c.Zone) <= wire.MaxZone, "zone", "has %d bytes, at most %d are allowed", len(c.Zone), wire.MaxZone)
	k.Address("listen", c.Listen, true)
	k.Address("advertise", c.Advertise, false)
	k.That(c.Advertise != "" || !config.Unspecified(c.Listen), "advertise",
		"is needed, since listen (%s) names no host: give the HOST:PORT that masters are to ask", c.Listen)
	k.Address("admin", c.Admin, false)
	k.Apart("admin", c.Admin, "listen", c.Listen)
	k.Hosts("admin_hosts", c.AdminHosts)
	k.Addresses("balancer", c.Balancer, false)
	k.That(c.Dir != "", "dir", "must not be empty")
	k.That(c.Memory >= memlimit.Least(1), "memory", "%v is too little; give at least %v", c.Memory, memlimit.Least(1))
	k.Number("max_in_flight", c.MaxInFlight, 1, 1<<16)
	k.Number("load_counted", c.LoadCounted, 0, 1<<20)
	k.Duration("grace", c.Grace, 0, time.Hour)
	k.Number("bucket_bytes", c.BucketBytes, 1<<10, 32<<20)
	k.Address("copy_from", c.CopyFrom, false)
	k.That(c.CopyRate >= copying.PieceBytes, "copy_rate", "%v is too little; give at least %v a second", c.CopyRate, config.Size(copying.PieceBytes))
	c.Traces.Check(&k, "traces")
	c.Settings.Check(&k)
	c.CheckListen(&k, "listen", c.Listen)
	c.CheckListen(&k, "admin", c.Admin)
	_, err := copying.ParseTrusted(c.TrustedSlaves)
	k.That(err == nil, "trusted_slaves", "%v", err)
	return k.Err()
}

// need returns what a process with this slave needs from the system.
func (c *Config) need() ulimit.Need {
	return ulimit.Need{Files: max(ports.LeastFiles, ports.OwnFiles+Files(c.Dir)), Memory: uint64(c.Memory)}
}

// Files returns how many files a slave needs with its store in a directory.
func Files(dir string) uint64 { return rocks.Files(dir) + peers }

// peers is the number of connections without which a slave cannot work: to a balancer, a distributor and a master, and one to its
// listener.
const peers = 4

// Within returns the configuration of a slave that keeps within a plan for memory, with buckets that fit.
func (c Config) Within(plan memlimit.Plan) Config {
	c.BucketBytes, c.plan = min(c.BucketBytes, plan.Bucket), plan
	return c
}

// CheckStart makes the checks of a start and changes nothing; --check-config calls it, too. Call Validate first.
func (c *Config) CheckStart(ctx context.Context, log *slog.Logger) error {
	k := preflight.Begin(ctx, c.need(), log)
	k.Credentials(&c.Settings, access.Slave, c.Name)
	k.Dir("dir", c.Dir)
	k.Of("dir", c.Dir, outfile.CheckStore(c.Dir))
	k.Of("scorer", c.Scorer, scorers.Check(c.Scorer))
	k.Listen(map[string]string{"listen": c.Listen, "admin": c.Admin})
	return k.Err()
}
