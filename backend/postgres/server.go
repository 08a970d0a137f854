package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"adshard/backend"
)

// servedBy is a query for a primary. The control file would give the timeline of the last checkpoint; the log gives
// the present one.
const servedBy = `SELECT system_identifier::text, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint FROM pg_control_system()`

// serverTime is the time limit of the query servedBy.
const serverTime = 5 * time.Second

// Server implements backend.Served. It uses a new connection, since open ones stay with a server that new ones may
// not reach. Every role may ask unless the server's owner has revoked that.
func (s *Store) Server(ctx context.Context) (is backend.Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return is, s.failed(ctx, "server", err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	var timeline int64
	err = c.QueryRow(ctx, servedBy).Scan(&is.System, &timeline)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == "42501" { // insufficient privilege
		return backend.Server{}, nil
	}
	if err != nil {
		return is, s.failed(ctx, "server", err)
	}
	is.Timeline = uint32(timeline)
	return is, nil
}
