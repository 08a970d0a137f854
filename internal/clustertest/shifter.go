package clustertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/ingest/geotargets"
	"adshard/places"
	"adshard/search"
)

// Shifter keeps changing a block list and the country of a place. The list blocks a keyword of its own or it does not; the place is in
// the country that another keyword targets or it is not.
//
// The next change is made once each master has answered by the last one. So an answer is by the last change or the previous one, and
// must be by the last one if its master had answered by it before the query was sent.
type Shifter struct {
	store backend.Store
	mu    sync.Mutex
	// begun is the newest state that may be in the database. seen is the newest state by which each master has
	// answered. Under mu.
	begun int
	seen  map[string][2]int // by base URL: for the list, and for the place
	// free says that the database was restored. From then on any state may be in an answer, until the cluster has
	// settled; under mu.
	free    bool
	saved   bool          // the newest state was acknowledged; under mu
	longest time.Duration // time from a change to its being in all masters' answers; under mu
	shifts  int           // under mu
	turn    int           // under mu
	writing sync.Mutex    // held during each change
}

// The documents and keywords of a Shifter.
const (
	shiftingList  = "zzshifting"
	shiftingPlace = 4_100_000_001
	listWord      = "zzlisted"
	placeWord     = "zzplaced"
)

// NewShifter creates the keywords and the first state.
func NewShifter(ctx context.Context, store backend.Store) (*Shifter, error) {
	s := &Shifter{store: store, seen: map[string][2]int{}, saved: true}
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	return s, s.write(ctx, 0)
}

