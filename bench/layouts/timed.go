package layouts

import "time"

// Timed is a searcher that asks another process and reports the time that it took there,
// without the way between the two.
type Timed interface {
	Searcher
	// Took is how long the last search took there.
	Took() time.Duration
}
