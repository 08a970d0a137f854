package loadproxy

import (
	"context"
	"slices"
	"sync"

	"adshard/fault"
	"adshard/schema/pb"
)

// replacement is the copy of a sibling's store that the balancer wants.
type replacement struct {
	mu    sync.Mutex    // guards what follows
	order *pb.CopyOrder // as last answered by the balancer; nil: none
	from  *pb.Replica   // the sibling being copied; nil: none
	// failed are the siblings that could not be copied. They are tried again once the balancer has
	// wanted no copy for a while, that is, for the next loss.
	failed []*pb.Replica
}

// wanted stores what the balancer wants, and reports whether the slave must be filled in another
// way.
func (r *replacement) wanted(order *pb.CopyOrder) (otherwise bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = order
	if len(order.GetSiblings()) == 0 {
		r.failed = nil
	}
	if r.from != nil {
		return !named(order.GetSiblings(), r.from)
	}
	return r.next() != nil
}

// next returns the sibling to be tried next, or nil if there is none. Called under
// mu.
func (r *replacement) next() *pb.Replica {
	for _, s := range r.order.GetSiblings() {
		if !named(r.failed, s) {
			return s
		}
	}
	return nil
}

// begin returns the sibling to be copied, and records that its copy is under way.
func (r *replacement) begin() *pb.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = r.next()
	return r.from
}

// end records that a copy has ended; failed: it cannot be made.
func (r *replacement) end(failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failed {
		r.failed = append(r.failed, r.from)
	}
	r.from = nil
}

// named reports whether a list has a slave, in the same place and with the same
// directory.
func named(list []*pb.Replica, s *pb.Replica) bool {
	return slices.ContainsFunc(list, func(o *pb.Replica) bool {
		return o.GetName() == s.GetName() && o.GetAddress() == s.GetAddress() && o.GetInstance() == s.GetInstance()
	})
}

// copySibling copies the store of a sibling, and reports to the balancer meanwhile. It returns when
// the copy is the store, when it cannot be made, or when the balancer wants something else.
// Afterwards the slave registers again.
func (p *Proxy) copySibling(ctx context.Context, from *pb.Replica, table *pb.SliceTable) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	var reports sync.WaitGroup
	defer reports.Wait()
	reports.Go(func() { defer leave(); p.reports(ctx, p.home, table) })
	p.log.Info("filled with a copy of a sibling's store", "from", from.GetName(), "address", from.GetAddress())
	err := p.cfg.Copier.Copy(ctx, from, p.home.database)
	ended := ctx.Err() != nil
	leave()
	reports.Wait() // a report must not name the position of one store and what another holds
	switch {
	case err == nil:
		if err = p.reload(); err == nil {
			p.copied = &pb.Copied{Source: from.GetName(), Instance: from.GetInstance()}
		}
	case ended: // it was interrupted, and goes on
		p.replace.end(false)
		return
	}
	p.replace.end(err != nil)
	if err != nil {
		p.log.Warn("no copy could be made of this sibling; another one is copied, or the slave is filled by node data",
			"from", from.GetName(), "kind", fault.KindOf(err).String(), "err", err)
	}
}
