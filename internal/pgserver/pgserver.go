// Package pgserver has what all stores on PostgreSQL require from a server and from poolers in front of it, and the
// meaning of errors that are not about data.
//
// Goals: a database that would cause failures later is refused when it is opened; an error names its cause and what
// to do. Non-goals: schemas, statements, URLs.
package pgserver

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"adshard/fault"
	"adshard/internal/ulimit"
)

const op = "postgres: open"

// Check returns fault.Invalid for a connection to a database that cannot store every text. Servers report the
// encoding of the database for each connection without being asked.
func Check(c *pgx.Conn) error {
	if is := c.PgConn().ParameterStatus("server_encoding"); is != "UTF8" {
		return fault.Newf(fault.Invalid, op, "database %s has the encoding %s, in which not every text can be kept; name one with UTF8"+
			" (`createdb --encoding=UTF8 --template=template0 NAME`); pg_dump and pg_restore copy what is in this one", c.Config().Database, is)
	}
	return nil
}

// Durable makes the commits of a connection durable whatever the server's settings are. If settings of a session are not kept,
// it returns fault.Invalid for a server whose commits are not durable.
func Durable(ctx context.Context, c *pgx.Conn) error {
	if !Pooled(c) {
		_, err := c.PgConn().Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'").ReadAll()
		return err
	}
	var is string
	err := c.QueryRow(ctx, "SELECT current_setting('synchronous_commit')").Scan(&is)
	if err == nil && is == "off" {
		err = fault.Newf(fault.Invalid, op, "commits in database %s are not durable (synchronous_commit is off), which a session behind a pooler cannot change:"+
			" let the database do so (ALTER DATABASE … SET synchronous_commit = on)", c.Config().Database)
	}
	return err
}

// Pooled reports whether a pooler may give each transaction of a connection another session. A URL says so with a
// default_query_exec_mode that prepares no statements in sessions.
func Pooled(c *pgx.Conn) bool {
	return c.Config().DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
}

// Diagnose returns the kind of an error that is about the connection and advice on what to do. The advice is "" if
// the error is about something else.
func Diagnose(err error) (fault.Kind, string) {
	if advice := ulimit.Advice(err); advice != "" {
		return fault.Unavailable, advice
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) && (answer.Code == "42P05" || answer.Code == "26000") { // a prepared statement already exists, or does not exist
		return fault.Unavailable, "a pooler in front of the server gives each transaction another session (PgBouncer: pool_mode = transaction), where prepared" +
			" statements are lost and met again: let it pool sessions (pool_mode = session), or add default_query_exec_mode=cache_describe to the URL of the database"
	}
	return fault.Internal, ""
}
