package layouts

import "time"

// Timed is a searcher that asks another process and reports the time that the search
// took there, without the communication between the two.
type Timed interface {
	Searcher
	// Took returns how long the last search took there.
	Took() time.Duration
}
