package distributor

import (
	"context"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/truth"
	"adshard/schema/pb"
)

// Verify implements pb.DistributorServer. It compares a slave's data of an interval with the
// database, for the items that are indexed now. Later items follow with the log, from the position
// that the slave got when it enlisted. Only one comparison runs at a time.
func (d *Distributor) Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error) {
	const op = "distributor: verify"
	select {
	case d.verifying <- struct{}{}:
		defer func() { <-d.verifying }()
	case <-ctx.Done():
		return nil, fault.Newf(fault.Deadline, op, "another comparison is under way: %w", ctx.Err())
	}
	lo, hi := balance.Key(r.GetLo()), balance.Key(r.GetHi())
	d.mu.Lock()
	database, index := d.data.Database, d.index
	var keys []balance.Key
	if lo <= hi && index != nil {
		keys = truth.Keys(index, lo, hi, ^uint64(0))
	}
	d.mu.Unlock()
	switch {
	case lo > hi || r.GetCertificate() == nil:
		return nil, fault.Field(op, "certificate", "a slice and its certificate are needed")
	case r.GetDatabase() != database:
		return nil, fault.Newf(fault.Conflict, op, "the slave %s holds data of database %q, the database here is %s", r.GetName(), r.GetDatabase(), database)
	}
	certifier := truth.Certifier{Order: d.order, DB: d.db, Builders: d.builders}
	own := certifier.FromReply(r.GetCertificate())
	named := make([]balance.Parent, len(own.Parents))
	for i, parent := range own.Parents {
		named[i] = parent.Parent
	}
	want, _, err := certifier.Certify(ctx, keys, named)
	if err != nil {
		return nil, err
	}
	return &pb.VerifyResponse{Equal: own.Builder == want.Builder && own.Bins == want.Bins && truth.SameParents(own.Parents, want.Parents)}, nil
}
