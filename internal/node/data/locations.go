package data

import (
	"context"
	"sync"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/geotargets"
	"adshard/places"
)

// placesTable keeps the table of places that was last read.
type placesTable struct {
	mu      sync.Mutex
	version uint64        // version of the table's document, or 0 if none was imported
	table   *places.Table // nil if none has been read yet
}

// Places returns the table of places of the database.
func (s *Service) Places(ctx context.Context) (*places.Table, error) {
	p := &s.places
	p.mu.Lock()
	defer p.mu.Unlock()
	head, err := s.db.Document(ctx, backend.PlacesDocument)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	if p.table != nil && p.version == head.Version {
		return p.table, nil
	}
	version, table, err := geotargets.Load(ctx, s.db)
	if err == nil {
		p.version, p.table = version, table
	}
	return table, err
}
