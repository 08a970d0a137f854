package maps_test

import (
	"errors"
	"testing"
	"time"

	"adshard/balance/maps"
	"adshard/fault"
)

func TestMapOfTheBalancer(t *testing.T) {
	have := maps.Version{Epoch: 2, View: 7, Revision: 3, Database: "db"}
	for _, c := range []struct {
		have, offered maps.Version
		kind          fault.Kind
		refused       bool
	}{
		{offered: maps.Version{Epoch: 1, View: 1, Database: "other"}},
		{have: have, offered: maps.Version{Epoch: 2, View: 8, Revision: 1, Database: "db"}},
		{have: have, offered: maps.Version{Epoch: 3, View: 1, Database: "db"}},
		{have: have, offered: have},
		{have: have, offered: maps.Version{Epoch: 2, View: 7, Revision: 4, Database: "db"}},
		{have: have, offered: maps.Version{Epoch: 3, View: 7, Revision: 1, Database: "db"}},
		{have, maps.Version{Epoch: 2, View: 6, Database: "db"}, fault.Stale, true},
		{have, maps.Version{Epoch: 2, View: 6, Revision: 9, Database: "db"}, fault.Stale, true},
		{have, maps.Version{Epoch: 2, View: 7, Revision: 2, Database: "db"}, fault.Stale, true},
		{have, maps.Version{Epoch: 1, View: 9, Database: "db"}, fault.Stale, true},
		{have, maps.Version{Epoch: 3, View: 9, Database: "other"}, fault.Conflict, true},
	} {
		if err := c.have.Accept(c.offered); (err != nil) != c.refused || c.refused && !fault.Is(err, c.kind) {
			t.Errorf("%+v over %+v: %v", c.offered, c.have, err)
		}
	}
}

func TestMapOfTheSlaves(t *testing.T) {
	told := func(epoch, view uint64) maps.Version {
		return maps.Version{Epoch: epoch, View: view, Database: "db"}
	}
	from := func(least uint64, v maps.Version) maps.SlaveMap {
		return maps.SlaveMap{Version: v, Least: least}
	}
	all := func(list ...maps.Version) (out []maps.SlaveMap) {
		for _, v := range list {
			out = append(out, from(0, v))
		}
		return out
	}
	revised := func(v maps.Version, revision uint64) maps.Version {
		v.Revision = revision
		return v
	}
	foreign := maps.Version{Epoch: 9, View: 9, Database: "other"}
	restored := maps.Version{Epoch: 4, View: 6, Database: "db", Timeline: "after a restore"}
	for _, c := range []struct {
		name     string
		have     maps.Version
		received []maps.SlaveMap
		best     int
		epoch    uint64
	}{
		{"the least view that all can serve", told(3, 2), all(told(3, 9), told(3, 4), told(3, 5)), 1, 3},
		{"none of an epoch long over", maps.Version{}, all(told(2, 4), told(3, 5)), 1, 3},
		{"an old epoch's if there is no other, as of the newest", told(3, 4), all(told(2, 5), told(4, 4)), 0, 4},
		{"nothing newer", told(3, 5), all(told(3, 5), maps.Version{}), -1, 0},
		{"one that all still serve", told(3, 2), []maps.SlaveMap{from(1, told(3, 4)), from(5, told(3, 7)), from(4, told(3, 6))}, 2, 3},
		{"whatever is served of another timeline", told(3, 2), []maps.SlaveMap{from(9, told(3, 9)), from(1, restored)}, 1, 4},
		{"not another database's", told(3, 5), all(foreign, told(3, 6)), 1, 3},
		{"a newer revision of the same view", told(3, 5), all(told(3, 5), revised(told(3, 5), 2)), 1, 3},
		{"the newest revision of the least view", told(3, 4), all(revised(told(3, 6), 9), told(3, 5), revised(told(3, 5), 2)), 2, 3},
		{"not an older revision", revised(told(3, 5), 2), all(revised(told(3, 5), 1)), -1, 0},
		{"nor of two databases", maps.Version{}, all(told(3, 6), foreign), -1, 0},
	} {
		best, as, err := c.have.Choose(c.received)
		if best != c.best || (err != nil) != (best < 0) || as.Epoch != c.epoch {
			t.Errorf("%s: %d as %+v, %v", c.name, best, as, err)
		}
	}
}

func TestWhomAMasterAsks(t *testing.T) {
	w := maps.NewWatch(maps.Times{Silent: 3 * time.Second, FirstPause: time.Millisecond, LongestPause: 5 * time.Millisecond})
	none, some := maps.Version{}, maps.Version{Epoch: 1, View: 1}
	away := errors.New("away")
	asks := func(at time.Duration, have maps.Version, outdated, want bool) {
		t.Helper()
		if got := w.AskSlaves(at, have, outdated); got != want {
			t.Errorf("at %v with %+v, outdated %v: asks slaves %v", at, have, outdated, got)
		}
	}
	asks(0, some, true, true) // the balancer has not answered yet
	if pause := w.Polled(time.Second, true, nil); pause != 0 {
		t.Errorf("after a newer map it pauses for %v", pause)
	}
	asks(2*time.Second, some, true, false)
	asks(5*time.Second, some, true, true) // still silent
	asks(5*time.Second, some, false, false)
	for _, want := range []time.Duration{2, 4, 5, 5} {
		if pause := w.Polled(2*time.Second, false, away); pause != want*time.Millisecond {
			t.Errorf("after a failure it pauses for %v, want %v ms", pause, want)
		}
	}
	asks(2*time.Second, none, false, true)
	asks(2*time.Second, some, true, true)
	asks(2*time.Second, some, false, false)
	w.Polled(3*time.Second, true, nil)
	if pause := w.Polled(4*time.Second, false, nil); pause != time.Millisecond {
		t.Errorf("a balancer that answers at once with what is known is asked again after %v", pause)
	}
}
