package blocklist

import (
	"cmp"

	"adshard/fault"
)

// Edit is a change of a list: some fields are replaced as a whole, then entries are removed, then others are added. So a client need
// not send a million entries to add one.
type Edit struct {
	// List has the new values of the fields that Has names.
	List
	Has map[string]bool
	// Remove and Add have the entries to remove and to add; their Uncategorised is ignored. Entries to remove may be missing, and
	// entries to add may already be there.
	Remove, Add List
}

// Fields of an edit, by their names in JSON.
const (
	FieldRemove = "remove"
	FieldAdd    = "add"
)

// Normalise normalises all parts of the edit. It returns fault.Invalid with the field at fault, such as add.domains.
func (e *Edit) Normalise() error {
	if err := e.List.Normalise(); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		of   *List
	}{{FieldRemove, &e.Remove}, {FieldAdd, &e.Add}} {
		if err := part.of.Normalise(); err != nil {
			return &fault.Error{Kind: fault.KindOf(err), Op: "block list", Field: part.name + "." + fault.FieldOf(err), Err: err}
		}
	}
	return nil
}

// Apply returns a normalised list changed by a normalised edit. The given list stays as it is. It returns fault.Invalid if the result
// has too many entries.
func (e *Edit) Apply(l *List) (*List, error) {
	out := *l
	if e.Has[FieldAdvertisers] {
		out.Advertisers = e.Advertisers
	}
	if e.Has[FieldDomains] {
		out.Domains = e.Domains
	}
	if e.Has[FieldCategories] {
		out.Categories = e.Categories
	}
	if e.Has[FieldUncategorised] {
		out.Uncategorised = e.Uncategorised
	}
	out.Advertisers = edited(out.Advertisers, e.Remove.Advertisers, e.Add.Advertisers)
	out.Domains = edited(out.Domains, e.Remove.Domains, e.Add.Domains)
	out.Categories = edited(out.Categories, e.Remove.Categories, e.Add.Categories)
	return &out, out.checkSize()
}

// edited returns a list without some entries and with others. All lists must be sorted, and the result is.
func edited[T cmp.Ordered](list, without, with []T) []T {
	if len(without)+len(with) == 0 {
		return list
	}
	out := make([]T, 0, len(list)+len(with))
	for _, e := range list {
		for ; len(with) > 0 && with[0] <= e; with = with[1:] {
			out = append(out, with[0])
		}
		for len(without) > 0 && without[0] < e {
			without = without[1:]
		}
		gone := len(without) > 0 && without[0] == e
		if there := len(out) > 0 && out[len(out)-1] == e; !gone && !there {
			out = append(out, e)
		}
	}
	return append(out, with...)
}
