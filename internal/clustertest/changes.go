package clustertest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"adshard/backend"
	"adshard/search"
)

// Groups is the number of ad groups that change. Ten of them belong to each advertiser.
const Groups = 60

// Changer keeps changing groups of its own. Each group shows its version in its ad's URL. All groups match the word
// "zzall", and group N matches the word "zzchangingN", which no product has.
type Changer struct {
	store    backend.Store
	targeted bool
	mu       sync.Mutex
	// seen lists, for each group, the committed versions with a clock by which each was committed; under mu.
	seen  [Groups][]version
	begun [Groups]int    // newest version that may be in the database; under mu
	ids   [Groups]uint64 // under mu
	// unsure are versions whose commit failed, but which may be in the database nevertheless. Used under writing.
	unsure [Groups][]int
	// cleared are unsure versions that a later change replaced. A restored database may have them again. Used under
	// writing.
	cleared [Groups][]version
	// writing is held during each change.
	writing sync.Mutex
	// restoring says that answers may still be from the history before the restore; under mu.
	restoring bool
	failed    int // number of failed changes; under mu
}

type version struct {
	clock uint64
	n     int
}

// Word returns the text of a query for group g.
func Word(g int) string { return fmt.Sprint("zzchanging", g) }

// NewChanger creates the groups. With `targeted`, for programs that know targeting, each group has a campaign of its own with another
// targeting in each version (see Half).
func NewChanger(ctx context.Context, store backend.Store, targeted bool) (*Changer, error) {
	c := &Changer{store: store, targeted: targeted}
	for g := range Groups {
		if err := c.change(ctx, g); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Run changes `rate` groups a second, each in a transaction of its own, until ctx is done. It stops at the first
// error for which goOn is nil or returns false, and returns that error.
func (c *Changer) Run(ctx context.Context, rate int, goOn func(error) bool) error {
	return paced(ctx, rate, func(i int) error {
		c.writing.Lock()
		err := c.change(ctx, i*7%Groups)
		c.writing.Unlock()
		if err == nil || ctx.Err() != nil {
			return nil
		}
		c.mu.Lock()
		c.failed++
		c.mu.Unlock()
		if goOn == nil || !goOn(err) {
			return err
		}
		return nil
	})
}

// paced calls do `rate` times a second, with the number of the call, until ctx is done. It returns the first error of
// do.
func paced(ctx context.Context, rate int, do func(i int) error) error {
	tick := time.NewTicker(time.Second / time.Duration(max(1, rate)))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := do(i); err != nil {
			return err
		}
	}
}

// Counts returns the numbers of acknowledged and of failed changes.
func (c *Changer) Counts() (acknowledged, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range c.seen {
		acknowledged += len(list)
	}
	return acknowledged, c.failed
}

// Pause keeps the data unchanged until resume is called.
func (c *Changer) Pause() (resume func()) {
	c.writing.Lock()
	return c.writing.Unlock
}

// Restored notes that the database goes back to a clock. Later versions are lost, but answers may show them until
// Settled is called. Changes must be paused meanwhile.
func (c *Changer) Restored(clock uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restoring = true
	for g := range c.seen {
		c.seen[g] = slices.DeleteFunc(c.seen[g], func(v version) bool {
			if v.clock > clock {
				c.unsure[g] = append(c.unsure[g], v.n)
			}
			return v.clock > clock
		})
		for _, v := range c.cleared[g] {
			if v.clock > clock {
				c.unsure[g] = append(c.unsure[g], v.n)
			}
		}
	}
}

// Settled ends the time in which answers may be from before a restore.
func (c *Changer) Settled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restoring = false
}

func (c *Changer) change(ctx context.Context, g int) error {
	c.mu.Lock()
	c.begun[g]++
	n := c.begun[g]
	c.mu.Unlock()
	if err := c.write(ctx, g, n); err != nil {
		c.unsure[g] = append(c.unsure[g], n)
		return err
	}
	newest, err := c.store.Newest(ctx)
	if err != nil {
		newest.Clock = math.MaxUint64 // it has been there since an unknown time
	}
	for _, unsure := range c.unsure[g] {
		c.cleared[g] = append(c.cleared[g], version{newest.Clock, unsure})
	}
	c.unsure[g] = nil
	c.mu.Lock()
	c.seen[g] = append(c.seen[g], version{newest.Clock, n})
	c.mu.Unlock()
	return err
}

