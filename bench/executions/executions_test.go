package executions

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/bench/claims"
	"adshard/bench/layouts"
	"adshard/bench/page/pagetest"
	"adshard/fault"
)

// TestSetups: the ten setups have the queries, keywords and memory of section 7.2.
func TestSetups(t *testing.T) {
	want := map[string]struct {
		keywords int64
		share    float64
	}{
		"SQ1-1S-HR": {1000, 0}, "SQ1-1S-LR": {1000, 0}, "SQ1-5S-LR": {3000, 0.597}, "SQ1-8S-HR": {4200, 0}, "SQ2-5S-LR": {3000, 0.597}, "SQ2-8S-HR": {4200, 0},
		"RQ1600-1S-HR": {1000, 0}, "RQ1600-1S-LR": {1000, 0}, "RQ1600-8S-HR": {4200, 0}, "RQ1600-8S-LR": {4200, 0.435},
	}
	if len(Names()) != 10 {
		t.Errorf("%d setups", len(Names()))
	}
	for _, name := range Names() {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := keywordsOf(s.slaves, 1000); got != want[name].keywords || math.Abs(s.share()-want[name].share) > 0.001 || !strings.HasPrefix(name, s.asked+"-") {
			t.Errorf("%s: %+v, %d keywords, share %v", name, s, got, s.share())
		}
	}
	if _, err := Named("SQ1-5S-HR"); err == nil {
		t.Error("a setup that the thesis does not have")
	}
}

// TestBox compares boxplots with results worked out by hand.
func TestBox(t *testing.T) {
	for _, tt := range []struct {
		times []float64
		want  Box
	}{
		{[]float64{7, 1, 100, 3, 2, 5, 4, 6, 8}, Box{Low: 1, Q1: 3, Median: 5, Q3: 7, High: 8, Beyond: 1, Most: 100}},
		{[]float64{1, 2, 3, 4}, Box{Low: 1, Q1: 1.75, Median: 2.5, Q3: 3.25, High: 4, Most: 4}},
		{[]float64{-50, 10, 10, 10, 10, 30}, Box{Low: 10, Q1: 10, Median: 10, Q3: 10, High: 10, Beyond: 2, Most: 30}},
		{[]float64{0.123456}, Box{Low: 0.1235, Q1: 0.1235, Median: 0.1235, Q3: 0.1235, High: 0.1235, Most: 0.1235}},
	} {
		if got := boxOf(tt.times); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.times, got, tt.want)
		}
	}
}

func TestCourse(t *testing.T) {
	var times []float64
	for i := range 250 { // parts of two and three
		times = append(times, float64(i))
	}
	c := courseOf(times)
	if len(c.Medians) != 100 || c.Medians[0] != 0.5 || c.Medians[1] != 3 || c.Most[0] != 1 || c.Most[99] != 249 {
		t.Errorf("%+v", c)
	}
	if c := courseOf(times[:3]); !slices.Equal(c.Medians, []float64{0, 1, 2}) {
		t.Errorf("of three: %+v", c)
	}
}

// TestChoose: repeated queries are those closest to the thesis' numbers of matches in all
// sizes; random ones are drawn anew for each execution, in the same order for the same
// seed.
func TestChoose(t *testing.T) {
	p := Plan{Times: 5000, Seed: 7, Log: layouts.NewQueries([]string{"a b", "a b", "a b", "a b c", "a", "a b c d"})}
	found := map[int][]layouts.Found{
		1: {{Matches: 0}, {Matches: 2}, {Matches: 23}, {Matches: 3}, {Matches: 2}, {Matches: 2}},
		5: {{Matches: 6}, {Matches: 60}, {Matches: 70}, {Matches: 7}, {Matches: 6}, {Matches: 69}},
		8: {{Matches: 14}, {Matches: 14}, {Matches: 130}, {Matches: 13}, {Matches: 14}, {Matches: 136}},
	}
	got, err := p.choose(found)
	if err != nil {
		t.Fatal(err)
	}
	if a := got[sq1]; !slices.Equal(a.queries, []int{3}) || len(a.order) != 5000 || slices.Max(a.order) != 0 {
		t.Errorf("SQ1 asks %v", a.queries)
	}
	if a := got[sq2]; !slices.Equal(a.queries, []int{2}) {
		t.Errorf("SQ2 asks %v", a.queries)
	}
	again, err := p.choose(found)
	if err != nil || !slices.Equal(again[rq1600].order, got[rq1600].order) || !slices.Equal(again[rq1600].queries, got[rq1600].queries) {
		t.Error("the same seed gives another order", err)
	}
	drawn := make(map[int]bool)
	for _, i := range got[rq1600].order {
		drawn[i] = true
	}
	if len(got[rq1600].queries) != 1600 || len(drawn) < 1500 {
		t.Errorf("%d of %d random queries were drawn", len(drawn), len(got[rq1600].queries))
	}
	found[8] = make([]layouts.Found, 6)
	if _, err := p.choose(found); fault.KindOf(err) != fault.Invalid {
		t.Errorf("queries without matches: %v", err)
	}
}

