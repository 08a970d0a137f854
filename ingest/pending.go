package ingest

import (
	"context"

	"adshard/backend"
	"adshard/search"
)

// pendingKeywords buffers a transaction's keywords until the transaction is committed or something is removed, so
// that rows about the same keyword become one change. So a file with contradicting rows about a keyword changes
// nothing when it is imported again.
type pendingKeywords struct {
	list  []pendingKeyword // in order of first appearance, which ids follow
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

// add adds a row's keyword and reports whether an earlier row gives the keyword other values.
func (p *pendingKeywords) add(group uint64, k backend.KeywordPatch) (differs bool) {
	key := keywordKey{group, k.Type, k.Words}
	if i, ok := p.index[key]; ok {
		was := &p.list[i].patch
		differs = was.Text != k.Text
		was.Text = k.Text
		return was.Merge(&k) || differs
	}
	if p.index == nil {
		p.index = make(map[keywordKey]int)
	}
	p.index[key] = len(p.list)
	p.list = append(p.list, pendingKeyword{group, k})
	return false
}

// flush writes the keywords and notes which of them have no bid.
func (p *pendingKeywords) flush(ctx context.Context, a *applier) error {
	for i := range p.list {
		k := &p.list[i]
		a.created = false
		if err := a.tx.Keyword(ctx, k.group, k.patch); err != nil {
			return err
		}
		a.bids.keyword(k.group, k.patch.Bid.Op, a.created)
	}
	p.reset()
	return nil
}

// reset drops the keywords and keeps the memory for later ones.
func (p *pendingKeywords) reset() {
	clear(p.list)
	clear(p.index)
	p.list = p.list[:0]
}

// sayings remembers what the rows of a file have said about its campaigns and groups, so that different values in
// later rows are reported. Keywords are compared only within a transaction (pendingKeywords).
type sayings struct {
	campaigns map[uint64]*backend.CampaignPatch
	groups    map[uint64]*backend.GroupPatch
}

// sayingsMost is the most entities of each kind that are remembered.
const sayingsMost = 20_000

// campaign notes a row about a campaign and reports whether it differs from an earlier row.
func (s *sayings) campaign(id uint64, p *backend.CampaignPatch) (differs bool) {
	return remembered(&s.campaigns, id).Merge(p)
}

// group does the same as campaign for a group.
func (s *sayings) group(id uint64, p *backend.GroupPatch) (differs bool) {
	return remembered(&s.groups, id).Merge(p)
}

func remembered[T any](m *map[uint64]*T, id uint64) *T {
	if was := (*m)[id]; was != nil {
		return was
	}
	if *m == nil || len(*m) >= sayingsMost {
		*m = make(map[uint64]*T)
	}
	was := new(T)
	(*m)[id] = was
	return was
}
