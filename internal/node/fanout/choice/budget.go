package choice

import "time"

// budget is a token bucket that is filled both by calls and by time: it allows a share of the
// calls, a burst, and some per second, so that a shard with few calls has a budget, too.
type budget struct {
	share, burst float64
	rate         float64 // per second
	tokens       float64
	at           time.Duration // when it was last filled
}

func newBudget(share, burst, rate float64) budget {
	return budget{share: share, burst: burst, rate: rate, tokens: burst}
}

// earn records a call, which adds to the budget.
func (b *budget) earn(now time.Duration) {
	since := max(0, now-b.at)
	b.at += since
	b.tokens = min(b.burst, b.tokens+b.share+b.rate*since.Seconds())
}

// spend takes a token, and reports whether there was one.
func (b *budget) spend() bool {
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
