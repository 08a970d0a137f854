package balancer

import (
	"context"
	"log/slog"
	"time"

	"adshard/backend"
	"adshard/internal/wait"
)

const (
	// serverEvery is how often the balancer checks which server answers for the database.
	serverEvery = 10 * time.Second
	// serverAgain is the time after which an old primary that still answers is reported again.
	serverAgain = time.Minute
)

// serverLog logs which server answers for the database, and when that changes. Nothing depends on it: after
// a failover the log shows whether an old primary has come back and is written to.
type serverLog struct {
	db     backend.Served
	log    *slog.Logger
	last   backend.Server // zero if no server has been seen
	newest backend.Server // the server on the latest timeline of the last system
	logged time.Time      // when a server on an earlier timeline was last logged
}

// watchServer logs until ctx is done. It returns at once if the database does not run on a server.
func (h *Host) watchServer(ctx context.Context) {
	db, ok := h.db.(backend.Served)
	if !ok {
		return
	}
	s := &serverLog{db: db, log: h.log}
	for {
		s.look(ctx, time.Now())
		if wait.Sleep(ctx, serverEvery) != nil {
			return
		}
	}
}

func (s *serverLog) look(ctx context.Context, now time.Time) {
	is, err := s.db.Server(ctx)
	if err != nil || is == (backend.Server{}) {
		return // callers that need the database report that it is away
	}
	was := s.last
	s.last = is
	earlier := is.System == s.newest.System && is.Timeline < s.newest.Timeline
	switch {
	case earlier && (is != was || now.Sub(s.logged) >= serverAgain):
		s.logged = now
		s.log.Error("the database is served on an earlier timeline than before: an old primary has come back beside the promoted one;"+
			" stop it, and make it a standby", "system", is.System, "timeline", is.Timeline, "timeline before", s.newest.Timeline)
	case is == was || earlier:
	case was == (backend.Server{}):
		s.log.Info("the database's server", "system", is.System, "timeline", is.Timeline)
	default:
		s.log.Warn("the database has a different server than before: if that is a failover, keep the old primary from starting again",
			"system", is.System, "timeline", is.Timeline, "system before", was.System, "timeline before", was.Timeline)
	}
	if !earlier {
		s.newest = is
	}
}
