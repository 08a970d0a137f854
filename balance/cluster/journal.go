package cluster

import (
	"fmt"
	"time"
)

// Journal takes what machines tell: what happened, for the log and for the story of a slice,
// and what went wrong.
type Journal struct {
	Events   []Event
	Troubles []error
	Memory   memory
}

// NewJournal returns an empty journal.
func NewJournal() *Journal { return &Journal{Memory: newMemory()} }

// Trouble reports an error that a machine goes on after.
func (j *Journal) Trouble(err error) { j.Troubles = append(j.Troubles, err) }

// MoveStep reports and records a step of a slice's move.
func (j *Journal) MoveStep(now time.Duration, slice uint64, format string, args ...any) {
	j.Record(now, Event{Slice: slice, Step: true, Text: fmt.Sprintf(format, args...)})
}

// Event reports an event.
func (j *Journal) Event(e Event) { j.Events = append(j.Events, e) }

// Record reports an event that its slice's story keeps.
func (j *Journal) Record(now time.Duration, e Event) {
	j.Event(e)
	j.Memory.Add(now, e.Slice, e.Text)
}
