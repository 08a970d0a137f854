package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// keywordsPerGroup is the default of Options.PerGroup.
const keywordsPerGroup = 11

// Options describe a corpus.
type Options struct {
	Keywords int64  // exact number of positive keywords, at least 1
	Queries  int    // number of queries
	Seed     uint64 // determines the corpus
	Encoding Encoding
	// PerGroup is the approximate number of keywords per group; 0 means 11, the number that a title yields.
	PerGroup int
	// Specific makes the quality of a keyword depend on how specific it is, as clicks would: low for one common word.
	// Otherwise the quality is drawn. Everything else is the same either way.
	Specific bool
	// Demo makes what people look at: titles are never recombined, but sold by several advertisers; all names are some that an
	// advertiser could have, and queries are what people might type.
	Demo bool
	// Targeted is the share of campaigns with targeting, 0 to 1. Their targeting is drawn from Profiles distinct ones
	// (WriteTargeting).
	Targeted float64
	Profiles int
}

// perGroup returns the approximate number of keywords per group, from which the number of groups is planned.
func (o *Options) perGroup() int {
	if o.PerGroup > 0 {
		return o.PerGroup
	}
	return keywordsPerGroup
}

func (o *Options) check() error {
	if o.Keywords < 1 {
		return fmt.Errorf("corpus: cannot make %d keywords; use 1 or more", o.Keywords)
	}
	return nil
}

// Summary counts the contents of a corpus.
type Summary struct {
	Groups, Keywords int64
	Rows, Bytes      int64 // rows without the header
	Rounds           int   // passes over the catalogues, including the last one
	Queries          int
	Items            int // titles in the catalogues
}

// Corpus generates files and queries from catalogues in memory.
type Corpus struct {
	files fs.FS
	items []item
	words *lexicon
	order []int32 // items by advertiser and campaign, with the advertisers shuffled
}

// Open reads the catalogues in files, which has the same layout as extract/; Extract returns the built-in ones. It
// returns an error if there are no catalogues.
func Open(files fs.FS) (*Corpus, error) {
	items, err := readItems(files)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errors.New("corpus: no catalogues found; give a directory that contains catalogue/ and queries/")
	}
	c := &Corpus{files: files, items: items, words: newLexicon(items)}
	c.words.nameCampaigns(items)
	c.order = make([]int32, len(items))
	for i := range c.order {
		c.order[i] = int32(i)
	}
	return c, nil
}

// sorted returns the items in the order of one corpus.
func (c *Corpus) sorted(seed uint64) []int32 {
	order := slices.Clone(c.order)
	key := make([]uint64, len(c.items))
	for i := range c.items {
		key[i] = mix(seed, hashOf(c.items[i].advertiser))
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &c.items[a], &c.items[b]
		return cmp.Or(cmp.Compare(key[a], key[b]), cmp.Compare(x.advertiser, y.advertiser), cmp.Compare(x.campaign, y.campaign))
	})
	return order
}

// Write writes an Editor file to w and returns what it contains. It returns an error if the options are invalid, ctx
// is done or w fails.
func (c *Corpus) Write(ctx context.Context, w io.Writer, o Options) (Summary, error) {
	if err := o.check(); err != nil {
		return Summary{}, err
	}
	sum := Summary{Items: len(c.items)}
	out, err := newSheet(w, o.Encoding)
	if err != nil {
		return sum, err
	}
	if err := c.make(ctx, c.newGroupMaker(o, out), o, &sum, func() bool { return true }); err != nil {
		return sum, err
	}
	sum.Rows, sum.Bytes = out.rows, out.bytes
	return sum, out.flush()
}

func (c *Corpus) newGroupMaker(o Options, out *sheet) *groupMaker {
	return &groupMaker{seed: o.Seed, perGroup: o.perGroup(), specific: o.Specific, sheet: out, keywords: keywordMaker{pairs: o.Demo},
		shape: shape{items: c.items, words: c.words, dice: newDice(), demo: o.Demo}}
}

// make makes the groups and calls made after each one, until made returns false.
func (c *Corpus) make(ctx context.Context, m *groupMaker, o Options, sum *Summary, made func() bool) error {
	order := c.sorted(o.Seed)
	for sum.Keywords < o.Keywords {
		if more, err := c.round(ctx, m, order, o, sum, made); !more || err != nil {
			return err
		}
		sum.Rounds++
	}
	return nil
}

// round goes through all items once, or through a sample if fewer are needed. It returns more false if made returned
// false.
func (c *Corpus) round(ctx context.Context, m *groupMaker, order []int32, o Options, sum *Summary, made func() bool) (more bool, err error) {
	m.account, m.campaign = "", ""
	take := c.sample(o, sum)
	for i, number := range order {
		if sum.Keywords == o.Keywords {
			return true, nil
		}
		if i&0xFF == 0 {
			if err := cmp.Or(ctx.Err(), m.sheet.err); err != nil {
				return false, err
			}
		}
		if !take(number, sum.Rounds) || o.Demo && c.items[number].nameless() {
			continue
		}
		n := m.write(int(number), sum.Rounds, o.Keywords-sum.Keywords)
		if n == 0 {
			continue
		}
		sum.Keywords += n
		sum.Groups++
		if !made() {
			return false, nil
		}
	}
	return true, nil
}

// sample returns a function that reports whether a round uses an item. The round uses all of them, or an even sample
// slightly larger than needed, since it ends once there are enough keywords.
func (c *Corpus) sample(o Options, sum *Summary) func(number int32, round int) bool {
	perGroup := float64(o.perGroup())
	if sum.Groups > 1000 {
		perGroup = float64(sum.Keywords) / float64(sum.Groups)
	}
	share := float64(o.Keywords-sum.Keywords) / perGroup / float64(len(c.items)) * 1.05
	if share >= 1 {
		return func(int32, int) bool { return true }
	}
	limit := uint64(share * (1 << 32))
	always := c.titlesWith("usb", "cable", 4)
	return func(number int32, round int) bool {
		return mix(o.Seed+uint64(round), uint64(number))>>32 <= limit || round == 0 && slices.Contains(always, number)
	}
}

// titlesWith returns the first n items whose titles contain both words, so that the query that people try first finds
// ads even in the smallest corpus.
func (c *Corpus) titlesWith(a, b string, n int) []int32 {
	x, okA := c.words.ids[a]
	y, okB := c.words.ids[b]
	if !okA || !okB {
		return nil
	}
	var found []int32
	for _, p := range c.words.where[x] {
		if len(found) < n && slices.Contains(c.items[p.item].words, y) && !slices.Contains(found, p.item) {
			found = append(found, p.item)
		}
	}
	return found
}
