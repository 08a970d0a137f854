package index

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"adshard/barrels/kv"
)

// alone returns the allowance of a cache that has a budget of its own.
func alone(bytes uint64) *Allowance { return NewBudget(bytes).Allow(16, time.Microsecond) }

// sharing is a budget with the caches of a store, of which displays stay empty.
type sharing struct {
	budget *Budget
	lists  *ListCache
	groups *Cache[*Group]
	hosts  *HostSets
	terms  *Dictionary
}

const sharedTerms = 4000

func newSharing(bytes uint64) *sharing {
	s := &sharing{budget: NewBudget(bytes), terms: NewDictionary(sharedTerms)}
	s.lists = NewListCache(s.budget.Allow(8, 100*time.Microsecond))
	s.groups = NewCache[*Group](s.budget.Allow(5, 6*time.Microsecond))
	s.hosts = NewHostSets(s.budget.Allow(1, time.Microsecond))
	s.budget.Allow(2, time.Microsecond).OnLess(func() bool { return true })
	for term := range uint64(sharedTerms) {
		s.terms = s.terms.Set(term+1, TermStats{Frequency: 1, Postings: 1})
	}
	return s
}

// sharedList returns a list of about the usual size of a cache's entries.
func sharedList(term, state uint64) *PostingList {
	var blocks []*Block
	for size := 0; size < usualEntry; size += int(blocks[0].bytes) {
		blocks = append(blocks, NewBlock(term, kv.Place{Key: uint64(len(blocks))}, blockValue(term)))
	}
	return NewPostingList(state, blocks)
}

// list asks for the list of a term as a search does.
func (s *sharing) list(term, state uint64) {
	if _, _, l := s.terms.Lookup(term, state); l != nil {
		return
	}
	if b := s.lists.NewListBuilder(term); b.room > 0 {
		s.lists.Put(s.terms, term, sharedList(term, state))
	}
}

// group asks for a group as a search does.
func (s *sharing) group(key, state uint64) {
	if _, ok := s.groups.Get(key, state); !ok {
		s.groups.Put(key, state, new(Group), 900)
	}
}

func (s *sharing) bytes() uint64 { return s.lists.Bytes() + s.groups.Bytes() + s.hosts.Bytes() }

// check: what may be used adds up to the budget, and each cache uses no more than it may.
func (s *sharing) check(t *testing.T) {
	t.Helper()
	sum := s.budget.free.Load()
	for _, a := range s.budget.caches {
		sum += a.Limit()
		if a.Limit() < a.least() {
			t.Errorf("a cache has %d bytes, fewer than the %d that are never taken away", a.Limit(), a.least())
		}
	}
	if total := s.budget.total.Load(); sum != total || s.bytes() > uint64(total) {
		t.Errorf("limits and what is free are %d, all caches take %d of %d bytes", sum, s.bytes(), total)
	}
	s.lists.fit() // a search that found another one evicting went on
	if lists, groups := s.lists.room.Limit(), s.groups.room.Limit(); int64(s.lists.Bytes()) > lists || int64(s.groups.Bytes()) > groups {
		t.Errorf("lists take %d of %d bytes, groups %d of %d", s.lists.Bytes(), lists, s.groups.Bytes(), groups)
	}
}

// TestBudgetIsKept: whatever is put, changed, dropped, grown and asked for at the same time, and however the total changes, the caches
// stay within their budget.
func TestBudgetIsKept(t *testing.T) {
	const most = 1 << 20
	s := newSharing(most)
	for round := range 6 {
		var all sync.WaitGroup
		for worker := range uint64(4) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), worker))
				for range 5000 {
					key, state := r.Uint64N(sharedTerms)+1, r.Uint64N(8)+1
					switch r.IntN(8 + round) { // the shares of the kinds differ by round
					case 0, 1, 2:
						s.list(key, 1)
					case 3:
						s.lists.Drop(s.terms, key)
					case 4:
						s.groups.Drop(key)
					case 5:
						s.hosts.number(HostSet{Hosts: []string{fmt.Sprint(key)}})
					case 6:
						s.groups.Grew(key, r.IntN(300), func(*Group) bool { return true })
					default:
						s.group(key, state)
					}
				}
			})
		}
		all.Go(func() { s.budget.Resize(most - uint64(round%3)*most/4) })
		all.Wait()
		s.check(t)
	}
	if s.budget.Resize(0); s.bytes() > 0 {
		t.Errorf("%d bytes are kept of nothing", s.bytes())
	}
	s.check(t)
}

// TestRoomFollowsDemand: what is asked for alone gets nearly all of the memory, whatever had it before.
func TestRoomFollowsDemand(t *testing.T) {
	const total = 1 << 20
	s := newSharing(total)
	for range 2 {
		for _, c := range []struct {
			what  string
			keys  uint64 // about as many as fit
			ask   func(key, state uint64)
			bytes func() uint64
		}{{"lists", uint64(total / sharedList(1, 1).bytes * 9 / 10), s.list, s.lists.Bytes}, {"groups", total / 1060 * 9 / 10, s.group, s.groups.Bytes}} {
			for range 60 {
				for key := range c.keys {
					c.ask(key+1, 1)
				}
			}
			if got := c.bytes(); got < total/4*3 {
				t.Errorf("%s take %d of %d bytes", c.what, got, total)
			}
			s.check(t)
		}
	}
}
