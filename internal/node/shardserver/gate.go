package shardserver

import (
	"context"
	"strconv"
	"time"

	"adshard/internal/node/overload"
	"adshard/internal/node/stream"
	"adshard/search"
)

// gate implements stream.Gate for one stream.
type gate struct {
	*Server
	source string
	leave  func()
}

// gateOf returns the gate of a new stream.
func (s *Server) gateOf() stream.Gate {
	source := strconv.FormatUint(s.opened.Add(1), 10)
	return &gate{Server: s, source: source, leave: s.gate.Join(source)}
}

// Enter implements stream.Gate.
func (g *gate) Enter(tags *search.Tags, left time.Duration) (stream.Place, error) {
	place, err := g.enter(g.source, tags, left)
	if err != nil {
		g.searched(0, "", nil, err)
		return nil, err
	}
	return place, nil
}

// Close implements stream.Gate.
func (g *gate) Close() { g.leave() }

// enter takes a place for a search.
func (s *Server) enter(source string, tags *search.Tags, left time.Duration) (*overload.Place, error) {
	return s.gate.Enter(overload.Request{Source: source, Tenant: tags.Tenant, Low: tags.Low, Left: left})
}

// unlimited is the time given to calls without a deadline.
const unlimited = 5 * time.Second

// pass takes a place for a call and waits for its turn.
func (s *Server) pass(ctx context.Context, tags *search.Tags) (leave func(), err error) {
	left := unlimited
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	place, err := s.enter("", tags, left)
	if err != nil {
		return nil, err
	}
	if err := place.Wait(ctx); err != nil {
		place.Leave()
		return nil, err
	}
	return place.Leave, nil
}
