package balancer

import (
	"context"
	"sync/atomic"
	"time"

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

// documentsNews knows which version of documents is the newest.
type documentsNews struct {
	run     string // random: versions of another run may be those of a database that was restored
	newest  atomic.Uint64
	changed wait.Broadcast
}

// followDocuments asks the database for changed documents until ctx is done.
func (b *Balancer) followDocuments(ctx context.Context) error {
	failing := false
	for {
		after := b.documents.newest.Load()
		list, err := b.db.Documents(ctx, after, documentsAtOnce)
		if err != nil && !failing && ctx.Err() == nil {
			b.log.Warn("cannot look for changed places and block lists; trying again", "err", err)
		}
		failing = err != nil
		if len(list) > 0 {
			b.documents.newest.Store(list[len(list)-1].Version)
			b.documents.changed.Notify()
		}
		if len(list) == documentsAtOnce {
			continue
		}
		if err := wait.Sleep(ctx, documentsEvery); err != nil {
			return err
		}
	}
}

// WatchDocuments implements pb.BalancerServer.
func (b *Balancer) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	after := r.GetAfter()
	if r.GetRun() != b.documents.run {
		after = 0
	} else if err := b.documentsAfter(ctx, after, r.GetWaitMs()); err != nil {
		return nil, err
	}
	list, err := b.db.Documents(ctx, after, documentsAtOnce+1)
	if err != nil {
		return nil, err
	}
	more := len(list) > documentsAtOnce
	return &pb.WatchDocumentsResponse{Run: b.documents.run, Documents: wire.FromDocuments(list[:min(len(list), documentsAtOnce)]), More: more}, nil
}

// documentsAfter waits for a change after a version, or until the poll is over.
func (b *Balancer) documentsAfter(ctx context.Context, version uint64, waitMs uint32) error {
	poll, cancel := wire.LongPoll(ctx, waitMs)
	defer cancel()
	for {
		changed := b.documents.changed.Next()
		if b.documents.newest.Load() > version {
			return nil
		}
		select {
		case <-changed:
		case <-poll.Done():
			return ctx.Err()
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
