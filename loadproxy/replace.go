package loadproxy

import (
	"context"
	"slices"
	"sync"

	"adshard/fault"
	"adshard/schema/pb"
)

// replacement is the copy of a sibling's store that the balancer has ordered.
type replacement struct {
	mu    sync.Mutex    // guards what follows
	order *pb.CopyOrder // from the balancer's last answer, or nil
	from  *pb.Replica   // the sibling that is being copied, or nil
	// failed has the siblings that could not be copied. They are tried again for the next loss,
	// once the balancer has ordered no copy for a while.
	failed []*pb.Replica
}

// wanted stores the balancer's order, and reports whether the slave must now be filled in another
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

// next returns the sibling to try next, or nil if there is none. The caller holds mu.
func (r *replacement) next() *pb.Replica {
	for _, s := range r.order.GetSiblings() {
		if !named(r.failed, s) {
			return s
		}
	}
	return nil
}

// begin returns the sibling to copy, or nil, and records that its copy is under way.
func (r *replacement) begin() *pb.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = r.next()
	return r.from
}

// end records that a copy has ended. failed says that it cannot be made.
func (r *replacement) end(failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failed {
		r.failed = append(r.failed, r.from)
	}
	r.from = nil
}

// named reports whether a list has a slave with the same name, address and directory.
func named(list []*pb.Replica, s *pb.Replica) bool {
	return slices.ContainsFunc(list, func(o *pb.Replica) bool {
		return o.GetName() == s.GetName() && o.GetAddress() == s.GetAddress() && o.GetInstance() == s.GetInstance()
	})
}

// copySibling copies the store of a sibling, and sends reports to the balancer meanwhile. It
// returns when the copy has become the slave's store, when it cannot be made, or when the balancer
// orders something else. After that, the slave registers again.
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
	reports.Wait() // so that no report has the position of one store and the slices of another
	switch {
	case err == nil:
		if err = p.reload(); err == nil {
			p.copied = &pb.Copied{Source: from.GetName(), Instance: from.GetInstance()}
		}
	case ended: // it was interrupted, and will continue
		p.replace.end(false)
		return
	}
	p.replace.end(err != nil)
	if err != nil {
		p.log.Warn("no copy could be made of this sibling; another one is copied, or the slave is filled by node data",
			"from", from.GetName(), "kind", fault.KindOf(err).String(), "err", err)
	}
}
