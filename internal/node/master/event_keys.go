package master

import (
	"context"
	"sync/atomic"
	"time"

	"adshard/events/token"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

const (
	// keysEvery is the time between two requests for the keys: far less than the time between a
	// key's announcement and its first signature. keysRetry is that time while there are no keys,
	// and keysTime how long an answer may take.
	keysEvery = time.Minute
	keysRetry = 500 * time.Millisecond
	keysTime  = 5 * time.Second
)

// eventKeys are the keys that sign event tokens, as last received from the balancer.
type eventKeys struct{ ring atomic.Pointer[token.Ring] }

func newEventKeys() *eventKeys {
	k := new(eventKeys)
	k.ring.Store(new(token.Ring))
	return k
}

// followEventKeys asks for the keys until ctx is done. If the balancer does not answer, it keeps
// the last keys.
func (m *Master) followEventKeys(ctx context.Context) {
	failing := false
	for {
		pause := keysEvery
		ring, err := m.askEventKeys(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			m.log.Warn("the balancer gives no keys for event tokens; it is asked again", "err", err)
		}
		failing = err != nil
		switch {
		case err != nil:
		case len(ring.Keys()) > 0:
			m.keys.ring.Store(ring)
		}
		if len(m.keys.ring.Load().Keys()) == 0 {
			pause = keysRetry
		}
		if wait.Sleep(ctx, pause) != nil {
			return
		}
	}
}

func (m *Master) askEventKeys(ctx context.Context) (*token.Ring, error) {
	ctx, cancel := context.WithTimeout(ctx, keysTime)
	defer cancel()
	reply, err := m.balancer.EventKeys(ctx, &pb.EventKeysRequest{Master: m.cfg.Name})
	if err != nil {
		return nil, err
	}
	return token.ParseRing(reply.GetKeys())
}
