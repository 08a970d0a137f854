package places

import (
	"cmp"
	"slices"
	"strings"

	"adshard/search/words"
)

// Names finds active places by their names, normalised as in serving.md §1.2. Building it for a large table takes about a second.
type Names struct {
	table            *Table
	canonical, names []named // by ascending hash
}

// named is an entry of the table with the hash of a normalised name.
type named struct {
	hash uint64
	at   uint32
}

// NewNames returns the index of a table's names.
func NewNames(t *Table) *Names {
	n := &Names{table: t}
	for i := range t.index {
		r := t.row(&t.index[i])
		if r.Status != Active {
			continue
		}
		n.canonical = appendNamed(n.canonical, r.CanonicalName, i)
		n.names = appendNamed(n.names, r.Name, i)
	}
	for _, list := range [][]named{n.canonical, n.names} {
		slices.SortFunc(list, func(a, b named) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at)) })
	}
	return n
}

// appendNamed appends a name. It skips names that cannot be normalised, since nothing equals them.
func appendNamed(list []named, name string, at int) []named {
	normal, err := words.Normalise(name)
	if err != nil {
		return list
	}
	return append(list, named{words.Hash(normal), uint32(at)})
}

// Lookup returns the ids of the active places with the given canonical name or, if there are none, of those with the given name,
// in ascending order.
func (n *Names) Lookup(name string) []uint32 {
	normal, err := words.Normalise(name)
	if err != nil {
		return nil
	}
	if ids := n.in(n.canonical, normal, func(r *Row) string { return r.CanonicalName }); ids != nil {
		return ids
	}
	return n.in(n.names, normal, func(r *Row) string { return r.Name })
}

func (n *Names) in(list []named, normal string, of func(*Row) string) (ids []uint32) {
	hash := words.Hash(normal)
	i, _ := slices.BinarySearchFunc(list, hash, func(e named, hash uint64) int { return cmp.Compare(e.hash, hash) })
	for ; i < len(list) && list[i].hash == hash; i++ {
		e := &n.table.index[list[i].at]
		r := n.table.row(e)
		if same, err := words.Normalise(of(&r)); err == nil && same == normal {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// Find returns at most limit places whose canonical names contain all words of a text, and the number of all such places. The last
// word may be only the beginning of a word. Case and diacritics do not matter. Active places come first, then those with smaller
// depths, then those with lower ids. It returns fault.Invalid if the text is not valid.
func (t *Table) Find(text string, limit int) (found []Row, total int, err error) {
	wanted, err := words.Split(text)
	if err != nil || len(wanted) == 0 {
		return nil, 0, err
	}
	var analyser words.Analyser
	var hits []*entry
	for i := range t.index {
		r := t.row(&t.index[i])
		if has, err := analyser.Split(r.CanonicalName); err == nil && hasAll(has, wanted) {
			hits = append(hits, &t.index[i])
		}
	}
	slices.SortStableFunc(hits, func(a, b *entry) int { return cmp.Or(t.active(b)-t.active(a), cmp.Compare(a.depth, b.depth)) })
	for _, e := range hits[:min(limit, len(hits))] {
		found = append(found, t.row(e))
	}
	return found, len(hits), nil
}

func (t *Table) active(e *entry) int {
	if r := t.row(e); r.Status == Active {
		return 1
	}
	return 0
}

func hasAll(has []*words.Analysis, wanted []words.Word) bool {
	for i, w := range wanted {
		last := i == len(wanted)-1
		if !slices.ContainsFunc(has, func(a *words.Analysis) bool { return a.Fold == w.Fold || last && strings.HasPrefix(a.Fold, w.Fold) }) {
			return false
		}
	}
	return true
}
