package audit

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/ingest"
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
	golden := filepath.Join("..", "..", "..", "shared", "spec", "golden")
	if chosen.db != "" {
		copyFile(t, chosen.db, c.path)
	} else if _, err := os.Stat(golden); err != nil {
		t.Skipf("the golden answers are not here: %v", err)
	}
	var err error
	if c.store, err = sqlite.Open(t.Context(), c.path, sqlite.Options{Create: chosen.db == ""}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	var texts []string
	if chosen.db == "" {
		file := filepath.Join(t.TempDir(), "editor.csv")
		unpack(t, filepath.Join(golden, "editor.csv.gz"), file)
		if _, err := ingest.Run(t.Context(), c.store, []string{file}, ingest.Options{}); err != nil {
			t.Fatal(err)
		}
		texts = goldenQueries(t, filepath.Join(golden, "want-desktop.jsonl"))
	} else {
		texts = lines(t, chosen.queries)
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

func goldenQueries(t *testing.T, path string) (list []string) {
	t.Helper()
	for _, line := range lines(t, path) {
		var w struct{ Query string }
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			t.Fatal(err)
		}
		list = append(list, w.Query)
	}
	return list
}

func lines(t *testing.T, path string) (list []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := bufio.NewScanner(f)
	text.Buffer(nil, 1<<20)
	for text.Scan() {
		if line := strings.TrimSpace(text.Text()); line != "" {
			list = append(list, line)
		}
	}
	if err := text.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	write(t, z, to)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write(t, f, to)
}

func write(t *testing.T, from io.Reader, to string) {
	t.Helper()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(out, from); err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
