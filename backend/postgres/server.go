package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"adshard/backend"
)

// servedBy asks a primary. Its control file has the timeline of the last checkpoint, its log that of now.
const servedBy = `SELECT system_identifier::text, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint FROM pg_control_system()`

// Server implements backend.Served. Everybody may ask, unless the server's owner has taken that away.
func (s *Store) Server(ctx context.Context) (is backend.Server, err error) {
	var timeline int64
	err = s.read(ctx, "server", func(c *pgx.Conn) error { return c.QueryRow(ctx, servedBy).Scan(&is.System, &timeline) })
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == "42501" { // insufficient privilege
		return backend.Server{}, nil
	}
	is.Timeline = uint32(timeline)
	return is, err
}
