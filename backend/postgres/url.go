package postgres

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/fault"
	"adshard/internal/pgserver"
)

// connections is the most connections that a store uses, unless the URL has pool_max_conns.
const connections = 20

// parse parses a URL as libpq does (hosts, sslmode, passfile …), and returns the name of the database for messages.
// It returns fault.Invalid if the URL is wrong.
func parse(text string) (*pgxpool.Config, string, error) {
	invalid := func(format string, args ...any) error {
		return fault.Field("postgres: open", "db", format, args...)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, "", invalid("this is not a database URL: write postgres://USER@HOST/DATABASE") // the text may contain a password
	}
	q := u.Query()
	if hasPassword(u) {
		return nil, "", invalid("a password in a URL can be read in lists of processes and in logs:" +
			" put it into a password file (~/.pgpass, or passfile=PATH in the URL)")
	}
	cfg, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, "", invalid("%w", err)
	}
	c := cfg.ConnConfig
	if c.Database == "" {
		return nil, "", invalid("the URL names no database: write postgres://USER@HOST/DATABASE")
	}
	name := fmt.Sprintf("%s on %s", c.Database, strings.ReplaceAll(hosts(u, c), ",", " or "))
	if c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	if !q.Has("application_name") {
		c.RuntimeParams["application_name"] = "adshard"
	}
	if !q.Has("pool_max_conns") {
		cfg.MaxConns = connections
	}
	cfg.MinConns, cfg.MinIdleConns = 0, 0 // no connection before the database's id is known
	return cfg, name, nil
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	q := u.Query()
	return has || q.Has("password") || q.Has("sslpassword")
}

func hosts(u *url.URL, c *pgx.ConnConfig) string {
	if u.Host != "" {
		return u.Host
	}
	if h := u.Query().Get("host"); h != "" {
		return h
	}
	return c.Host
}

// prepareConn makes a session safe whatever the server's settings are.
func prepareConn(ctx context.Context, c *pgx.Conn) error {
	if err := pgserver.Check(c); err != nil {
		return err
	}
	_, err := c.PgConn().Exec(ctx, "SET client_encoding = 'UTF8'; SET client_connection_check_interval = '1s'").ReadAll()
	if err == nil {
		err = pgserver.Durable(ctx, c)
	}
	return err
}
