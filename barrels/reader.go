package barrels

import (
	"context"

	"adshard/barrels/block"
	"adshard/search"
)

// reader is search.Postings on a state's snapshot.
type reader struct {
	terms    *termTable
	snapshot Snapshot
	it       Iterator // opened on first use
	view     block.View
	key      []byte
	opened   int
	// bad are the parts of the ring whose postings could not be read.
	bad []run
}

var _ search.Postings = (*reader)(nil)

func (r *reader) reset(st *state) {
	r.terms, r.snapshot = st.terms, st.snapshot
	r.opened = 0
	r.bad = r.bad[:0]
}

func (r *reader) close() {
	if r.it != nil {
		r.it.Close()
	}
	r.it, r.terms, r.snapshot = nil, nil, nil
}

// Blocks implements search.Postings.
func (r *reader) Blocks(ctx context.Context, term uint64, visit func(search.Block) bool) error {
	if !r.terms.found(term) {
		return nil
	}
	if r.it == nil {
		r.it = r.snapshot.Prefix(Postings)
	}
	r.key = appendKey(r.key[:0], term, 0, 0)
	from := uint64(0) // ring key where what is read next begins
	torn := false     // the block before was damaged
	for ok := r.it.Seek(r.key); ok; ok = r.it.Next() {
		select {
		case <-ctx.Done():
			return ended(ctx, "barrels: search")
		default:
		}
		from = keyPart(r.it.Key(), 1)
		if torn {
			r.bad[len(r.bad)-1].hi = from
		}
		more, good := r.block(r.it.Value(), visit)
		if torn = !good; torn {
			r.bad = append(r.bad, run{from, ^uint64(0)})
		}
		if !more {
			return nil
		}
	}
	if r.it.Err() != nil {
		r.bad = append(r.bad, run{from, ^uint64(0)})
	}
	return nil
}

// block reads one block. What panics on its bytes is damage as well.
func (r *reader) block(value []byte, visit func(search.Block) bool) (more, good bool) {
	defer func() {
		if recover() != nil {
			more, good = true, false
		}
	}()
	r.opened++
	if r.view.Open(value) != nil {
		return true, false
	}
	return visit(&r.view), true
}
