package processtest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/internal/oracle"
	"adshard/search"
)

// world is a database of advertisers, with functions that change it.
type world struct {
	t    *testing.T
	path string
	db   *sqlite.Store
	rnd  *rand.Rand
}

func newWorld(t *testing.T, advertisers int) *world {
	t.Helper()
	w := &world{t: t, path: dir(t, "ads.db"), rnd: rand.New(rand.NewPCG(1, 2))}
	var err error
	if w.db, err = sqlite.Open(t.Context(), w.path, sqlite.Options{Create: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close() })
	w.write(0, advertisers)
	return w
}

func (w *world) url() string { return "sqlite:" + w.path }

var vocabulary = strings.Fields("usb cable hub adapter wireless mouse keyboard laptop memory stick charger phone case red blue black " +
	"cheap fast long short office gaming silent mini pro max ultra travel car home")

func (w *world) phrase(most int) string {
	words := make([]string, 1+w.rnd.IntN(most))
	for i := range words {
		words[i] = vocabulary[w.rnd.IntN(len(vocabulary))]
	}
	return strings.Join(words, " ")
}

// write writes the advertisers from `from` to before `to` again, in one transaction: four groups of
// five keywords each, with new bids and some paused.
func (w *world) write(from, to int) {
	w.t.Helper()
	ctx := w.t.Context()
	tx, err := w.db.Begin(ctx)
	w.must(err)
	defer tx.Rollback()
	status := func() backend.Status {
		if w.rnd.IntN(10) == 0 {
			return backend.Pause
		}
		return backend.Enable
	}
	for a := from; a < to; a++ {
		advertiser, err := tx.Advertiser(ctx, fmt.Sprint("advertiser ", a))
		w.must(err)
		campaign, err := tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{Status: status(), Languages: backend.To(backend.LanguagesOf("en"))})
		w.must(err)
		if w.rnd.IntN(4) == 0 {
			words := w.phrase(1)
			owner := []backend.NegativeOwner{{Campaign: campaign}, {Advertiser: advertiser}}[w.rnd.IntN(2)]
			w.must(tx.Negative(ctx, owner, backend.NegativePatch{Text: words, Words: words, Type: search.Broad}))
		}
		for g := range 4 {
			group, err := tx.Group(ctx, campaign, fmt.Sprint("group ", g), backend.GroupPatch{Status: status(),
				Bid: backend.To(uint64(10_000 * (1 + w.rnd.IntN(300))))})
			w.must(err)
			for range 5 {
				words := w.phrase(3)
				w.must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: words, Words: words, Status: status(),
					Type: search.MatchType(w.rnd.IntN(search.MatchTypes)), Quality: backend.To(uint8(1 + w.rnd.IntN(10)))}))
			}
			w.must(tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
		}
	}
	w.must(tx.Commit(ctx))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// oracle returns a slow single node with the current contents of the database.
func (w *world) oracle() *oracle.Oracle {
	w.t.Helper()
	ctx := w.t.Context()
	snap, err := w.db.Snapshot(ctx)
	w.must(err)
	defer snap.Close()
	var items []*backend.Item
	for item, err := range snap.All(ctx) {
		w.must(err)
		items = append(items, item)
	}
	campaigns, err := snap.Campaigns(ctx, nil)
	w.must(err)
	advertisers, err := snap.Advertisers(ctx, nil)
	w.must(err)
	o, err := oracle.New(advertisers, campaigns, items, nil)
	w.must(err)
	return o
}

func (w *world) clock() uint64 {
	w.t.Helper()
	newest, err := w.db.Newest(w.t.Context())
	w.must(err)
	return newest.Clock
}

// answer contains the parts of an HTTP answer that the tests read.
type answer struct {
	Ads []struct {
		Keyword uint64 `json:"keyword_id"`
		Ad      uint64 `json:"ad_id"`
		Price   uint64 `json:"price_micros"`
	}
	Matched, Candidates uint64
	Coverage            struct {
		Complete     bool
		Missing      []string
		Reasons      map[string]string
		AppliedClock uint64 `json:"applied_clock"`
	}
}

// timeout adds the longest timeout to a request that has none.
func timeout(more string) string {
	if strings.Contains(more, "timeout_ms") {
		return more
	}
	return more + "&timeout_ms=5000"
}

// ask sends a query to a master. A `status` of 0 accepts any status.
func ask(t *testing.T, base, q, more string, status int) (a answer) {
	t.Helper()
	resp, err := http.Get(base + "/v1/search?q=" + url.QueryEscape(q) + timeout(more))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || status != 0 && resp.StatusCode != status {
		t.Fatalf("%s, %v: %s", resp.Status, err, body)
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// follows waits until answers are complete and as new as the database.
func (w *world) follows(base string) {
	w.t.Helper()
	clock := w.clock()
	var last answer
	eventually(w.t, "complete answers that are as new as the database", func() bool {
		last = ask(w.t, base, "usb", "", 0)
		return last.Coverage.Complete && last.Coverage.AppliedClock >= clock
	})
}

// compare compares answers with those of the oracle.
func (w *world) compare(base string) {
	w.t.Helper()
	o, least := w.oracle(), search.Position{Clock: w.clock()} // another replica may be behind for a moment
	for range 40 {
		q := w.phrase(5)
		want, err := o.Search(oracle.Request{Text: q, Profile: search.DefaultProfile(), Slots: 4, Variants: search.Synonym, Reserve: 10_000})
		w.must(err)
		got := ask(w.t, base, q, "&counts=exact&min_clock="+least.String(), http.StatusOK)
		if !got.Coverage.Complete || got.Matched != want.Matched || got.Candidates != want.Candidates || len(got.Ads) != len(want.Ads) {
			w.t.Fatalf("%q: %+v, want matched %d, candidates %d, %d ads", q, got, want.Matched, want.Candidates, len(want.Ads))
		}
		for i, a := range got.Ads {
			if p := want.Ads[i]; a.Keyword != p.Keyword.ID || a.Price != p.Price || a.Ad != p.Ad.ID {
				w.t.Fatalf("%q: place %d is %+v, want keyword %d at %d", q, i+1, a, p.Keyword.ID, p.Price)
			}
		}
	}
}

// slaveState is a slave as described in the balancer's list.
type slaveState struct {
	Name    string
	Address string
	Groups  uint64
	Serving bool
	Trouble string
}

// slaves requests the list of slaves from the balancer's admin port.
func slaves(t *testing.T, admin string) (list []slaveState) {
	t.Helper()
	resp, err := http.Get(admin + "/v1/slaves")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Slaves []slaveState }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Slaves
}

func groupsOf(list []slaveState, name string) uint64 {
	i := slices.IndexFunc(list, func(s slaveState) bool { return s.Name == name })
	if i < 0 {
		return 0
	}
	return list[i].Groups
}
