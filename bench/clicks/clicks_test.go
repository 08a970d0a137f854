package clicks

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/bench/measure"
	"adshard/ingest"
	"adshard/internal/corpus"
)

// snapshotOf returns a snapshot of a small corpus.
func snapshotOf(t *testing.T) backend.Snapshot {
	t.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "corpus.csv")
	w := create(t, file)
	if _, err := c.Write(t.Context(), w, corpus.Options{Keywords: 4000, Seed: 1, Encoding: corpus.UTF8}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := ingest.Run(t.Context(), db, []string{file}, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func market(t *testing.T, s backend.Snapshot) *Market {
	t.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		t.Fatal(err)
	}
	texts := append(c.CommonWords(30), c.CommonPairs(30)...)
	weights := make([]float64, len(texts))
	for i := range weights {
		weights[i] = 1 / float64(1+i)
	}
	m, err := NewMarket(t.Context(), s, texts, weights, func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAuctionIsThatOfSearches: with the database's own qualities, a market shows the
// same keywords as a search, at the same prices.
func TestAuctionIsThatOfSearches(t *testing.T) {
	s := snapshotOf(t)
	m := market(t, s)
	o, err := judge(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	type shown struct {
		keyword  uint64
		position int
		price    uint64
	}
	ranks, ads := column(m, nil, 0), 0
	for i := range m.queries {
		q := &m.queries[i]
		result, err := o.Search(request(q.text, 4))
		if err != nil {
			t.Fatal(err)
		}
		var got, want []shown
		for _, p := range m.auction(q, ranks, 4, nil) {
			got = append(got, shown{m.keywords[q.candidates[p.Index].keyword].Keyword, p.Position, p.Price})
		}
		for _, ad := range result.Ads {
			want = append(want, shown{ad.Judged.Keyword.ID, ad.Position, ad.Price})
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q shows %v, a search %v", q.text, got, want)
		}
		ads += len(want)
	}
	if ads < 40 || m.Contested < 0.2 {
		t.Errorf("%d ads, contested %v: the market shows nothing", ads, m.Contested)
	}
}

func plan() *Plan {
	return &Plan{Days: 6, Queries: 500, Runs: 2, Seed: 1, HalfLife: 7, Optimism: 1,
		Users: Users{Mean: 0.05, Deviations: [4]float64{0.3, 0.4, 0.5, 0.2}, Examination: []float64{1, 0.5, 0.3}, Changed: 0.5}}
}

func report(t *testing.T, m *Market) *measure.Report {
	t.Helper()
	r := new(measure.Report)
	if err := plan().Run(t.Context(), m, r, func(float64) {}); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRunsRepeat: the same seed gives the same figures.
func TestRunsRepeat(t *testing.T) {
	m := market(t, snapshotOf(t))
	if a, b := report(t, m), report(t, m); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestUsersClickAsTheirRatesSay: the counted clicks of an ad have the rate from which
// they were drawn; rates change in the middle, and only for some groups.
func TestUsersClickAsTheirRatesSay(t *testing.T) {
	m := market(t, snapshotOf(t))
	p := plan()
	r := p.newRun(m, 1)
	s := newStudent(m, learner{flat: true})
	clicks := rand.New(rand.NewPCG(1, 1))
	c := &m.queries[0].candidates[0]
	const n = 2_000_000
	if err := s.see(clicks, r.truths[0], c, 2, 0, n); err != nil {
		t.Fatal(err)
	}
	shown, clicked := uint64(0), uint64(0)
	for _, count := range s.counts.All() {
		shown, clicked = shown+count.Impressions, clicked+count.Clicks
	}
	want := r.truths[0].means[c.keyword] * r.truths[0].felt(m, c, 2)
	if got := float64(clicked) / float64(shown); shown != n || math.Abs(got/want-1) > 0.03 {
		t.Errorf("%d shown, clicked at %v, not at %v", shown, got, want)
	}
	changed := 0
	for i, before := range r.truths[0].means {
		if before != r.truths[1].means[i] {
			changed++
		}
	}
	if part := float64(changed) / float64(len(m.keywords)); part < 0.2 || part > 0.8 {
		t.Errorf("%v of the rates change", part)
	}
	if r.truth(2) != r.truths[0] || r.truth(3) != r.truths[1] {
		t.Error("rates do not change in the middle")
	}
}

// TestKnownRatesAreBest: no policy is expected to be worth more than known rates.
func TestKnownRatesAreBest(t *testing.T) {
	m := market(t, snapshotOf(t))
	p := plan()
	if err := p.Run(context.Background(), m, new(measure.Report), func(float64) {}); err != nil {
		t.Fatal(err)
	}
	for i := range p.compared {
		for day := range p.Days {
			for _, share := range p.shares(i, span{first: day, last: day + 1}, value) {
				if share > 1+1e-4 { // ranks are rounded to a millionth
					t.Errorf("%s, day %d: %v of known rates", p.compared[i].name, day, share)
				}
			}
		}
	}
}

func create(t *testing.T, file string) *os.File {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
