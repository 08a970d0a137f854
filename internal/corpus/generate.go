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

// keywordsPerGroup is about what a group gets when nothing else is asked for.
const keywordsPerGroup = 11

// Options say what to make.
type Options struct {
	Keywords int64  // exactly so many positive keywords, 1 or more
	Queries  int    // so many queries
	Seed     uint64 // all follows from it
	Encoding Encoding
	// PerGroup is about how many keywords a group gets; 0: 11, as many as a
	// title gives by itself.
	PerGroup int
}

// perGroup is about how many keywords a group gets, to plan how many groups
// are needed.
func (o *Options) perGroup() int {
	if o.PerGroup > 0 {
		return o.PerGroup
	}
	return keywordsPerGroup
}

func (o *Options) check() error {
	if o.Keywords < 1 {
		return fmt.Errorf("corpus: %d keywords: ask for 1 or more", o.Keywords)
	}
	return nil
}

// Summary is what was made.
type Summary struct {
	Groups, Keywords int64
	Rows, Bytes      int64 // rows without the header
	Rounds           int   // how often the catalogues were used
	Queries          int
	Items            int // titles in the catalogues
}

// Corpus is catalogues and query logs, read and ready.
type Corpus struct {
	files fs.FS
	items []item
	words *lexicon
	order []int32 // items by advertiser and campaign, advertisers shuffled
}

// Open reads the catalogues in files, a tree as extract/ is; Extract() when
// there is no other. An error when there is no catalogue.
func Open(files fs.FS) (*Corpus, error) {
	items, err := readItems(files)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errors.New("corpus: no catalogue is there: name a directory that holds catalogue/ and queries/")
	}
	c := &Corpus{files: files, items: items, words: newLexicon(items)}
	c.words.nameCampaigns(items)
	c.order = make([]int32, len(items))
	for i := range c.order {
		c.order[i] = int32(i)
	}
	return c, nil
}

// sorted puts the items in the order of one corpus.
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

// Write writes an Editor file to w.
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
	return &groupMaker{seed: o.Seed, perGroup: o.perGroup(), sheet: out,
		shape: shape{items: c.items, words: c.words, dice: newDice()}}
}

// make makes the groups; after each it calls made, until that is false.
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

// round goes through the items once; when fewer are needed, through a sample.
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
		if !take(number, sum.Rounds) {
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

// sample tells which items of a round are taken: all, or evenly as many as are
// still needed, and a few more, since the round ends when there are enough.
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

// titlesWith returns the first items whose titles hold both words, so that the
// query that is tried first finds ads in the smallest corpus too.
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
