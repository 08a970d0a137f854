package query

import (
	"context"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/barrels/record"
	"adshard/search"
)

// wanted finds the keywords that a request names, in the records of groups: there is no index of
// keywords by id, and a keyword that does not match is in no posting list of the query. Status,
// score and verdict are computed as in explanations; the Matcher that searches use decides whether
// the keywords match.
type wanted struct {
	*execution
	all     *explanation
	matcher *search.Matcher
	fits    []search.Fit

	keyword, advertiser uint64 // ids; 0 means any
	most                int    // number of matches kept
	found               uint64

	inGroup bool   // whether the fields below are set
	key     uint64 // key of the group whose pages follow
	here    bool   // whether its keywords are looked at
	head    block.Group
}

// findWanted adds the keywords that the request names to `all`, at least the first `limit` of them,
// and returns their number.
func (e *execution) findWanted(ctx context.Context, all *explanation, limit int) (uint64, error) {
	named := e.request.Wanted
	w := &wanted{execution: e, all: all, matcher: search.NewMatcher(e.request.Query, e.request.Profile),
		keyword: named.Keyword, advertiser: named.Advertiser, most: 2*max(limit, 0) + 1000}
	if named.AdvertiserName != "" {
		if w.advertiser = e.state.Parents.AdvertiserNamed(named.AdvertiserName); w.advertiser == 0 {
			return 0, nil
		}
	}
	it := e.state.Data.Full(kv.Items)
	defer it.Close()
	for ok := it.Seek(nil); ok && (w.keyword == 0 || w.found == 0); ok = it.Next() {
		if err := e.scan.interrupted(ctx); err != nil {
			return 0, err
		}
		key, first := kv.KeyPart(it.Key(), 0), kv.KeyPart(it.Key(), 1)
		if first == kv.GroupRecord {
			w.enter(key, it.Value())
			continue
		}
		if !w.inGroup || key != w.key {
			w.enter(key, nil)
		}
		if w.here && (w.keyword == 0 || first <= w.keyword) {
			w.page(it.Value(), limit)
		}
	}
	return w.found, it.Err()
}

// enter begins a group. raw is its record, or nil if it has none. Pages of groups that are not
// served or have another advertiser are skipped.
func (w *wanted) enter(key uint64, raw []byte) {
	w.key, w.inGroup = key, true
	if w.here = w.served.Holds(key); !w.here {
		return
	}
	var err error
	if w.head, err = record.ReadHead(key, raw); err != nil || raw == nil {
		w.damagedAt(key)
		w.here = false
	} else if w.advertiser != 0 {
		w.here = w.head.Advertiser == w.advertiser
	}
}

// page looks at the keywords of a page.
func (w *wanted) page(value []byte, limit int) {
	err := w.pages.Open(value)
	for err == nil {
		var k *record.Keyword
		if k, err = w.pages.Next(); k == nil {
			break
		}
		if w.keyword == 0 || k.ID == w.keyword {
			w.add(k)
		}
	}
	if err != nil {
		w.damagedAt(w.key)
	}
	if len(w.all.matches) > w.most {
		best := w.all.best(limit)
		clear(w.all.matches)
		for _, m := range best {
			w.all.matches[m.Place] = m
		}
	}
}

// add adds a keyword.
func (w *wanted) add(k *record.Keyword) {
	m := &match{
		Place: kv.Place{Key: w.key, Keyword: k.ID}, group: w.head.ID, bid: k.Bid, flags: k.Flags,
		level: search.NoLevel, kind: search.MatchType(k.Type), groupStatus: groupStatus{served: true},
		device: w.head.Modifiers[w.request.Device],
	}
	w.complete(&m.groupStatus, w.key, w.head.Flags, w.head.Campaign, w.head.Advertiser, m.device)
	if m.damaged || !k.Sound() || int(m.kind) >= search.MatchTypes {
		w.damagedAt(w.key)
		return
	}
	for _, form := range k.Forms {
		w.fits = appendFits(w.fits[:0], w.matcher, k.Norm, k.Fold, form.Terms)
		m.level = min(m.level, w.matcher.Level(m.kind, w.fits))
	}
	w.found++
	w.all.rank(m, k.Quality, len(k.Norm))
}
