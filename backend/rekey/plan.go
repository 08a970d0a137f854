package rekey

import (
	"cmp"
	"slices"

	"adshard/backend/upsert"
	"adshard/search/words"
)

// plan is what is to be done with one owner's rows. Rows that are in neither taken nor written are left as they are.
type plan[V comparable] struct {
	taken, written []*upsert.Row[upsert.Phrase, V]
	gone           []gone[V] // the rows in taken that are not written again
}

type gone[V comparable] struct {
	row  *upsert.Row[upsert.Phrase, V]
	kept uint64 // the id of the equal row that is kept, or 0 if there is none
	why  string // why it is no longer a keyword, or "" if another row is equal
}

// planOf returns the plan for all rows of an owner.
func planOf[V comparable](a *words.Analyser, rows []*upsert.Row[upsert.Phrase, V], kind kindOf[V]) (p plan[V]) {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b *upsert.Row[upsert.Phrase, V]) int { return cmp.Compare(a.ID, b.ID) })
	now := make(map[upsert.Phrase]*upsert.Row[upsert.Phrase, V], len(rows)) // rows that are kept, by their new keys
	for _, r := range rows {
		key := r.Key
		if text := kind.text(r.Before); !settled(text) {
			made, err := keyOf(a, text)
			if err != nil {
				p.gone = append(p.gone, gone[V]{row: r, why: err.Error()})
				continue
			}
			key.Words = made
		}
		if stays := now[key]; stays != nil {
			stays.Now = kind.merged(stays.Now, r.Before)
			p.gone = append(p.gone, gone[V]{row: r, kept: stays.ID})
			continue
		}
		now[key] = &upsert.Row[upsert.Phrase, V]{Owner: r.Owner, ID: r.ID, Key: key, Now: r.Before}
	}
	left := make(map[uint64]*upsert.Row[upsert.Phrase, V], len(now))
	for _, r := range now {
		left[r.ID] = r
	}
	for _, r := range rows {
		stays := left[r.ID]
		if stays != nil && stays.Key == r.Key && stays.Now == r.Before {
			continue
		}
		p.taken = append(p.taken, r)
		if stays != nil {
			p.written = append(p.written, stays)
		}
	}
	return p
}
