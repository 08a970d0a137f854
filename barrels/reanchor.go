package barrels

import (
	"slices"

	"adshard/schema/pb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Limits of one step of reanchor.
const (
	stepGroups = 4096 // looked at
	stepMoves  = 2048 // keywords that get other anchors
)

// Fields of a keyword's record that hold its terms.
const (
	keywordFormsField = 10
	formTermsField    = 2
)

// reanchor looks at the groups from cursor on and gives keywords whose anchor
// is no longer rare another one. It returns where to go on, nil at the end.
// Document frequencies do not depend on anchors, so that it comes to an end.
func (s *store) reanchor(st *state, cursor []byte) (next []byte, err error) {
	it := st.snapshot.Full(Items)
	defer it.Close()
	w := s.writer
	w.begin(st, false)
	var drifted []uint64 // keys of groups
	groups, moves := 0, 0
	ok := it.Seek(cursor)
	for ; ok && groups < stepGroups && moves < stepMoves; ok = it.Next() {
		if keyPart(it.Key(), 1) == groupRecord {
			groups++
			continue
		}
		n, err := w.drifted(it.Value())
		if err != nil {
			return nil, err
		}
		if key := keyPart(it.Key(), 0); n > 0 && (len(drifted) == 0 || drifted[len(drifted)-1] != key) {
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

// drifted counts the keywords of a page with an anchor that is not rare.
func (w *writer) drifted(value []byte) (n int, err error) {
	p, err := openPage(value)
	if err != nil {
		return 0, damaged("keyword page", err)
	}
	for i := range p.len() {
		e, err := p.entry(i)
		if err != nil {
			return 0, damaged("keyword page", err)
		}
		d, err := w.drift(e)
		if err != nil {
			return 0, err
		}
		if d {
			n++
		}
	}
	return n, nil
}

// drift tells whether one of a keyword's anchors stands in many more keywords
// than the rarest of its terms: half as many again, and eight.
func (w *writer) drift(e pageEntry) (drifted bool, err error) {
	form := 0
	err = eachField(e.record, func(n protowire.Number, b []byte, _ uint64) error {
		if n != keywordFormsField {
			return nil
		}
		if form++; form > e.anchorCount() {
			return errPage
		}
		own := w.terms.count(e.anchor(form - 1)).frequency
		return eachField(b, func(n protowire.Number, terms []byte, _ uint64) error {
			for ; n == formTermsField && len(terms) >= 8; terms = terms[8:] {
				term, _ := protowire.ConsumeFixed64(terms)
				least := w.terms.count(term).frequency
				drifted = drifted || own > least+least/2+8
			}
			return nil
		})
	})
	if err != nil {
		return false, damaged("keyword", err)
	}
	return drifted, nil
}

// moveAnchors prepares a group whose drifted keywords get new anchors.
func (w *writer) moveAnchors(key uint64) error {
	raw, ok, err := w.get(Items, appendKey(w.key[:0], key, groupRecord))
	if err != nil {
		return err
	}
	record := new(pb.Group)
	if err := proto.Unmarshal(raw, record); err != nil || !ok {
		return damaged("group", err)
	}
	head := groupHead(record)
	g := &groupChange{key: key, head: &head}
	w.groups = append(w.groups, g)
	return w.pages(g, func(e pageEntry) error {
		k := &keyword{id: e.id, anchors: e.list(), record: slices.Clone(e.record)}
		g.keywords = append(g.keywords, k)
		moved, err := w.drift(e)
		if err != nil || !moved {
			return err
		}
		k.pb = new(pb.Keyword)
		if err := proto.Unmarshal(e.record, k.pb); err != nil {
			return damaged("keyword", err)
		}
		w.unwrite(key, e)
		k.anchors = nil
		return nil
	})
}
