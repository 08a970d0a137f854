package barrels

import (
	"context"
	"fmt"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// ahead applies one bucket. It compares a group with the store in stretches of keywords. A large
// group with many changes takes more than one batch: all but the last are written before the
// bucket's own batch and are not published, so searches keep the old state. On disk the group's
// slice is marked as discarded until the bucket's batch restores it, so after a crash in between
// the slice is purged and filled again.
type ahead struct {
	store   *barrel
	written index.Published   // the newest state that was written but not published, or nil
	held    []*index.Snapshot // earlier states, from which groups are still read
	given   *index.Interval   // the last group whose slice was marked as discarded
}

const (
	// stretch is the number of a group's keywords that are compared with the store before their
	// pages are written.
	stretch = 1 << 12
	// largeGroup is the number of keywords of a group up to which all changes stay in one batch.
	largeGroup = 1 << 15
)

// newest returns the state on which the next batch builds.
func (a *ahead) newest() *index.Snapshot {
	if st := a.written.Newest.Load(); st != nil {
		return st
	}
	return a.store.Newest.Load()
}

// apply writes the bucket.
func (a *ahead) apply(ctx context.Context, d *pb.NodeData, named map[uint64]bool, parts Parts) error {
	before := a.store.Newest.Load()
	table, purge := before.Slices.Table, before.Purge
	if err := a.clear(ctx, d, named); err != nil {
		return err
	}
	w := a.store.writer
	w.begin(a.newest(), d.Reset_)
	if d.Reset_ {
		table, purge = w.slices, w.purge
	}
	if err := w.items(d, named, parts); err != nil {
		return err
	}
	w.purge = purge
	if err := w.bucket(d, table); err != nil {
		return err
	}
	return a.commit()
}

// commit writes and publishes what the writer has prepared.
func (a *ahead) commit() error {
	cleared := a.store.writer.cleared
	if err := a.store.commitAfter(a.newest()); err != nil {
		return err
	}
	a.store.upkeep.add(cleared)
	a.written.Publish(nil)
	return nil
}

// writeStretch writes the pages of a stretch of a group, and the batch if it is large.
func (a *ahead) writeStretch(ctx context.Context, g *groupChange) error {
	s, w := a.store, a.store.writer
	w.anchor(g)
	if err := w.putPages(g); err != nil {
		return err
	}
	g.item, g.keywords, g.pages, g.turned = nil, nil, nil, g.compared
	if len(w.ops) < clearPostings || g.compared < largeGroup {
		return nil
	}
	switch own := (&pb.Interval{Lo: g.key, Hi: g.key}); {
	case claims(w.slices, w.position, own):
		a.given = &index.Interval{Lo: g.key, Hi: g.key}
		w.giveUp([]index.Interval{*a.given})
	case a.given == nil && ctx.Err() != nil:
		return kv.Ended(ctx, "barrels: apply")
	}
	w.orphans = w.orphans || !index.Within(index.Joined(w.slices.GetSlices(), nil), g.key)
	if err := w.settle(); err != nil {
		return err
	}
	cleared := w.cleared
	next, err := s.write(a.newest())
	if err != nil {
		return err
	}
	if st := a.written.Acquire(); st != nil {
		a.held = append(a.held, st)
	}
	a.written.Publish(next)
	w.begin(next, false)
	w.cleared, w.groups = cleared, append(w.groups, g)
	return nil
}

// end ends the bucket. After a failure it publishes what was written and reports the slice that was
// discarded.
func (a *ahead) end(err error) {
	for _, st := range a.held {
		st.Release()
	}
	st := a.written.Newest.Load()
	if st == nil {
		return
	}
	if err != nil {
		a.store.Publish(&index.Snapshot{
			Number: st.Number, Data: st.Data.Again(), Terms: st.Terms, Parents: st.Parents,
			Position: st.Position, Slices: st.Slices, Counters: st.Counters, Builder: st.Builder, Purge: st.Purge,
		})
		if a.given != nil {
			a.store.reportDamage(Damage{Lo: a.given.Lo, Hi: a.given.Hi, What: fmt.Sprintf("a large group could not be written whole: %v", err)})
		}
	}
	a.written.Publish(nil)
}