// fake is a layout that looks at every keyword. Its first searches are slow.
type fake struct {
	name   string
	absent bool
	slow   int           // searches
	pause  time.Duration // of each slow search
	lies   bool
	caches *[]uint64
	asked  int
}

func (l *fake) Name() string               { return l.name }
func (l *fake) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }
func (l *fake) Build(_ context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	if l.absent {
		return nil, fault.Newf(fault.Unavailable, "", "it is not installed")
	}
	if l.caches != nil {
		*l.caches = append(*l.caches, o.CacheBytes)
	}
	return &fakeStore{l, set}, os.WriteFile(filepath.Join(o.Dir, "data"), []byte("data"), 0o600)
}

type fakeStore struct {
	*fake
	set *layouts.Set
}

func (s *fakeStore) Searcher() (layouts.Searcher, error) { s.asked = 0; return s, nil }
func (s *fakeStore) Size() (layouts.Size, error)         { return layouts.Size{Disk: 1000, Raw: 2000}, nil }
func (s *fakeStore) Close() error                        { return nil }

func (s *fakeStore) Search(_ context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if s.asked++; s.asked <= s.slow {
		time.Sleep(s.pause)
	}
	for i := range s.set.Len() {
		if !slices.ContainsFunc(s.set.Of(i), func(w uint32) bool { return !slices.Contains(q.Words, s.set.Words[w]) }) {
			f.Matches, f.Sum = f.Matches+1, f.Sum+s.set.ID(i)
		}
	}
	if s.lies {
		f.Sum++
	}
	return f, nil
}

// planOf returns a plan for a few keywords of one word each.
func planOf(t *testing.T, list ...layouts.Layout) *Plan {
	t.Helper()
	p := &Plan{Keywords: 10, Layouts: list, Times: 40, Runs: 1, Seed: 1, Log: layouts.NewQueries([]string{"a", "b", "a b", "none"}), Dir: t.TempDir()}
	p.Set = func(_ context.Context, n int64) (*layouts.Set, error) {
		b := layouts.NewBuilder()
		for i := range n {
			b.Word(string(rune('a' + i%3)))
			b.Keyword(1, 1)
		}
		return b.Set(), nil
	}
	for _, name := range Names() {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Setups = append(p.Setups, s)
	}
	return p
}

