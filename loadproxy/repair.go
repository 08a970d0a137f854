package loadproxy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adshard/barrels"
)

// repairs has the damaged parts of the store: those that are to be discarded, and those that were
// discarded and are not refilled yet.
type repairs struct {
	wake chan struct{} // full if there is an order

	mu     sync.Mutex // guards what follows
	orders []Repair   // to be discarded
	renew  string     // why the whole store must be recreated, or "" if it need not be
	open   []Repair   // discarded, and not filled again yet
	healed []Repair   // refilled recently
	begun  []time.Time
	memory uint64 // number of differences in memory that were dropped
	count  uint64 // number of repairs begun
}

// Repair is a slice that the slave does not serve because its data were damaged or missing.
type Repair struct {
	// Slice is the id of the slice, or 0 for the whole store or if the slice is not known yet.
	Slice uint64
	// Lo and Hi are the first and the last key of the slice.
	Lo, Hi uint64
	Why    string
	Since  time.Time
}

// String says which slice is not served, why, and since when.
func (r Repair) String() string {
	return fmt.Sprintf("%s has not been served since %s and is being refilled: %s", r.what(), r.Since.UTC().Format(time.RFC3339), r.Why)
}

func (r Repair) what() string {
	if r.Slice == 0 {
		return "the whole store"
	}
	return fmt.Sprintf("slice %d", r.Slice)
}

func (r Repair) touches(lo, hi uint64) bool { return r.Lo <= hi && lo <= r.Hi }

const (
	// repairMemory is how long a repair is remembered. If data are damaged again within that time,
	// filling them again does not help, and the pauses grow.
	repairMemory = 10 * time.Minute
	// repairPause is the pause before slices are filled again, from the second repair on. Each
	// further pause is twice as long, up to maxRepairPause.
	repairPause, maxRepairPause = 2 * time.Second, 5 * time.Minute
	// idlePulls is the number of consecutive pulls without a bucket after which a discarded slice
	// is considered no longer this slave's.
	idlePulls = 5
	// maxWhy bounds the length of a reason, in bytes.
	maxWhy = 400
)

func short(why string) string {
	if len(why) > maxWhy {
		return strings.ToValidUTF8(why[:maxWhy], "") + "…"
	}
	return why
}

func newRepairs() *repairs { return &repairs{wake: make(chan struct{}, 1)} }

// poke wakes the proxy to carry out the orders.
func (r *repairs) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// add records damage that the store has found, and reports whether it was new. Damage in slices
// that are already to be discarded, or being refilled, is ignored. If a slice was repaired
// recently, refilling it does not help, and the whole store is recreated.
func (r *repairs) add(d barrels.Damage) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.Memory {
		r.memory++
		return true
	}
	known := func(list []Repair) bool {
		return slices.ContainsFunc(list, func(o Repair) bool { return o.touches(d.Lo, d.Hi) })
	}
	if r.renew != "" || known(r.orders) || known(r.open) {
		return false
	}
	r.forget()
	if known(r.healed) {
		r.renew = "damaged again after a refill: " + short(d.What)
	} else {
		r.orders = append(r.orders, Repair{Lo: d.Lo, Hi: d.Hi, Why: short(d.What), Since: time.Now()})
	}
	r.poke()
	return true
}

// recreate orders the whole store to be recreated.
func (r *repairs) recreate(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renew == "" {
		r.renew = short(why)
	}
	r.poke()
}

// forget drops the repairs that are older than repairMemory.
func (r *repairs) forget() {
	r.healed = slices.DeleteFunc(r.healed, func(o Repair) bool { return time.Since(o.Since) > repairMemory })
	r.begun = slices.DeleteFunc(r.begun, func(t time.Time) bool { return time.Since(t) > repairMemory })
}

// begin counts a repair, and returns how long to pause before filling again.
func (r *repairs) begin() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	r.count++
	r.begun = append(r.begun, time.Now())
	n := len(r.begun) - 2
	if n < 0 {
		return 0
	}
	return min(maxRepairPause, repairPause<<min(n, 16))
}

// whyIncomplete says what is not served and why, or returns "" if everything is served.
func (r *repairs) whyIncomplete() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	const most = 3
	var out []string
	for _, o := range slices.Concat(r.open, r.orders) {
		if len(out) == most {
			out = append(out, fmt.Sprintf("and %d more", len(r.open)+len(r.orders)-most))
			break
		}
		out = append(out, o.String())
	}
	return strings.Join(out, "; ")
}
