package fanout

import (
	"slices"
	"time"

	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// mostLag is how far behind the feed an answer may be before another replica is asked.
const mostLag = time.Second

// judge says how good a replica's answer is. It returns an error if the answer cannot be used at all.
func judge(s *Shard, a *search.Answer) (worth, error) {
	if slices.ContainsFunc(a.Hits, func(h search.Hit) bool { return !readable(&h) }) {
		return worth{}, errUnreadable
	}
	return judged(s, a.Width, a.Lag)
}

// judgeSince returns a judge for a request that names a least position: a slave that does not know this field may
// answer with older data.
func judgeSince(least search.Position) func(*Shard, *search.Answer) (worth, error) {
	return func(s *Shard, a *search.Answer) (worth, error) {
		if a.AppliedClock < least.Clock {
			return worth{}, errBehind
		}
		return judge(s, a)
	}
}

// judgePage returns a judge for a request with a page: a slave that does not know pages answers without the counts by
// filter.
func judgePage(p *search.Page, judge func(*Shard, *search.Answer) (worth, error)) func(*Shard, *search.Answer) (worth, error) {
	return func(s *Shard, a *search.Answer) (worth, error) {
		if len(a.Filtered) != len(p.Filters) {
			return worth{}, errNoPage
		}
		return judge(s, a)
	}
}

// judgeScored returns a judge for a request with a scorer: a slave that does not know scorers answers without one.
func judgeScored[A any](scored func(*A) bool, judge func(*Shard, *A) (worth, error)) func(*Shard, *A) (worth, error) {
	return func(s *Shard, a *A) (worth, error) {
		if !scored(a) {
			return worth{}, errNotScored
		}
		return judge(s, a)
	}
}

// drop drops the answers for which `counts` returns false.
func drop[A any](g *replies[A], counts func(*A) bool, why error) {
	for i, a := range g.answers {
		if a != nil && !counts(a) {
			g.answers[i], g.errs[i] = nil, why
		}
	}
}

// dropBehind drops answers that are older than `least`. Errors: fault.Behind if a shard has not come that far.
func dropBehind(g *replies[search.Answer], least search.Position) error {
	for i, a := range g.answers {
		if a != nil && a.AppliedClock < least.Clock {
			g.answers[i], g.errs[i] = nil, errBehind
		}
		if fault.Is(g.errs[i], fault.Behind) {
			return fault.Newf(fault.Behind, "master: search",
				"the shard %s does not hold the changes up to min_clock yet, and they did not come in time; ask again, or give it more time", g.shards[i].Name)
		}
	}
	return nil
}

// judgeExplanation does for explanations what judge does for answers.
func judgeExplanation(s *Shard, e *search.Explanation) (worth, error) { return judged(s, e.Width, 0) }

func judged(s *Shard, width search.Width, lag time.Duration) (worth, error) {
	w := worth{width: width, lag: lag}
	switch known := s.Width != (search.Width{}); {
	case known && s.Width.Less(width):
		return worth{}, errExcess
	case known && width.Less(s.Width):
		w.outcome = choice.Short
	case lag > mostLag:
		w.outcome = choice.Lagging
	}
	return w, nil
}
