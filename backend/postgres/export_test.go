package postgres

import (
	"context"

	"adshard/backend/upsert"
)

// Tighten makes transactions forget nearly everything at once.
func (s *Store) Tighten() { s.limits = upsert.Limits{Queued: 2, Cached: 6, Parents: 2} }

// KnownID is the id that connections are compared with.
func (s *Store) KnownID() string { return s.id }

// Stepped has f called after each step of making a database.
func (o *Options) Stepped(f func()) { o.stepped = f }

// Failed gives an error of a database the text that users see.
func Failed(ctx context.Context, err error) error { return failed(ctx, "test", "ads on db", err) }
