package events

import (
	"context"
	"sync"
	"time"

	"adshard/fault"
)

// DatabaseKey is the key in the control state of the id of the database of events that counts. Like
// budgets, there is one for a backend database, whatever the state keys of its clusters are.
const DatabaseKey = "events-database"

// confirmEvery is the time between two checks of whether the collector's database is the named one.
const confirmEvery = time.Second

// Named is a collector's database of events, and whether it is the one that counts. Events are
// recognised by their ids within one database: in two, each token would count twice. A second
// database can come about in these ways:
//
//   - a file beside each of two collectors on different machines, or a URL that is wrong: only the one that is named counts;
//   - a file that was removed, or a disk that is not mounted: Missing refuses to make a new one;
//   - a process that was stopped while another database took its place: it looks again before it counts, so that no more than a batch
//     under way is counted there;
//   - a backup of the database that is put back: it has the same id and is an earlier moment of the same one. What was
//     counted since counts again if it is sent again, within the Lifetime of its token.
//
// A collector that cannot reach the control state goes on counting: meanwhile another database
// cannot be named either. It is safe for use by several goroutines.
type Named struct {
	Control Control
	Own     string // the id of the collector's database
	Now     func() time.Time

	mu   sync.Mutex
	seen time.Time // when the name was read last; guarded by mu
	err  error     // what was found then; guarded by mu
}

// Name returns the id of the database that is named, or "" if none is. Errors: the control
// state's.
func Name(ctx context.Context, control Control) (string, error) {
	b, err := control.LoadControl(ctx, DatabaseKey)
	return string(b), err
}

// Missing is the error of a database of events that is not there though it is named.
func Missing(name string) error {
	return fault.Newf(fault.NotFound, "events", "the database of events %.40s, which counts for this backend database, is not there: mount its disk, correct `events`, or"+
		" restore it from a backup; if it is lost, start one collector with --adopt-events, which makes a new one: events of the last hour may then count again", name)
}

// Claim names the collector's database if none is named. Confirm remembers what it found while the control state is away.
// It must not run beside Confirm. Errors: fault.Conflict if another one is named, the control state's.
func (n *Named) Claim(ctx context.Context) (err error) {
	defer func() {
		if err == nil || fault.Is(err, fault.Conflict) {
			n.err = err
		}
	}()
	for {
		name, err := Name(ctx, n.Control)
		switch {
		case err != nil || name == n.Own:
			return err
		case name != "":
			return n.other(name)
		}
		err = n.Control.SaveControlIf(ctx, DatabaseKey, []byte(n.Own), DatabaseKey, nil)
		if !fault.Is(err, fault.Conflict) {
			return err
		} // another collector was faster
	}
}

// Adopt names the collector's database in place of the present one and returns the present one, or ""
// if there was none or it was this one. Collectors with the previous one stop counting within a second,
// if they can reach the control state. Errors: the control state's.
func (n *Named) Adopt(ctx context.Context) (before string, err error) {
	for {
		b, err := n.Control.LoadControl(ctx, DatabaseKey)
		if err != nil || string(b) == n.Own {
			return "", err
		}
		err = n.Control.SaveControlIf(ctx, DatabaseKey, []byte(n.Own), DatabaseKey, b)
		if !fault.Is(err, fault.Conflict) {
			return string(b), err
		}
	}
}

// Confirm returns why the collector must not count, nor act on what it counted, or nil if it may.
// It checks once a second. Errors: fault.Conflict.
func (n *Named) Confirm(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if age := n.Now().Sub(n.seen); age >= 0 && age < confirmEvery {
		return n.err
	}
	ctx, cancel := context.WithTimeout(ctx, confirmEvery)
	defer cancel()
	_ = n.Claim(ctx) // n.err stays as it is while the control state is away
	n.seen = n.Now()
	return n.err
}

func (n *Named) other(name string) error {
	return fault.Newf(fault.Conflict, "events", "the database of events that counts for this backend database is %.40s, this collector's is %.40s, in which each event would count"+
		" once more: give it the same `events`; if this one is to count from now on, end the other collectors and start it with --adopt-events", name, n.Own)
}
