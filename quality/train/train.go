package train

import (
	"fmt"
	"slices"
	"strings"

	"adshard/fault"
	"adshard/quality"
	"adshard/quality/countfile"
	"adshard/search"
)

// Options are the options of Train.
type Options struct {
	// Features are the names of the features that get weights. If there are none, all that the counts carry do.
	Features []string
	// Strength is the number of clicks that must be expected for a value so that they weigh as much as the prior. It
	// must be above 0.
	Strength float64
	// Examination is that of quality.Options.
	Examination []float64
	// By is the name of what made the file, which the file states about itself.
	By string
}

// DefaultStrength is the usual Strength.
const DefaultStrength = 20

// Amount is the size of some counts.
type Amount struct {
	Impressions, Clicks uint64
	Keywords            int
}

// Validate returns fault.Invalid if an option is invalid, whatever the counts are.
func (o *Options) Validate() error {
	if !(o.Strength > 0 && o.Strength <= 1e9) { // NaN is wrong, too
		return fault.Field("train", "strength", "strength %v clicks: above 0", o.Strength)
	}
	for _, name := range o.Features {
		if !slices.Contains(Features(), name) {
			return fault.Field("train", "features", "%q is not a feature: %s", name, strings.Join(Features(), ", "))
		}
	}
	examined := quality.Options{Examination: o.Examination}
	return examined.Validate()
}

// Result is what was trained.
type Result struct {
	File []byte // file of the model
	ID   string // the model's name in answers
	// Trained and Held are the amounts used for the weights and for the comparison. Unknown is the number of keywords
	// that the database does not have.
	Trained, Held Amount
	Unknown       int
	Refused       []quality.Excess
	Features      []string // the features that were used
	Weights       int
	Examination   []float64 // examination of all positions
	Comparison
}

// leastHeld is the number of keywords that must be held out for the error of the gain to be known.
const leastHeld = 10

// Train trains a model on a set. It returns fault.Invalid if the options are invalid, if the set is too small, or if the
// model is not better than none. In the last case it returns the result with the error.
func Train(s *Set, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	features, err := chosen(o.Features, &s.says)
	if err != nil {
		return nil, err
	}
	r := &Result{Unknown: s.unknown()}
	for _, f := range features {
		r.Features = append(r.Features, f.name)
	}
	list, err := s.examples(r, o)
	if err != nil {
		return nil, err
	}
	d := dictionaryOf(features, list)
	if len(d.values) == 0 {
		return nil, fault.Newf(fault.Invalid, "train", "no value of a feature has %d clicks: there is too little to learn from", leastClicks)
	}
	d.set(list)
	found, err := fit(list, len(d.values), o.Strength)
	if err != nil {
		return nil, err
	}
	return r, s.finish(r, fileOf(d, found, list), list, o)
}

// finish compares the model with having none and writes its file.
func (s *Set) finish(r *Result, f *file, list []example, o Options) error {
	r.Weights = f.weights()
	_, m, err := f.model()
	if err != nil {
		return err
	}
	r.Comparison = compare(m, list)
	first, last := s.Days()
	f.About = fmt.Sprintf("%s: counts from %s to %s, %d impressions and %d clicks of %d keywords; log loss of %d others %.6f, without a model %.6f",
		o.By, countfile.FormatDay(first), countfile.FormatDay(last), r.Trained.Impressions, r.Trained.Clicks, r.Trained.Keywords, r.Held.Keywords, r.After, r.Before)
	if r.File, m, err = f.model(); err != nil {
		return err
	}
	r.ID = m.ID().String()
	if r.Gain <= 2*r.Deviation {
		return fault.Newf(fault.Invalid, "train", "the model is not better than none: on keywords that it was not trained on its log loss is %.6f, that without a model %.6f, "+
			"and the gain of %.1f in all is not above twice its standard error of %.1f; train on more counts, on fewer features, or with a larger strength",
			r.After, r.Before, r.Gain, r.Deviation)
	}
	return nil
}

// examples returns the cells of the set with the clicks expected of them. It also sets the amounts in r.
func (s *Set) examples(r *Result, o Options) ([]example, error) {
	cells, counts, refused, err := s.known()
	if err != nil {
		return nil, err
	}
	r.Refused = refused
	looked, err := quality.Learn(counts, 0, quality.Options{Examination: o.Examination})
	if err != nil {
		return nil, err
	}
	for p := 1; p <= quality.MaxPosition; p++ {
		r.Examination = append(r.Examination, looked.Examination(p))
	}
	list := make([]example, len(cells))
	last := uint64(0)
	clicks, expected := 0.0, 0.0
	for i, c := range cells {
		n, k := s.cells[c], s.keywords[c.keyword].Features
		e := example{cell: c, features: k, impressions: float64(n.Impressions), clicks: float64(n.Clicks), held: held(c.keyword)}
		e.expected = e.impressions * r.Examination[c.position-1] * float64(k.Quality) * float64(search.MatchType(k.Match).Permille())
		of := &r.Held
		if !e.held {
			of = &r.Trained
			clicks, expected = clicks+e.clicks, expected+e.expected
		}
		of.Impressions, of.Clicks = sum(of.Impressions, n.Impressions), sum(of.Clicks, n.Clicks)
		if c.keyword != last { // cells are sorted by keyword, and no id is 0
			of.Keywords++
		}
		last, list[i] = c.keyword, e
	}
	if clicks == 0 || expected == 0 || r.Held.Keywords < leastHeld {
		return nil, fault.Newf(fault.Invalid, "train", "%d impressions and %d clicks of %d keywords, and %d more keywords to compare with, are too little to learn from: "+
			"at least %d keywords, and some clicks, are needed", r.Trained.Impressions, r.Trained.Clicks, r.Trained.Keywords, r.Held.Keywords, 5*leastHeld)
	}
	for i := range list {
		list[i].expected *= clicks / expected
	}
	return list, nil
}

// held reports whether a keyword is held out, as one in five is.
func held(keyword uint64) bool {
	h := keyword * 0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return (h^h>>32)%5 == 0
}
