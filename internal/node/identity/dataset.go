// Package identity says whose data a process handles (database, order of keys,
// timeline), and whether what a slave reports belongs to them.
package identity

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/balance"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Dataset is what a balancer, a distributor or a build hands out.
type Dataset struct {
	Database string // its id
	Order    balance.Order
	// Timeline is the history of the slice map that views count. A balancer
	// begins another one when it finds that the database was restored: views and
	// tables of before then mean nothing any more. "": of a map that was made
	// before timelines were, or offline.
	Timeline string
}

func Of(ctx context.Context, db backend.Store, order balance.Order) (Dataset, error) {
	id, err := db.ID(ctx)
	if err != nil {
		return Dataset{}, fmt.Errorf("the id of the database: %w", err)
	}
	return Dataset{Database: id, Order: order}, nil
}

// Origin names what the keys of the groups stand for: the database, by its id,
// and the order of keys. A copy of a database has the same id.
func (d Dataset) Origin() string { return d.Database + "/" + d.Order.String() }

// Table is a table of slices of this dataset.
func (d Dataset) Table(t balance.Table) *pb.SliceTable {
	out := wire.FromTable(t)
	out.Origin, out.Timeline = d.Origin(), d.Timeline
	return out
}

// Joining reads a slave's announcement. Data of another database are Foreign if
// they may be discarded, and so are those of another order of keys; else it
// fails with fault.Conflict.
func (d Dataset) Joining(r *pb.RegisterRequest, discard bool) (balance.Joining, error) {
	const op = "balancer: register"
	if r.GetName() == "" || r.GetAddress() == "" {
		return balance.Joining{}, fault.Field(op, "name", "a slave registers with its name and address")
	}
	j := balance.Joining{
		Name: r.GetName(), Address: r.GetAddress(), Position: wire.ToPosition(r.GetPosition()), Table: wire.ToTable(r.GetSlices()),
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
	return j, nil
}

// Unserved is what is left of a table of another timeline: the slices held, in no
// view.
func Unserved(t balance.Table) balance.Table {
	out := balance.Table{}
	for _, h := range t.Slices {
		h.From, h.Until = 0, 0
		out.Slices = append(out.Slices, h)
	}
	return out
}
