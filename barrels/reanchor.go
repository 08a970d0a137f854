package barrels

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/record"
	"adshard/schema/pb"
)

// stepMoves is about how many keywords get other anchors in one step.
const stepMoves = 256

// reanchor visits the groups from cursor on and gives new anchors to keywords whose anchor is no
// longer rare. It returns where to continue, or nil at the end. It terminates, since document
// frequencies do not depend on anchors.
func (s *barrel) reanchor(st *index.Snapshot, cursor []byte) (next []byte, err error) {
	it := st.Data.Full(kv.Items)
	defer it.Close()
	w := s.writer
	w.begin(st, false)
	var drifted []uint64 // keys of groups
	clock := stepClock{pace: &w.pace}
	moves := 0
	ok := it.Seek(cursor)
	for ; ok && moves < stepMoves && !clock.over(); ok = it.Next() {
		if kv.KeyPart(it.Key(), 1) == kv.GroupRecord {
			continue
		}
		n, err := w.drifted(it.Value())
		if err != nil {
			return nil, err
		}
		if key := kv.KeyPart(it.Key(), 0); n > 0 && (len(drifted) == 0 || drifted[len(drifted)-1] != key) {
			drifted = append(drifted, key)
		}
		moves += n
	}
	if it.Err() != nil {
		return nil, it.Err()
	}
	if ok {
		next = slices.Clone(it.Key())
	}
	for _, key := range drifted {
		if err := w.moveAnchors(key); err != nil {
			return nil, err
		}
	}
	if err := w.settle(); err != nil {
		return nil, err
	}
	return next, s.settled(st)
}

// drifted counts the keywords of a page that have an anchor that is no longer rare.
func (w *batchWriter) drifted(value []byte) (n int, err error) {
	r := &w.reader
	if err := r.Open(value); err != nil {
		return 0, kv.Damaged("keyword page", err)
	}
	for {
		k, err := r.Next()
		if err != nil {
			return 0, kv.Damaged("keyword page", err)
		}
		if k == nil {
			return n, nil
		}
		if w.drift(k) {
			n++
		}
	}
}

// drift reports whether one of a keyword's anchors occurs in many more keywords than the rarest of
// its terms: half as many again and eight more.
func (w *batchWriter) drift(k *record.Keyword) bool {
	for i, f := range k.Forms {
		own := w.terms.Stats(k.Anchors[i]).Frequency
		for _, term := range f.Terms {
			if least := w.terms.Stats(term).Frequency; own > least+least/2+8 {
				return true
			}
		}
	}
	return false
}

// moveAnchors prepares a group whose drifted keywords get new anchors.
func (w *batchWriter) moveAnchors(key uint64) error {
	it, raw, err := w.stored(key)
	if it != nil {
		defer it.Close()
	}
	if err != nil {
		return err
	}
	stored := new(pb.Group)
	if err := proto.Unmarshal(raw, stored); err != nil || raw == nil {
		return kv.Damaged("group", err)
	}
	head := record.Head(stored)
	g := &groupChange{key: key, head: &head}
	w.groups = append(w.groups, g)
	return w.pages(g, it, func(old *record.Keyword) (err error) {
		k := &keyword{id: old.ID, anchors: slices.Clone(old.Anchors)}
		if k.pb, err = old.Message(); err != nil {
			return kv.Damaged("keyword", err)
		}
		g.keywords = append(g.keywords, k)
		if w.drift(old) {
			w.unwrite(key, old)
			k.anchors = nil
		}
		return nil
	})
}