// write writes version n of group g.
func (c *Changer) write(ctx context.Context, g, n int) error {
	tx, err := c.store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	advertiser, err := tx.Advertiser(ctx, fmt.Sprint("Changing ", g/10))
	if err != nil {
		return err
	}
	name, ofCampaign, ofGroup := "changing", backend.CampaignPatch{}, backend.GroupPatch{Bid: backend.To(uint64(50_000 + n%100*10_000))}
	if c.targeted {
		name += fmt.Sprint(" ", g)
		dimensionOf(g).patch(n, &ofCampaign, &ofGroup)
	}
	campaign, err := tx.Campaign(ctx, advertiser, name, ofCampaign)
	if err != nil {
		return err
	}
	group, err := tx.Group(ctx, campaign, Word(g), ofGroup)
	if err != nil {
		return err
	}
	if n == 1 {
		for _, text := range []string{Word(g), "zzall"} {
			if err := tx.Keyword(ctx, group, backend.KeywordPatch{Text: text, Words: text, Type: search.Broad}); err != nil {
				return err
			}
		}
	}
	if err := tx.Ad(ctx, group, Shown(n)); err != nil {
		return err
	}
	for _, before := range c.before(g) {
		old := Shown(before)
		old.Status = backend.Remove
		if err := tx.Ad(ctx, group, old); err != nil {
			return err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids[g] = group
	return nil
}

// before returns the versions of group g that the database may have.
func (c *Changer) before(g int) (list []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.seen[g]); n > 0 {
		list = append(list, c.seen[g][n-1].n)
	}
	return append(list, c.unsure[g]...)
}

// Shown returns the ad of a version.
func Shown(n int) backend.AdPatch {
	return backend.AdPatch{Headlines: []string{"changing"}, Descriptions: []string{"d"}, FinalURL: fmt.Sprint("https://changing.example/", n)}
}

// One queries group g and checks the version in the answer.
func (c *Changer) One(g int, ask func(url.Values) (Answer, error)) (a Answer, wrong string, err error) {
	return c.one(g, ask, func(v version, clock uint64) bool { return v.clock <= clock })
}

// Last is like One, but the version must be at least the last one that was acknowledged.
func (c *Changer) Last(g int, ask func(url.Values) (Answer, error)) (a Answer, wrong string, err error) {
	return c.one(g, ask, func(version, uint64) bool { return true })
}

// one queries group g. `in` reports whether a version must be in an answer at a clock.
func (c *Changer) one(g int, ask func(url.Values) (Answer, error), in func(v version, clock uint64) bool) (a Answer, wrong string, err error) {
	c.mu.Lock()
	restoring := c.restoring
	c.mu.Unlock()
	a, err = ask(c.params(Word(g), "4"))
	if err != nil || !a.Coverage.Complete {
		return a, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(a.Ads) != 1 || a.Matched != 1 || a.Candidates != 1 || a.Ads[0].Group != c.ids[g] {
		return a, fmt.Sprintf("%d ads, %d matched, %d candidates, want one of group %d: %+v", len(a.Ads), a.Matched, a.Candidates, c.ids[g], a.Ads), nil
	}
	n, err := shownVersion(&a)
	if err != nil {
		return a, "", err
	}
	if least := c.least(g, restoring, &a, in); n < least || n > c.begun[g] {
		return a, fmt.Sprintf("version %d, want %d to %d at clock %d", n, least, c.begun[g], a.Coverage.AppliedClock), nil
	}
	return a, "", nil
}

// shownVersion returns the version in an answer's first ad.
func shownVersion(a *Answer) (int, error) {
	return strconv.Atoi(a.Ads[0].FinalURL[strings.LastIndexByte(a.Ads[0].FinalURL, '/')+1:])
}

// least returns the oldest version of group g that may be in an answer; restoring says whether a restore was under way when the query was
// sent. mu must be held.
func (c *Changer) least(g int, restoring bool, a *Answer, in func(v version, clock uint64) bool) (n int) {
	for _, v := range c.seen[g] {
		if !restoring && !c.restoring && in(v, a.Coverage.AppliedClock) {
			n = v.n
		}
	}
	return n
}

// params returns the parameters of a query for a text that shows all versions.
func (c *Changer) params(text, slots string) url.Values {
	v := url.Values{"q": {text}, "slots": {slots}, "variants": {"folded"}, "counts": {"exact"}}
	if c.targeted {
		maps.Copy(v, everyone())
	}
	return v
}

// All queries all groups and checks that each is counted once.
func (c *Changer) All(ask func(url.Values) (Answer, error)) (a Answer, wrong string, err error) {
	a, err = ask(c.params("zzall", "20"))
	if err != nil || !a.Coverage.Complete {
		return a, "", err
	}
	if a.Matched != Groups || a.Candidates != Groups || len(a.Ads) != Groups/10 {
		return a, fmt.Sprintf("%d matched, %d candidates, %d ads, want %d, %d and %d", a.Matched, a.Candidates, len(a.Ads), Groups, Groups, Groups/10), nil
	}
	return a, "", nil
}
