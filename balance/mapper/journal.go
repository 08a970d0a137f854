package mapper

import (
	"fmt"
	"time"
)

// journal takes what machines tell: what happened, for the log and for the story of a slice,
// and what went wrong.
type journal struct {
	events   []Event
	troubles []error
	memory   memory
}

func newJournal() *journal { return &journal{memory: newMemory()} }

// trouble reports an error that a machine goes on after.
func (j *journal) trouble(err error) { j.troubles = append(j.troubles, err) }

// tell reports and records a step of a slice's move.
func (j *journal) tell(now time.Duration, slice uint64, format string, args ...any) {
	j.happened(now, Event{Slice: slice, Step: true, Text: fmt.Sprintf(format, args...)})
}

// event reports an event.
func (j *journal) event(e Event) { j.events = append(j.events, e) }

// happened reports an event that its slice's story keeps.
func (j *journal) happened(now time.Duration, e Event) {
	j.event(e)
	j.memory.add(now, e.Slice, e.Text)
}
