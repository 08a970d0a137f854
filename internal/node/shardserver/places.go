package shardserver

import (
	"errors"
	"sync/atomic"

	"adshard/fault"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
)

var errBusy = fault.New(fault.Overloaded, "slave: search", errors.New("all places for searches are taken; try again after a pause"))

// places bounds the searches under way. Whoever finds no place is refused at once.
// Of several streams each is certain of its share: one that has more leaves a quarter
// of the places to the others.
type places struct {
	most    int64
	taken   atomic.Int64
	streams atomic.Int64
}

// enter takes a place, unless up to so many are taken already.
func (p *places) enter(up int64) error {
	if p.taken.Add(1) > up {
		p.taken.Add(-1)
		return errBusy
	}
	return nil
}

func (p *places) leave() { p.taken.Add(-1) }

// gate is the stream.Gate of one stream.
type gate struct {
	*Server
	own atomic.Int64 // places that the stream has
}

// gate returns the gate of another stream.
func (s *Server) gate() stream.Gate {
	s.places.streams.Add(1)
	return &gate{Server: s}
}

// Enter implements stream.Gate.
func (g *gate) Enter(priority wire.Priority) error {
	p := &g.places
	up := p.most
	switch {
	case priority == wire.Low:
		up /= 2
	case g.own.Load() >= max(1, p.most/max(1, p.streams.Load())):
		up -= up / 4
	}
	if err := p.enter(up); err != nil {
		g.searched(0, nil, err)
		return err
	}
	g.own.Add(1)
	return nil
}

// Leave implements stream.Gate.
func (g *gate) Leave() {
	g.own.Add(-1)
	g.places.leave()
}

// Close implements stream.Gate.
func (g *gate) Close() { g.places.streams.Add(-1) }
