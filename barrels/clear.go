package barrels

import (
	"context"

	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// clearPostings is the number of postings and groups that one batch removes before its bucket,
// about as many as a large bucket writes.
const clearPostings = 1 << 14

// namedKeys returns the keys of the items that a bucket brings or deletes, or nil if it clears
// nothing.
func namedKeys(d *pb.NodeData) map[uint64]bool {
	if len(d.Cleared) == 0 {
		return nil
	}
	named := make(map[uint64]bool, len(d.Items)+len(d.Deleted))
	for _, it := range d.Items {
		named[it.Group.Key] = true
	}
	for _, key := range d.Deleted {
		named[key] = true
	}
	return named
}

// clear removes a bucket's cleared intervals in separate batches as long as they are too large for
// one. The position does not change: after a crash the bucket arrives again and clears the rest.
// Intervals that the store claims to have are left to the bucket's own batch, since the table would
// be wrong until then.
func (a *ahead) clear(ctx context.Context, d *pb.NodeData, named map[uint64]bool) error {
	if d.Reset_ || len(d.Cleared) == 0 {
		return nil
	}
	w := a.store.writer
	old := a.store.Newest.Load()
	w.begin(old, false)
	for _, v := range d.Cleared {
		if claims(old.Slices.Table, old.Position, v) {
			continue
		}
		for lo := v.Lo; ; {
			next, done, err := w.clear(lo, v.Hi, named, clearPostings)
			if err != nil {
				return err
			}
			if done {
				break
			}
			if lo = next; ctx.Err() != nil {
				return kv.Ended(ctx, "barrels: apply")
			}
			if err := a.commitCleared(); err != nil {
				return err
			}
		}
	}
	return nil // the rest goes into the bucket's batch
}

// commitCleared commits what was cleared so far and begins another batch.
func (a *ahead) commitCleared() error {
	w := a.store.writer
	if err := w.settle(); err != nil {
		return err
	}
	if err := a.commit(); err != nil {
		return err
	}
	w.begin(a.store.Newest.Load(), false)
	return nil
}

// claims reports whether a store with this table and position claims to have any
// of an interval's groups.
func claims(t *pb.SliceTable, at *pb.Position, v *pb.Interval) bool {
	for _, h := range t.GetSlices() {
		if h.Hi < v.Lo || v.Hi < h.Lo {
			continue
		}
		filled := max(h.Lo, v.Lo) < at.GetOffset()
		if h.State == pb.HeldState_HELD_STATE_FULL || h.State == pb.HeldState_HELD_STATE_FILLING && filled {
			return true
		}
	}
	return false
}

// clear prepares the removal of the groups with keys lo to hi that are not in named. If the batch
// reaches `most` postings and groups, done is false and next is the key to continue from.
func (w *batchWriter) clear(lo, hi uint64, named map[uint64]bool, most int) (next uint64, done bool, err error) {
	if w.base == nil {
		return 0, true, nil
	}
	it := w.base.Full(kv.Items)
	defer it.Close()
	var seek []byte
	for key := lo; ; key++ {
		seek = kv.AppendKey(seek[:0], key, kv.GroupRecord)
		if !it.Seek(seek) {
			return 0, true, it.Err()
		}
		if key = kv.KeyPart(it.Key(), 0); key > hi {
			return 0, true, nil
		}
		if !named[key] {
			if len(w.ops)+len(w.groups) >= most {
				return key, false, nil
			}
			if err := w.drop(key); err != nil {
				return 0, false, err
			}
		}
		if key == hi {
			return 0, true, nil
		}
	}
}

// drop prepares the removal of a group, which must exist.
func (w *batchWriter) drop(key uint64) error {
	n := len(w.groups)
	if err := w.group(key, nil, nil); err != nil {
		return err
	}
	if len(w.groups) == n {
		return kv.Damaged("group", kv.ErrMissing)
	}
	w.cleared++
	return nil
}
