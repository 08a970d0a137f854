package barrels

import (
	"adshard/barrels/kv"
	"adshard/barrels/page"
	"adshard/fault"
)

// putPages writes the changed pages of a group. A keyword stays on the page in whose range of ids
// it falls, so that one change does not move the others.
func (w *batchWriter) putPages(g *groupChange) error {
	old := g.pages
	if len(old) > 2*(len(g.keywords)/page.Target+1) {
		w.dropPages(g) // too many small pages: begin afresh
		old = nil
	}
	rest := g.keywords
	for i := range old {
		n := len(rest)
		if i+1 < len(old) {
			n = before(rest, old[i+1].first)
		}
		if err := w.putPage(g.key, &old[i], rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return w.putPage(g.key, nil, rest)
}

func (w *batchWriter) dropPages(g *groupChange) {
	for _, p := range g.pages {
		w.batch.Delete(kv.Items, kv.AppendKey(w.key[:0], g.key, p.first))
	}
}

// before returns how many keywords have an id below the given one.
func before(list []*keyword, id uint64) int {
	n := 0
	for n < len(list) && list[n].id < id {
		n++
	}
	return n
}

// putPage writes keywords in place of an old page, which may be nil. It writes several pages if
// there are too many keywords for one.
func (w *batchWriter) putPage(key uint64, old *oldPage, list []*keyword) (err error) {
	if old != nil && (len(list) == 0 || list[0].id < old.first) {
		w.batch.Delete(kv.Items, kv.AppendKey(w.key[:0], key, old.first))
		old = nil
	}
	for len(list) > 0 {
		w.pace.yield()
		n := page.Fill(len(list))
		first := list[0].id
		if old != nil {
			first = old.first
		}
		if w.record, err = w.page(w.record[:0], list[:n]); err != nil {
			return err
		}
		if old == nil || page.Checksum(w.record) != old.checksum {
			w.batch.Put(kv.Items, kv.AppendKey(w.key[:0], key, first), w.record)
		}
		old, list = nil, list[n:]
	}
	return nil
}

// page appends the page with the given keywords.
func (w *batchWriter) page(dst []byte, list []*keyword) ([]byte, error) {
	w.encoder.Reset()
	for _, k := range list {
		if err := w.data.Set(k.pb); err != nil {
			return nil, fault.New(fault.Invalid, "barrels: apply", err)
		}
		w.data.Anchors = k.anchors
		w.encoder.Add(&w.data)
	}
	return w.encoder.Append(dst), nil
}
