package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"adshard/bench/layouts"
	"adshard/fault"
)

// GIN is the layout "postgres": an array of words with a GIN index.
type GIN struct{}

// Name implements layouts.Layout.
func (GIN) Name() string { return "postgres" }

// Provides implements layouts.Layout.
func (GIN) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout. Options.CacheBytes sets shared_buffers; it
// does not limit the system's own cache.
func (GIN) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	return build(ctx, form{
		table: "create table keyword (id int not null, words int[] not null)",
		index: "create index matching on keyword using gin (words) with (fastupdate = off)",
		query: "select count(*), coalesce(sum(id), 0) from keyword where words <@ $1::int[]",
		row: func(i int) []any {
			return []any{int32(set.ID(i)), sorted(set.Of(i))}
		},
		columns: []string{"id", "words"},
	}, set, o)
}

// Anchor is the layout "postgres-anchor": an array of words, found by the
// rarest of them.
type Anchor struct{}

// Name implements layouts.Layout.
func (Anchor) Name() string { return "postgres-anchor" }

// Provides implements layouts.Layout.
func (Anchor) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout. Options.CacheBytes sets shared_buffers; it
// does not limit the system's own cache.
func (Anchor) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	return build(ctx, form{
		table: "create table keyword (anchor int not null, id int not null, words int[] not null)",
		index: "create index matching on keyword (anchor) include (id, words)",
		query: "select count(*), coalesce(sum(id), 0) from keyword where anchor = any($1::int[]) and words <@ $1::int[]",
		row: func(i int) []any {
			return []any{int32(set.Rarest(i)), int32(set.ID(i)), sorted(set.Of(i))}
		},
		columns: []string{"anchor", "id", "words"},
	}, set, o)
}

// form says how keywords are stored in the table and how they are queried.
type form struct {
	table, index, query string
	columns             []string
	row                 func(i int) []any // of keyword i, in the order of columns
}

// build starts a server, fills it and prepares it for searches.
func build(ctx context.Context, f form, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	c, err := start(ctx, o.Dir, settings(set, o))
	if err != nil {
		return nil, err
	}
	if err := load(ctx, c, f, set, o.Progress); err != nil {
		return nil, errors.Join(err, c.close())
	}
	s := &store{cluster: c, query: f.query, ids: make(map[string]int32, len(set.Words))}
	for i, w := range set.Words {
		s.ids[w] = int32(i)
	}
	return s, nil
}

// load fills the table, then does what needs a full table, and reads it into
// the server's memory.
func load(ctx context.Context, c *cluster, f form, set *layouts.Set, progress func(float64)) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return unreachable("load", err)
	}
	if progress == nil {
		progress = func(float64) {}
	}
	if err := fill(ctx, conn, f, set, progress); err != nil {
		return errors.Join(unreachable("load", err), conn.Close(context.WithoutCancel(ctx)))
	}
	return conn.Close(ctx)
}

func fill(ctx context.Context, conn *pgx.Conn, f form, set *layouts.Set, progress func(float64)) error {
	if _, err := conn.Exec(ctx, f.table); err != nil {
		return err
	}
	rows := pgx.CopyFromSlice(set.Len(), func(i int) ([]any, error) {
		if i%10_000 == 0 {
			progress(0.5 * float64(i) / float64(set.Len()))
		}
		return f.row(i), nil
	})
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"keyword"}, f.columns, rows); err != nil {
		return err
	}
	after := []string{f.index, "vacuum analyze keyword", "create extension pg_prewarm",
		"select pg_prewarm('keyword'), pg_prewarm('matching')", "checkpoint"}
	for i, statement := range after {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		progress(0.5 + 0.5*float64(i+1)/float64(len(after)))
	}
	return nil
}

// settings returns the server's settings (see the package comment).
func settings(set *layouts.Set, o layouts.Options) []string {
	buffers := o.CacheBytes
	if buffers == 0 {
		buffers = 256<<20 + uint64(set.Len())*bytesPerKeyword
	}
	return []string{
		fmt.Sprintf("shared_buffers=%dkB", max(buffers>>10, 128)), "huge_pages=try",
		"fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "max_wal_size=8GB",
		"maintenance_work_mem=512MB", "max_parallel_maintenance_workers=0", "autovacuum=off",
		"work_mem=256MB", "random_page_cost=1", "enable_seqscan=off",
		"jit=off", "max_parallel_workers_per_gather=0", "plan_cache_mode=force_generic_plan",
	}
}

// bytesPerKeyword is an upper bound for a row with its part of an index.
const bytesPerKeyword = 400

// unreachable turns an error of the server or of the connection into
// fault.Unavailable.
func unreachable(op string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.Unavailable, "postgres: "+op, err)
}
