package loadproxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// repairs are the parts of the store that were found to be wrong: those to be
// discarded, and those that were discarded and are not filled again yet.
type repairs struct {
	wake chan struct{} // full: there is an order

	mu     sync.Mutex // guards what follows
	orders []Repair   // to be discarded
	renew  string     // why the whole store is to be recreated; "": it is not
	open   []Repair   // discarded, not filled again yet
	healed []Repair   // recently
	begun  []time.Time
	memory uint64 // differences in memory, dropped
	count  uint64 // repairs begun
}

// Repair is a slice that the slave does not serve, since its data were damaged or
// missing.
type Repair struct {
	// Slice is 0 when it is the whole store, or not known yet.
	Slice uint64
	// Lo and Hi are its keys, both inclusive.
	Lo, Hi uint64
	Why    string
	Since  time.Time
}

// String returns which slice is not served, why, and since when.
func (r Repair) String() string {
	what := fmt.Sprintf("slice %d", r.Slice)
	if r.Slice == 0 {
		what = "the whole store"
	}
	return fmt.Sprintf("%s is not served since %s and is being filled again: %s", what, r.Since.UTC().Format(time.RFC3339), r.Why)
}

func (r Repair) touches(lo, hi uint64) bool { return r.Lo <= hi && lo <= r.Hi }

const (
	// repairMemory is how long a repair counts: filling alone does not help data
	// that are damaged again within that time, and pauses grow.
	repairMemory = 10 * time.Minute
	// repairPause is the first pause before filling again, from the second repair
	// on; each is twice as long as the one before, up to maxRepairPause.
	repairPause, maxRepairPause = 2 * time.Second, 5 * time.Minute
	// idlePulls is how many pulls must return nothing before what was discarded is
	// taken to be no longer this slave's.
	idlePulls = 5
	// maxWhy bounds a reason, in bytes.
	maxWhy = 400
)

func short(why string) string {
	if len(why) > maxWhy {
		return strings.ToValidUTF8(why[:maxWhy], "") + "…"
	}
	return why
}

func newRepairs() *repairs { return &repairs{wake: make(chan struct{}, 1)} }

// poke makes the proxy look at the orders.
func (r *repairs) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// met records damage that the store has found. Damage in slices that are discarded
// already is nothing new; slices that were repaired recently are not mended by
// filling them again.
func (r *repairs) met(d barrels.Damage) (news bool) {
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
		r.renew = "damaged again after it was filled again: " + short(d.What)
	} else {
		r.orders = append(r.orders, Repair{Lo: d.Lo, Hi: d.Hi, Why: short(d.What), Since: time.Now()})
	}
	r.poke()
	return true
}

// anew orders that the whole store be recreated.
func (r *repairs) anew(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renew == "" {
		r.renew = short(why)
	}
	r.poke()
}

// forget drops what was healed long ago.
func (r *repairs) forget() {
	r.healed = slices.DeleteFunc(r.healed, func(o Repair) bool { return time.Since(o.Since) > repairMemory })
	r.begun = slices.DeleteFunc(r.begun, func(t time.Time) bool { return time.Since(t) > repairMemory })
}

// begin counts a repair, and returns how long to wait before filling again.
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

