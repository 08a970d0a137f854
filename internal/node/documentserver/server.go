// Package documentserver announces changes of a database's documents, which are the table of places and the block lists
// (pb.WatchDocuments), and hands out their parts. Package documents has the other side.
package documentserver

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

const (
	// every is the time between two checks for changed documents, far below the second within which masters and slaves get them.
	every = 200 * time.Millisecond
	// AtOnce bounds the heads of documents in an answer.
	AtOnce = 1000
	// small bounds the size of a document that is sent with its head, and inAnswer the total size of such documents in an answer.
	small    = 64 << 10
	inAnswer = 1 << 20
)

// Server checks for changed documents and announces them. Its methods are safe for concurrent use. Make it with New.
type Server struct {
	db  backend.Documents
	id  string // of the database
	log *slog.Logger

	mu sync.Mutex
	// run is random: another run may be of a restored database, whose versions mean something else. Guarded by mu.
	run     string
	newest  backend.Document // guarded by mu
	changed wait.Broadcast
}

// New returns a server of the documents of the database with an id, which it announces to followers.
func New(db backend.Documents, id string, log *slog.Logger) *Server {
	return &Server{db: db, id: id, log: log, run: rand.Text()}
}

// now returns the run and the newest document.
func (s *Server) now() (run string, newest backend.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run, s.newest
}

// set records the newest document. `again` says that the database was restored, and that all documents must be announced again.
func (s *Server) set(newest backend.Document, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest = newest; again {
		s.run = rand.Text()
	}
	s.changed.Notify()
}

// Run checks the database for changed documents until ctx is done.
func (s *Server) Run(ctx context.Context) error {
	failing := false
	for {
		more, err := s.look(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.log.Warn("cannot look for changed places and block lists; trying again", "err", err)
		}
		if failing = err != nil; more {
			continue
		}
		if err := wait.Sleep(ctx, every); err != nil {
			return err
		}
	}
}

// look makes one check. If the newest document that was known is neither there nor replaced by a later version, the database was
// restored. Nothing else may show that, since documents do not advance the database's clock.
func (s *Server) look(ctx context.Context) (more bool, err error) {
	_, newest := s.now()
	list, err := s.db.Documents(ctx, max(newest.Version, 1)-1, AtOnce)
	if err != nil {
		return false, err
	}
	restored := newest.Version > 0 && !slices.ContainsFunc(list, func(d backend.Document) bool {
		return d == newest || d.Name == newest.Name && d.Version > newest.Version
	})
	if restored {
		s.log.Warn("the places and block lists are those of a restored database: all are told again", "had", newest.Name, "version", newest.Version)
		s.set(backend.Document{}, true)
		return true, nil
	}
	if n := len(list); n > 0 && list[n-1] != newest {
		s.set(list[n-1], false)
	}
	return len(list) == AtOnce, nil
}

// WatchDocuments implements pb.BalancerServer. Small documents are sent with their data.
func (s *Server) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	run, after, err := s.after(ctx, r)
	if err != nil {
		return nil, err
	}
	list, err := s.db.Documents(ctx, after, AtOnce+1)
	if err != nil {
		return nil, err
	}
	more := len(list) > AtOnce
	documents := wire.FromDocuments(list[:min(len(list), AtOnce)])
	s.fill(ctx, documents)
	return &pb.WatchDocumentsResponse{Run: run, Documents: documents, More: more, Database: s.id}, nil
}

// fill adds the data of small documents. Followers would otherwise be too late for a document that is replaced before they ask for it; on
// a busy machine they would never get one that changes all the time. Data that cannot be read here is left out, so that one damaged
// document does not hold up the others: a follower that asks for its parts learns why.
func (s *Server) fill(ctx context.Context, list []*pb.Document) {
	room := uint64(inAnswer)
	for _, d := range slices.Backward(list) {
		if d.GetRemoved() || d.GetSize() > min(room, small) {
			continue
		}
		data, err := s.db.DocumentPart(ctx, d.GetName(), d.GetVersion(), 0)
		if err != nil || uint64(len(data)) != d.GetSize() {
			continue
		}
		d.Data = data
		room -= d.GetSize()
	}
}

// after waits until the caller lacks a document, or until the poll is over. It returns the run, and the version after which documents are
// new to the caller.
func (s *Server) after(ctx context.Context, r *pb.WatchDocumentsRequest) (run string, after uint64, err error) {
	poll, cancel := wire.LongPoll(ctx, r.GetWaitMs())
	defer cancel()
	for {
		changed := s.changed.Next()
		run, newest := s.now()
		switch {
		case run != r.GetRun():
			return run, 0, nil
		case newest.Version > r.GetAfter():
			return run, r.GetAfter(), nil
		}
		select {
		case <-changed:
		case <-poll.Done():
			return run, r.GetAfter(), ctx.Err()
		}
	}
}

// DocumentPart implements pb.BalancerServer.
func (s *Server) DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
	data, err := s.db.DocumentPart(ctx, r.GetDocument(), r.GetVersion(), int(r.GetPart()))
	if err != nil {
		return nil, err
	}
	if len(data) > wire.MaxDocumentPart {
		return nil, fault.Newf(fault.Corrupt, "documents", "a part of %s has %d bytes", r.GetDocument(), len(data))
	}
	return &pb.DocumentPartResponse{Data: data}, nil
}
