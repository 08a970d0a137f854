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

// servedEvery is how often positions are looked at for those who wait.
const servedEvery = 20 * time.Millisecond

// served returns when all live slaves have the changes up to a clock. Errors: fault.Unavailable when another
// host leads, which slaves report to; fault.Behind, with who is behind, when ctx ends before.
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

// behind returns the live slaves that do not have the changes up to a clock.
func (b *Balancer) behind(clock uint64) (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	least := balance.Position{Epoch: b.Epoch(), Clock: clock, Offset: 1} // nothing of the last quantum yet
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
