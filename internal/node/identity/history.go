package identity

import (
	"context"

	"adshard/backend"
	"adshard/fault"
	"adshard/schema/pb"
)

// History is how a slave's position relates to a database's log.
type History uint8

const (
	Same    History = iota // the position is in the log
	Unknown                // the log no longer reaches back so far
	Other                  // the log has another change there, or none: it is another history
)

// Locate looks up a slave's position. mark is the mark of the change there; 0
// when it is not in the log. A position without a mark, from a store older than
// marks, is accepted if the log has a change at its clock.
func Locate(ctx context.Context, db backend.Feed, at *pb.Position) (h History, mark uint64, err error) {
	if at.GetClock() == 0 {
		return Same, 0, nil
	}
	known, err := db.At(ctx, at.GetClock())
	switch {
	case fault.Is(err, fault.Stale):
		return Unknown, 0, nil
	case fault.Is(err, fault.NotFound):
		return Other, 0, nil
	case err != nil:
		return Same, 0, err
	case at.GetMark() != 0 && at.GetMark() != known.Mark:
		return Other, 0, nil
	}
	return Same, known.Mark, nil
}
