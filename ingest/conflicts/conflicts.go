// Package conflicts finds negatives that block keywords of their own owner.
package conflicts

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"adshard/backend"
	"adshard/ingest/tsv"
	"adshard/search"
)

// header is the first line of the report of conflicts.
const header = "advertiser\tcampaign\tgroup\tnegative\tnegative_type\tnegative_of\tkeyword\tkeyword_type\n"

// ownersCached bounds the campaigns and advertisers that a report caches.
const ownersCached = 1 << 12

// Conflict is an enabled negative that blocks a keyword of its own group, campaign or advertiser: a query with
// exactly the keyword's words would get no ad of that group.
type Conflict struct {
	Advertiser, Campaign, Group string
	Negative, NegativeType      string
	Owner                       string // the negative's owner: group, campaign or advertiser
	Keyword, KeywordType        string
}

// Write writes the conflicts of a snapshot as tab-separated lines with a header, by ascending group id: advertiser,
// campaign, group, negative, its type, its owner, keyword, its type. It streams the lines and returns the number of
// conflicts. It returns errors of the snapshot and of w.
func Write(ctx context.Context, snapshot backend.Snapshot, w io.Writer) (found int64, err error) {
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(header); err != nil {
		return 0, err
	}
	err = Find(ctx, snapshot, func(c *Conflict) error {
		found++
		_, err := out.WriteString(tsv.Line(c.Advertiser, c.Campaign, c.Group, c.Negative, c.NegativeType, c.Owner, c.Keyword, c.KeywordType))
		return err
	})
	if err != nil {
		return found, err
	}
	return found, out.Flush()
}

// IsReport reports whether r is empty or a report that Write wrote.
func IsReport(r io.Reader) bool {
	return tsv.All(r, func(n int, line string) bool {
		if n == 0 {
			return line+"\n" == header
		}
		return strings.Count(line, "\t") == cells-1
	})
}

const cells = 8 // in a line

// Find calls found with each conflict of a snapshot, by ascending group id. It stops when found returns an error. It
// returns errors of the snapshot and of found.
func Find(ctx context.Context, snapshot backend.Snapshot, found func(*Conflict) error) error {
	r := &finder{snapshot: snapshot, found: found}
	r.reset()
	for item, err := range snapshot.All(ctx) {
		if err != nil {
			return err
		}
		if err := r.item(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

type finder struct {
	snapshot    backend.Snapshot
	found       func(*Conflict) error
	campaigns   map[uint64]*campaign
	advertisers map[uint64]*advertiser
}

type campaign struct {
	*advertiser
	campaign string
	own      blockers
}

type advertiser struct {
	name string
	all  blockers // block in all its groups
}

func (r *finder) reset() {
	r.campaigns = make(map[uint64]*campaign)
	r.advertisers = make(map[uint64]*advertiser)
}

func (r *finder) item(ctx context.Context, item *backend.Item) error {
	campaign, err := r.campaign(ctx, item.Group.CampaignID, item.Group.AdvertiserID)
	if err != nil || campaign == nil {
		return err
	}
	own := newBlockers(item.Negatives)
	if len(own) == 0 && len(campaign.own) == 0 && len(campaign.all) == 0 {
		return nil
	}
	for i := range item.Keywords {
		k := &item.Keywords[i]
		for _, from := range []struct {
			owner string
			b     blockers
		}{{"group", own}, {"campaign", campaign.own}, {"advertiser", campaign.all}} {
			for _, n := range from.b.blocking(k.Words) {
				if err := r.found(&Conflict{campaign.name, campaign.campaign, item.Group.Name, n.Text, n.Type.String(), from.owner, k.Text, k.Type.String()}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *finder) campaign(ctx context.Context, id, advertiser uint64) (*campaign, error) {
	if c, ok := r.campaigns[id]; ok {
		return c, nil
	}
	if len(r.campaigns) >= ownersCached {
		r.reset()
	}
	found, err := r.snapshot.Campaigns(ctx, []uint64{id})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	owner, err := r.advertiser(ctx, advertiser)
	if err != nil {
		return nil, err
	}
	c := &campaign{owner, found[0].Name, newBlockers(found[0].Negatives)}
	r.campaigns[id] = c
	return c, nil
}

func (r *finder) advertiser(ctx context.Context, id uint64) (*advertiser, error) {
	if a, ok := r.advertisers[id]; ok {
		return a, nil
	}
	a := &advertiser{}
	found, err := r.snapshot.Advertisers(ctx, []uint64{id})
	if err != nil || len(found) == 0 {
		return a, err
	}
	a.name, a.all = found[0].Name, newBlockers(found[0].Negatives)
	r.advertisers[id] = a
	return a, nil
}

// blockers finds the negatives that block a text. Each negative is filed under the smallest of its words, which every
// text that it blocks must contain.
type blockers map[string][]blocker

type blocker struct {
	*backend.Negative
	words []string
}

// newBlockers returns blockers of the enabled negatives.
func newBlockers(negatives []backend.Negative) blockers {
	var b blockers
	for i := range negatives {
		n := &negatives[i]
		if !n.Enabled {
			continue
		}
		words := strings.Split(n.Words, " ")
		if b == nil {
			b = make(blockers)
		}
		least := slices.Min(words)
		b[least] = append(b[least], blocker{n, words})
	}
	return b
}

// blocking returns the negatives that block a query of exactly these words (joined by spaces), in ascending id order
// (serving.md §3).
func (b blockers) blocking(joined string) []*backend.Negative {
	if len(b) == 0 {
		return nil
	}
	text := strings.Split(joined, " ")
	var found []*backend.Negative
	for i, word := range text {
		if slices.Contains(text[:i], word) {
			continue
		}
		for _, n := range b[word] {
			if n.blocks(text) {
				found = append(found, n.Negative)
			}
		}
	}
	slices.SortFunc(found, func(a, b *backend.Negative) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return found
}

func (n *blocker) blocks(text []string) bool {
	switch n.Type {
	case search.Exact:
		return slices.Equal(n.words, text)
	case search.Phrase:
		for i := 0; i+len(n.words) <= len(text); i++ {
			if slices.Equal(n.words, text[i:i+len(n.words)]) {
				return true
			}
		}
		return false
	}
	for _, word := range n.words {
		if !slices.Contains(text, word) {
			return false
		}
	}
	return true
}
