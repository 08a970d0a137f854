package ingest

import (
	"context"

	"adshard/backend"
	"adshard/search"
)

// pendingKeywords buffers a transaction's keywords until it is committed or
// something is removed, so that rows about the same keyword become one change. A
// file with contradicting rows about a keyword changes nothing when it is
// imported again.
type pendingKeywords struct {
	list  []pendingKeyword // by first appearance, which ids follow
	index map[keywordKey]int
}

type pendingKeyword struct {
	group uint64
	patch backend.KeywordPatch
}

type keywordKey struct {
	group     uint64
	matchType search.MatchType
	words     string
}

// add adds a row's keyword, and reports whether an earlier row gives it other values.
func (p *pendingKeywords) add(group uint64, k backend.KeywordPatch) (differs bool) {
	key := keywordKey{group, k.Type, k.Words}
	if i, ok := p.index[key]; ok {
		return merge(&p.list[i].patch, k)
	}
	if p.index == nil {
		p.index = make(map[keywordKey]int)
	}
	p.index[key] = len(p.list)
	p.list = append(p.list, pendingKeyword{group, k})
	return false
}

// merge combines p with a later patch, and reports whether that has other values.
func merge(p *backend.KeywordPatch, later backend.KeywordPatch) (differs bool) {
	differs = p.Text != later.Text
	p.Text = later.Text
	differs = otherStatus(&p.Status, later.Status) || differs
	differs = other(&p.Bid, later.Bid) || differs
	return other(&p.Quality, later.Quality) || differs
}

// flush writes the keywords, and notes those without a bid.
func (p *pendingKeywords) flush(ctx context.Context, a *applier) error {
	for i := range p.list {
		k := &p.list[i]
		a.created = false
		if err := a.tx.Keyword(ctx, k.group, k.patch); err != nil {
			return err
		}
		a.bids.keyword(k.group, k.patch.Bid.Op, a.created)
	}
	clear(p.list)
	clear(p.index)
	p.list = p.list[:0]
	return nil
}
