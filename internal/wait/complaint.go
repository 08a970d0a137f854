package wait

import (
	"time"

	"adshard/fault"
)

// Complaint decides which failures of an operation, which is tried again and again, are worth a line in the log: the first,
// and then one whenever the kind of the failure changes or a minute has passed. A peer that is away for a moment, as while
// a cluster starts, is no failure worth a line. Only one goroutine may use a Complaint at a time. The zero value is ready.
type Complaint struct {
	since, told time.Time // of the first failure in a row, and of the last one that was told; zero: none
	kind        fault.Kind
}

const (
	// awayFor is how long a peer may be away before that is told.
	awayFor = 2 * time.Second
	// tellAgain is the time after which a failure is told again.
	tellAgain = time.Minute
)

// Tell records how an attempt ended, and reports whether its error should be logged. It is false for nil.
func (c *Complaint) Tell(err error) bool {
	if err == nil {
		*c = Complaint{}
		return false
	}
	now, kind := time.Now(), fault.KindOf(err)
	if c.since.IsZero() {
		c.since = now
	}
	if (kind == fault.Unavailable || kind == fault.Deadline) && now.Sub(c.since) < awayFor {
		return false
	}
	if !c.told.IsZero() && kind == c.kind && now.Sub(c.told) < tellAgain {
		return false
	}
	c.told, c.kind = now, kind
	return true
}
