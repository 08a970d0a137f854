package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"adshard/fault"
	"adshard/internal/corpus"
)

// Options says what workloads are made from.
type Options struct {
	// Corpus is the corpus that the database was made from; Keywords, PerGroup and
	// Seed are the options with which it was made.
	Corpus   *corpus.Corpus
	Keywords int64
	PerGroup int
	Seed     uint64
}

// maker makes one kind of workload; argument is the part of the name after the
// colon.
type maker struct {
	name, argument, about string
	make                  func(m *mixer, argument string) error
	check                 func(argument string) error // nil: it takes no argument
}

// makers lists the kinds of workloads.
var makers = []maker{
	{"real", "", "real query logs at their own frequencies (40 %), and queries derived from the corpus at the skew of Wikipedia's views (60 %)", real, nil},
	{"zipf", ":EXPONENT", "queries derived from the corpus, the i-th asked in proportion to 1/i^EXPONENT (1 if not given)", zipf, func(a string) error { _, err := exponent(a); return err }},
	{"shift", ":TIME", "as real; at TIME (half of the run if not given) other derived queries replace all of them at once", shift, func(a string) error { _, err := moment(a); return err }},
	{"wave", "", "as real, at a rate that swings as in a day, between a fifth and nine fifths of its mean", wave, nil},
	{"advertiser", "", "six of ten queries are for the largest advertiser's titles, the others as real", advertiser, nil},
	{"hostile", "", "queries of 32 words, the commonest of all titles: they match the most", hostile, nil},
	{"single", "", "thesis chapter 8: one common query, 100 times, repeated 100 times", single, nil},
	{"production", "", "thesis chapter 8: 100 queries drawn as real, in their order, repeated 100 times", production, nil},
}

// Help lists the workloads, one per line.
func Help() string {
	var b strings.Builder
	for _, m := range makers {
		fmt.Fprintf(&b, "  %-16s %s\n", m.name+m.argument, m.about)
	}
	return b.String()
}

// Check returns an error if Named would refuse a name, before anything is read.
// Errors are fault.Invalid and list the known names.
func Check(name string) error {
	_, _, err := find(name)
	return err
}

// find returns the maker for a workload's name, and the argument.
func find(name string) (maker, string, error) {
	const op = "workload: find"
	base, argument, _ := strings.Cut(name, ":")
	for _, k := range makers {
		switch {
		case k.name != base:
			continue
		case k.check == nil && argument != "":
			return maker{}, "", fault.Newf(fault.Invalid, op, "%s takes no argument: write %s alone", base, base)
		case k.check != nil:
			if err := k.check(argument); err != nil {
				return maker{}, "", fault.Newf(fault.Invalid, op, "%s: %w", name, err)
			}
		}
		return k, argument, nil
	}
	return maker{}, "", fault.Newf(fault.Invalid, op, "there is no workload %q; there are:\n%s", name, Help())
}

// Named makes a workload by name: a name from Help, followed by a colon and an
// argument if it takes one.
func Named(name string, o Options) (*Workload, error) {
	k, argument, err := find(name)
	if err != nil {
		return nil, err
	}
	m := &mixer{o: o, index: make(map[string]int32), w: &Workload{Name: name, About: k.about, seed: o.Seed}}
	if err := k.make(m, argument); err != nil {
		return nil, fmt.Errorf("workload %s: %w", name, err)
	}
	return m.w, nil
}

func real(m *mixer, _ string) error {
	p, err := m.real(0)
	if err != nil {
		return err
	}
	m.w.phases = []phase{drawn(p)}
	return nil
}

func zipf(m *mixer, argument string) error {
	s, err := exponent(argument)
	if err != nil {
		return err
	}
	p := m.mix()
	p.add(m.o.Corpus.Derived(m.options(), derived, "", 0), zipfCurve(derived, s), 1)
	m.w.phases = []phase{drawn(p.weights)}
	return nil
}

