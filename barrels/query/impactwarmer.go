package query

import (
	"sync/atomic"

	"adshard/barrels/index"
	"adshard/search"
)

// askedDevices are the devices for which searches have asked, one bit each.
type askedDevices struct{ bits atomic.Uint32 }

// add adds a device. Once it is there, nothing is written, since all searches share the memory.
func (a *askedDevices) add(d search.Device) {
	if bit := uint32(1) << d; a.bits.Load()&bit == 0 {
		a.bits.Or(bit)
	}
}

// Devices returns all devices, those for which searches have asked before the others.
func (c *Engine) Devices() []search.Device {
	var first, last []search.Device
	asked := c.asked.bits.Load()
	for d := range search.Device(search.Devices) {
		if asked>>d&1 != 0 {
			first = append(first, d)
		} else {
			last = append(last, d)
		}
	}
	return append(first, last...)
}

// ImpactWarmer computes the impacts of cached blocks on one device ahead of searches. Only one goroutine may use it.
type ImpactWarmer struct{ cache impactCache }

// ImpactWarmer returns an ImpactWarmer for searches of the newest view of a state, which the caller holds until it has closed the
// ImpactWarmer.
func (c *Engine) ImpactWarmer(st *index.Snapshot, d search.Device) *ImpactWarmer {
	w, r := new(ImpactWarmer), &search.Request{Device: d}
	w.cache.caches, w.cache.state, w.cache.request, w.cache.served = c, st, r, st.Slices.Newest()
	w.cache.context.reset(r, false)
	return w
}

// Close ends the use of the state.
func (w *ImpactWarmer) Close() { w.cache.release() }

// Warm prepares the cached blocks of a term, if there are any, and computes their impacts. It returns false if less than a quarter of the
// lists' memory would remain free, or `over`, which it calls before each block, returns true. It does not report damage; a search that
// visits the block does.
func (w *ImpactWarmer) Warm(term uint64, over func() bool) bool {
	c := &w.cache
	list := c.state.Terms.Peek(term, c.state.Number)
	if list == nil {
		return true
	}
	for i := range list.Blocks {
		if over() {
			return false
		}
		b := list.Block(i)
		if b == nil || !b.Live { // damaged, or never looked into
			continue
		}
		if !c.caches.Lists.RoomForImpacts(b) {
			return false
		}
		w.block(b)
	}
	if list.Long() {
		list.Reach(c.state.Parents, c.request.Device)
	}
	return true
}

// block computes the impacts of a block. Damaged bytes may make a reader panic.
func (w *ImpactWarmer) block(b *index.Block) {
	defer func() {
		if cause := recover(); cause != nil && b.View.Verify() == nil {
			panic(cause)
		}
	}()
	w.cache.impacts(b)
}
