package cluster

import "fmt"

// Event is something that happened.
type Event struct {
	// Slice is 0 unless the event concerns a single slice. Name is "" unless it concerns a
	// single shard or slave.
	Slice uint64
	Name  string
	Text  string
	// Step is set for frequent events: the steps of moves and views.
	Step bool
}

// String describes the event.
func (e Event) String() string {
	switch {
	case e.Slice != 0:
		return fmt.Sprintf("slice %d: %s", e.Slice, e.Text)
	case e.Name != "":
		return fmt.Sprintf("%s: %s", e.Name, e.Text)
	}
	return e.Text
}

// Counted returns a number with a noun in the singular or the plural: "1 slice", "2 slices".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