// TestRun: each layout is measured on each setup; the second half counts; low resources
// are a share of the layout's uncompressed data; nothing is left behind.
func TestRun(t *testing.T) {
	var caches []uint64
	slow := &fake{name: "slow at first", slow: 20, pause: time.Millisecond, caches: &caches}
	p := planOf(t, slow, &fake{name: "absent", absent: true})
	p.Runs = 3
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Outcomes) != 10 || r.Absent["absent"] == "" || r.Keywords != 10 {
		t.Fatalf("%+v", r)
	}
	for _, o := range r.Outcomes {
		if len(o.Medians) != 3 || middle(slices.Collect(maps.Values(o.Medians))) != o.Box.Median || o.Executions != 40 || o.Course.Medians[0] < 1000 || o.Box.Q3 >= 1000 || o.Disk*float64(o.Keywords) < 990 {
			t.Errorf("%+v", o)
		}
	}
	// 1S, 5S-LR twice, 8S, 8S-LR twice.
	if want := []uint64{0, 1, 1194, 0, 1, 869}; !slices.Equal(caches, want) {
		t.Errorf("caches %v, want %v", caches, want)
	}
	if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, a := range r.Queries {
		if a.Name == sq1 && (a.Matches["1S"] == 0 || a.Begin["1S"] != a.Matches["1S"]) { // keywords have one word

			t.Errorf("%+v", a)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := Run(t.Context(), planOf(t, &fake{name: "liar", lies: true})); err == nil || !strings.Contains(err.Error(), "where") || !strings.Contains(err.Error(), "liar") {
		t.Errorf("a layout that finds something else: %v", err)
	}
	for want, change := range map[string]func(*Plan){
		"10 or more": func(p *Plan) { p.Keywords = 9 }, "0 setups": func(p *Plan) { p.Setups = nil }, "0 layouts": func(p *Plan) { p.Layouts = nil },
		"2 or more": func(p *Plan) { p.Times = 1 }, "0 runs": func(p *Plan) { p.Runs = 0 }, "a limit": func(p *Plan) { p.Limit = -1 }, "no query": func(p *Plan) { p.Log = nil },
		"there twice": func(p *Plan) { p.Layouts = append(p.Layouts, p.Layouts[0]) },
	} {
		p := planOf(t, &fake{name: "a"})
		change(p)
		if _, err := Run(t.Context(), p); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ended := errors.New("no keywords")
	p := planOf(t, &fake{name: "a"})
	p.Set = func(context.Context, int64) (*layouts.Set, error) { return nil, ended }
	if _, err := Run(t.Context(), p); !errors.Is(err, ended) {
		t.Error(err)
	}
}

// TestLimit: a layout that is too slow has fewer executions, and the page says so.
func TestLimit(t *testing.T) {
	p := planOf(t, &fake{name: "slow", slow: 1000, pause: 2 * time.Millisecond})
	p.Setups, p.Limit, p.Times = p.Setups[:1], 10*time.Millisecond, 1000
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Outcomes[0].Executions; n < 2 || n > 10 || !strings.Contains(strings.Join(r.notes(), " "), "fewer executions than 1,000: slow on SQ1-1S-HR") {
		t.Errorf("%d executions; %q", n, r.notes())
	}
}

// made returns a report of three runs with a median for each layout on each setup.
func made(medians map[string]float64) *Report {
	r := &Report{Runs: []Made{{Command: "adbench executions", Commit: "unknown"}}, Keywords: 10, Times: 5000, Absent: map[string]string{"x": "it is not there"}}
	for _, s := range Names() {
		for _, l := range append(databases(), barrels, in, told, "RDB-Pr-Cp", "LInK", "stateful", "RInK") {
			v := medians[l]
			if own, ok := medians[l+" "+s]; ok {
				v = own
			}
			if v == 0 {
				continue
			}
			o := Outcome{Setup: s, Layout: l, Medians: map[int]float64{1: v, 2: v, 3: v}, Keywords: 10, Executions: 5000, Disk: 47,
				Box: Box{Low: v, Q1: v, Median: v, Q3: v, High: v, Most: v}}
			if l == pr || l == prOpt {
				o.Disk = 43
			}
			if strings.HasPrefix(s, rq1600) {
				o.Cost = &Cost{Query: 2, Keyword: v, Match: 100}
			}
			for range parts {
				o.Course.Medians, o.Course.Most = append(o.Course.Medians, v), append(o.Course.Most, v)
			}
			r.Outcomes = append(r.Outcomes, o)
		}
	}
	return r
}

// thesis returns medians in the thesis' proportions.
func thesis() map[string]float64 {
	return map[string]float64{
		barrels: 20, pr: 1200, in: 1500, prOpt: 300, two: 600, twoOpt: 590, flat: 200, raw: 210, rawOpt: 10, flatOpt: 10.5, told: 12,
		prOpt + " SQ1-1S-HR": 800, "RDB-Pr-Cp": 250, "LInK": 5, "stateful": 6, "RInK": 10,
	}
}

// verdicts returns the beginnings of the claims' verdicts, by place and claim.
func verdicts(r *Report) map[string]string {
	out := make(map[string]string)
	for _, c := range r.claims() {
		v, _, _ := strings.Cut(c.Verdict(), ",")
		v, _, _ = strings.Cut(v, ";")
		out[c.Where+": "+c.Paper] = v
	}
	return out
}

// verdict returns the verdict of the claim whose text contains the given words.
func verdict(t *testing.T, r *Report, words string) string {
	t.Helper()
	for name, v := range verdicts(r) {
		if strings.Contains(name, words) {
			return v
		}
	}
	t.Fatalf("no claim of %q", words)
	return ""
}

// TestClaims: a report that agrees with the thesis reproduces every claim except the
// jumps, and each claim is contradicted by medians that contradict it.
func TestClaims(t *testing.T) {
	all := verdicts(made(thesis()))
	for _, where := range []string{"figures 7.1 ", "figure 7.2:", "figure 7.4", "figure 7.5", "figures 7.6 and 7.7", "figure 7.8", "figure 7.9", "section 4.1", "section 7.1"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(s string) bool { return strings.HasPrefix(s, where) }) {
			t.Errorf("nothing about %s", where)
		}
	}
	for name, v := range all {
		if want := map[bool]string{true: "contradicted", false: "reproduced"}[strings.Contains(name, "jumps")]; v != want {
			t.Errorf("%s: %s", name, v)
		}
	}
	for want, change := range map[string]map[string]float64{
		"factor of two":            {barrels: 15},
		"at least comparable":      {barrels: 8},
		"clearly the best":         {flat: 12},
		"overreads":                {prOpt + " SQ1-1S-HR": 700},
		"point look-ups":           {prOpt + " SQ2-8S-HR": 450},
		"significantly worse":      {flat: 550},
		"little impact":            {twoOpt: 490},
		"memory copied":            {raw: 250},
		"all else":                 {rawOpt: 13},
		"RDB-Pr beside RDB-Pr-Opt": {pr: 350},
		"most important steps":     {in: 1400},
		"RDB-Pr-NS beside":         {raw: 14},
		"tremendous":               {told: 140},
		"stateful takes":           {"stateful": 8},
		"LInK takes":               {"LInK": 7},
	} {
		medians := thesis()
		maps.Copy(medians, change)
		if v := verdict(t, made(medians), want); v != "contradicted" {
			t.Errorf("%v does not contradict %q: %s", change, want, v)
		}
	}
}

// TestClaimsUntested: a claim is not tested if its layouts were not measured, if it holds
// only in some runs, or if it is about low resources, which are harsher here.
func TestClaimsUntested(t *testing.T) {
	for name, v := range verdicts(made(map[string]float64{"LInK": 1})) {
		if v != "not tested: not measured here" {
			t.Errorf("%s: %s", name, v)
		}
	}
	few := made(thesis())
	for i := range few.Outcomes {
		few.Outcomes[i].Executions = 4999
	}
	if v := verdict(t, few, "jumps"); v != "not tested: not measured here" {
		t.Errorf("of few executions: %s", v)
	}
	r := made(thesis())
	r.find("SQ1-1S-HR", barrels).Medians[2] = 12
	r.find("SQ1-8S-HR", raw).Medians[3] = 100
	for _, words := range []string{"factor of two", "memory copied"} {
		if v := verdict(t, r, words); v != "not tested: runs are on both sides of the limit" {
			t.Errorf("%s: %s", words, v)
		}
	}
	r.find("SQ2-8S-HR", raw).Medians = map[int]float64{1: 100, 2: 100, 3: 100} // decides
	if v := verdict(t, r, "memory copied"); v != "contradicted" {
		t.Errorf("one setup where no run holds: %s", v)
	}
	for words, change := range map[string]map[string]float64{"slightly worse": {flatOpt + " RQ1600-8S-LR": 40}, "do not fit": {flat + " SQ2-5S-LR": 800}} {
		medians := thesis()
		maps.Copy(medians, change)
		if v := verdict(t, made(medians), words); !strings.HasPrefix(v, "not tested: low resources are harsher") {
			t.Errorf("%s: %s", words, v)
		}
	}
}

// TestLimits: each ratio is alike, slower or faster, and only one of them.
func TestLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(0.01, 100).Draw(t, "ratio")
		n := 0
		for _, is := range []bool{near(v), slower(v), !notFaster(v)} {
			if is {
				n++
			}
		}
		if n != 1 || muchSlower(v) && !slower(v) {
			t.Fatalf("%v is alike %t, slower %t, faster %t, much slower %t", v, near(v), slower(v), !notFaster(v), muchSlower(v))
		}
	})
}

