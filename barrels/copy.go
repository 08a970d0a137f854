package barrels

import (
	"context"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Contents describes a copy of a store.
type Contents struct {
	// Position is the end of the last bucket applied; Slices is the table of slices.
	Position *pb.Position
	Slices   *pb.SliceTable
	// Builder is the version that built all data (pb.NodeData.builder), or 0 if several versions
	// did.
	Builder uint32
}

// Database returns the id of the database whose data the copy has, or "" if there is none.
func (c *Contents) Database() string { return index.Database(c.Slices) }

// Versions returns the versions of this program's format and words.
func Versions(languages words.Languages) (format uint32, text string) {
	return index.FormatVersion, languages.Version()
}

// Checkpoint implements Store.
func (s *barrel) Checkpoint(dir string) (*Contents, error) {
	const op = "barrels: checkpoint"
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.errClosed(op)
	}
	db, ok := s.kv.(kv.Checkpointer)
	if !ok {
		return nil, fault.Newf(fault.Unavailable, op, "the store has no files that can be copied")
	}
	if err := s.reopen(); err != nil {
		return nil, err
	}
	if err := db.Checkpoint(dir); err != nil {
		return nil, err
	}
	st := s.Newest.Load()
	c := &Contents{Position: proto.CloneOf(st.Position), Slices: proto.CloneOf(st.Slices.Table), Builder: st.Builder}
	return c, nil
}

// Reload implements Store.
func (s *barrel) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed("barrels: reload")
	}
	if err := s.reopenWith(s.kv.Reopen); err != nil {
		return err
	}
	s.upkeep = upkeep{changed: unknown}
	return nil
}

// Settle makes a copied store usable by another slave. It reads everything, so that damage is found
// before the copy replaces anything. It then removes the slices from all views and makes the slave
// a spare, which refuses all queries until the balancer assigns it a shard and views. Everything
// else, such as the position, stays as it is. Settle neither keeps nor closes db. Errors:
// fault.Corrupt, fault.Version, those of ctx.
func Settle(ctx context.Context, db kv.DB, languages words.Languages) (*Contents, error) {
	s := db.Snapshot()
	c, err := examine(ctx, s, languages)
	s.Close()
	if err != nil {
		return nil, err
	}
	for _, h := range c.Slices.GetSlices() {
		h.From, h.Until = 0, 0
	}
	c.Slices.Shard, c.Slices.Spare = "", true
	var b kv.Batch
	index.PutMessage(&b, kv.MetaSlices, c.Slices)
	return c, db.Write(&b)
}

// examine reads a whole database and returns its contents.
func examine(ctx context.Context, s kv.Snapshot, languages words.Languages) (*Contents, error) {
	switch fresh, err := index.CheckVersions(s, languages); {
	case err != nil:
		return nil, err
	case fresh:
		return nil, fault.Newf(fault.Corrupt, "barrels: settle", "the copy is an empty database")
	}
	var g errgroup.Group
	for f := range kv.Family(kv.Families) {
		g.Go(func() error { return readAll(ctx, s, f) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	head, err := index.ReadHead(s)
	if err != nil {
		return nil, err
	}
	c := &Contents{Position: head.Position, Slices: head.Slices, Builder: head.Builder}
	return c, nil
}

// readAll reads a whole family, so that the database checks its bytes.
func readAll(ctx context.Context, s kv.Snapshot, f kv.Family) error {
	it := s.Full(f)
	defer it.Close()
	const stride = 1024 // keys between two checks of ctx
	n := 0
	for ok := it.Seek(nil); ok; ok = it.Next() {
		if n++; n%stride == 0 && kv.Over(ctx) {
			return kv.Ended(ctx, "barrels: settle")
		}
	}
	return it.Err()
}
