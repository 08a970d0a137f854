package choice

// budget is a token bucket that calls fill: what is spent is at most a share of the
// calls, and a burst.
type budget struct {
	share, burst float64
	tokens       float64
}

func newBudget(share, burst float64) budget { return budget{share: share, burst: burst, tokens: burst} }

// earn notes a call.
func (b *budget) earn() { b.tokens = min(b.burst, b.tokens+b.share) }

// spend takes a token, if there is one.
func (b *budget) spend() bool {
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
