package maps

import (
	"cmp"
	"slices"
	"time"

	"adshard/fault"
)

// Version identifies the map of the shards that a master or slave has. View is 0 if it
// has none.
type Version struct {
	Epoch, View uint64
	// Revision counts changes of which slaves are replicas of which shard, apart from
	// changes of the view.
	Revision uint64
	// Database is the database whose data the shards hold. Timeline is the history
	// whose views View counts.
	Database, Timeline string
	// Filled says that the first fill of the cluster is complete.
	Filled bool
}

// Accept returns an error if a balancer's map must not replace the current one:
// fault.Conflict if it is of another database, since its slaves hold other advertisers'
// data, or fault.Stale if it is older.
func (have Version) Accept(offered Version) error {
	const op = "master: ask for the map"
	if have.View == 0 {
		return nil
	}
	if have.Database != offered.Database {
		return fault.Newf(fault.Conflict, op,
			"the balancer's map is of database %s, this master keeps serving database %s; to change to the balancer's, restart the master",
			offered.Database, have.Database)
	}
	if offered.compare(have) < 0 {
		return fault.Newf(fault.Stale, op,
			"the balancer's map %d/%d/%d is older than this master's %d/%d/%d, which it keeps; if the balancer was set up again, restart the master too",
			offered.Epoch, offered.View, offered.Revision, have.Epoch, have.View, have.Revision)
	}
	return nil
}

// compare orders maps of one database by age: it returns -1 if v is older than o.
func (v Version) compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Epoch, o.Epoch), cmp.Compare(v.View, o.View), cmp.Compare(v.Revision, o.Revision))
}

// SlaveMap is the map that a slave has received.
type SlaveMap struct {
	Version
	// Least is the oldest view that the slave still serves.
	Least uint64
}

// Choose returns the map that replaces the current one while the balancer is away, out of
// those that slaves have received, and its version. That is the map of the
// lowest view above the current one, or a newer revision of the current view, that all
// slaves still serve. It is the lowest view, since slaves that are behind can serve no
// later one. Maps of epochs below the newest that any slave knows are only used if
// there is no other map, since slaves that were away for long have old maps.
// Errors: fault.Unavailable if no slave has such a map, fault.Conflict if the maps are
// of two databases.
func (have Version) Choose(received []SlaveMap) (best int, as Version, err error) {
	const op = "master: learn the map"
	best = -1
	epoch, filled := have.Epoch, have.Filled
	for i, v := range received {
		if v.View == 0 || have.View > 0 && v.Database != have.Database {
			continue
		}
		if best >= 0 && received[best].Database != "" && v.Database != received[best].Database {
			return -1, Version{}, fault.Newf(fault.Conflict, op,
				"the slaves asked hold data of two databases, %s and %s; name slaves of one cluster", received[best].Database, v.Database)
		}
		epoch, filled = max(epoch, v.Epoch), filled || v.Filled
		if cmp.Or(cmp.Compare(v.View, have.View), cmp.Compare(v.Revision, have.Revision)) <= 0 || slices.ContainsFunc(received, v.outdated) {
			continue
		}
		if best < 0 || v.preferred(received[best].Version) {
			best = i
		}
	}
	if best < 0 {
		return -1, Version{}, fault.Newf(fault.Unavailable, op, "none of %d slaves has a newer map", len(received))
	}
	as = received[best].Version
	as.Epoch, as.Filled = epoch, filled
	return best, as, nil
}

// preferred reports whether Choose prefers v to o: a newer epoch, then a lower view,
// then a newer revision. The revision comes last, since slaves need not know it.
func (v Version) preferred(o Version) bool {
	return cmp.Or(cmp.Compare(v.Epoch, o.Epoch), cmp.Compare(o.View, v.View), cmp.Compare(v.Revision, o.Revision)) > 0
}

// outdated reports whether a slave no longer serves the view of the map.
func (have Version) outdated(s SlaveMap) bool {
	return s.Database == have.Database && s.Timeline == have.Timeline && s.Least > have.View
}

// Times has the times of a Watch.
type Times struct {
	// Silent is how long after its last answer a balancer is considered away. It is
	// longer than the balancer keeps a request waiting.
	Silent time.Duration
	// FirstPause and LongestPause bound the time between two requests.
	FirstPause, LongestPause time.Duration
}

// Watch decides when a master asks for a newer map, and whom it asks. It uses no clock
// and no network. Times are measured from any fixed moment.
type Watch struct {
	times   Times
	trouble error         // of the last request to the balancer
	heard   time.Duration // when the balancer last answered
	pause   time.Duration
}

// NewWatch returns a watch whose balancer has not answered yet.
func NewWatch(times Times) Watch {
	return Watch{times: times, heard: -times.Silent - 1, pause: times.FirstPause}
}

// Polled notes how a request to the balancer ended, and returns how long to wait before
// the next one. fresh says that the request brought a newer map, or was kept waiting
// for one.
func (w *Watch) Polled(now time.Duration, fresh bool, err error) (pause time.Duration) {
	w.trouble = err
	if err == nil {
		w.heard = now
	}
	switch {
	case err == nil && fresh:
		w.pause = w.times.FirstPause
		return 0
	case err != nil:
		w.pause = min(2*w.pause, w.times.LongestPause)
	}
	return w.pause
}

// Trouble returns why the balancer has sent no newer map, or nil if it answered the
// last request.
func (w *Watch) Trouble() error { return w.trouble }

// AskSlaves reports whether to ask the slaves for a map. This is so while the balancer
// is away, if there is no map or a slave no longer serves the view of the current one.
func (w *Watch) AskSlaves(now time.Duration, have Version, outdated bool) bool {
	away := w.trouble != nil || now > w.heard+w.times.Silent
	return away && (outdated || have.View == 0)
}