func (s *Shifter) create(ctx context.Context) error {
	tx, err := s.store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	advertiser, err := tx.Advertiser(ctx, "Shifting")
	if err != nil {
		return err
	}
	for word, patch := range map[string]backend.CampaignPatch{
		listWord:  {Categories: backend.To(`["zzcasino/games"]`)},
		placeWord: {Locations: backend.To(`[{"id":2203}]`)},
	} {
		campaign, err := tx.Campaign(ctx, advertiser, word, patch)
		if err != nil {
			return err
		}
		group, err := tx.Group(ctx, campaign, word, backend.GroupPatch{Bid: backend.To(uint64(1_000_000))})
		if err != nil {
			return err
		}
		if err := errors.Join(tx.Keyword(ctx, group, backend.KeywordPatch{Text: word, Words: word, Type: search.Broad}), tx.Ad(ctx, group, Shown(1))); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// write writes state n. The list blocks its keyword in odd states, and the place is in its country in even ones.
func (s *Shifter) write(ctx context.Context, n int) error {
	for {
		err := errors.Join(s.writeList(ctx, n), s.writePlace(ctx, n))
		if !fault.Is(err, fault.Conflict) { // another writer has changed the table of places
			return err
		}
	}
}

func (s *Shifter) writeList(ctx context.Context, n int) error {
	was, err := blocklist.Load(ctx, s.store, shiftingList)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	l := blocklist.List{Categories: []string{"zznothing"}}
	if n%2 == 1 {
		l.Categories = []string{"zzcasino"}
	}
	_, err = blocklist.Save(ctx, s.store, shiftingList, was.Version, &l)
	return err
}

func (s *Shifter) writePlace(ctx context.Context, n int) error {
	country := uint32(2203)
	if n%2 == 1 {
		country = 2840
	}
	return savePlace(ctx, s.store, places.Row{ID: shiftingPlace, Name: "zzshifting", Parent: country})
}

// savePlace puts a place into the table.
func savePlace(ctx context.Context, store backend.Store, row places.Row) error {
	was, table, err := geotargets.Load(ctx, store)
	if err != nil {
		return err
	}
	next, refused := table.With([]places.Row{row})
	if len(refused) > 0 {
		return refused[0].Err
	}
	_, err = store.SaveDocument(ctx, backend.PlacesDocument, was, backend.PackDocument(next.Text()))
	return err
}

// Run changes the list and the place until ctx is done. It stops at the first error for which goOn is nil or returns
// false, and returns that error.
func (s *Shifter) Run(ctx context.Context, c *Client, goOn func(error) bool) error {
	for ctx.Err() == nil {
		began := time.Now()
		for next, arrived := true, false; !arrived && ctx.Err() == nil; next = false {
			if err := s.shift(ctx, next); err != nil && ctx.Err() == nil && (goOn == nil || !goOn(err)) {
				return err
			}
			patience, cancel := context.WithTimeout(ctx, again)
			arrived = s.Arrive(patience, c)
			cancel()
		}
		if ctx.Err() == nil {
			s.note(time.Since(began))
		}
		sleep(ctx, 100*time.Millisecond)
	}
	return nil
}

// again is the time after which a state is written again if it has not reached all masters: its change may have failed, or been
// lost when the database went back.
const again = 2 * time.Second

// Arrive queries each master until it has answered by the newest state. It returns false if ctx is done first.
func (s *Shifter) Arrive(ctx context.Context, c *Client) bool {
	for _, base := range c.Masters {
		for !s.arrived(base) && ctx.Err() == nil {
			for kind := range 2 {
				_, _, _ = s.askAt(c, base, kind) // other checks notice what is wrong with an answer
			}
			sleep(ctx, 10*time.Millisecond)
		}
	}
	return ctx.Err() == nil
}

// Settle waits, after all changes have stopped, until each master has answered by the newest state. It returns false if ctx is done
// first. A state is written again if its change was not acknowledged, or if the database may have lost it by going back.
func (s *Shifter) Settle(ctx context.Context, c *Client) bool {
	s.mu.Lock()
	unsure := s.free || !s.saved
	s.mu.Unlock()
	if unsure && s.shift(ctx, false) != nil {
		return false
	}
	return s.Arrive(ctx, c)
}

func (s *Shifter) note(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shifts, s.longest = s.shifts+1, max(s.longest, took)
}

// shift writes the next state, or the newest one again.
func (s *Shifter) shift(ctx context.Context, next bool) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	if next {
		s.begun, s.saved = s.begun+1, false
	}
	n := s.begun
	s.mu.Unlock()
	err := s.write(ctx, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = s.saved || err == nil
	return err
}

func (s *Shifter) arrived(base string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[base][0] == s.begun && s.seen[base][1] == s.begun
}

// restored notes that the database goes back. Masters may then answer by the state before, the restored one and the newest
// one.
func (s *Shifter) restored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = true
}

// Ask queries the masters in turn for the list or the place.
func (s *Shifter) Ask(c *Client) (what string, a Answer, wrong string, err error) {
	s.mu.Lock()
	s.turn++
	n := s.turn
	s.mu.Unlock()
	masters := slices.Clone(c.Masters)
	for i := range masters {
		kind := n % 2
		a, wrong, err = s.askAt(c, masters[(n/2+i)%len(masters)], kind)
		if what = [...]string{listWord, placeWord}[kind]; err == nil {
			break
		}
	}
	return what, a, wrong, err
}

// askAt queries one master for the list (0) or the place (1).
func (s *Shifter) askAt(c *Client, base string, kind int) (a Answer, wrong string, err error) {
	v := [...]url.Values{
		{"q": {listWord}, "block": {shiftingList}}, {"q": {placeWord}, "location": {fmt.Sprint(shiftingPlace)}},
	}[kind]
	maps.Copy(v, url.Values{"slots": {"4"}, "variants": {"folded"}, "counts": {"exact"}})
	s.mu.Lock()
	begun, least := s.begun, s.seen[base][kind]
	s.mu.Unlock()
	a, err = c.AskAt(base, v)
	if err != nil || !a.Coverage.Complete {
		return a, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Matched != 1 || int(a.Candidates) != len(a.Ads) || a.Candidates > 1 {
		return a, fmt.Sprintf("%d matched, %d candidates, %d ads, want one keyword", a.Matched, a.Candidates, len(a.Ads)), nil
	}
	if begun != s.begun {
		return a, "", nil // the answer may be by any of three states, of which two look alike
	}
	if newest := (len(a.Ads) == 1) == (begun%2 == 0); newest { // the ad is shown in even states
		seen := s.seen[base]
		seen[kind] = begun
		s.seen[base] = seen
	} else if least == begun && !s.free {
		return a, fmt.Sprintf("%s answers by a state before %d, by which it has answered before", base, begun), nil
	}
	return a, "", nil
}

// Report returns what was changed, and how long it took until all masters answered by it.
func (s *Shifter) Report() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("block list and place shifted %d times; in all masters' answers after %v at most", s.shifts, s.longest.Round(time.Millisecond))
}

// Shifts returns the number of changes that have reached all masters.
func (s *Shifter) Shifts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shifts
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
