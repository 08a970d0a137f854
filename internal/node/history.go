package node

import (
	"context"

	"adshard/backend"
	"adshard/fault"
	"adshard/schema/pb"
)

// history is how a slave's position relates to a database's log.
type history uint8

const (
	same    history = iota // the position is in the log
	unknown                // the log no longer reaches back so far
	other                  // the log has another change there, or none: it is another history
)

// historyOf looks up a slave's position. mark is the mark of the change there; 0
// when it is not in the log. A position without a mark, from a store older than
// marks, is accepted if the log has a change at its clock.
func historyOf(ctx context.Context, db backend.Feed, at *pb.Position) (h history, mark uint64, err error) {
	if at.GetClock() == 0 {
		return same, 0, nil
	}
	known, err := db.At(ctx, at.GetClock())
	switch {
	case fault.Is(err, fault.Stale):
		return unknown, 0, nil
	case fault.Is(err, fault.NotFound):
		return other, 0, nil
	case err != nil:
		return same, 0, err
	case at.GetMark() != 0 && at.GetMark() != known.Mark:
		return other, 0, nil
	}
	return same, known.Mark, nil
}
