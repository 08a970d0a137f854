// Package identity says to which data set (database, order of keys, timeline) the data of a process
// belongs, and whether a slave's report fits it.
package identity

import (
	"context"
	"fmt"
	"strings"

	"adshard/backend"
	"adshard/balance"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Dataset identifies the data that a balancer, a distributor or an offline build hands out.
type Dataset struct {
	Database string // its id
	Order    balance.Order
	// Timeline identifies the history of the slice map in which views are numbered. A balancer
	// starts a new timeline when it finds that the database was restored, which makes all earlier
	// views and tables void. "" stands for a map that was made offline.
	Timeline string
}

// Of returns the dataset of a database, without a timeline. Errors: those of the
// database.
func Of(ctx context.Context, db backend.Store, order balance.Order) (Dataset, error) {
	id, err := db.ID(ctx)
	if err != nil {
		return Dataset{}, fmt.Errorf("the id of the database: %w", err)
	}
	return Dataset{Database: id, Order: order}, nil
}

// Origin says what the keys of groups mean, by the id of the database and the order of keys. A copy
// of a database has the same id.
func (d Dataset) Origin() string { return d.Database + "/" + d.Order.String() }

// Table returns a table of slices of this dataset as a message.
func (d Dataset) Table(t balance.Table) *pb.SliceTable {
	out := wire.FromTable(t)
	out.Origin, out.Timeline = d.Origin(), d.Timeline
	return out
}

// Joining reads a slave's registration. Foreign is set if the slave's data is of another database
// or in another order of keys, and `discard` is set. Errors: fault.Invalid if the name or address
// is missing, fault.Conflict for such data without `discard`.
func (d Dataset) Joining(r *pb.RegisterRequest, discard bool) (balance.Joining, error) {
	const op = "balancer: register"
	if r.GetName() == "" || r.GetAddress() == "" {
		return balance.Joining{}, fault.Field(op, "name", "a slave registers with its name and address")
	}
	j := balance.Joining{Unverified: r.GetUnverified(),
		Name: r.GetName(), Position: wire.ToPosition(r.GetPosition()), Table: wire.ToTable(r.GetSlices()),
		Site: balance.Site{Address: r.GetAddress(), Zone: r.GetZone(), Instance: r.GetInstance()},
	}
	if c := r.GetCopied(); c != nil {
		j.Copied = &balance.Copied{Source: c.GetSource(), Instance: c.GetInstance()}
	}
	if len(j.Table.Slices) == 0 {
		return j, nil
	}
	if own := index.Database(r.GetSlices()); own != d.Database && !discard {
		return balance.Joining{}, fault.Newf(fault.Conflict, op,
			"slave %s holds data of database %s, the database here is %s: if it has the wrong balancer or db, correct that; "+
				"if its data are not needed any more, start the balancer with --discard-data-of %s, or empty the slave's directory",
			j.Name, own, d.Database, own)
	}
	j.Foreign = r.GetSlices().GetOrigin() != d.Origin()
	if _, order, _ := strings.Cut(r.GetSlices().GetOrigin(), "/"); j.Foreign && !discard {
		return balance.Joining{}, fault.Newf(fault.Conflict, op,
			"slave %s holds data in the order %s, this cluster has the order %s: if the cluster is new, start the balancer and its distributors with --order %s; "+
				"if the data are not needed any more, start the balancer with --discard-data-of %s, or empty the slave's directory",
			j.Name, order, d.Order, order, d.Database)
	}
	return j, nil
}

// Unserved returns the slices of a table of another timeline without their views: the slave has
// them, but serves them in no view.
func Unserved(t balance.Table) balance.Table {
	out := balance.Table{}
	for _, h := range t.Slices {
		h.From, h.Until = 0, 0
		out.Slices = append(out.Slices, h)
	}
	return out
}