// lacking returns what is not served and why; "": everything is served.
func (r *repairs) lacking() string {
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

// Discard makes the slave stop serving the slice with these keys and fill it again.
func (p *Proxy) Discard(lo, hi uint64, why string) {
	p.met(barrels.Damage{Lo: lo, Hi: hi, What: why})
}

// met receives damage that the store has found.
func (p *Proxy) met(d barrels.Damage) {
	if !p.repairs.met(d) {
		return
	}
	if d.Memory {
		p.log.Error("cached data differed from the store and were dropped: check the machine's memory", "what", d.What)
		return
	}
	p.log.Error("wrong or damaged data; the slices that they may touch are discarded and filled again",
		"lo", fmt.Sprintf("%x", d.Lo), "hi", fmt.Sprintf("%x", d.Hi), "what", d.What)
	p.refresh()
}

// mend discards the slices that were found to be wrong.
func (p *Proxy) mend(ctx context.Context) error {
	r := p.repairs
	r.mu.Lock()
	orders, renew := r.orders, r.renew
	r.mu.Unlock()
	if renew != "" {
		return p.anew(ctx, renew)
	}
	if len(orders) == 0 && !p.store.Purging() {
		return nil
	}
	before := p.store.Slices()
	done := p.upkeep.stepAside()
	err := p.store.Discard(ctx, intervals(orders))
	done(true)
	switch {
	case fault.Is(err, fault.Corrupt): // the data cannot even be removed
		r.anew(err.Error())
		return p.mend(ctx)
	case err != nil:
		return fmt.Errorf("discard damaged slices: %w", err)
	}
	given := givenUp(before, p.store.Slices(), orders)
	r.mu.Lock()
	r.orders = r.orders[len(orders):]
	r.open = append(r.open, given...)
	r.mu.Unlock()
	p.refresh()
	if len(given) > 0 {
		p.wait(ctx, fmt.Sprint(given))
	}
	return nil
}

// wait pauses between discarding and filling again.
func (p *Proxy) wait(ctx context.Context, what string) {
	pause := p.repairs.begin()
	p.log.Error("discarded, to be filled again", "what", what, "in", pause)
	_ = wait.Sleep(ctx, pause) // the caller sees that ctx has ended
}

// anew recreates the whole store.
func (p *Proxy) anew(ctx context.Context, why string) error {
	all := Repair{Hi: ^uint64(0), Why: why, Since: time.Now()}
	r := p.repairs
	r.mu.Lock()
	if i := slices.IndexFunc(r.open, func(o Repair) bool { return o.Slice == 0 }); i >= 0 {
		all.Since = r.open[i].Since
	}
	r.open, r.orders = []Repair{all}, nil
	r.mu.Unlock()
	p.state.change(func(s *State) {
		s.CaughtUp = false
		p.store.SetCaughtUp(false)
	})
	p.refresh()
	done := p.upkeep.stepAside()
	err := p.store.Renew()
	done(true)
	if err != nil {
		return fmt.Errorf("recreate the store, since %s: %w", why, err)
	}
	r.mu.Lock()
	r.renew = ""
	r.mu.Unlock()
	p.settled, p.refill, p.catchUp = false, false, nil
	p.wait(ctx, all.String())
	return nil
}

// intervals returns the keys of repairs, disjoint and ascending.
func intervals(list []Repair) (out []*pb.Interval) {
	list = slices.SortedFunc(slices.Values(list), func(a, b Repair) int {
		if a.Lo < b.Lo {
			return -1
		}
		return 1
	})
	for _, r := range list {
		if n := len(out); n > 0 && r.Lo <= out[n-1].Hi {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
		} else {
			out = append(out, &pb.Interval{Lo: r.Lo, Hi: r.Hi})
		}
	}
	return out
}

// givenUp returns the slices that were served before and are no longer there.
func givenUp(before, after *pb.SliceTable, orders []Repair) (out []Repair) {
	for _, h := range before.GetSlices() {
		stays := slices.ContainsFunc(after.GetSlices(), func(o *pb.HeldSlice) bool {
			return o.Lo <= h.Lo && h.Hi <= o.Hi && o.State == h.State
		})
		if stays || h.State == pb.HeldState_HELD_STATE_RESIDUE {
			continue
		}
		r := Repair{Slice: h.Id, Lo: h.Lo, Hi: h.Hi, Why: "it shares a damaged block with another slice", Since: time.Now()}
		if i := slices.IndexFunc(orders, func(o Repair) bool { return o.touches(h.Lo, h.Hi) }); i >= 0 {
			r.Why, r.Since = orders[i].Why, orders[i].Since
		}
		out = append(out, r)
	}
	return out
}

// heal finds the repairs that are complete. idle: a pull returned nothing while the
// balancer is there, so nothing is left to be filled.
func (p *Proxy) heal(idle bool) {
	table, r := p.store.Slices(), p.repairs
	filling := slices.ContainsFunc(table.GetSlices(), func(h *pb.HeldSlice) bool { return h.State == pb.HeldState_HELD_STATE_FILLING })
	r.mu.Lock()
	var healed []Repair
	r.open = slices.DeleteFunc(r.open, func(o Repair) bool {
		done := idle && !filling || o.Slice != 0 && full(table, o.Lo, o.Hi) || o.Slice == 0 && !filling && len(table.GetSlices()) > 0
		if done {
			healed = append(healed, o)
		}
		return done
	})
	for _, o := range healed {
		p.log.Warn("healed", "what", o.String(), "took", time.Since(o.Since).Round(time.Millisecond))
		o.Since = time.Now()
		r.healed = append(r.healed, o)
	}
	r.mu.Unlock()
	p.refresh()
}

// full reports whether a table says that all of an interval is there and served.
func full(t *pb.SliceTable, lo, hi uint64) bool {
	for _, h := range t.GetSlices() {
		if h.Lo <= lo && lo <= h.Hi && h.State == pb.HeldState_HELD_STATE_FULL && h.From != 0 {
			if hi <= h.Hi {
				return true
			}
			lo = h.Hi + 1
		}
	}
	return false
}

// presence is the time between two checks for the store's files.
const presence = 500 * time.Millisecond

// watch checks whether the store's files were removed.
func (p *Proxy) watch(ctx context.Context) {
	for wait.Sleep(ctx, presence) == nil {
		if err := p.store.Present(); fault.Is(err, fault.NotFound) {
			p.repairs.anew(err.Error())
			p.refresh()
		}
	}
}

// refresh publishes what is being repaired.
func (p *Proxy) refresh() {
	text := p.repairs.lacking()
	p.state.change(func(s *State) { s.Repair = text })
}

// Lacking returns why the slave serves less than its map gives it, as far as is
// known; "": it serves all of it. It is quick.
func (p *Proxy) Lacking() string { return *p.state.lacking.Load() }
