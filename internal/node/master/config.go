package master

import (
	"context"
	"log/slog"
	"net"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/ports"
	"adshard/internal/node/preflight"
	"adshard/internal/node/querylog"
	"adshard/internal/node/scorers"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/tracing"
	"adshard/internal/ulimit"
	"adshard/search/words"
)

// DefaultReserve is the lowest price, in micros (serving.md §4).
const DefaultReserve = 10_000

// DefaultGCPercent is by how many percent a master's heap grows between two collections.
const DefaultGCPercent = 400

// Config is a master's configuration.
type Config struct {
	// Name is the master's name in messages to the balancer and in logs.
	Name string `yaml:"name"`
	// HTTP is the address for queries. Admin is the address of the admin port; if it is empty, there is no admin port.
	HTTP  string `yaml:"http"`
	Admin string `yaml:"admin"`
	// GRPC is the address for queries over gRPC (query.proto); if it is empty, there is none.
	GRPC string `yaml:"grpc"`
	// AdminHosts are further host names of the admin port (ports.Open), and of the query port for explanations.
	AdminHosts []string `yaml:"admin_hosts"`
	// Balancer is the balancer's address. If there are standby balancers, it is the list of all addresses, separated by
	// commas.
	Balancer string `yaml:"balancer"`
	// Slaves are addresses of slaves that are asked for the map if no balancer answers when the master starts. One is enough.
	Slaves []string `yaml:"slaves"`
	// Languages are those whose words have stems.
	Languages words.Languages `yaml:"languages"`
	// Lexicon is the file of synonyms. If it is empty, synonyms are off.
	Lexicon string `yaml:"lexicon"`
	// Profile is ProfileDefault, ProfileSklik or a file that says what the match types mean.
	Profile string `yaml:"profile"`
	// Reserve is the lowest price, in micros.
	Reserve uint64 `yaml:"reserve_micros"`
	// Scorer is the file of the model that scores candidates (docs/scorer.md); if it is empty, there is no scorer. Slaves need
	// the file, too.
	Scorer string `yaml:"scorer"`
	// Models are the models of Scorer, for all parts of a process, or nil if there are none.
	Models *scorers.File `yaml:"-"`
	// Explain says where explanations, which show bids, are served: "public" also on the query port, "admin" only on the admin
	// port, and "auto" like "public" if the query port listens on loopback. The admin port always serves them.
	Explain string `yaml:"explain"`
	// UnknownLocation says whether a campaign with target places takes part if no place of the query is known: ExcludeUnknown
	// or IncludeUnknown.
	UnknownLocation string `yaml:"unknown_location"`
	// Timeout applies to queries without a timeout of their own.
	Timeout time.Duration `yaml:"timeout"`
	// RequestIDs says which ids queries have: searchapi.RequestIDsGiven or RequestIDsOwn.
	RequestIDs string `yaml:"request_ids"`
	// MaxInFlight bounds the queries under way.
	MaxInFlight int `yaml:"max_in_flight"`
	// GCPercent is by how many percent of the live heap the heap of the process may grow between two collections, unless the
	// environment sets GOGC. So little of a master's heap is live that Go's default of 100 would collect many times a second.
	GCPercent int `yaml:"gc_percent"`
	// EventTokens makes the master sign a token for each ad of an answer, with which a collector counts the ad's impressions
	// and clicks.
	EventTokens bool `yaml:"event_tokens"`
	// SlowQueries says which searches are logged as slow, and QueryLog where searches are recorded for replays. Both record
	// what users typed.
	SlowQueries querylog.SlowConfig   `yaml:"slow_queries"`
	QueryLog    querylog.RecordConfig `yaml:"query_log"`
	// Traces says which searches are traced, and where their spans are sent.
	Traces tracing.Config `yaml:"traces"`
	// QueryTLS says how the ports for queries use TLS. QueryInsecure allows ports outside loopback without TLS.
	QueryTLS      certs.QueryTLS `yaml:"query_tls"`
	QueryInsecure bool           `yaml:"query_insecure"`

	certs.Settings `yaml:",inline"`
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{
		Name: "master-0", HTTP: "127.0.0.1:8080", Admin: "127.0.0.1:8081", Balancer: "127.0.0.1:7000",
		Profile: ProfileDefault, Reserve: DefaultReserve, Explain: ExplainAuto, UnknownLocation: ExcludeUnknown,
		Timeout: searchapi.DefaultTimeout, RequestIDs: searchapi.RequestIDsGiven, MaxInFlight: searchapi.DefaultMaxInFlight, GCPercent: DefaultGCPercent,
		QueryLog: querylog.DefaultRecordConfig(), Traces: tracing.DefaultConfig(), QueryTLS: certs.QueryTLS{Mode: certs.Off}, Settings: certs.DefaultSettings(),
	}
}

