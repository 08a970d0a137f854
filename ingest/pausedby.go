package ingest

import (
	"errors"
	"slices"

	"adshard/backend"
)

var errPausedBy = errors.New("not a list of reasons: refused_row, end_date, unfinished_import; or null for none")

// pausedBy reads the field of campaigns and groups that says what holds them.
func (s *jsonSource) pausedBy() backend.Patch[backend.Hold] {
	switch v := &s.line.values[fieldPausedBy]; v.form {
	case formAbsent:
	case formNull:
		return backend.Patch[backend.Hold]{Op: backend.Reset}
	case formList:
		var h backend.Hold
		for _, name := range v.list {
			switch name {
			case backend.PausedByRow:
				h |= backend.Refused
			case backend.PausedByEnd:
				h |= backend.Ended
			case backend.PausedByImport:
				h |= backend.HeldBy(backend.MaxImport) // any
			default:
				s.note(fieldPausedBy, errPausedBy)
			}
		}
		return backend.To(h)
	default:
		s.note(fieldPausedBy, errPausedBy)
	}
	return backend.Patch[backend.Hold]{}
}

// settingsHold is what a change of a single campaign or group, which is no row of a file, does to its hold:
// what it says. To enable one lifts all but its end date, which is data like any other.
type settingsHold struct {
	pausedBy backend.Patch[backend.Hold]
	enables  bool
}

// Change implements backend.HoldChange.
func (c *settingsHold) Change(now backend.Hold, _ bool) backend.Hold {
	says := c.pausedBy.Value
	switch {
	case c.pausedBy.Op == backend.Set && says.Import() != 0 && now.Import() != 0:
		return now - now.Marks() + says.Marks()
	case c.pausedBy.Op == backend.Set && says.Import() != 0:
		return says.Marks() | backend.Refused
	case c.pausedBy.Op != backend.Unchanged:
		return says.Marks()
	case c.enables:
		return now & backend.Ended
	}
	return now
}

// pausedCell is the status that a file without a column for holds can say.
func pausedCell(e *entry, status backend.Status) string {
	if e.pausedBy.Value != 0 && slices.Contains([]backend.Status{backend.Keep, backend.Enable}, status) {
		status = backend.Pause
	}
	return statusCells[status]
}
