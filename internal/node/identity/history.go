package identity

import (
	"context"

	"adshard/backend"
	"adshard/fault"
	"adshard/schema/pb"
)

// History says how a slave's position relates to a database's log.
type History uint8

// The relations of a position to the log.
const (
	Same    History = iota // the position is in the log
	Unknown                // the log no longer reaches back to it
	Other                  // the log has another change at that position, or none
)

// Locate looks up a slave's position in the log. `mark` is the mark of the change there, or 0 if
// the log does not have the position. A position without a mark, from a store older than marks, is
// Same if the log has a change at its clock.
func Locate(ctx context.Context, db backend.Feed, at *pb.Position) (h History, mark uint64, err error) {
	if at.GetClock() == 0 {
		return Same, 0, nil
	}
	logged, err := db.At(ctx, at.GetClock())
	switch {
	case fault.Is(err, fault.Stale):
		return Unknown, 0, nil
	case fault.Is(err, fault.NotFound):
		return Other, 0, nil
	case err != nil:
		return Same, 0, err
	case at.GetMark() != 0 && at.GetMark() != logged.Mark:
		return Other, 0, nil
	}
	return Same, logged.Mark, nil
}
