package postgres

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"adshard/backend"
	"adshard/fault"
)

// replicaParameter is the parameter of a URL with the hosts of the standbys from which snapshots for filling are
// read, optionally with ports, as in the URL itself.
const replicaParameter = "replica"

// withoutReplica splits a URL into one without the replica and the URL of the replica, which is "" if there is none.
// It returns fault.Invalid if the parameter names no host.
func withoutReplica(text string) (primary, replica string, err error) {
	u, err := url.Parse(text)
	if err != nil || !u.Query().Has(replicaParameter) {
		return text, "", nil
	}
	q := u.Query()
	hosts := q.Get(replicaParameter)
	if hosts == "" { // a URL without a host would lead to a server on this machine
		return "", "", fault.Field("postgres: open", "db", "replica= names no host: write replica=HOST, or leave it out")
	}
	q.Del(replicaParameter)
	u.RawQuery = q.Encode()
	primary = u.String()
	q.Del("host")
	q.Del("port")
	q.Del("target_session_attrs")
	u.Host = hosts
	if strings.HasPrefix(hosts, "/") { // the directory of a socket
		u.Host = ""
		q.Set("host", hosts)
	}
	u.RawQuery = q.Encode()
	return primary, u.String(), nil
}

// openReplica makes a Store for reading at the replica. It connects when it is first used.
func (s *Store) openReplica(ctx context.Context, url string) error {
	cfg, name, err := parse(url)
	if err != nil {
		return err
	}
	cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsStandby
	r := &Store{name: name + " (replica)", id: s.id, options: s.options, limits: s.limits, ctx: s.ctx, end: func() {}}
	cfg.AfterConnect = r.connected
	if r.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return failed(ctx, "open", r.name, err)
	}
	r.waiter.Newest, r.waiter.Poll = r.Newest, s.options.Poll
	s.replica = r
	return nil
}

// FillSnapshot implements backend.Replicated. The replica must be a standby of this database: its id and the mark of
// its newest change are compared.
func (s *Store) FillSnapshot(ctx context.Context, least uint64) (backend.Snapshot, error) {
	if s.replica == nil {
		return s.Snapshot(ctx)
	}
	opened, err := s.replica.Snapshot(ctx)
	if err != nil {
		return nil, s.replica.lacking(err)
	}
	n := opened.(*snapshot)
	if err := s.follows(ctx, n, least); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// lacking returns the error for a replica that lacks tables. The primary is open and has them, so the replica has not
// yet replayed their creation.
func (s *Store) lacking(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && missesTables(answer.Code) {
		return fault.Newf(fault.Unavailable, "postgres: replica", "database %s has not replayed all that made the primary's tables: try again (%w)", s.name, answer)
	}
	return err
}

// follows returns an error unless a snapshot of the replica is a state that this database once had, from which its
// log continues, with all changes up to `least`.
func (s *Store) follows(ctx context.Context, n *snapshot, least uint64) error {
	const op = "postgres: replica"
	var standby bool
	err := n.read(ctx, "replica", func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
	})
	if err != nil {
		return err
	}
	if !standby { // promoted since its connection was made
		return fault.Newf(fault.Conflict, op, "database %s is no longer a standby: it was promoted; name another replica", s.replica.name)
	}
	is := n.Position()
	was, err := s.At(ctx, is.Clock)
	switch {
	case fault.Is(err, fault.Stale):
		return fault.Newf(fault.Stale, op, "database %s is at clock %d, so far behind that the primary has compacted the changes after it:"+
			" wait until it has caught up, or read without a replica", s.replica.name, is.Clock)
	case fault.Is(err, fault.NotFound): // a primary that waits for synchronous standbys shows a commit later than they do
		return fault.Newf(fault.Unavailable, op, "database %s is at clock %d, which the primary does not show: try again;"+
			" if that lasts and the primary waits for no standby, the replica follows another server", s.replica.name, is.Clock)
	case err == nil && was.Mark != is.Mark:
		return fault.Newf(fault.Conflict, op, "database %s has changes that the primary lacks (clock %d, mark %x): it follows another server",
			s.replica.name, is.Clock, is.Mark)
	case err != nil:
		return err
	case is.Clock < least:
		return fault.Newf(fault.Behind, op, "database %s is at clock %d, %d is needed", s.replica.name, is.Clock, least)
	}
	return nil
}
