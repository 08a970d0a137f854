// Package options reads the options of strategies. Each option is described where it is
// read, with its name, default and bounds. So all options can be listed, and all
// mistakes reported at once.
package options

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"adshard/fault"
)

// Option describes an option of a strategy.
type Option struct {
	Name, Default, Help string
}

// Reader reads options, and collects their descriptions and the mistakes in them.
type Reader struct {
	strategy string
	given    map[string]string
	options  []Option
	faults   []string
}

// NewReader returns a reader of the options given for a strategy, by name.
func NewReader(strategy string, given map[string]string) *Reader {
	return &Reader{strategy: strategy, given: given}
}

// Options returns the options read so far.
func (r *Reader) Options() []Option { return r.options }

// Fault records a mistake.
func (r *Reader) Fault(text string) { r.faults = append(r.faults, text) }

// Number reads a number from `least` to `most`.
func (r *Reader) Number(to *float64, name string, least, most float64, help string) {
	r.options = append(r.options, Option{name, strconv.FormatFloat(*to, 'g', -1, 64), help})
	text, ok := r.given[name]
	if !ok {
		return
	}
	delete(r.given, name)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= most) {
		r.faults = append(r.faults, name+" is "+strconv.Quote(text)+", it must be a number from "+
			strconv.FormatFloat(least, 'g', -1, 64)+" to "+strconv.FormatFloat(most, 'g', -1, 64))
		return
	}
	*to = v
}

// Count reads a whole number from 0 to `most`.
func (r *Reader) Count(to *int, name string, most int, help string) {
	r.options = append(r.options, Option{name, strconv.Itoa(*to), help})
	text, ok := r.given[name]
	if !ok {
		return
	}
	delete(r.given, name)
	v, err := strconv.Atoi(text)
	if err != nil || v < 0 || v > most {
		r.faults = append(r.faults, name+" is "+strconv.Quote(text)+", it must be a whole number from 0 to "+strconv.Itoa(most))
		return
	}
	*to = v
}

// Err returns an error of kind fault.Invalid with all mistakes, or nil if there are
// none. It must be called last: options that were not read by then do not exist.
func (r *Reader) Err() error {
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		r.faults = append(r.faults, "there is no option "+strconv.Quote(name))
	}
	if len(r.faults) == 0 {
		return nil
	}
	return fault.Field("strategy", "options", "strategy %s: %s", r.strategy, strings.Join(r.faults, "; "))
}
