package ingest

import (
	"context"
	"math/bits"
	"slices"
	"unicode/utf8"

	"adshard/backend"
	"adshard/internal/near"
)

const (
	// nearDistance is the largest number of edits (near.Distance) at which one name may still be a misspelling of another. One edit is allowed if the longer name has nearOnce characters, two if it has nearTwice; shorter names
	// are often near by chance.
	nearDistance        = 2
	nearOnce, nearTwice = 5, 9
	// nearNamesMost is the most names of an account that are searched, so that creating a campaign stays cheap.
	nearNamesMost = 10_000
	// nearNamesCached bounds the cached names of all accounts.
	nearNamesCached = 20 * nearNamesMost
)

// nearNames caches the names in the accounts in which something was created.
type nearNames struct {
	accounts map[uint64]*accountNames // by advertiser id; the advertisers' own names are under 0
	cached   int
	file     int        // the number of the current file, from 1
	open     []openName // names that the open transaction created
}

// accountNames holds the names of an account's campaigns, or of all advertisers, by their length in characters.
type accountNames struct {
	byLength map[int][]letteredName
	count    int
}

// openName is the name of an advertiser's campaign or, if advertiser is 0, of an advertiser.
type openName struct {
	advertiser uint64
	name       string
}

// committed marks the names that the open transaction created as final. undone drops those names.
func (n *nearNames) committed() { n.open = n.open[:0] }

func (n *nearNames) undone() {
	for _, o := range n.open {
		n.removed(o.advertiser, o.name)
	}
	n.open = n.open[:0]
}

// letteredName is a name with the set of its characters, hashed to 64 bits. Two
// sets differ in at most two bits for each edit.
type letteredName struct {
	letters uint64
	name    string
	file    int // the number of the file that created the name, or 0 if it existed before
}

// created returns the nearest name within nearDistance of a name that was just created in an account, or "" if there
// is none. It adds the new name to the cache.
func (n *nearNames) created(ctx context.Context, tx backend.Tx, advertiser uint64, name string) (string, error) {
	account, ok := n.accounts[advertiser]
	if !ok {
		names, err := tx.Names(ctx, advertiser, nearNamesMost+1)
		if err != nil {
			return "", err
		}
		account = n.account(advertiser)
		for _, other := range names {
			if other != name { // names includes the new name
				n.add(account, other, 0)
			}
		}
	}
	if account.count > nearNamesMost {
		return "", nil
	}
	near := account.nearest(name, n.file)
	n.add(account, name, n.file)
	n.open = append(n.open, openName{advertiser, name})
	return near, nil
}

// account adds an account without names to the cache.
func (n *nearNames) account(advertiser uint64) *accountNames {
	if n.accounts == nil || n.cached > nearNamesCached {
		n.accounts, n.cached = make(map[uint64]*accountNames), 0
	}
	account := &accountNames{byLength: make(map[int][]letteredName)}
	n.accounts[advertiser] = account
	n.cached++
	return account
}

func (n *nearNames) add(account *accountNames, name string, file int) {
	account.count++
	n.cached++
	length := utf8.RuneCountInString(name)
	account.byLength[length] = append(account.byLength[length], letteredName{lettersOf(name), name, file})
}

// removed drops a removed name from the cache.
func (n *nearNames) removed(advertiser uint64, name string) {
	if account := n.accounts[advertiser]; account != nil {
		length := utf8.RuneCountInString(name)
		account.byLength[length] = slices.DeleteFunc(account.byLength[length], func(l letteredName) bool { return l.name == name })
	}
}

func lettersOf(name string) (set uint64) {
	for _, r := range name {
		set |= 1 << (uint32(r) * 2654435761 >> 26)
	}
	return set
}

// nearest returns the nearest name that may be meant, or "" if there is none. It ignores names that the same file
// created and names that differ only in digits.
func (a *accountNames) nearest(name string, file int) (found string) {
	letters, runes := lettersOf(name), []rune(name)
	least := nearDistance + 1
	var buf []rune
	for length := len(runes) - nearDistance; length <= len(runes)+nearDistance; length++ {
		limit := nearLimit(max(length, len(runes)))
		for _, other := range a.byLength[length] {
			if bits.OnesCount64(letters^other.letters) > 2*nearDistance || file > 0 && other.file == file {
				continue
			}
			buf = append(buf[:0], []rune(other.name)...)
			if d := near.Distance(runes, buf, min(limit, least-1)); d <= limit && d < least && withoutDigits(name) != withoutDigits(other.name) {
				found, least = other.name, d
			}
			if least == 1 {
				return found
			}
		}
	}
	return found
}

// nearLimit returns the most edits between two names if the longer has `length` characters.
func nearLimit(length int) int {
	switch {
	case length < nearOnce:
		return 0
	case length < nearTwice:
		return 1
	}
	return nearDistance
}