// exponent parses the argument of zipf.
func exponent(argument string) (float64, error) {
	if argument == "" {
		return 1, nil
	}
	s, err := strconv.ParseFloat(argument, 64)
	if err != nil || !(s >= 0 && s <= 10) {
		return 0, fmt.Errorf("the exponent %q is not a number from 0 to 10", argument)
	}
	return s, nil
}

// moment parses the argument of shift; 0 means half of the run.
func moment(argument string) (time.Duration, error) {
	if argument == "" {
		return 0, nil
	}
	at, err := time.ParseDuration(argument)
	if err != nil || at <= 0 {
		return 0, fmt.Errorf("the time %q is not one such as 60s", argument)
	}
	return at, nil
}

func shift(m *mixer, argument string) error {
	at, err := moment(argument)
	if err != nil {
		return err
	}
	before, err := m.real(0)
	if err != nil {
		return err
	}
	after, err := m.real(1)
	if err != nil {
		return err
	}
	later := drawn(after)
	later.at, later.share = at, 0.5
	m.w.phases = []phase{drawn(before), later}
	return nil
}

func wave(m *mixer, _ string) error {
	m.w.wave = 0.8
	return real(m, "")
}

func advertiser(m *mixer, _ string) error {
	largest := m.o.Corpus.LargestAdvertiser(m.options())
	p := m.mix()
	texts := m.o.Corpus.Derived(m.options(), derived/4, largest, 2)
	curve, err := m.curve(len(texts))
	if err != nil {
		return err
	}
	p.add(texts, curve, 0.6)
	weights, err := m.real(0)
	if err != nil {
		return err
	}
	for i, v := range weights {
		p.at(i)
		p.weights[i] += 0.4 * v
	}
	m.w.Note = "the largest advertiser is " + largest
	m.w.phases = []phase{drawn(p.weights)}
	return nil
}

func hostile(m *mixer, _ string) error {
	const queries, pool, most = 64, 400, 32
	words := m.o.Corpus.CommonWords(pool)
	if len(words) == 0 {
		return fmt.Errorf("the corpus has no words")
	}
	p := m.mix()
	r := m.random(3)
	for range queries {
		var text []string
		for length := 0; len(text) < most; {
			// Common words come more often: their index is the square of a uniform
			// number.
			u := r.Float64()
			word := words[int(u*u*float64(len(words)))]
			if length += len(word) + 1; length > 1000 {
				break
			}
			text = append(text, word)
		}
		p.add([]string{strings.Join(text, " ")}, []float64{1}, 1)
	}
	m.w.phases = []phase{drawn(p.weights)}
	return nil
}

func single(m *mixer, _ string) error {
	pairs := m.o.Corpus.CommonPairs(40)
	if len(pairs) == 0 {
		return fmt.Errorf("the corpus has no two neighbouring words")
	}
	// Take one after the ten commonest, if there are so many.
	pairs = pairs[min(len(pairs)-1, 10):]
	q := pairs[m.random(4).IntN(len(pairs))]
	m.w.Queries, m.w.Requests = []string{q}, 100*100
	m.w.Note = fmt.Sprintf("the query is %q", q)
	m.w.phases = []phase{inTurn([]int32{0}, 1)}
	return nil
}

func production(m *mixer, _ string) error {
	weights, err := m.real(0)
	if err != nil {
		return err
	}
	all := drawn(weights)
	r := m.random(5)
	texts := m.w.Queries
	m.w.Queries, m.index = nil, make(map[string]int32)
	var sequence []int32
	for i := range 100 {
		sequence = append(sequence, m.query(texts[all.next(i, r)]))
	}
	m.w.Requests = 100 * 100
	m.w.phases = []phase{inTurn(sequence, len(m.w.Queries))}
	return nil
}

// zipfCurve returns the n weights 1/i^s.
func zipfCurve(n int, s float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Pow(float64(i+1), -s)
	}
	return out
}
