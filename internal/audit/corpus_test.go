package audit

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/ingest"
	"adshard/internal/goldentest"
	"adshard/internal/oracle"
	"adshard/search"
)

// answer is what is read of an HTTP answer.
type answer struct {
	Matched, Candidates uint64
	Ads                 []ad
	Coverage            struct {
		Complete     bool
		Missing      []string
		Reasons      map[string]string
		PricesExact  bool   `json:"prices_exact"`
		AppliedClock uint64 `json:"applied_clock"`
	}
}

type ad struct {
	Position int
	Keyword  uint64 `json:"keyword_id"`
	Group    uint64 `json:"group_id"`
	Ad       uint64 `json:"ad_id"`
	Price    uint64 `json:"price_micros"`
	FinalURL string `json:"final_url"`
}

// question is a query with its one right answer.
type question struct {
	text, device        string
	matched, candidates uint64
	ads                 []ad
}

func (q *question) params(exact bool) url.Values {
	v := url.Values{"q": {q.text}, "device": {q.device}, "variants": {"folded"}, "slots": {"4"}}
	if exact {
		v.Set("counts", "exact")
	}
	return v
}

// difference says what is wrong with a complete answer; "": nothing.
func (q *question) difference(a *answer, exact bool) string {
	if exact && (a.Matched != q.matched || a.Candidates != q.candidates) {
		return fmt.Sprintf("matched %d and candidates %d, want %d and %d", a.Matched, a.Candidates, q.matched, q.candidates)
	}
	if len(a.Ads) != len(q.ads) {
		return fmt.Sprintf("%d ads, want %d", len(a.Ads), len(q.ads))
	}
	for i, got := range a.Ads {
		got.FinalURL = ""
		if got != q.ads[i] {
			return fmt.Sprintf("place %d is %+v, want %+v", i+1, got, q.ads[i])
		}
	}
	return ""
}

// corpus is a database and the questions asked of it.
type corpus struct {
	path      string
	store     *sqlite.Store
	questions []question
}

// openCorpus copies the chosen database, or imports the golden one.
func openCorpus(t *testing.T) *corpus {
	t.Helper()
	c := &corpus{path: filepath.Join(t.TempDir(), "ads.db")}
	if chosen.db != "" {
		copyFile(t, chosen.db, c.path)
	}
	var err error
	if c.store, err = sqlite.Open(t.Context(), c.path, sqlite.Options{Create: chosen.db == ""}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	var texts []string
	if chosen.db == "" {
		editor := bytes.NewReader(goldentest.Read(t, "editor.csv.gz"))
		if _, err := ingest.Run(t.Context(), c.store, []string{"-"}, ingest.Options{Stdin: editor}); err != nil {
			t.Fatal(err)
		}
		texts = lines(goldentest.Read(t, "queries.txt"))
	} else {
		queries, err := os.ReadFile(chosen.queries)
		if err != nil {
			t.Fatal(err)
		}
		texts = lines(queries)
	}
	c.solve(t, texts)
	return c
}

// requestID decides which ad of several is shown (serving.md §5).
const requestID = "audit"

// most bounds the questions; the oracle looks at every keyword for each.
const most = 150

// solve asks the oracle.
func (c *corpus) solve(t *testing.T, texts []string) {
	t.Helper()
	slow := c.oracle(t)
	step := max(1, len(texts)/most)
	for i := 0; i < len(texts); i += step {
		for device, name := range map[search.Device]string{search.Desktop: "desktop", search.Mobile: "mobile"} {
			want, err := slow.Search(oracle.Request{Text: texts[i], Profile: search.DefaultProfile(), Device: device,
				Slots: 4, Variants: search.Folded, Reserve: 10_000, RequestID: requestID})
			if err != nil {
				continue // refused by HTTP too
			}
			q := question{text: texts[i], device: name, matched: want.Matched, candidates: want.Candidates}
			for _, p := range want.Ads {
				q.ads = append(q.ads, ad{Position: p.Position, Keyword: p.Keyword.ID, Group: p.Keyword.GroupID, Ad: p.Ad.ID, Price: p.Price})
			}
			c.questions = append(c.questions, q)
		}
	}
	t.Logf("%d questions", len(c.questions))
}

func (c *corpus) oracle(t *testing.T) *oracle.Oracle {
	t.Helper()
	snapshot, err := c.store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	advertisers, err := snapshot.Advertisers(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	campaigns, err := snapshot.Campaigns(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var items []*backend.Item
	for it, err := range snapshot.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	slow, err := oracle.New(advertisers, campaigns, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	return slow
}

// lines returns the lines that are not empty, without white space around them.
func lines(text []byte) (list []string) {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
