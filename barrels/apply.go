package barrels

import (
	"bytes"
	"context"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/record"
	"adshard/fault"
	"adshard/schema/pb"
)

// Apply implements Store.
func (s *barrel) Apply(ctx context.Context, data *pb.NodeData) error {
	return s.ApplyParts(ctx, data, nil)
}

// ApplyParts implements Store.
func (s *barrel) ApplyParts(ctx context.Context, data *pb.NodeData, parts Parts) error {
	if err := Validate(data); err != nil {
		return err
	}
	if err := checkParts(data, parts); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed("barrels: apply")
	}
	if ctx.Err() != nil {
		return kv.Ended(ctx, "barrels: apply")
	}
	if err := s.reopen(); err != nil {
		return err
	}
	old := s.Newest.Load()
	if !data.Reset_ && !samePosition(data.From, old.Position) {
		return fault.Newf(fault.Stale, "barrels: apply", "the bucket begins at %v, the store is at %v",
			data.From, old.Position)
	}
	if own := index.Database(old.Slices.Table); !data.Reset_ && own != "" && data.Database != "" && data.Database != own {
		return fault.Newf(fault.Conflict, "barrels: apply", "the bucket is of database %s, the store holds data of database %s",
			data.Database, own)
	}
	named := namedKeys(data)
	a := &ahead{store: s}
	if !data.Reset_ {
		s.writer.onStretch = func(g *groupChange) error { return a.writeStretch(ctx, g) }
	}
	err := a.apply(ctx, data, named, parts)
	s.writer.onStretch = nil
	a.end(err)
	if err != nil {
		return err
	}
	s.upkeep.countChanges(data)
	return nil
}

// commit writes what the writer has prepared and publishes the new state. If it returns an error,
// nothing has changed.
func (s *barrel) commit() error { return s.commitAfter(s.Newest.Load()) }

// commitAfter is commit for a writer that began on a state other than the published one.
func (s *barrel) commitAfter(old *index.Snapshot) error {
	next, err := s.write(old)
	if err != nil {
		return err
	}
	s.Publish(next)
	s.writer.end()
	return nil
}

// write writes the prepared batch on top of the state old and returns the next state, which is not
// published yet.
func (s *barrel) write(old *index.Snapshot) (*index.Snapshot, error) {
	w := s.writer
	same := w.batch.Len() == 0
	w.finish()
	if err := s.kv.Write(&w.batch); err != nil {
		return nil, err
	}
	number := old.Number + 1
	terms := w.applyTerms()
	if terms != old.Terms {
		s.termsReplaced(terms)
	}
	snapshot := old.Data
	if same { // only metadata, which searches do not read
		snapshot = snapshot.Again()
	} else {
		snapshot = index.Share(s.kv.Snapshot())
	}
	views := old.Slices
	if w.slices != views.Table || w.orphans != views.Orphans {
		views = index.NewSlices(s.name, w.slices, w.orphans)
	}
	renewals := s.engine.Lists.Replacements(terms, &w.batch, number, w.pace.yield)
	groups := s.cachedAgain()
	// From here until the publication, searches read what changes from the store.
	for i := range renewals {
		s.engine.Lists.Replace(terms, &renewals[i], number)
	}
	s.invalidate(&w.batch, number)
	if slices.ContainsFunc(w.groups, func(g *groupChange) bool { return g.added }) {
		s.unwarmed.Store(number)
	}
	for _, g := range groups {
		s.engine.Groups.Put(g.key, number, g.items, g.size)
	}
	return &index.Snapshot{
		Number: number, Data: snapshot, Terms: terms, Parents: w.parents,
		Position: w.position, Slices: views, Counters: w.counters, Builder: w.builder, Purge: w.purge,
	}, nil
}

// invalidate marks the cached groups that a batch changes as outdated.
func (s *barrel) invalidate(b *kv.Batch, number uint64) {
	for i := range b.Len() {
		switch op := b.Op(i); {
		case op.Kind == kv.Clear:
			s.dropGroups(number)
		case op.Family == kv.Items:
			s.engine.Groups.Changed(kv.KeyPart(op.Key, 0), number)
		}
	}
}

