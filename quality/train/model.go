package train

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"

	"adshard/scorer"
)

// perUnit is the number of units of a file's weights in one unit of z.
const perUnit = 256

// file is a model in its written form (serving.md §16).
type file struct {
	Format  int                         `json:"format"`
	About   string                      `json:"about"`
	Bias    int64                       `json:"bias"`
	Weights map[string]map[string]int64 `json:"weights"`
}

// fileOf returns a file with the weights of a fit as integers, except those that are 0, and with the bias for which
// the mean factor is 1.
func fileOf(d *dictionary, found []float64, list []example) *file {
	f := &file{Format: 1, Weights: make(map[string]map[string]int64)}
	rounded := make([]float64, len(found))
	for i, v := range d.values {
		w := int64(math.Round(perUnit * found[1+i]))
		w = max(-scorer.MaxWeight, min(scorer.MaxWeight, w))
		rounded[1+i] = float64(w) / perUnit
		if w == 0 {
			continue
		}
		name := d.features[v.feature].name
		if f.Weights[name] == nil {
			f.Weights[name] = make(map[string]int64)
		}
		f.Weights[name][v.text] = w
	}
	f.Bias = biasOf(rounded, list)
	return f
}

// biasOf returns the integer bias for which the clicks expected with the model are nearest to those expected without
// it.
func biasOf(x []float64, list []example) int64 {
	over := func(bias int64) (clicks float64) {
		x[0] = float64(bias) / perUnit
		for i := range list {
			if e := &list[i]; !e.held {
				clicks += e.expected * (2*sigmoid(e.z(x)) - 1)
			}
		}
		return clicks
	}
	above := int64(sort.Search(2*scorer.MaxWeight, func(i int) bool { return over(int64(i)-scorer.MaxWeight) >= 0 })) - scorer.MaxWeight
	if math.Abs(over(above-1)) < math.Abs(over(above)) {
		return above - 1
	}
	return above
}

// weights returns the number of weights in a file.
func (f *file) weights() (n int) {
	for _, list := range f.Weights {
		n += len(list)
	}
	return n
}

// model returns the file's text, and the model that a slave reads from it.
func (f *file) model() ([]byte, *scorer.Model, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, nil, err
	}
	text = append(text, '\n')
	m, err := scorer.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("the model that was trained cannot be used: %w", err)
	}
	return text, m, nil
}
