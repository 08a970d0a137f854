package balancer

import (
	"context"
	"crypto/rand"
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
	// documentsEvery is how often the database is asked for changed documents, far below the second within which masters
	// and slaves have them.
	documentsEvery = 200 * time.Millisecond
	// documentsAtOnce is how many heads of documents an answer has.
	documentsAtOnce = 1000
)

// documentsNews knows which document is the newest.
type documentsNews struct {
	mu sync.Mutex
	// run is random: versions of another run may be those of a database that was restored. Guarded by mu.
	run     string
	newest  backend.Document // guarded by mu
	changed wait.Broadcast
}

func newDocumentsNews() *documentsNews { return &documentsNews{run: rand.Text()} }

// now returns the run and the newest document.
func (n *documentsNews) now() (run string, newest backend.Document) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.run, n.newest
}

// set notes the newest document; again: the database was restored, and all are told again.
func (n *documentsNews) set(newest backend.Document, again bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.newest = newest; again {
		n.run = rand.Text()
	}
	n.changed.Notify()
}

// followDocuments asks the database for changed documents until ctx is done.
func (b *Balancer) followDocuments(ctx context.Context) error {
	failing := false
	for {
		more, err := b.lookForDocuments(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			b.log.Warn("cannot look for changed places and block lists; trying again", "err", err)
		}
		if failing = err != nil; more {
			continue
		}
		if err := wait.Sleep(ctx, documentsEvery); err != nil {
			return err
		}
	}
}

// lookForDocuments asks the database once. The newest document that it had must still be there, or have been changed since: else the
// database was restored, which may be noticed nowhere else, since documents do not move its clock.
func (b *Balancer) lookForDocuments(ctx context.Context) (more bool, err error) {
	_, newest := b.documents.now()
	list, err := b.db.Documents(ctx, max(newest.Version, 1)-1, documentsAtOnce)
	if err != nil {
		return false, err
	}
	restored := newest.Version > 0 && !slices.ContainsFunc(list, func(d backend.Document) bool {
		return d == newest || d.Name == newest.Name && d.Version > newest.Version
	})
	if restored {
		b.log.Warn("the places and block lists are those of a restored database: all are told again", "had", newest.Name, "version", newest.Version)
		b.documents.set(backend.Document{}, true)
		return true, nil
	}
	if n := len(list); n > 0 && list[n-1] != newest {
		b.documents.set(list[n-1], false)
	}
	return len(list) == documentsAtOnce, nil
}

// WatchDocuments implements pb.BalancerServer.
func (b *Balancer) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	run, after, err := b.documentsAfter(ctx, r)
	if err != nil {
		return nil, err
	}
	list, err := b.db.Documents(ctx, after, documentsAtOnce+1)
	if err != nil {
		return nil, err
	}
	more := len(list) > documentsAtOnce
	return &pb.WatchDocumentsResponse{Run: run, Documents: wire.FromDocuments(list[:min(len(list), documentsAtOnce)]), More: more}, nil
}

// documentsAfter waits for something that the caller does not know, or until the poll is over. It returns the run, and the version after
// which documents are new to the caller.
func (b *Balancer) documentsAfter(ctx context.Context, r *pb.WatchDocumentsRequest) (run string, after uint64, err error) {
	poll, cancel := wire.LongPoll(ctx, r.GetWaitMs())
	defer cancel()
	for {
		changed := b.documents.changed.Next()
		run, newest := b.documents.now()
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
func (b *Balancer) DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
	data, err := b.db.DocumentPart(ctx, r.GetDocument(), r.GetVersion(), int(r.GetPart()))
	if err != nil {
		return nil, err
	}
	if len(data) > wire.MaxDocumentPart {
		return nil, fault.Newf(fault.Corrupt, "balancer: document", "a part of %s has %d bytes", r.GetDocument(), len(data))
	}
	return &pb.DocumentPartResponse{Data: data}, nil
}
