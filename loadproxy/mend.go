package loadproxy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// Discard makes the slave stop serving the keys from lo to hi, and fill them again.
func (p *Proxy) Discard(lo, hi uint64, why string) {
	p.onDamage(barrels.Damage{Lo: lo, Hi: hi, What: why})
}

// onDamage is called by the store when it finds damage.
func (p *Proxy) onDamage(d barrels.Damage) {
	if !p.repairs.add(d) {
		return
	}
	if d.Memory {
		p.log.Error("cached data differed from the store and were dropped: check the machine's memory", "what", d.What)
		return
	}
	p.log.Error("wrong or damaged data; the slices that may contain it are discarded and refilled",
		"lo", fmt.Sprintf("%x", d.Lo), "hi", fmt.Sprintf("%x", d.Hi), "what", d.What)
	p.refresh()
}

// discardDamaged discards the slices that were found to be damaged.
func (p *Proxy) discardDamaged(ctx context.Context) error {
	r := p.repairs
	select {
	case <-r.wake: // the orders that it announces are read below
	default:
	}
	r.mu.Lock()
	orders, renew := r.orders, r.renew
	r.mu.Unlock()
	if renew != "" {
		return p.recreate(ctx, renew)
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
		r.recreate(err.Error())
		return p.discardDamaged(ctx)
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

// wait pauses between discarding slices and filling them again.
func (p *Proxy) wait(ctx context.Context, what string) {
	pause := p.repairs.begin()
	p.log.Error("discarded; refilling after a pause", "what", what, "pause", pause)
	_ = wait.Sleep(ctx, pause) // the caller checks ctx
}

// recreate replaces the whole store with an empty one.
func (p *Proxy) recreate(ctx context.Context, why string) error {
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
	p.unverified.Store(p.store.Unverified())
	r.mu.Lock()
	r.renew = ""
	r.mu.Unlock()
	p.settled, p.refill, p.catchUp = false, false, nil
	p.wait(ctx, all.String())
	return nil
}

// intervals returns the keys of repairs as disjoint intervals, in ascending order.
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

// givenUp returns a repair for each slice that was served before and no longer is.
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

// heal removes the repairs that are complete. idle says that pulls returned nothing while the
// balancer was there, so that nothing is left to be filled.
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
		p.log.Warn("refilled and served again", "what", o.what(), "why", o.Why, "took", time.Since(o.Since).Round(time.Millisecond))
		o.Since = time.Now()
		r.healed = append(r.healed, o)
	}
	r.mu.Unlock()
	p.refresh()
}

// full reports whether a table has all keys of an interval in slices that are served.
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

// presence is the time between two checks that the store's files exist.
const presence = 500 * time.Millisecond

// watch orders the store to be recreated if its files were removed.
func (p *Proxy) watch(ctx context.Context) {
	for wait.Sleep(ctx, presence) == nil {
		if err := p.store.Present(); fault.Is(err, fault.NotFound) {
			p.repairs.recreate(err.Error())
			p.refresh()
		}
	}
}

// refresh publishes in the state which slices are being repaired.
func (p *Proxy) refresh() {
	text := p.repairs.whyIncomplete()
	p.state.change(func(s *State) { s.Repair = text })
}

// WhyIncomplete returns why the slave serves less than its map gives it, as far as is known, or "" if
// it serves all of it. It takes no lock.
func (p *Proxy) WhyIncomplete() string { return *p.state.whyIncomplete.Load() }
