package audit

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/backend"
	"adshard/search"
)

// groups is how many ad groups change, ten of one advertiser.
const groups = 60

// changer changes groups of its own all the time. Each shows its version in its
// ad's URL; all match the word "zzall", and group N the word "zzN".
type changer struct {
	store backend.Store
	mu    sync.Mutex
	// seen are, for each group, clocks and the version that was committed by
	// them; under mu.
	seen  [groups][]version
	begun [groups]int // newest version that may be there; under mu
	ids   [groups]uint64
	// writing is held while something is changed.
	writing sync.Mutex
	// restoring: answers may still be of the history before; under mu.
	restoring bool
}

type version struct {
	clock uint64
	n     int
}

func word(g int) string { return fmt.Sprint("zz", g) }

func (c *changer) create(ctx context.Context) error {
	for g := range groups {
		if err := c.change(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// run changes rate groups a second, each in a transaction of its own.
func (c *changer) run(ctx context.Context, rate int) error {
	tick := time.NewTicker(time.Second / time.Duration(max(1, rate)))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		c.writing.Lock()
		err := c.change(ctx, i*7%groups)
		c.writing.Unlock()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// pause keeps the data as they are until resume is called.
func (c *changer) pause() (resume func()) {
	c.writing.Lock()
	return c.writing.Unlock
}

// restored says that the database goes back to a clock: later versions are gone, and
// answers may show them until settled is called.
func (c *changer) restored(clock uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restoring = true
	for g := range c.seen {
		c.seen[g] = slices.DeleteFunc(c.seen[g], func(v version) bool { return v.clock > clock })
	}
}

func (c *changer) settled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restoring = false
}

func (c *changer) change(ctx context.Context, g int) error {
	c.mu.Lock()
	c.begun[g]++
	n := c.begun[g]
	c.mu.Unlock()
	if err := c.write(ctx, g, n); err != nil {
		return err
	}
	newest, err := c.store.Newest(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.seen[g] = append(c.seen[g], version{newest.Clock, n})
	c.mu.Unlock()
	return nil
}

// write makes version n of group g.
func (c *changer) write(ctx context.Context, g, n int) error {
	tx, err := c.store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	advertiser, err := tx.Advertiser(ctx, fmt.Sprint("Changing ", g/10))
	if err != nil {
		return err
	}
	campaign, err := tx.Campaign(ctx, advertiser, "changing", backend.CampaignPatch{})
	if err != nil {
		return err
	}
	group, err := tx.Group(ctx, campaign, word(g), backend.GroupPatch{Bid: backend.To(uint64(50_000 + n%100*10_000))})
	if err != nil {
		return err
	}
	if n == 1 {
		for _, text := range []string{word(g), "zzall"} {
			if err := tx.Keyword(ctx, group, backend.KeywordPatch{Text: text, Words: text, Type: search.Broad}); err != nil {
				return err
			}
		}
	}
	if err := tx.Ad(ctx, group, shown(n)); err != nil {
		return err
	}
	if before := c.before(g); before > 0 {
		old := shown(before)
		old.Status = backend.Remove
		if err := tx.Ad(ctx, group, old); err != nil {
			return err
		}
	}
	c.ids[g] = group
	return tx.Commit(ctx)
}

// before is the version of group g that the database has; 0: none yet.
func (c *changer) before(g int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.seen[g]); n > 0 {
		return c.seen[g][n-1].n
	}
	return 0
}

func shown(n int) backend.AdPatch {
	return backend.AdPatch{Headlines: []string{"changing"}, Descriptions: []string{"d"}, FinalURL: fmt.Sprint("https://changing.example/", n)}
}

// one asks for group g and judges the version that is shown.
func (c *changer) one(g int, ask func(url.Values) (answer, error)) (a answer, wrong string, err error) {
	a, err = ask(url.Values{"q": {word(g)}, "slots": {"4"}, "variants": {"folded"}, "counts": {"exact"}})
	if err != nil || !a.Coverage.Complete {
		return a, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(a.Ads) != 1 || a.Matched != 1 || a.Candidates != 1 || a.Ads[0].Group != c.ids[g] {
		return a, fmt.Sprintf("%d ads, %d matched, %d candidates, want one of group %d: %+v", len(a.Ads), a.Matched, a.Candidates, c.ids[g], a.Ads), nil
	}
	n, err := strconv.Atoi(a.Ads[0].FinalURL[strings.LastIndexByte(a.Ads[0].FinalURL, '/')+1:])
	if err != nil {
		return a, "", err
	}
	least := 0
	for _, v := range c.seen[g] {
		if c.restoring {
			break
		}
		if v.clock <= a.Coverage.AppliedClock {
			least = v.n
		}
	}
	if n < least || n > c.begun[g] {
		return a, fmt.Sprintf("version %d, want %d to %d at clock %d", n, least, c.begun[g], a.Coverage.AppliedClock), nil
	}
	return a, "", nil
}

// all asks for all groups: each is counted once.
func (c *changer) all(ask func(url.Values) (answer, error)) (a answer, wrong string, err error) {
	a, err = ask(url.Values{"q": {"zzall"}, "slots": {"20"}, "variants": {"folded"}, "counts": {"exact"}})
	if err != nil || !a.Coverage.Complete {
		return a, "", err
	}
	if a.Matched != groups || a.Candidates != groups || len(a.Ads) != groups/10 {
		return a, fmt.Sprintf("%d matched, %d candidates, %d ads, want %d, %d and %d", a.Matched, a.Candidates, len(a.Ads), groups, groups, groups/10), nil
	}
	return a, "", nil
}

func startChanger(t *testing.T, store backend.Store) *changer {
	t.Helper()
	c := &changer{store: store}
	if err := c.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}
