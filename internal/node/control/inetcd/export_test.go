package inetcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// CompactEvery sets for how long etcd's history is kept.
func (s *Store) CompactEvery(d time.Duration) { s.compact = d }

// Revision returns etcd's newest revision.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	reply, err := s.client.Get(ctx, s.lastKey())
	if err != nil {
		return 0, err
	}
	return reply.Header.Revision, nil
}

// At reads etcd as it was at a revision. It returns an error if that revision was removed.
func (s *Store) At(ctx context.Context, revision int64) error {
	_, err := s.client.Get(ctx, s.lastKey(), clientv3.WithRev(revision))
	return err
}