// cachedGroup is a group in the form that the cache keeps.
type cachedGroup struct {
	key   uint64
	items *index.Group
	size  int
}

// cachedAgain returns the cached groups that were changed, in their new form. Searches are likely
// to show them again and would otherwise read them from the store.
func (s *barrel) cachedAgain() (list []cachedGroup) {
	for _, g := range s.writer.groups {
		if g.item == nil || !s.engine.Groups.Has(g.key) {
			continue
		}
		s.writer.pace.yield()
		if items, size, ok := g.items(); ok {
			list = append(list, cachedGroup{g.key, items, size})
		}
	}
	return list
}

// items prepares a bucket's changes of groups. named has the keys of the groups that the bucket
// replaces or deletes.
func (w *batchWriter) items(d *pb.NodeData, named map[uint64]bool, parts Parts) error {
	for _, key := range slices.Compact(slices.Sorted(slices.Values(d.Deleted))) {
		if err := w.group(key, nil, nil); err != nil {
			return err
		}
	}
	for _, v := range d.Cleared {
		if _, _, err := w.clear(v.Lo, v.Hi, named, math.MaxInt); err != nil {
			return err
		}
	}
	for _, it := range d.Items {
		if err := w.group(it.Group.Key, it, parts); err != nil {
			return err
		}
	}
	return nil
}

// bucket prepares everything but the groups, for a store whose table is `before`, and completes the
// batch.
func (w *batchWriter) bucket(d *pb.NodeData, before *pb.SliceTable) error {
	w.position, w.slices = proto.CloneOf(d.To), before
	if len(d.Items)+len(d.Campaigns)+len(d.Advertisers) > 0 {
		w.builder = index.MixBuilders(w.builder, d.Builder)
	}
	if d.Slices != nil {
		w.slices = proto.CloneOf(d.Slices)
	}
	w.orphans = w.orphans || leavesOrphans(before, w.slices, d)
	if len(d.Advertisers)+len(d.Campaigns) > 0 {
		if err := w.putParents(d); err != nil {
			return err
		}
	}
	return w.settle()
}

// settle turns the groups' changes into pages and blocks.
func (w *batchWriter) settle() error {
	for _, g := range w.groups {
		w.anchor(g)
	}
	for _, g := range w.groups {
		if err := w.putPages(g); err != nil {
			return err
		}
	}
	return w.rewrite()
}

// putParents writes the parents that differ from the stored ones. Most of those that arrive with
// their groups have not changed.
func (w *batchWriter) putParents(d *pb.NodeData) error {
	for _, a := range d.Advertisers {
		changed, err := w.putParent(kv.AdvertiserKind, a.Id, a)
		if err != nil {
			return err
		}
		if changed {
			if err := w.ownParents().SetAdvertiser(proto.CloneOf(a)); err != nil {
				return err
			}
		}
	}
	for _, c := range d.Campaigns {
		changed, err := w.putParent(kv.CampaignKind, c.Id, c)
		if err != nil {
			return err
		}
		if changed {
			w.ownParents().SetCampaign(proto.CloneOf(c))
		}
	}
	w.parents.Settle()
	return nil
}

// ownParents returns a copy of the parents that the batch may change.
func (w *batchWriter) ownParents() *index.Parents {
	if !w.parentsOwned {
		w.parents, w.parentsOwned = w.parents.Copy(), true
	}
	return w.parents
}

func (w *batchWriter) putParent(kind byte, id uint64, m proto.Message) (changed bool, err error) {
	w.key = kv.AppendParentKey(w.key[:0], kind, id)
	if w.record, err = record.Marshal.MarshalAppend(w.record[:0], m); err != nil {
		return false, fault.New(fault.Invalid, "barrels: apply", err)
	}
	old, exists, err := w.get(kv.Parents, w.key)
	if err != nil || exists && bytes.Equal(old, w.record) {
		return false, err
	}
	w.batch.Put(kv.Parents, w.key, w.record)
	return true, nil
}
