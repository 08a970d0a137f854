// Package blocklist is a stored block list (serving.md §14): advertisers, domains and categories that a page does not want to show. It is
// always read and changed as a whole.
//
// Goals: one form for files, calls and the database, in which equal lists have equal texts. Non-goals: what a list means for a keyword,
// which package targeting decides.
package blocklist

import (
	"slices"
	"strings"

	"adshard/fault"
	"adshard/targeting"
)

// MaxEntries is the largest number of advertisers, domains and categories together in a list.
const MaxEntries = 1_000_000

// maxName is the largest length of a name in bytes.
const maxName = 64

// List is the content of a block list. After Normalise or Order, its lists are sorted and have no repetitions.
type List struct {
	Advertisers []uint64 // ids
	Domains     []string // hosts; each also blocks its subdomains
	Categories  []string // each also blocks the categories below it
	// Uncategorised blocks campaigns that have no category, neither their own nor their advertiser's.
	Uncategorised bool
}

// Fields of a list, by their names in JSON.
const (
	FieldName          = "name"
	FieldAdvertisers   = "advertisers"
	FieldDomains       = "domains"
	FieldCategories    = "categories"
	FieldUncategorised = "block_uncategorised"
)

// CheckName returns fault.Invalid if a list's name is not valid.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return fault.Field("block list", FieldName, "the name of a block list is 1 to %d characters of a-z0-9-_.", maxName)
	}
	return nil
}

// Normalise checks the entries, normalises hosts, sorts the lists and removes repetitions. It returns fault.Invalid with the field at
// fault.
func (l *List) Normalise() error {
	const op = "block list"
	if slices.Contains(l.Advertisers, 0) {
		return fault.Field(op, FieldAdvertisers, "an advertiser's id is a number from 1 on")
	}
	for i, d := range l.Domains {
		host, err := targeting.Host(d)
		if err != nil {
			return fault.Field(op, FieldDomains, "%q: %w", d, err)
		}
		l.Domains[i] = host
	}
	for _, c := range l.Categories {
		if err := targeting.CheckCategory(c); err != nil {
			return fault.Field(op, FieldCategories, "%q: %w", c, err)
		}
	}
	return l.Order()
}

// Order sorts checked entries and removes repetitions. It does not normalise hosts, since one that begins with www. would lose that again.
// It returns fault.Invalid if there are too many entries.
func (l *List) Order() error {
	l.Advertisers, l.Domains, l.Categories = targeting.InOrder(l.Advertisers), targeting.InOrder(l.Domains), targeting.InOrder(l.Categories)
	return l.checkSize()
}

func (l *List) checkSize() error {
	if n := l.Entries(); n > MaxEntries {
		return fault.Field("block list", FieldDomains, "%d entries; a list has at most %d", n, MaxEntries)
	}
	return nil
}

// WrittenDomains returns the domains in a form that Normalise reads as the same domains.
func (l *List) WrittenDomains() []string {
	list := make([]string, len(l.Domains))
	for i, d := range l.Domains {
		list[i] = targeting.WrittenHost(d)
	}
	return list
}

// Entries returns the number of advertisers, domains and categories.
func (l *List) Entries() int { return len(l.Advertisers) + len(l.Domains) + len(l.Categories) }

// Blocks returns the list as the blocks of a request.
func (l *List) Blocks() *targeting.Blocks {
	b := targeting.NewBlocks(l.Advertisers, l.Domains, l.Categories, l.Uncategorised)
	if b == nil { // a request may name an empty list
		b = new(targeting.Blocks)
	}
	return b
}
