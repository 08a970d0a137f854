package distributor

import (
	"context"
	"log/slog"

	"adshard/balance"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/database"
	"adshard/internal/node/identity"
	"adshard/internal/node/ports"
	"adshard/internal/node/preflight"
	"adshard/internal/ulimit"
)

// Config configures a distributor in a process of its own.
type Config struct {
	// Name is unique among the distributors of a cluster.
	Name string `yaml:"name"`
	// DB is the backend database, the same as the balancer's.
	DB string `yaml:"db"`
	// DBInsecure allows databases on other machines to be reached without checking their certificate.
	DBInsecure bool `yaml:"db_insecure"`
	// Listen is the address for slaves. Advertise is the address that slaves are given; if it is empty, they are
	// given Listen, which must then name a host.
	Listen    string `yaml:"listen"`
	Advertise string `yaml:"advertise"`
	// Admin is the address of the admin port; if it is empty, there is no admin port.
	Admin string `yaml:"admin"`
	// AdminHosts are further host names of the admin port (ports.Open).
	AdminHosts []string `yaml:"admin_hosts"`
	// Balancer is the balancer's address. If there are standby balancers, it is the list of all addresses, separated
	// by commas.
	Balancer string `yaml:"balancer"`
	// Order says how items lie on the ring, and StateKey where the balancer keeps its state in the database. Both are
	// the same as the balancer's.
	Order    string `yaml:"order"`
	StateKey string `yaml:"state_key"`

	DataConfig     `yaml:",inline"`
	certs.Settings `yaml:",inline"`
}

// DefaultConfig returns a configuration that lacks only DB.
func DefaultConfig() Config {
	return Config{
		Name: "distributor-0", Listen: "127.0.0.1:7200", Admin: "127.0.0.1:7201", Balancer: "127.0.0.1:7000",
		StateKey: identity.DefaultStateKey, DataConfig: DefaultDataConfig(), Settings: certs.DefaultSettings(),
	}
}

// Validate returns an error that lists all faults of the configuration, or nil.
func (c *Config) Validate() error {
	var k config.Check
	k.Name("name", c.Name)
	k.That(c.DB != "", "db", "must not be empty; give sqlite:PATH or postgres://USER@HOST/DATABASE")
	database.CheckVerified(&k, "db", c.DB, c.DBInsecure)
	k.Address("listen", c.Listen, true)
	k.Address("advertise", c.Advertise, false)
	k.That(c.Advertise != "" || !config.Unspecified(c.Listen), "advertise",
		"is needed, since listen (%s) names no host: give the HOST:PORT that slaves are to ask", c.Listen)
	k.Address("admin", c.Admin, false)
	k.Apart("admin", c.Admin, "listen", c.Listen)
	k.Hosts("admin_hosts", c.AdminHosts)
	c.Settings.Check(&k)
	c.CheckListen(&k, "listen", c.Listen)
	c.CheckListen(&k, "admin", c.Admin)
	k.Addresses("balancer", c.Balancer, true)
	if c.Order != "" {
		k.OneOf("order", c.Order, balance.Orders()...)
	}
	k.That(c.StateKey != "", "state_key", "must not be empty")
	c.DataConfig.Check(&k)
	return k.Err()
}

// CheckStart makes the checks of a start and changes nothing; --check-config calls it, too. Call Validate first.
func (c *Config) CheckStart(ctx context.Context, log *slog.Logger) error {
	k := preflight.Begin(ctx, ulimit.Need{Files: ports.LeastFiles}, log)
	k.Database(c.DB)
	k.Credentials(&c.Settings, access.Distributor, c.Name)
	k.Listen(map[string]string{"listen": c.Listen, "admin": c.Admin})
	return k.Err()
}
