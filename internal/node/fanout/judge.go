package fanout

import (
	"slices"
	"time"

	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

// mostLag is how far behind the feed an answer may be before another replica is asked.
const mostLag = time.Second

// judge returns what the answer of a replica is worth. Errors: it does not count at all.
func judge(s *Shard, a *search.Answer) (worth, error) {
	if slices.ContainsFunc(a.Hits, func(h search.Hit) bool { return !readable(&h) }) {
		return worth{}, errUnreadable
	}
	return judged(s, a.Width, 0)
}

// judgeExplanation is judge for explanations.
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
