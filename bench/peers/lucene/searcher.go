package lucene

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
)

// searcher asks the Monitor over its own connection.
type searcher struct {
	store      *store
	connection net.Conn // nil after a search that was interrupted
	request    []byte
	answer     [24]byte
	took       time.Duration
}

func (s *searcher) open() (err error) {
	if s.connection, err = net.Dial("unix", s.store.socket()); err != nil {
		s.connection = nil
		return fault.New(fault.Unavailable, "lucene: connect", s.store.process.Failure(err))
	}
	return nil
}

// Search implements layouts.Searcher. A search that is interrupted loses its
// connection; the next search opens another one.
func (s *searcher) Search(ctx context.Context, q *layouts.Query) (layouts.Found, error) {
	if err := ctx.Err(); err != nil {
		return layouts.Found{}, err
	}
	if s.connection == nil {
		if err := s.open(); err != nil {
			return layouts.Found{}, err
		}
	}
	c := s.connection
	watched := context.AfterFunc(ctx, func() { _ = c.Close() }) // interrupts the search
	err := s.ask(q)
	if !watched() {
		s.connection = nil
		return layouts.Found{}, ctx.Err()
	}
	if err != nil {
		s.connection = nil
		_ = c.Close() // it is broken
		return layouts.Found{}, fault.New(fault.Unavailable, "lucene: search", s.store.process.Failure(err))
	}
	s.took = time.Duration(binary.BigEndian.Uint64(s.answer[16:]))
	return layouts.Found{Matches: binary.BigEndian.Uint64(s.answer[:]), Sum: binary.BigEndian.Uint64(s.answer[8:])}, nil
}

// ask sends the query and reads the answer.
func (s *searcher) ask(q *layouts.Query) error {
	s.request = appendWords(s.request[:0], q.Words)
	if _, err := s.connection.Write(s.request); err != nil {
		return err
	}
	_, err := io.ReadFull(s.connection, s.answer[:])
	return err
}

// Took implements layouts.Timed.
func (s *searcher) Took() time.Duration { return s.took }

// Close implements layouts.Searcher.
func (s *searcher) Close() error {
	if s.connection == nil {
		return nil
	}
	return s.connection.Close()
}
