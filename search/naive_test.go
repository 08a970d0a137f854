package search_test

import (
	"context"
	"encoding/binary"
	"slices"

	"adshard/auction"
	"adshard/backend"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/words"
	"pgregory.net/rapid"
)

// naive is a store in memory without any cleverness: per term its blocks.
type naive struct {
	blocks map[uint64][]*block
	terms  []search.QueryTerm // last looked up
}

// block holds some keywords anchored at one term.
type block struct {
	vocabulary []word
	postings   []posting
	signatures []search.Signature // of the first postings
}

type word struct{ norm, fold, term uint64 }

type posting struct {
	keyword  *backend.Keyword
	item     *backend.Item
	campaign *backend.Campaign
	words    []byte
	norms    []uint64 // of the words, or none
}

func (b *block) Words() int { return len(b.vocabulary) }

func (b *block) Word(i int) (norm, fold, term uint64) {
	w := b.vocabulary[i]
	return w.norm, w.fold, w.term
}

func (b *block) Signatures() []search.Signature {
	for i := len(b.signatures); i < len(b.postings); i++ {
		var s search.Signature
		for w := b.postings[i].words; len(w) >= 2; w = w[2:] {
			if at := int(binary.LittleEndian.Uint16(w)); at < len(b.vocabulary) { // else damaged
				s |= search.SignatureOf(b.vocabulary[at].term)
			}
		}
		b.signatures = append(b.signatures, s)
	}
	return b.signatures
}

func (b *block) Len() int { return len(b.postings) }

func (b *block) Norms(i int) (t search.MatchType, norms []uint64) {
	return b.postings[i].keyword.Type, b.postings[i].norms
}

func (b *block) Class(i int) (search.MatchType, []byte) {
	return b.postings[i].keyword.Type, b.postings[i].words
}

func (n *naive) Find(terms []search.QueryTerm, known []int32) []int32 {
	n.terms = terms
	for i := range terms {
		if n.known(terms[i].Term) {
			known = append(known, int32(i))
		}
	}
	return known
}

func (n *naive) known(term uint64) bool {
	for _, blocks := range n.blocks {
		for _, b := range blocks {
			if slices.ContainsFunc(b.vocabulary, func(w word) bool { return w.term == term }) {
				return true
			}
		}
	}
	return false
}

func (n *naive) Blocks(ctx context.Context, terms []int32, _ search.Level, visit search.Visit) error {
	for _, i := range terms {
		for _, b := range n.blocks[n.terms[i].Term] {
			if err := ctx.Err(); err != nil {
				return err
			}
			visit(b, len(b.postings)%2 == 0)
		}
	}
	return nil
}

// formLanguages are the languages that a keyword is found under: those of the
// campaign with a stemmer, "" if there is none.
func formLanguages(c *backend.Campaign) []string {
	var list []string
	for _, l := range c.Languages {
		if slices.Contains(words.Languages(), l) {
			list = append(list, l)
		}
	}
	if list == nil {
		return []string{""}
	}
	return list
}

// drawNaive anchors each keyword of a world at any one of its words in each of
// its languages, up to a drawn number of keywords to a block.
func drawNaive(t *rapid.T, w *oracletest.World) *naive {
	n := &naive{blocks: map[uint64][]*block{}}
	size := rapid.IntRange(1, 8).Draw(t, "block size")
	for _, it := range w.Items {
		c := w.Campaign(it.Group.CampaignID)
		for i := range it.Keywords {
			for _, l := range formLanguages(c) {
				anchor := rapid.IntRange(0, 9).Draw(t, "anchor")
				n.add(&it.Keywords[i], it, c, l, anchor, size)
			}
		}
	}
	return n
}

func (n *naive) add(k *backend.Keyword, it *backend.Item, c *backend.Campaign, language string, anchor, size int) {
	split, err := words.Keyword(k.Text)
	if err != nil {
		panic(err)
	}
	list := make([]word, len(split))
	for i, w := range split {
		list[i] = word{words.Hash(w.Norm), words.Hash(w.Fold), words.TermOf(language, w.Fold)}
	}
	term := list[anchor%len(list)].term
	blocks := n.blocks[term]
	if len(blocks) == 0 || len(blocks[len(blocks)-1].postings) >= size {
		blocks = append(blocks, &block{})
		n.blocks[term] = blocks
	}
	blocks[len(blocks)-1].add(posting{keyword: k, item: it, campaign: c}, list)
}

func (b *block) add(p posting, list []word) {
	for _, w := range list {
		i := slices.Index(b.vocabulary, w)
		if i < 0 {
			i = len(b.vocabulary)
			b.vocabulary = append(b.vocabulary, w)
		}
		p.words = binary.LittleEndian.AppendUint16(p.words, uint16(i))
		if p.keyword.ID%2 == 0 { // at hand for some
			p.norms = append(p.norms, w.norm)
		}
	}
	b.postings = append(b.postings, p)
}

// score is the posting's R on a device at a level; 0 when it is no candidate,
// negatives and statuses of parents not looked at.
func (p *posting) score(d search.Device, level search.Level) uint64 {
	bid, has := p.keyword.Bid, p.keyword.HasBid
	if !has {
		bid = p.item.Group.Bid
	}
	group, campaign := p.item.Group.Modifiers[d], p.campaign.Modifiers[d]
	modifier, _ := auction.Modifier(uint64(group.Permille), group.Set, uint64(campaign.Permille), campaign.Set)
	_, _, score := auction.Rank(bid, modifier, uint64(p.keyword.Quality), p.keyword.Type.Permille(), level.Permille())
	return score
}

// levels is a sink that keeps each keyword's best level.
type levels map[uint64]search.Level

func (levels) Pass(search.Block, search.Level) bool { return false }

func (levels) Sift(list []search.Candidate, _ search.Level) []search.Candidate { return list }

func (s levels) Match(list []search.Candidate) {
	for _, c := range list {
		id := c.Block.(*block).postings[c.Class].keyword.ID
		if old, ok := s[id]; !ok || c.Level < old {
			s[id] = c.Level
		}
	}
}

// best is a sink as a store's: the best of distinct advertisers, passing over
// what cannot win.
type best struct {
	search.Top[search.Level]
	device search.Device
	// eligible tells what has passed everything else, by keyword id.
	eligible map[uint64]bool
}

func (s *best) Pass(b search.Block, level search.Level) bool {
	var bound uint64
	for i := range b.(*block).postings {
		bound = max(bound, b.(*block).postings[i].score(s.device, level))
	}
	return bound < s.Threshold()
}

func (s *best) Sift(list []search.Candidate, level search.Level) []search.Candidate {
	return slices.DeleteFunc(list, func(c search.Candidate) bool {
		return c.Block.(*block).postings[c.Class].score(s.device, level) < s.Threshold()
	})
}

func (s *best) Match(list []search.Candidate) {
	for _, c := range list {
		p := &c.Block.(*block).postings[c.Class]
		if s.eligible[p.keyword.ID] {
			s.Offer(p.item.Group.AdvertiserID, p.score(s.device, c.Level), p.keyword.ID, c.Level)
		}
	}
}

// norms are the hashes of a text's normalised words.
func norms(text string) (hashes []uint64) {
	split, err := words.Split(text)
	if err != nil {
		panic(err)
	}
	for _, w := range split {
		hashes = append(hashes, words.Hash(w.Norm))
	}
	return hashes
}
