package choice

import (
	"math"
	"time"
)

const (
	// memory is how long smoothed times are remembered: after that time, a value that no further
	// call confirms has fallen to 37 %.
	memory = time.Second
	// leastTime is the shortest time that is distinguished: below it replicas are equal, so that
	// one that answers at once cannot attract all queries.
	leastTime = 200 * time.Microsecond
)

// smoothed is the time that a replica's calls take: an average weighted by age that rises to a
// longer time at once and falls slowly (the peak EWMA of Finagle). The zero value knows nothing.
type smoothed struct {
	value time.Duration // as of the time `at`, or 0 if nothing is known
	mean  time.Duration // the average that does not rise at once
	at    time.Duration
}

// weight returns the weight of a value of this age.
func weight(age time.Duration) float64 { return math.Exp(-float64(max(age, 0)) / float64(memory)) }

// observe adds a call that took the time `took`.
func (s *smoothed) observe(now, took time.Duration) {
	took = max(took, 1)
	if s.value == 0 {
		s.value, s.mean, s.at = took, took, now
		return
	}
	w := weight(now - s.at)
	between := func(old time.Duration) time.Duration { return time.Duration(float64(old)*w + float64(took)*(1-w)) }
	s.value, s.mean, s.at = max(took, between(s.value)), between(s.mean), now
}

// raise records a call that takes at least the time `least`.
func (s *smoothed) raise(now, least time.Duration) {
	if least > s.now(now) {
		s.observe(now, least)
	}
}

// now returns the value at a time. It falls while nothing is observed, so that a replica that was
// slow is tried again.
func (s *smoothed) now(now time.Duration) time.Duration { return s.since(now, s.value) }

// usually returns the average, which single calls hardly change.
func (s *smoothed) usually(now time.Duration) time.Duration { return s.since(now, s.mean) }

func (s *smoothed) since(now, value time.Duration) time.Duration {
	if s.value == 0 {
		return 0
	}
	return max(leastTime, time.Duration(float64(value)*weight(now-s.at)))
}
