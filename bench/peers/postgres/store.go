package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/bench/layouts"
	"adshard/bench/peers/server"
)

// closeTime bounds the time in which a connection ends.
const closeTime = 5 * time.Second

// store is a server with keywords in it.
type store struct {
	*cluster
	query string
	ids   map[string]int32 // of words
}

// Searcher implements layouts.Store.
func (s *store) Searcher() (layouts.Searcher, error) {
	out := &searcher{store: s}
	return out, out.open(context.Background())
}

// Size implements layouts.Store.
func (s *store) Size() (layouts.Size, error) {
	disk, err := server.DiskOf(s.data)
	memory, memoryErr := s.process.Memory()
	return layouts.Size{Disk: disk, Memory: memory}, errors.Join(err, memoryErr)
}

// Close implements layouts.Store.
func (s *store) Close() error { return s.close() }

// searcher asks the server over its own connection.
type searcher struct {
	store *store
	conn  *pgx.Conn
	ids   []int32 // of the query's words
}

// statement is the name of the prepared statement.
const statement = "matching"

func (s *searcher) open(ctx context.Context) (err error) {
	if s.conn, err = s.store.connect(ctx); err == nil {
		_, err = s.conn.Prepare(ctx, statement, s.store.query)
	}
	return unreachable("connect", err)
}

// Search implements layouts.Searcher. A search that is interrupted loses its
// connection; the next search opens another one.
func (s *searcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if s.conn.IsClosed() {
		if err := s.open(ctx); err != nil {
			return layouts.Found{}, err
		}
	}
	s.ids = s.ids[:0]
	for _, w := range q.Words {
		if id, ok := s.store.ids[w]; ok {
			s.ids = append(s.ids, id)
		}
	}
	slices.Sort(s.ids)
	err = s.conn.QueryRow(ctx, statement, s.ids).Scan(&f.Matches, &f.Sum)
	return f, unreachable("search", err)
}

// Close implements layouts.Searcher.
func (s *searcher) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return s.conn.Close(ctx)
}

// sorted returns the words of a keyword as they are in the table.
func sorted(refs []uint32) []int32 {
	out := make([]int32, len(refs))
	for i, w := range refs {
		out[i] = int32(w)
	}
	slices.Sort(out)
	return out
}
