package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/internal/goldentest"
	"adshard/internal/node/up"
	"adshard/internal/oracle"
	"adshard/search"
	"adshard/search/words"
)

// TestGoldenMisspelt: in all languages, with misspelt words, the oracle and clusters of any placement give the golden answers, and
// clusters those of the oracle to many other misspelt queries.
func TestGoldenMisspelt(t *testing.T) {
	file := importEditor(t, goldentest.Read(t, "misspelt/editor.csv"), 16)
	all := readAll(t, file)
	languages, err := words.ParseLanguages(strings.Join(words.Stemmed(), ","))
	if err != nil {
		t.Fatal(err)
	}
	slow, err := oracle.NewIn(languages, all.advertisers, all.campaigns, all.items, nil)
	if err != nil {
		t.Fatal(err)
	}
	vocabulary, err := oracle.Count(all.items)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(query, variants string) want {
		level, _ := search.ParseLevel(variants)
		r, err := slow.Search(oracle.Request{Text: query, Profile: search.DefaultProfile(), Slots: 4, Variants: level, Reserve: reserve, Languages: languages, Vocabulary: vocabulary})
		if err != nil {
			t.Fatal(err)
		}
		w := want{Query: query, Device: "desktop", Variants: variants, Slots: 4, Matched: r.Matched, Candidates: r.Candidates}
		for _, p := range r.Ads {
			w.Ads = append(w.Ads, wantAd{p.Advertiser.Name, p.Campaign.Name, p.Item.Group.Name, p.Keyword.Text, p.Keyword.Type.String(), p.Level.String(), p.Price})
		}
		return w
	}
	golden := readWants(t, "misspelt/want.jsonl")
	if len(golden) != 24 {
		t.Fatalf("%d answers, want 24", len(golden))
	}
	for i, w := range golden {
		if got := ask(w.Query, w.Variants); got.Matched != w.Matched || got.Candidates != w.Candidates || !slices.Equal(got.Ads, w.Ads) {
			t.Errorf("line %d %q: the oracle has %+v, want %+v", i+1, w.Query, got, w)
		}
	}
	wants := golden
	for _, q := range misspeltQueries(all, 150) {
		wants = append(wants, ask(q, "misspelt"))
	}
	for _, slaves := range []int{1, 3} {
		for _, offline := range []bool{false, true} {
			t.Run(fmt.Sprintf("slaves=%d/offline=%v", slaves, offline), func(t *testing.T) {
				if testing.Short() && (slaves != 3 || offline) {
					t.Skip("short: only 3 slaves, filled through the feed")
				}
				c := startCluster(t, file, slaves, offline, "default", func(c *up.Config) { c.Languages = languages })
				for end := time.Now().Add(time.Minute); c.search(t, params(golden[0], true)).Vocabulary == "none"; time.Sleep(50 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("no vocabulary has come")
					}
				}
				compare(t, c, wants)
				compareCalls(t, c, golden)
			})
		}
	}
}

// misspeltQueries returns some texts made of keywords' words, of which many are misspelt.
func misspeltQueries(all everything, n int) (list []string) {
	r := rand.New(rand.NewPCG(8, 9))
	var texts []string
	for _, it := range all.items {
		for _, k := range it.Keywords {
			texts = append(texts, strings.Fields(k.Text)...)
		}
	}
	for range n {
		var query []string
		for range 1 + r.IntN(3) {
			letters := []rune(texts[r.IntN(len(texts))])
			for range r.IntN(3) {
				at := r.IntN(len(letters))
				switch letter := []rune("aeinrsů")[r.IntN(7)]; r.IntN(3) {
				case 0:
					letters = slices.Insert(letters, at, letter)
				case 1:
					letters[at] = letter
				default:
					letters[at], letters[len(letters)-1-at] = letters[len(letters)-1-at], letters[at]
				}
			}
			query = append(query, string(letters))
		}
		list = append(list, strings.Join(query, " "))
	}
	return list
}
