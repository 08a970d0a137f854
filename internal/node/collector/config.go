package collector

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"adshard/events"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/database"
	"adshard/internal/node/identity"
	"adshard/internal/node/ports"
	"adshard/internal/node/preflight"
	"adshard/internal/ulimit"
)

// Config configures a collector.
type Config struct {
	// Name is the collector's name in logs and metrics.
	Name string `yaml:"name"`
	// DB is the backend database, the same as the balancer's.
	DB string `yaml:"db"`
	// DBInsecure allows databases on other machines to be reached without checking their certificate.
	DBInsecure bool `yaml:"db_insecure"`
	// Events is the database of events; if it is empty, EventsOf(DB) is used.
	Events string `yaml:"events"`
	// AdoptEvents makes Events the database of events from now on, even if another one was in use before. Set it for
	// one start.
	AdoptEvents bool `yaml:"adopt_events"`
	// KeepEvents is how long single events are kept. After that, only their counts remain.
	KeepEvents time.Duration `yaml:"keep_events"`
	// HTTP is the address for events. Admin is the address of the admin port; if it is empty, there is no admin port.
	HTTP  string `yaml:"http"`
	Admin string `yaml:"admin"`
	// AdminHosts are further host names of the admin port (ports.Open).
	AdminHosts []string `yaml:"admin_hosts"`
	// EventOrigins are the origins (https://HOST) whose pages may read the answers of HTTP.
	EventOrigins []string `yaml:"event_origins"`
	// StateKey is the key of the balancer's state in the database, the same as the balancer's.
	StateKey string `yaml:"state_key"`
	// Quality says which quality keywords are served with: QualityGiven leaves their qualities as they are,
	// QualityLearned lets this collector learn them.
	Quality string `yaml:"quality"`
	// LearnEvery is the time between two rounds of learning, by any collector.
	LearnEvery time.Duration `yaml:"learn_every"`
	// MaxInFlight bounds the batches under way.
	MaxInFlight int `yaml:"max_in_flight"`
	// QueryTLS says how the port for events uses TLS. QueryInsecure allows a port outside loopback without TLS. Like
	// a master's query port, the port is open to all.
	QueryTLS      certs.QueryTLS `yaml:"query_tls"`
	QueryInsecure bool           `yaml:"query_insecure"`

	certs.Settings `yaml:",inline"`
}

// The values of Config.Quality.
const (
	QualityGiven   = "given"
	QualityLearned = "learned"
)

// DefaultLearnEvery is short compared with the half-life of what is learned.
const DefaultLearnEvery = time.Hour

// DefaultMaxInFlight is the default of MaxInFlight. That many batches take some megabytes in all, or a quarter of a
// gigabyte if each has the largest size allowed.
const DefaultMaxInFlight = 32

// DefaultConfig returns a configuration that lacks only DB.
func DefaultConfig() Config {
	return Config{
		Name: "collector-0", HTTP: "127.0.0.1:8090", Admin: "127.0.0.1:8091", StateKey: identity.DefaultStateKey,
		KeepEvents: events.Remembered, Quality: QualityGiven, LearnEvery: DefaultLearnEvery, MaxInFlight: DefaultMaxInFlight, QueryTLS: certs.QueryTLS{Mode: certs.Off}, Settings: certs.DefaultSettings(),
	}
}

// mostKept is the longest time for which single events can be kept: some years.
const mostKept = 5 * 366 * 24 * time.Hour

// CheckCounting checks the settings that the configuration of a whole cluster has, too.
func CheckCounting(k *config.Check, keepEvents time.Duration, quality string, learnEvery time.Duration) {
	k.Duration("keep_events", keepEvents, events.Remembered, mostKept)
	k.OneOf("quality", quality, QualityGiven, QualityLearned)
	k.Duration("learn_every", learnEvery, time.Second, 7*24*time.Hour)
}

// EventsOf returns the default database of events for a backend database: a file next to the SQLite file, or a schema
// in the PostgreSQL database.
func EventsOf(db string) string {
	if database.IsServer(db) || !strings.HasPrefix(db, "sqlite:") {
		return db
	}
	return db + "-events"
}

// Validate returns an error that lists all faults of the configuration, or nil.
func (c *Config) Validate() error {
	var k config.Check
	k.Name("name", c.Name)
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH or postgres://USER@HOST/DATABASE")
	database.CheckEvents(&k, c.Events, c.DB)
	database.CheckVerified(&k, "db", c.DB, c.DBInsecure)
	database.CheckVerified(&k, "events", c.Events, c.DBInsecure)
	k.Address("http", c.HTTP, true)
	k.Address("admin", c.Admin, false)
	k.Apart("admin", c.Admin, "http", c.HTTP)
	k.Hosts("admin_hosts", c.AdminHosts)
	k.Origins("event_origins", c.EventOrigins)
	k.That(c.StateKey != "", "state_key", "must not be empty")
	CheckCounting(&k, c.KeepEvents, c.Quality, c.LearnEvery)
	k.Number("max_in_flight", c.MaxInFlight, 1, 1<<10)
	c.Settings.Check(&k)
	c.CheckListen(&k, "admin", c.Admin)
	c.QueryTLS.Check(&k)
	c.QueryTLS.CheckListen(&k, "http", c.HTTP, c.QueryInsecure)
	return k.Err()
}

// CheckStart makes the checks of a start and changes nothing; --check-config calls it, too. Call Validate first.
func (c *Config) CheckStart(ctx context.Context, log *slog.Logger) error {
	k := preflight.Begin(ctx, ulimit.Need{Files: ports.LeastFiles}, log)
	_, counts := k.Database(c.DB)
	if c.AdoptEvents {
		counts = ""
	}
	k.Events("events", c.events(), counts)
	k.Credentials(&c.Settings, access.Collector, c.Name)
	k.Queries(&c.QueryTLS)
	k.Listen(map[string]string{"http": c.HTTP, "admin": c.Admin})
	return k.Err()
}

// state returns the files and directories that only the program's owner may read, besides those of its credentials.
func (c *Config) state() []string { return append(database.Files(c.DB), database.Files(c.events())...) }

// events returns the URL of the database of events.
func (c *Config) events() string {
	if c.Events != "" {
		return c.Events
	}
	return EventsOf(c.DB)
}
