package maps

import (
	"cmp"
	"slices"
	"time"

	"adshard/fault"
)

// Version says which map of the shards a master or a slave has. View 0: none.
type Version struct {
	Epoch, View uint64
	// Revision counts the changes within the view of which slaves are replicas of
	// which shard.
	Revision uint64
	// Database is whose data the shards hold; Timeline is what the views count.
	Database, Timeline string
	// Filled: the first fill of the cluster is complete.
	Filled bool
}

// Accept rejects a balancer's map that must not replace the current one: of
// another database (fault.Conflict), since its slaves hold other advertisers'
// data, or an older one (fault.Stale).
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

// compare orders maps of one database by age: -1 if v is older than o.
func (v Version) compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Epoch, o.Epoch), cmp.Compare(v.View, o.View), cmp.Compare(v.Revision, o.Revision))
}

// SlaveMap is the map that a slave has received.
type SlaveMap struct {
	Version
	// Least is the oldest view that the slave still serves.
	Least uint64
}

// Choose returns which of the maps that slaves have received replaces the current
// one while the balancer is away, and its version from then on: the map of the
// lowest view after have's, or of have's in a newer revision, that all slaves still
// serve, since slaves that are behind can serve no later view. Maps of epochs below the newest that any slave
// knows count only when there is no other: slaves that were away for long have old
// ones.
// Errors: fault.Unavailable when none has such a map; fault.Conflict when they are
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

// preferred reports whether Choose takes v rather than o. The newer epoch counts first,
// then the lower view, then the newer revision, which no slave needs to know.
func (v Version) preferred(o Version) bool {
	return cmp.Or(cmp.Compare(v.Epoch, o.Epoch), cmp.Compare(o.View, v.View), cmp.Compare(v.Revision, o.Revision)) > 0
}

// outdated reports whether a slave no longer serves the view of the map.
func (have Version) outdated(s SlaveMap) bool {
	return s.Database == have.Database && s.Timeline == have.Timeline && s.Least > have.View
}

// Times are the times of a Watch.
type Times struct {
	// Silent is how long after its last answer a balancer counts as away: longer
	// than it keeps a request waiting.
	Silent time.Duration
	// FirstPause and LongestPause bound the time between two requests.
	FirstPause, LongestPause time.Duration
}

// Watch decides when a master asks for a newer map, and whom. It knows neither
// clocks nor networks; times are since any fixed moment.
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

// Polled notes how a request to the balancer ended and returns when to ask again.
// fresh: it brought a newer map, or was kept waiting for one.
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

// Trouble is why the balancer has no newer map; nil: it answered the last request.
func (w *Watch) Trouble() error { return w.trouble }

// AskSlaves reports whether to ask the slaves for a map: while the balancer is away,
// if there is none, or if a slave no longer serves the view of the current one.
func (w *Watch) AskSlaves(now time.Duration, have Version, outdated bool) bool {
	away := w.trouble != nil || now > w.heard+w.times.Silent
	return away && (outdated || have.View == 0)
}