// TestReason: the reason why B does better comes from measurements, not from assumptions.
func TestReason(t *testing.T) {
	medians := thesis()
	medians[barrels] = 5
	r := made(medians)
	for _, c := range r.claims() {
		if c.Where == "figure 7.4" && (!strings.Contains(c.Because, "B 5 ns") || !strings.Contains(c.Because, "RDB-Pr-Fl-Opt 10.5,")) {
			t.Errorf("%q", c.Because)
		}
	}
	r.find("RQ1600-1S-HR", barrels).Cost = nil
	if v := verdict(t, r, "factor of two"); v != "contradicted" {
		t.Errorf("without costs: %s", v)
	}
	for _, c := range r.claims() {
		if c.Where == "figure 7.4" && c.Because != "" {
			t.Errorf("without costs: %q", c.Because)
		}
	}
}

// TestCost: the costs that times were made from are found again.
func TestCost(t *testing.T) {
	s := &Setup{asked: rq1600, slaves: 1}
	r := &run{asked: make(map[string]sequence), begin: map[int][]float64{}, found: map[int][]layouts.Found{}}
	var a sequence
	var times []float64
	for q := range 40 {
		begin, matches := float64(q*q), uint64(q%7)
		r.begin[1] = append(r.begin[1], begin)
		r.found[1] = append(r.found[1], layouts.Found{Matches: matches})
		a.queries = append(a.queries, q)
	}
	for i := range 400 {
		q := i % 40
		a.order = append(a.order, q)
		took := 3 + 0.02*r.begin[1][q] + 0.5*float64(r.found[1][q].Matches)
		if i < 200 {
			took *= 10 // the first half is not counted
		}
		times = append(times, took)
	}
	r.asked[rq1600] = a
	if c := r.cost(s, times); c == nil || *c != (Cost{Query: 3, Keyword: 20, Match: 500}) {
		t.Errorf("%+v", c)
	}
	r.asked[rq1600] = sequence{queries: []int{0}, order: a.order}
	if c := r.cost(s, times); c != nil {
		t.Errorf("of one query: %+v", c)
	}
}

