package query

import (
	"adshard/barrels/index"
	"adshard/search"
)

// Verifier compares cached data with a snapshot. Only one goroutine may use it at a time. It must
// be closed.
type Verifier struct {
	engine *Engine
	state  *index.Snapshot
	at     *execution // nil if there is none yet
}

// Verifier returns a verifier that compares with a snapshot.
func (c *Engine) Verifier(st *index.Snapshot) *Verifier { return &Verifier{engine: c, state: st} }

// Close ends the verifier.
func (v *Verifier) Close() {
	if v.at != nil {
		v.at.end()
		v.at = nil
	}
}

// begin begins an execution of a request. It returns false if the request's view is not served.
func (v *Verifier) begin(r *search.Request) bool {
	const op = "barrels: certify"
	if v.at != nil {
		err := v.at.scope.reset(v.engine, v.state, r, op)
		v.at.ranking.reset()
		return err == nil
	}
	e, err := v.engine.begin(v.state, r, op)
	if err != nil {
		return false
	}
	v.at = e
	return true
}

// Impacts reports whether a block's cached impacts are correct. Impacts that are not valid now
// count as correct.
func (v *Verifier) Impacts(b *index.Block) bool {
	for d := range b.Impacts {
		j := b.Impacts[d].Load()
		if j == nil || j.ParentsVersion.Load() != v.state.Parents.Version {
			continue
		}
		served, ok := v.state.Slices.Numbered(j.Served())
		if !ok || !v.begin(&search.Request{Device: search.Device(d), Slots: 1, View: served.View}) {
			continue
		}
		if e := v.at; e.served == served && !j.Same(b, e.compute(b)) {
			return false
		}
	}
	return true
}

// Group reports whether a group's cached data, if any, are correct.
func (v *Verifier) Group(key uint64) bool {
	cached, ok := v.engine.Groups.Get(key, v.state.Number)
	if !ok || !v.begin(&search.Request{Slots: 1}) {
		return true
	}
	cached.Piece.Store(nil) // composing it again costs less than comparing it
	read, _, ok := v.at.readGroup(key)
	return ok && cached.Same(read)
}
