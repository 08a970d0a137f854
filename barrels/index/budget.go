package index

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Budget divides the memory of a store among its caches by demand. Each begins with a little, and takes more from what
// is free as it fills. Once nothing is free, a cache that goes on missing takes room from the one that would miss it
// least: whose misses, of late, have cost the least for each byte it may use. (If the misses of a cache fall by a power
// of its size, their cost per byte is, up to a factor, what another byte would save.)
//
// The limits of all caches and what is free always add up to the total. Room is taken away before it is given. Searches
// neither wait for each other here nor write anything shared unless they put something into a full cache.
type Budget struct {
	total, free atomic.Int64
	mu          sync.Mutex // held while room is taken away; a search that finds it held goes on without
	caches      []*Allowance
}

// Allowance is what one cache may use of a budget.
type Allowance struct {
	budget *Budget
	parts  int64 // of 16, that the cache may count on
	miss   int64 // what a miss costs, in nanoseconds
	limit  atomic.Int64
	evict  func() bool // makes the cache fit its limit, unless that is busy

	misses   atomic.Int64 // of a full cache, for what it was asked again; halved now and then
	admitted atomic.Int64 // their bytes since the cache last asked for room
}

const (
	// leastShare is the inverse of the fraction of its part that a cache always keeps.
	leastShare = 8
	// steps is the number of steps in which a budget is divided.
	steps = 64
	// unwarmed is the inverse of the fraction of a cache that is left to what searches ask for.
	unwarmed = 4
)

// NewBudget returns a budget of a number of bytes.
func NewBudget(bytes uint64) *Budget {
	b := new(Budget)
	b.total.Store(int64(min(bytes, 1<<40)))
	b.free.Store(b.total.Load())
	return b
}

// Allow returns the allowance of a cache, which can count on so many sixteenths of the budget, and whose misses cost so much.
// All allowances must be taken before any is used; together they have at most 16 parts.
func (b *Budget) Allow(parts int64, miss time.Duration) *Allowance {
	s := &Allowance{budget: b, parts: parts, miss: int64(miss)}
	s.limit.Store(s.least())
	b.free.Add(-s.least())
	b.caches = append(b.caches, s)
	return s
}

// OnLess sets the function that makes the cache fit its limit after that was lowered. It returns false if that is under way.
func (a *Allowance) OnLess(evict func() bool) { a.evict = evict }

// Limit returns how many bytes the cache may use now.
func (a *Allowance) Limit() int64 { return a.limit.Load() }

// Part returns how many bytes the cache may use at least if all caches need room equally.
func (a *Allowance) Part() int64 { return a.budget.total.Load() * a.parts / 16 }

// Usable returns how many bytes of its part the cache may use now without taking room from others.
func (a *Allowance) Usable() int64 { return min(a.Part(), a.Limit()+max(0, a.budget.free.Load())) }

// Ahead returns how many bytes may be cached ahead of searches: of what is usable, all but a quarter.
func (a *Allowance) Ahead() int64 { return a.Usable() - a.Usable()/unwarmed }

// doorkeeper returns the filter of the cache, which remembers as many keys as the whole budget has entries, so that a cache can ask for all.
func (a *Allowance) doorkeeper() doorkeeper { return newDoorkeeper(uint64(a.budget.total.Load())) }

func (a *Allowance) least() int64 { return a.Part() / leastShare }

func (b *Budget) step() int64 { return max(1, b.total.Load()/steps) }

// Grow raises the limit if there is free room.
func (a *Allowance) Grow() bool {
	for {
		free := a.budget.free.Load()
		if free <= 0 {
			return false
		}
		if by := min(free, a.budget.step()); a.budget.free.CompareAndSwap(free, free-by) {
			a.limit.Add(by)
			return true
		}
	}
}

// Fits reports whether the cache may use so many bytes, once its limit was raised if need be.
func (a *Allowance) Fits(bytes int64) bool {
	for bytes > a.limit.Load() {
		if !a.Grow() {
			return false
		}
	}
	return true
}

// Missed counts a miss of the full cache after which it has admitted an entry of so many bytes. From time to time it asks for room. The
// caller holds no lock of any cache.
func (a *Allowance) Missed(bytes int64) {
	a.misses.Add(1)
	if a.admitted.Add(bytes) >= a.budget.step() && a.budget.mu.TryLock() {
		a.admitted.Store(0)
		a.budget.move(a)
		a.budget.mu.Unlock()
	}
}

// move gives a step of room to a cache from the one that needs it least, if it needs that clearly less. The caller has mu.
func (b *Budget) move(to *Allowance) {
	var from *Allowance
	least := math.Inf(1)
	for _, s := range b.caches {
		if need := s.need(); s != to && s.Limit()-b.step() >= s.least() && need < least {
			from, least = s, need
		}
	}
	if from != nil && to.need() > 1.5*least {
		if by := from.lower(b.step()); by > 0 {
			to.limit.Add(by)
		}
	}
	for _, s := range b.caches {
		s.misses.Add(-(s.misses.Load() + 1) / 2) // the last one is forgotten, too
	}
}

// need returns what the misses have cost of late for each byte of the limit.
func (a *Allowance) need() float64 {
	return float64(a.misses.Load()*a.miss) / float64(max(1, a.Limit()))
}

// lower takes room away, and returns how much: none if the cache is busy evicting.
func (a *Allowance) lower(by int64) int64 {
	a.limit.Add(-by)
	if !a.evict() {
		a.limit.Add(by)
		return 0
	}
	return by
}

// Resize changes the total, in bytes. If it is less than before, caches beyond their part give room first.
func (b *Budget) Resize(bytes uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	total := int64(min(bytes, 1<<40))
	b.free.Add(total - b.total.Swap(total))
	for _, keeps := range []func(*Allowance) int64{(*Allowance).Part, (*Allowance).least} {
		for _, a := range b.caches {
			if by := min(-b.free.Load(), a.Limit()-keeps(a)); by > 0 {
				a.limit.Add(-by)
				b.free.Add(by)
				a.evict() // if it is busy, it goes on to the new limit
			}
		}
	}
	for _, a := range b.caches {
		for a.Limit() < a.least() && a.Grow() {
		}
	}
}
