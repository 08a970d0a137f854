package setups

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
	"adshard/fault"
	"adshard/internal/corpus"
)

func madeOf(t testing.TB, files fs.FS, keywords int64, queries int) (*layouts.Set, []layouts.Setup, []Lacking) {
	t.Helper()
	c, err := corpus.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	o := corpus.Options{Keywords: keywords, Queries: 5000, Seed: 1}
	set, err := layouts.FromCorpus(context.Background(), c, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := Log(c, o)
	if err != nil {
		t.Fatal(err)
	}
	setups, lacking, err := Make(context.Background(), set, log, Options{Queries: queries, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return set, setups, lacking
}

// TestMake checks that every setup keeps what its name promises, and that a
// setup that cannot is reported as lacking.
func TestMake(t *testing.T) {
	set, setups, lacking := madeOf(t, corpus.Extract(), 10_000, 40)
	oracle := layouttest.NewOracle(set)
	sizes := map[string]int{"words 1": 1, "words 2": 2, "words 4": 4, "words 8": 8, "words 16": 16, "words 32": 32, "stop": 32, "four 30": 4, "four 3000": 4, "four 30000": 4}
	least := map[string]uint64{"SQ": 1, "SQ2": 50, "stop": 100}
	most := map[string]uint64{"matches 0": 0, "SQ": 3, "SQ2": 300}
	for _, s := range setups {
		if len(s.Queries) == 0 {
			t.Fatalf("setup %s has no queries", s.Name)
		}
		var target uint64
		_, err := fmt.Sscanf(s.Name, "matches %d", &target)
		if err != nil {
			_, err = fmt.Sscanf(s.Name, "four %d", &target)
		}
		for _, q := range s.Queries[:min(10, len(s.Queries))] {
			if n := sizes[s.Name]; n > 0 && len(q.Words) != n {
				t.Errorf("%s: %q has %d words", s.Name, q.Text, len(q.Words))
			}
			n := oracle.Found(q).Matches
			if limit, ok := most[s.Name]; n < least[s.Name] || ok && n > limit {
				t.Errorf("%s: %q has %d matches", s.Name, q.Text, n)
			}
			if err == nil && (4*n < 3*target || 4*n > 5*target) {
				t.Errorf("%s: %q has %d matches, not what the name promises", s.Name, q.Text, n)
			}
		}
	}
	var names []string
	for _, s := range setups {
		names = append(names, s.Name)
	}
	for _, l := range lacking {
		names = append(names, l.Name)
		if !strings.Contains(l.Why, "take more keywords") || !strings.Contains(l.Why, "10,000 keywords") {
			t.Errorf("%s is lacking: %s", l.Name, l.Why)
		}
	}
	want := Names()
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("made or lacking are %v, want %v", names, want)
	}
	if !slices.ContainsFunc(lacking, func(l Lacking) bool { return l.Name == "matches 100000" }) {
		t.Error("10,000 keywords have queries with 100,000 matches")
	}
	if _, again, _ := madeOf(t, corpus.Extract(), 10_000, 40); !reflect.DeepEqual(setups, again) {
		t.Error("the same seed gave other queries")
	}
}

// keywords is the size of the benchmark's set.
var keywords = flag.Int64("keywords", 10_000, "size of the benchmark's set")

func TestNothingToAsk(t *testing.T) {
	if _, _, err := Make(context.Background(), &layouts.Set{}, nil, Options{}); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
}

// BenchmarkMake makes setups and logs their matches.
func BenchmarkMake(b *testing.B) {
	var set *layouts.Set
	var setups []layouts.Setup
	for b.Loop() {
		set, setups, _ = madeOf(b, corpus.Extract(), *keywords, 0)
	}
	oracle := layouttest.NewOracle(set)
	var log strings.Builder
	for _, s := range setups {
		var found []uint64
		for i := 0; i < len(s.Queries); i += max(1, len(s.Queries)/10) {
			found = append(found, oracle.Found(s.Queries[i]).Matches)
		}
		slices.Sort(found)
		fmt.Fprintf(&log, "\n%s: %d queries, matches %d", s.Name, len(s.Queries), found)
	}
	b.Log(log.String())
}
