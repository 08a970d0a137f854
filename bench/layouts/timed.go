package layouts

import "time"

// Timed is a searcher that reports itself how long a search takes, because it asks
// another process: what is between the two is not counted.
type Timed interface {
	Searcher
	// Took is how long the last search took there.
	Took() time.Duration
}
