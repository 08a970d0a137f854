package stream

import "time"

// Times are limits of time.
type Times struct {
	Open time.Duration // to receive the hello of a slave
	// Life is the longest time that a master keeps a stream; it opens the next one when at most a
	// fifth of that is left.
	Life time.Duration
	// Stuck is how long an ask waits before its stream is given up. It may take up to twice as
	// long.
	Stuck time.Duration
	// FirstPause is the pause after the first failure to open a stream. Each further failure
	// doubles it, up to LongestPause.
	FirstPause, LongestPause time.Duration

	Hello time.Duration // to receive the hello of a master
	Age   time.Duration // of the oldest stream that a slave serves
	// Leave is how long a slave that shuts down waits until asks under way are answered, and how
	// long a master waits for replies on a stream that it has replaced.
	Leave time.Duration
}

// DefaultTimes returns the times of docs/stream.md.
func DefaultTimes() Times {
	return Times{
		Open: 2 * time.Second, Life: time.Hour, Stuck: 15 * time.Second,
		FirstPause: 50 * time.Millisecond, LongestPause: time.Second,
		Hello: 5 * time.Second, Age: 70 * time.Minute, Leave: time.Second,
	}
}
