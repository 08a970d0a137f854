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

func (p *pendingKeywords) add(group uint64, k backend.KeywordPatch) {
	key := keywordKey{group, k.Type, k.Words}
	if i, ok := p.index[key]; ok {
		merge(&p.list[i].patch, k)
		return
	}
	if p.index == nil {
		p.index = make(map[keywordKey]int)
	}
	p.index[key] = len(p.list)
	p.list = append(p.list, pendingKeyword{group, k})
}

// merge combines p with a later patch.
func merge(p *backend.KeywordPatch, later backend.KeywordPatch) {
	p.Text = later.Text
	if later.Status != backend.Keep {
		p.Status = later.Status
	}
	if later.Bid.Op != backend.Unchanged {
		p.Bid = later.Bid
	}
	if later.Quality.Op != backend.Unchanged {
		p.Quality = later.Quality
	}
}

func (p *pendingKeywords) flush(ctx context.Context, tx backend.Tx) error {
	for i := range p.list {
		if err := tx.Keyword(ctx, p.list[i].group, p.list[i].patch); err != nil {
			return err
		}
	}
	clear(p.list)
	clear(p.index)
	p.list = p.list[:0]
	return nil
}
