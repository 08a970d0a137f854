package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/internal/oracle"
	"adshard/search"
	"adshard/search/words"
)

// TestHistories changes the database at random while a cluster follows, and compares its answers with those of an
// oracle of the database's content: incremental equals rebuilt, through every process.
func TestHistories(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for _, slaves := range []int{1, 3} {
		t.Run(fmt.Sprintf("slaves=%d", slaves), func(t *testing.T) {
			db := importEditor(t, []byte("Account,Campaign,Ad Group,Keyword,Max CPC\nSeed,Seed,Seed,red shoes,1\n"), 1)
			c := startCluster(t, db, slaves, false, "default")
			store, err := sqlite.Open(t.Context(), c.db, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			h := &history{t: t, dice: rand.New(rand.NewPCG(7, uint64(slaves))), store: store}
			for range rounds {
				h.change()
				h.compare(c)
			}
		})
	}
}

// history makes random changes and compares the answers afterwards.
type history struct {
	t     *testing.T
	dice  *rand.Rand
	store *sqlite.Store
}

// vocabulary has inflected and accented forms of few words, so that most
// queries match something at some level.
var vocabulary = strings.Fields("red shoes shoe running runner café cafe boty bota bot modré modrá usb kabel kabely x2")

func (h *history) pick(list ...string) string { return list[h.dice.IntN(len(list))] }

func (h *history) phrase(most int) string {
	var list []string
	for range 1 + h.dice.IntN(most) {
		list = append(list, h.pick(vocabulary...))
	}
	return strings.Join(list, " ")
}

func (h *history) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// change commits some random writes in one or a few transactions.
func (h *history) change() {
	ctx := h.t.Context()
	for range 1 + h.dice.IntN(3) {
		tx, err := h.store.Begin(ctx)
		h.must(err)
		for range 1 + h.dice.IntN(40) {
			h.write(tx)
		}
		h.must(tx.Commit(ctx))
	}
}

func (h *history) status() backend.Status {
	switch n := h.dice.IntN(20); {
	case n == 0:
		return backend.Remove
	case n < 3:
		return backend.Pause
	case n < 8:
		return backend.Enable
	}
	return backend.Keep
}

func (h *history) permille() (p [search.Devices]backend.Patch[uint16]) {
	if h.dice.IntN(3) == 0 {
		p[h.dice.IntN(search.Devices)] = backend.To(uint16(h.dice.IntN(4) * 700))
	}
	return p
}

// write changes one entity, with the parents that it needs.
func (h *history) write(tx backend.Tx) {
	ctx := h.t.Context()
	advertiser, err := tx.Advertiser(ctx, h.pick("Alfa", "Beta", "Gamma", "Delta"))
	h.must(err)
	patch := backend.CampaignPatch{Modifiers: h.permille()}
	switch h.dice.IntN(6) {
	case 0:
		patch.Languages = backend.To([]backend.Languages{"en", "cs", "cs en", "de", ""}[h.dice.IntN(5)])
	case 1:
		patch.Status = h.status()
	case 2:
		patch.RotateEvenly = backend.To(h.dice.IntN(2) == 0)
	}
	campaign, err := tx.Campaign(ctx, advertiser, h.pick("C1", "C2"), patch)
	h.must(err)
	if campaign == 0 || patch.Status == backend.Remove {
		return
	}
	group, err := tx.Group(ctx, campaign, h.pick("G1", "G2", "G3"), backend.GroupPatch{Bid: backend.To(uint64(h.dice.IntN(5)) * 300_000), Modifiers: h.permille()})
	h.must(err)
	h.fragment(tx, advertiser, campaign, group)
}

func (h *history) fragment(tx backend.Tx, advertiser, campaign, group uint64) {
	ctx := h.t.Context()
	switch h.dice.IntN(8) {
	case 0:
		text := h.phrase(2)
		owner := []backend.NegativeOwner{{Group: group}, {Campaign: campaign}, {Advertiser: advertiser}}[h.dice.IntN(3)]
		h.must(tx.Negative(ctx, owner, backend.NegativePatch{
			Text: text, Words: normal(h.t, text), Type: search.MatchType(h.dice.IntN(search.MatchTypes)), Status: h.status(),
		}))
	case 1, 2:
		h.must(tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{h.pick("One", "Two", "Three")}, FinalURL: "https://shop.example/", Status: h.status()}))
	default:
		text := h.phrase(3)
		k := backend.KeywordPatch{Text: text, Words: normal(h.t, text), Type: search.MatchType(h.dice.IntN(search.MatchTypes)), Status: h.status()}
		if h.dice.IntN(2) == 0 {
			k.Bid = backend.To(uint64(h.dice.IntN(8)) * 250_000)
		}
		if h.dice.IntN(2) == 0 {
			k.Quality = backend.To(uint8(1 + h.dice.IntN(10)))
		}
		h.must(tx.Keyword(ctx, group, k))
	}
}

func normal(t *testing.T, text string) string {
	list, err := words.Keyword(text)
	if err != nil {
		t.Fatal(err)
	}
	var normalised []string
	for _, w := range list {
		normalised = append(normalised, w.Normalised)
	}
	return strings.Join(normalised, " ")
}

// compare waits until the cluster has followed the changes, then compares its answers with the oracle's.
func (h *history) compare(c *cluster) {
	newest, err := h.store.Newest(h.t.Context())
	h.must(err)
	deadline := time.Now().Add(20 * time.Second)
	for {
		got := c.search(h.t, url.Values{"q": {"red"}})
		if got.Coverage.AppliedClock >= newest.Clock {
			break
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("the cluster is at clock %d, the database at %d", got.Coverage.AppliedClock, newest.Clock)
		}
	}
	all := readAll(h.t, c.db)
	slow, err := oracle.New(all.advertisers, all.campaigns, all.items, nil)
	h.must(err)
	for range 40 {
		w := want{
			Query: h.phrase(4), Device: h.pick("desktop", "mobile", "tablet"), Slots: 1 + h.dice.IntN(5),
			Variants: h.pick("identical", "folded", "inflected", "synonym"), Profile: "default",
		}
		expected := askOracle(h.t, slow, w)
		w.Matched, w.Candidates = expected.Matched, expected.Candidates
		for _, a := range expected.Ads {
			w.Ads = append(w.Ads, a.wantAd)
		}
		for _, exact := range []bool{true, false} {
			if diff := difference(w, c.search(h.t, params(w, exact)), exact); diff != "" {
				h.t.Fatalf("%q %s %s exact=%v: %s", w.Query, w.Device, w.Variants, exact, diff)
			}
		}
	}
}
