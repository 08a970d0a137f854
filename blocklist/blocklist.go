// Package blocklist is a stored block list (serving.md §14): advertisers, domains and categories that a page does not want to
// show. It is read and changed as a whole.
//
// Goals: one form for files, calls and the database, in which equal lists are equal texts. Non-goals: what a list
// means for a keyword, which package targeting decides.
package blocklist

import (
	"slices"
	"strings"

	"adshard/fault"
	"adshard/targeting"
)

// MaxEntries is how many advertisers, domains and categories a list may have in all.
const MaxEntries = 1_000_000

// maxName is the most bytes of a name.
const maxName = 64

// List is a block list's content. Of one that Normalise or Order has seen, the lists are in order and have each entry once.
type List struct {
	Advertisers []uint64 // ids
	Domains     []string // hosts; each meets its subdomains
	Categories  []string // each meets what is below it
	// Uncategorised meets campaigns that have no category, nor their advertiser.
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

// CheckName says what is wrong with a list's name. Errors: fault.Invalid.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return fault.Field("block list", FieldName, "the name of a block list is 1 to %d characters of a-z0-9-_.", maxName)
	}
	return nil
}

// Normalise checks the entries, normalises hosts, and puts all in order, each once. Errors: fault.Invalid with the field.
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

// Order puts entries that have been checked in order, each once. Hosts must not be normalised again: one that begins with www. would lose it
// once more. Errors: fault.Invalid, they are too many.
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

// WrittenDomains are the domains as Normalise reads them.
func (l *List) WrittenDomains() []string {
	list := make([]string, len(l.Domains))
	for i, d := range l.Domains {
		list[i] = targeting.WrittenHost(d)
	}
	return list
}

// Entries is how many advertisers, domains and categories there are.
func (l *List) Entries() int { return len(l.Advertisers) + len(l.Domains) + len(l.Categories) }

// Blocks is what the list means for a request.
func (l *List) Blocks() *targeting.Blocks {
	b := targeting.NewBlocks(l.Advertisers, l.Domains, l.Categories, l.Uncategorised)
	if b == nil { // an empty list is one that a request may name
		b = new(targeting.Blocks)
	}
	return b
}
