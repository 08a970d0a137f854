package cluster

import (
	"fmt"
	"time"
)

// Journal collects what machines report: events, for the log and for the story of a slice,
// and errors.
type Journal struct {
	Events   []Event
	Troubles []error
	Memory   memory
}

// NewJournal returns an empty journal.
func NewJournal() *Journal { return &Journal{Memory: newMemory()} }

// Trouble reports an error after which a machine continues.
func (j *Journal) Trouble(err error) { j.Troubles = append(j.Troubles, err) }

// MoveStep reports a step of a slice's move and adds it to the slice's story.
func (j *Journal) MoveStep(now time.Duration, slice uint64, format string, args ...any) {
	j.Record(now, Event{Slice: slice, Step: true, Text: fmt.Sprintf(format, args...)})
}

// Event reports an event.
func (j *Journal) Event(e Event) { j.Events = append(j.Events, e) }

// Record reports an event and adds it to the story of its slice.
func (j *Journal) Record(now time.Duration, e Event) {
	j.Event(e)
	j.Memory.Add(now, e.Slice, e.Text)
}