// TestRemote: a store in the process that saves more than the thesis says reproduces the
// claim, and the remark says how much it saves.
func TestRemote(t *testing.T) {
	medians := thesis()
	medians["LInK RQ1600-1S-HR"] = 1.3
	for _, c := range made(medians).claims() {
		if told := strings.Contains(c.Remark, "up to 87 % less"); told != strings.HasPrefix(c.Paper, "LInK") || told && !c.Holds {
			t.Errorf("%+v", c)
		}
	}
}

// TestEvolution: the page says which layouts are slow for long, or jump.
func TestEvolution(t *testing.T) {
	for want, at := range map[string]int{"steady": 3, "jumps": 70} {
		r := made(thesis())
		r.find("SQ1-8S-HR", raw).Course.Medians[at] *= 2
		list := r.claims()
		i := slices.IndexFunc(list, func(c claims.Claim) bool { return strings.Contains(c.Paper, want) })
		if holds := want == "jumps"; i < 0 || list[i].Holds != holds || !strings.Contains(list[i].Ours, "2 × that") || !strings.Contains(list[i].Ours, raw) {
			t.Errorf("%s: %+v", want, list)
		}
	}
}

// TestMerged: of each layout and setup the middle run is shown, with the medians of all
// runs.
func TestMerged(t *testing.T) {
	var list []Outcome
	for i, v := range []float64{30, 10, 20} {
		for _, o := range made(map[string]float64{barrels: v}).Outcomes {
			o.Medians = map[int]float64{i + 1: v}
			list = append(list, o)
		}
	}
	r := &Report{Outcomes: merged(list)}
	if len(r.Outcomes) != len(Names()) || r.runs() != 3 {
		t.Fatalf("%d outcomes, %d runs", len(r.Outcomes), r.runs())
	}
	for i, o := range r.Outcomes {
		if o.Setup != Names()[i] || o.Box.Median != 20 || !maps.Equal(o.Medians, map[int]float64{1: 30, 2: 10, 3: 20}) || o.spread() != "10 – 30" {
			t.Errorf("%+v", o)
		}
	}
}

// TestPageAndJoin: reports of parts, joined, give the page of the whole.
func TestPageAndJoin(t *testing.T) {
	dir := t.TempDir()
	whole := made(thesis())
	var names []string
	for i, low := range []bool{false, true} {
		part := *whole
		part.Outcomes = slices.DeleteFunc(slices.Clone(whole.Outcomes), func(o Outcome) bool { return strings.HasSuffix(o.Setup, "LR") != low })
		names = append(names, filepath.Join(dir, string(rune('a'+i))))
		if err := part.WriteFile(names[i]); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Join(names...)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Outcomes) != len(whole.Outcomes) || len(r.Runs) != 2 {
		t.Errorf("%d outcomes of %d", len(r.Outcomes), len(whole.Outcomes))
	}
	var text strings.Builder
	if err := r.WritePage(&text); err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, text.String())
	for _, want := range []string{"SQ1-5S-LR", "every 20 ms", "is an alpha", "focused", "RDB-Pr-Cp ÷ RDB-Pr-Fl", "it is not there", "in the middle of 3", "(B: 47)", "a keyword that begins with a word of it", "RDB-Pr-In is RDB-Pr with them inside"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	other := *whole
	other.Keywords = 11
	odd := filepath.Join(dir, "odd")
	if err := other.WriteFile(odd); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "none"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, list := range map[string][]string{
		"as another one has": {names[0], names[0]}, "others are of 10": {names[0], odd}, "holds no result": {filepath.Join(dir, "none")}, "is not there": {filepath.Join(dir, "no")},
	} {
		if _, err := Join(list...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", list, err, want)
		}
	}
}
