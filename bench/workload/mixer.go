package workload

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"adshard/internal/corpus"
)

// derived is the number of different queries derived from the corpus, which is about the number
// of Wikipedia articles with known views.
const derived = 4900

// mixer puts a workload's queries together.
type mixer struct {
	o     Options
	w     *Workload
	index map[string]int32 // query → its index in w.Queries
}

func (m *mixer) options() corpus.Options {
	return corpus.Options{Keywords: m.o.Keywords, PerGroup: m.o.PerGroup, Seed: m.o.Seed}
}

func (m *mixer) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(m.o.Seed, stream)) }

// query returns the index of a query, which it adds if it is new.
func (m *mixer) query(text string) int32 {
	i, ok := m.index[text]
	if !ok {
		i = int32(len(m.w.Queries))
		m.index[text] = i
		m.w.Queries = append(m.w.Queries, text)
	}
	return i
}

// inContext is like query, for a query with a context. The same text with another context is
// another query, so the index has both in its keys.
func (m *mixer) inContext(text string, context url.Values) int32 {
	key := text + "\t" + context.Encode()
	i, ok := m.index[key]
	if !ok {
		i = int32(len(m.w.Queries))
		m.index[key] = i
		m.w.Queries = append(m.w.Queries, text)
		for len(m.w.Contexts) < int(i) {
			m.w.Contexts = append(m.w.Contexts, nil)
		}
		m.w.Contexts = append(m.w.Contexts, context)
	}
	return i
}

// mix holds the weights of queries in one phase.
type mix struct {
	m       *mixer
	weights []float64
}

func (m *mixer) mix() *mix { return &mix{m: m} }

// at makes room for the weight of query i.
func (p *mix) at(i int) {
	if i >= len(p.weights) {
		p.weights = append(p.weights, make([]float64, i+1-len(p.weights))...)
	}
}

// add gives queries a share of the phase, divided among them by their weights. There is one
// weight for each text.
func (p *mix) add(texts []string, weights []float64, share float64) {
	sum := 0.0
	for i := range texts {
		sum += weights[i]
	}
	for i, text := range texts {
		q := int(p.m.query(text))
		p.at(q)
		p.weights[q] += share * weights[i] / sum
	}
}

// real returns the weights of the mix "real". Different streams have different derived queries.
func (m *mixer) real(stream int) ([]float64, error) {
	logs, err := m.o.Corpus.Logs()
	if err != nil {
		return nil, err
	}
	p, rest := m.mix(), 100
	for _, l := range logs {
		p.add(l.Texts, l.Weights, float64(l.Share)/100)
		rest -= l.Share
	}
	texts := m.o.Corpus.Derived(m.options(), derived, "", stream)
	curve, err := m.curve(len(texts))
	if err != nil {
		return nil, err
	}
	p.add(texts, curve, float64(rest)/100)
	return p.weights, nil
}

// curve returns n falling weights: the views of Wikipedia's articles or, if there is no such
// log, Zipf's law with exponent 0.8.
func (m *mixer) curve(n int) ([]float64, error) {
	logs, err := m.o.Corpus.Logs()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(logs, func(l corpus.Log) bool { return strings.Contains(l.Name, "wikipedia") })
	if i < 0 {
		m.w.Note = "the log of Wikipedia's views is not there: popularity is Zipf's with exponent 0.8"
		return zipfCurve(n, 0.8), nil
	}
	curve := slices.Clone(logs[i].Weights)
	slices.SortFunc(curve, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	for len(curve) < n {
		curve = append(curve, curve[len(curve)-1])
	}
	return curve[:n], nil
}
