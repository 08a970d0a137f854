package data

import (
	"context"
	"log/slog"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// Limits of what runs at once. Calls beyond them wait for their turn; streams beyond them are refused.
const (
	maxWriters = 2 // each holds two database connections
	maxReaders = 8
	maxStreams = 16
	maxExports = 2
	maxLoading = 1 // imports
	maxLists   = 2 // block lists in memory
)

// Service reads and changes the data of a database. Make it with New.
type Service struct {
	db     backend.Store
	log    *slog.Logger
	served func(ctx context.Context, clock uint64) error
	spent  Spent // nil if spend is not counted
	now    func() time.Time

	writers, readers, streams, exports, importing, lists slots
	latest                                               latest
	places                                               placesTable
	copied                                               int // entities with which a file may be compared
}

// New returns the service of a database. `served` waits until all live slaves serve a clock. It returns an error if
// that cannot be known, or if ctx is done first.
func New(db backend.Store, served func(ctx context.Context, clock uint64) error, log *slog.Logger) *Service {
	return &Service{
		db: db, served: served, log: log, now: time.Now, writers: make(slots, maxWriters), readers: make(slots, maxReaders),
		streams: make(slots, maxStreams), exports: make(slots, maxExports),
		importing: make(slots, maxLoading), lists: make(slots, maxLists), copied: maxCopied,
	}
}

// Spent returns the spend of campaigns today, in micros. Campaigns whose spend is not known are missing from the map.
type Spent func(ctx context.Context, s backend.Snapshot, campaigns []*backend.Campaign) map[uint64]uint64

// ShowSpend makes calls that read campaigns add what the campaigns have spent. Call it before any other method.
func (s *Service) ShowSpend(spent Spent) { s.spent = spent }

// slots bounds how many calls run at once.
type slots chan struct{}

// take waits for a free slot. Errors: fault.Overloaded.
func (p slots) take(ctx context.Context) error {
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.Newf(fault.Overloaded, op, "too many requests for data are under way; try again after a pause")
	}
}

// try takes a slot if one is free. Errors: fault.Overloaded.
func (p slots) try() error {
	select {
	case p <- struct{}{}:
		return nil
	default:
		return fault.Newf(fault.Overloaded, op, "%d such streams are open already, the most that there may be; try again after a pause", cap(p))
	}
}

func (p slots) leave() { <-p }

// Get returns one entity. Errors: fault.NotFound.
func (s *Service) Get(ctx context.Context, key Key) (*api.ItemAnswer, error) {
	if err := s.readers.take(ctx); err != nil {
		return nil, err
	}
	defer s.readers.leave()
	n, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	if err := n.load(ctx, []row{key.row()}); err != nil {
		return nil, err
	}
	it, err := n.item(key)
	if err != nil {
		return nil, err
	}
	items := []api.Item{*it}
	s.addSpend(ctx, n, items)
	return &api.ItemAnswer{MinClock: position(n.Position()), Item: items[0]}, nil
}

func position(p backend.Position) string { return search.Position(p).String() }
