package search

import (
	"fmt"
	"strconv"

	"adshard/fault"
)

// Position is a position in the log of changes: that of the change with this clock. Mark
// distinguishes changes with equal clocks in different histories; 0 means unknown.
type Position struct{ Clock, Mark uint64 }

// String returns the position as clients receive and return it; its content is opaque to them.
func (p Position) String() string { return fmt.Sprintf("%x-%016x", p.Clock, p.Mark) }

// ParsePosition reads a position that String has written. It returns fault.Invalid with the given
// field if the text is not a position.
func ParsePosition(field, text string) (p Position, err error) {
	bad := func() (Position, error) {
		return Position{}, fault.Field("search: position", field, "%s is not a position that a change was answered with; give it back as it was", field)
	}
	const mark = 16
	at := len(text) - mark - 1
	if at < 1 || text[at] != '-' {
		return bad()
	}
	if p.Clock, err = strconv.ParseUint(text[:at], 16, 64); err != nil {
		return bad()
	}
	if p.Mark, err = strconv.ParseUint(text[at+1:], 16, 64); err != nil || p.String() != text {
		return bad()
	}
	return p, nil
}
