package blocklist

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"adshard/fault"
)

// MaxCursor is the largest length of a cursor in bytes.
const MaxCursor = 300

// The kinds of entries in cursors.
const (
	cursorAdvertiser = "a"
	cursorDomain     = "d"
	cursorCategory   = "c"
)

// Page returns at most limit entries after a cursor, in the order of Text, and the cursor of the next page. "" is the cursor of the
// first page, and next is "" after the last one. A cursor names the last entry before a page. So an entry that is in the list all the
// time is on exactly one page, whatever changes between two calls. Page returns fault.Invalid if the cursor is not valid.
func (l *List) Page(cursor string, limit int) (page List, next string, err error) {
	rest, err := l.behind(cursor)
	if err != nil {
		return page, "", err
	}
	page.Uncategorised = l.Uncategorised
	page.Advertisers, limit = first(rest.Advertisers, limit)
	page.Domains, limit = first(rest.Domains, limit)
	page.Categories, _ = first(rest.Categories, limit)
	if page.Entries() < rest.Entries() {
		next = page.last()
	}
	return page, next, nil
}

// behind returns the entries after a cursor.
func (l *List) behind(cursor string) (List, error) {
	rest := List{Advertisers: l.Advertisers, Domains: l.Domains, Categories: l.Categories}
	if cursor == "" {
		return rest, nil
	}
	kind, entry, ok := strings.Cut(cursor, ".")
	switch {
	case ok && kind == cursorAdvertiser:
		if id, err := strconv.ParseUint(entry, 10, 64); err == nil {
			rest.Advertisers = after(rest.Advertisers, id)
			return rest, nil
		}
	case ok && kind == cursorDomain:
		rest.Advertisers, rest.Domains = nil, after(rest.Domains, entry)
		return rest, nil
	case ok && kind == cursorCategory:
		rest.Advertisers, rest.Domains, rest.Categories = nil, nil, after(rest.Categories, entry)
		return rest, nil
	}
	return rest, fault.Field("block list", "cursor", "the cursor is not one of a block list: take `next` of the page before, or none")
}

// after returns the entries of a sorted list that come after the given one.
func after[T cmp.Ordered](list []T, one T) []T {
	i, found := slices.BinarySearch(list, one)
	if found {
		i++
	}
	return list[i:]
}

// first returns at most limit entries from the beginning of a list, and how many more may follow from other lists.
func first[T any](list []T, limit int) ([]T, int) {
	n := min(len(list), limit)
	return list[:n], limit - n
}

// last returns the cursor after the last entry of a page, which must not be empty.
func (l *List) last() string {
	switch {
	case len(l.Categories) > 0:
		return cursorCategory + "." + l.Categories[len(l.Categories)-1]
	case len(l.Domains) > 0:
		return cursorDomain + "." + l.Domains[len(l.Domains)-1]
	}
	return cursorAdvertiser + "." + strconv.FormatUint(l.Advertisers[len(l.Advertisers)-1], 10)
}
