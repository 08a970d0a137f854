package node

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/balance"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/schema/pb"
)

// dataset is what a balancer, a distributor or a build hands out.
type dataset struct {
	database string // its id
	order    balance.Order
	// timeline is the history of the slice map that views count. A balancer
	// begins another one when it finds that the database was restored: views and
	// tables of before then mean nothing any more. "": of a map that was made
	// before timelines were, or offline.
	timeline string
}

func datasetOf(ctx context.Context, db backend.Store, order balance.Order) (dataset, error) {
	id, err := db.ID(ctx)
	if err != nil {
		return dataset{}, fmt.Errorf("the id of the database: %w", err)
	}
	return dataset{database: id, order: order}, nil
}

// origin names what the keys of the groups stand for: the database, by its id,
// and the order of keys. A copy of a database has the same id.
func (d dataset) origin() string { return d.database + "/" + d.order.String() }

// table is a table of slices of this dataset.
func (d dataset) table(t balance.Table) *pb.SliceTable {
	out := tablePB(t)
	out.Origin, out.Timeline = d.origin(), d.timeline
	return out
}

// joining reads a slave's announcement. Data of another database are Foreign if
// they may be discarded, and so are those of another order of keys; else it
// fails with fault.Conflict.
func (d dataset) joining(r *pb.RegisterRequest, discard bool) (balance.Joining, error) {
	const op = "balancer: register"
	if r.GetName() == "" || r.GetAddress() == "" {
		return balance.Joining{}, fault.Field(op, "name", "a slave registers with its name and address")
	}
	j := balance.Joining{
		Name: r.GetName(), Address: r.GetAddress(), Position: positionOf(r.GetPosition()), Table: tableOf(r.GetSlices()),
	}
	if len(j.Table.Slices) == 0 {
		return j, nil
	}
	if own := index.Database(r.GetSlices()); own != d.database && !discard {
		return balance.Joining{}, fault.Newf(fault.Conflict, op,
			"slave %s holds data of database %s, the database here is %s: if it has the wrong balancer or db, correct that; "+
				"if its data are not needed any more, start the balancer with --discard-data-of %s, or empty the slave's directory",
			j.Name, own, d.database, own)
	}
	j.Foreign = r.GetSlices().GetOrigin() != d.origin()
	return j, nil
}

// unserved is what is left of a table of another timeline: the slices held, in no
// view.
func unserved(t balance.Table) balance.Table {
	out := balance.Table{}
	for _, h := range t.Slices {
		h.From, h.Until = 0, 0
		out.Slices = append(out.Slices, h)
	}
	return out
}
