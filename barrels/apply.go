package barrels

import (
	"context"

	"adshard/fault"
	"adshard/schema/pb"

	"google.golang.org/protobuf/proto"
)

// Apply implements Store.
func (s *store) Apply(ctx context.Context, data *pb.NodeData) error {
	if err := Validate(data); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed("barrels: apply")
	}
	if ctx.Err() != nil {
		return ended(ctx, "barrels: apply")
	}
	old := s.newest.Load()
	if !data.Reset_ && !samePosition(data.From, old.position) {
		return fault.Newf(fault.Stale, "barrels: apply", "the bucket begins at %v, the store is at %v",
			data.From, old.position)
	}
	s.writer.begin(old, data.Reset_)
	if err := s.writer.bucket(data); err != nil {
		return err
	}
	if s.unsettled != unknown {
		s.unsettled += int64(len(data.Items) + len(data.Deleted) + len(data.Campaigns) + 1)
	}
	if data.Reset_ {
		s.unsettled = unknown
	}
	return s.commit()
}

// commit writes what the writer has prepared and publishes the state after it.
// On an error nothing has changed.
func (s *store) commit() error {
	w := s.writer
	w.finish()
	if err := s.kv.Write(&w.batch); err != nil {
		return err
	}
	snapshot, err := s.kv.Snapshot()
	if err != nil {
		return err
	}
	s.publish(&state{
		snapshot: snapshot, terms: w.applyTerms(), parents: w.parents,
		position: w.position, slices: w.slices, counters: w.counters,
	})
	w.end()
	return nil
}

// bucket prepares all that a bucket changes.
func (w *writer) bucket(d *pb.NodeData) error {
	w.position = proto.CloneOf(d.To)
	if d.Slices != nil {
		w.slices = proto.CloneOf(d.Slices)
	}
	if len(d.Advertisers)+len(d.Campaigns) > 0 {
		if err := w.putParents(d); err != nil {
			return err
		}
	}
	for _, key := range d.Deleted {
		if err := w.group(key, nil); err != nil {
			return err
		}
	}
	for _, it := range d.Items {
		if err := w.group(it.Group.Key, it); err != nil {
			return err
		}
	}
	return w.settle()
}

// settle turns the groups' changes into pages and blocks.
func (w *writer) settle() error {
	w.anchor()
	w.putPages()
	return w.rewrite()
}

func (w *writer) putParents(d *pb.NodeData) error {
	w.parents = w.parents.copy()
	for _, a := range d.Advertisers {
		w.parents.setAdvertiser(a)
		if err := w.putRecord(Parents, appendParentKey(w.key[:0], parentAdvertiser, a.Id), a); err != nil {
			return err
		}
	}
	for _, c := range d.Campaigns {
		w.parents.setCampaign(proto.CloneOf(c))
		if err := w.putRecord(Parents, appendParentKey(w.key[:0], parentCampaign, c.Id), c); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putRecord(f Family, key []byte, m proto.Message) (err error) {
	w.record, err = marshal.MarshalAppend(w.record[:0], m)
	if err != nil {
		return fault.New(fault.Invalid, "barrels: apply", err)
	}
	w.batch.Put(f, key, w.record)
	return nil
}
