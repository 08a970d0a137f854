package stream

import "time"

// Times are how long things may take.
type Times struct {
	Open time.Duration // until the hello of a slave is there
	// Life is how long a master keeps a stream, at most; it opens the next one when
	// up to a fifth of it is left.
	Life time.Duration
	// Stuck is how long an ask may wait, at least, until its stream is given up; up to
	// twice as long.
	Stuck time.Duration
	// FirstPause is the pause after the first failure to open a stream; each further
	// one doubles it, up to LongestPause.
	FirstPause, LongestPause time.Duration

	Hello time.Duration // until the hello of a master is there
	Age   time.Duration // of the oldest stream that a slave serves
	// Leave is how long a slave that shuts down waits for answers under way, and a
	// master for those of a stream that it has replaced.
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
