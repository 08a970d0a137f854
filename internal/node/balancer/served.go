package balancer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/wait"
)

// servedEvery is how often the positions of slaves are checked while a caller waits.
const servedEvery = 20 * time.Millisecond

// served waits until all live slaves have the changes up to a clock. Errors: fault.Unavailable if another
// host leads, since slaves report to that one; fault.Behind, with the names of those behind, if ctx ends
// first.
func (h *Host) served(ctx context.Context, clock uint64) error {
	for {
		b, err := h.at()
		if err != nil {
			return err
		}
		behind := b.behind(clock)
		if behind == nil {
			return nil
		}
		if wait.Sleep(ctx, servedEvery) != nil {
			return fault.Newf(fault.Behind, "balancer", "not served yet by %s", strings.Join(behind, ", "))
		}
	}
}

// behind returns the names of the live slaves that lack changes up to a clock, and an entry for the balancer
// if it lacks some itself.
func (b *Balancer) behind(clock uint64) (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	least := balance.Position{Epoch: b.Epoch(), Clock: clock, Offset: 1} // a position with nothing yet of the last quantum
	if at := b.mapper.Clock(); at < clock {
		names = append(names, fmt.Sprintf("the balancer, at clock %d", at))
	}
	for name, s := range b.slaves {
		if time.Since(s.seen) < aliveFor && s.position.Compare(least) < 0 {
			names = append(names, name)
		}
	}
	return names
}