// Validate returns an error that lists all faults, or nil.
func (c *Config) Validate() error {
	var k config.Check
	k.Name("name", c.Name)
	k.Address("http", c.HTTP, true)
	k.Address("admin", c.Admin, false)
	k.Apart("admin", c.Admin, "http", c.HTTP)
	k.Address("grpc", c.GRPC, false)
	k.Apart("grpc", c.GRPC, "http", c.HTTP)
	k.Apart("grpc", c.GRPC, "admin", c.Admin)
	k.Hosts("admin_hosts", c.AdminHosts)
	c.Settings.Check(&k)
	c.CheckListen(&k, "admin", c.Admin)
	c.QueryTLS.Check(&k)
	c.QueryTLS.CheckListen(&k, "http", c.HTTP, c.QueryInsecure)
	c.QueryTLS.CheckListen(&k, "grpc", c.GRPC, c.QueryInsecure)
	k.Addresses("balancer", c.Balancer, true)
	for _, address := range c.Slaves {
		k.Address("slaves", address, true)
	}
	CheckProfile(&k, c.Profile)
	k.That(c.Reserve > 0, "reserve_micros", "must be positive")
	CheckExplain(&k, c.Explain, c.Admin)
	k.OneOf("unknown_location", c.UnknownLocation, ExcludeUnknown, IncludeUnknown)
	k.Duration("timeout", c.Timeout, time.Millisecond, httpapi.MaxTimeout)
	k.OneOf("request_ids", c.RequestIDs, searchapi.RequestIDsGiven, searchapi.RequestIDsOwn)
	k.Number("max_in_flight", c.MaxInFlight, 1, 1<<16)
	k.Number("gc_percent", c.GCPercent, 10, 10_000)
	c.SlowQueries.Check(&k, "slow_queries")
	c.QueryLog.Check(&k, "query_log")
	c.Traces.Check(&k, "traces")
	return k.Err()
}

// The values of Config.UnknownLocation.
const (
	ExcludeUnknown = "exclude"
	IncludeUnknown = "include"
)

// The values of Config.Explain.
const (
	ExplainAuto   = "auto"
	ExplainPublic = "public"
	ExplainAdmin  = "admin"
)

// CheckExplain checks the setting of where explanations are served.
func CheckExplain(k *config.Check, explain, admin string) {
	k.OneOf("explain", explain, ExplainAuto, ExplainPublic, ExplainAdmin)
	k.That(explain != ExplainAdmin || admin != "", "explain", "is admin, and there is no admin port; set admin")
}

// explains reports whether the query port at an address also serves explanations.
func (c *Config) explains(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return c.Explain == ExplainPublic || c.Explain == ExplainAuto && ok && tcp.IP.IsLoopback()
}

// CheckStart makes the checks of a start and changes nothing; --check-config calls it, too. Call Validate first.
func (c *Config) CheckStart(ctx context.Context, log *slog.Logger) error {
	k := preflight.Begin(ctx, ulimit.Need{Files: ports.LeastFiles}, log)
	k.Credentials(&c.Settings, access.Master, c.Name)
	c.CheckQueries(k)
	k.Listen(map[string]string{"http": c.HTTP, "grpc": c.GRPC, "admin": c.Admin})
	return k.Err()
}

// CheckQueries checks the files that a master reads or writes.
func (c *Config) CheckQueries(k *preflight.Check) {
	k.Queries(&c.QueryTLS)
	_, err := openLexicon(c.Lexicon, slog.New(slog.DiscardHandler))
	k.Of("lexicon", c.Lexicon, err)
	_, err = readProfile(c.Profile)
	k.Of("profile", c.Profile, err)
	k.Of("scorer", c.Scorer, scorers.Check(c.Scorer))
	k.File("query_log.file", c.QueryLog.File)
	k.Of("query_log.file", c.QueryLog.File, c.QueryLog.CheckFiles())
}
