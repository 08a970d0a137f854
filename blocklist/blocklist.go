// Package blocklist is a stored block list (serving.md §14): advertisers, domains and categories that a page does not want to
// show. It is read and changed as a whole.
//
// Goals: one form for files, calls and the database, in which equal lists are equal texts. Non-goals: what a list
// means for a keyword, which package targeting decides.
package blocklist

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adshard/fault"
	"adshard/targeting"
)

// MaxEntries is how many advertisers, domains and categories a list may have in all.
const MaxEntries = 1_000_000

// maxName is the most bytes of a name.
const maxName = 64

// List is a block list's content. Of one that Normalise has seen, the lists are in order and have each entry once.
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
	l.Advertisers, l.Domains, l.Categories = sorted(l.Advertisers), sorted(l.Domains), sorted(l.Categories)
	return l.checkSize()
}

func (l *List) checkSize() error {
	if n := l.Entries(); n > MaxEntries {
		return fault.Field("block list", FieldDomains, "%d entries; a list has at most %d", n, MaxEntries)
	}
	return nil
}

func sorted[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
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

// The kinds of lines of Text.
const (
	lineAdvertiser    = "advertiser\t"
	lineDomain        = "domain\t"
	lineCategory      = "category\t"
	lineUncategorised = "uncategorised\n"
)

// Text is a normalised list as it is stored, and as Parse reads it: a line for each entry, in order.
func (l *List) Text() string {
	var b strings.Builder
	for _, id := range l.Advertisers {
		b.WriteString(lineAdvertiser)
		b.WriteString(strconv.FormatUint(id, 10))
		b.WriteByte('\n')
	}
	for _, part := range []struct {
		kind string
		list []string
	}{{lineDomain, l.Domains}, {lineCategory, l.Categories}} {
		for _, e := range part.list {
			b.WriteString(part.kind)
			b.WriteString(e)
			b.WriteByte('\n')
		}
	}
	if l.Uncategorised {
		b.WriteString(lineUncategorised)
	}
	return b.String()
}

// Parse reads what Text returned. Errors: fault.Corrupt.
func Parse(text string) (*List, error) {
	l := new(List)
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := l.parseLine(line); err != nil {
			return nil, fault.Newf(fault.Corrupt, "block list: parse", "line %d of a block list is damaged: %w", n, err)
		}
	}
	if n := l.Entries(); n > MaxEntries {
		return nil, fault.Newf(fault.Corrupt, "block list: parse", "a block list of %d entries", n)
	}
	return l, nil
}

func (l *List) parseLine(line string) (err error) {
	if line == lineUncategorised {
		l.Uncategorised = true
		return nil
	}
	kind, entry, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
	if !ok || entry == "" || !strings.HasSuffix(line, "\n") {
		return fmt.Errorf("%q", line)
	}
	switch kind + "\t" {
	case lineAdvertiser:
		var id uint64
		id, err = strconv.ParseUint(entry, 10, 64)
		l.Advertisers = append(l.Advertisers, id)
	case lineDomain:
		l.Domains = append(l.Domains, entry)
	case lineCategory:
		l.Categories = append(l.Categories, entry)
	default:
		err = fmt.Errorf("%q", line)
	}
	return err
}
