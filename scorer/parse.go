package scorer

import (
	"crypto/sha256"

	"adshard/fault"
)

// Bounds of a file.
const (
	MaxBytes  = 16 << 20
	MaxWeight = 1_000_000 // limit of a bias, weight or leaf, positive or negative
	MaxTrees  = 20_000
	MaxSplits = 10 // per tree
	format    = 1
)

// Parse reads a model. Nothing is ignored: an unknown or repeated name, a value that a feature cannot have, a number that is no
// integer, and anything beyond the bounds are errors. Errors are fault.Invalid and name the place.
func Parse(file []byte) (*Model, error) {
	r, err := newReader(file)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	formats := false
	r.object("", func(name string) {
		switch name {
		case "format":
			if n := r.integer(name); r.err == nil && n != format {
				r.fail(name, "is %d; this program reads %d", n, format)
			}
			formats = true
		case "about":
			r.text(name) // for people
		case "bias":
			m.bias = r.weight(name)
		case "weights":
			r.object(name, func(of string) { m.parseWeights(r, of) })
		case "trees":
			r.list(name, func(place string) { m.parseTree(r, place) })
		default:
			r.fail(name, "is an unknown field: a model has format, about, bias, weights and trees")
		}
	})
	if r.end(); r.err == nil && !formats {
		r.fail("format", "is missing; it is %d", format)
	}
	if r.err != nil {
		return nil, r.err
	}
	sum := sha256.Sum256(file)
	copy(m.id[:], sum[:])
	m.bound()
	return m, nil
}

// parseWeights reads the weights of a feature.
func (m *Model) parseWeights(r *reader, name string) {
	f, ok := featureOf(name)
	place := "weights." + name
	if !ok {
		r.fail(place, "is not a feature")
		return
	}
	if f == site {
		m.sites = make(map[string]int64)
	} else if f.dense() {
		m.weight[f] = make([]int64, f.values())
	} else {
		m.byID[f] = make(map[uint64]int64)
	}
	r.object(place, func(value string) {
		place := place + "." + value
		n, ok := uint64(0), false
		if f == site {
			ok = isHost(value)
		} else {
			n, ok = f.parse(value)
		}
		switch w := r.weight(place); {
		case r.err != nil:
		case !ok:
			r.fail(place, "is not a valid value of this feature")
		case f == site:
			m.sites[value] = w
		case f.dense():
			m.weight[f][n] = w
		default:
			m.byID[f][n] = w
		}
	})
}

// parseTree reads a tree.
func (m *Model) parseTree(r *reader, place string) {
	if len(m.trees.list) == MaxTrees {
		r.fail(place, "there are more than %d trees", MaxTrees)
		return
	}
	var splits []split
	var leaves []int32
	r.object(place, func(name string) {
		place := place + "." + name
		switch name {
		case "splits":
			r.list(place, func(place string) {
				if len(splits) == MaxSplits {
					r.fail(place, "there are more than %d splits", MaxSplits)
					return
				}
				splits = append(splits, parseSplit(r, place))
			})
		case "leaves":
			r.list(place, func(place string) {
				if len(leaves) == 1<<MaxSplits {
					r.fail(place, "there are more than %d leaves", 1<<MaxSplits)
					return
				}
				leaves = append(leaves, int32(r.weight(place)))
			})
		default:
			r.fail(place, "is an unknown field: a tree has splits and leaves")
		}
	})
	switch {
	case r.err != nil:
	case len(splits) == 0 || len(leaves) != 1<<len(splits):
		r.fail(place, "has %d splits and %d leaves; n splits, at least one, need 2 to the power of n leaves", len(splits), len(leaves))
	default:
		m.trees.add(splits, leaves)
	}
}

// parseSplit reads a split: the name of a feature, and the number with which its value is compared.
func parseSplit(r *reader, place string) (s split) {
	n := 0
	r.list(place, func(place string) {
		switch n++; n {
		case 1:
			name := r.text(place)
			f, ok := featureOf(name)
			if r.err == nil && (!ok || f == site) {
				r.fail(place, "%q is not a feature that is a number", name)
			}
			s.of = f
		case 2:
			s.above = r.number(place)
		default:
			r.fail(place, "a split has a feature and a number")
		}
	})
	if r.err == nil && n != 2 {
		r.fail(place, "a split has a feature and a number")
	}
	return s
}

// errorAt returns an error in a file.
func errorAt(place, text string, args ...any) error {
	return fault.Field("scorer: model", place, text, args...)
}
