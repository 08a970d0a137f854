package events

import (
	"context"
	"sync"
	"time"

	"adshard/fault"
)

// DatabaseKey is the key in the control state of the id of the database of events that counts. Like budgets, that database belongs to
// a backend database, whatever the state keys of the clusters are.
const DatabaseKey = "events-database"

// confirmEvery is the time between two checks that the collector's database is the named one.
const confirmEvery = time.Second

// Named is a collector's database of events, and whether it is the one that counts. Duplicates are recognised within one database: if
// there were two, each token would count twice. A second database can come about in these ways:
//
//   - Each of two collectors on different machines has a file, or a URL is wrong: only the named database counts.
//   - A file was removed, or a disk is not mounted: Missing is the error instead of making a new database.
//   - A process was stopped while another database took its place: it checks the name again before it counts, so that at most the
//     batch under way is counted there.
//   - A backup of the database was restored: it has the same id and an earlier state. Events counted since the backup count again if
//     they are sent again within the Lifetime of their tokens.
//     counted since counts again if it is sent again, within the Lifetime of its token.
//
// A collector that cannot reach the control state goes on counting: meanwhile, no other database can be named either. Named is safe
// for use by several goroutines.
type Named struct {
	Control Control
	Own     string // the id of the collector's database
	Now     func() time.Time

	mu   sync.Mutex
	seen time.Time // when the name was read last; guarded by mu
	err  error     // the result of that check; guarded by mu
}

// Name returns the id of the database that is named, or "" if none is. Errors: those of the control state.
func Name(ctx context.Context, control Control) (string, error) {
	b, err := control.LoadControl(ctx, DatabaseKey)
	return string(b), err
}

// Missing returns the error for a database of events that is named but not there.
func Missing(name string) error {
	return fault.Newf(fault.NotFound, "events", "the database of events %.40s, which counts for this backend database, is not there: mount its disk, correct `events`, or"+
		" restore it from a backup; if it is lost, start one collector with --adopt-events, which makes a new one: events of the last hour may then count again", name)
}

// Claim names the collector's database if none is named. Confirm returns Claim's result while the control state is away. Claim must
// not run at the same time as Confirm. Errors: fault.Conflict if another database is named, and those of the control state.
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

// Adopt names the collector's database instead of the one named so far, and returns the id of that one, or "" if there was none or it
// is this one. Collectors with the earlier database stop counting within a second, if they can reach the control state. Errors: those
// of the control state.
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

// Confirm returns an error if the collector must not count, or act on what it has counted, and nil if it may. It reads the name at
// most once a second. Errors: fault.Conflict.
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
