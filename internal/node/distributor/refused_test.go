package distributor

import (
	"context"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/internal/node/nodetest"
	"adshard/schema/pb"
)

// answer is a balancer's answer to each poll.
type answer struct {
	reply *pb.QuantaResponse
	err   error
}

// Quanta implements quantaSource.
func (a answer) Quanta(context.Context, *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	return a.reply, a.err
}

// TestARefusedDistributorIsNotReady: if a balancer refuses a distributor, or the distributor refuses a balancer, the
// distributor's readiness says why after one poll, including if it followed a balancer before. A successful poll ends
// that. A balancer that is unavailable changes nothing.
func TestARefusedDistributorIsNotReady(t *testing.T) {
	r := nodetest.NewDatabase(t)
	r.Write(3, 2, 2, 1_000_000)
	own := reader(t, r.DB).data.Database
	away := answer{err: fault.Newf(fault.Unavailable, "balancer", "away")}
	well := answer{reply: &pb.QuantaResponse{Epoch: 7, Database: own}}
	refusals := map[string]answer{
		"reads database":  {err: fault.Newf(fault.Conflict, "balancer", "the distributor d reads database x")},
		"has the order":   {err: fault.Newf(fault.Conflict, "balancer", "the distributor d has the order hash")},
		"not trusted":     {err: fault.Newf(fault.Forbidden, "balancer", "d is not trusted")},
		"no name":         {err: fault.Field("balancer", "name", "no name")},
		"too many":        {err: fault.Newf(fault.Internal, "balancer", "too many")},
		"plans for":       {reply: &pb.QuantaResponse{Epoch: 7, Database: "another"}},
		"is below":        {reply: &pb.QuantaResponse{Epoch: 6, Database: own}},
		"starts so often": {reply: &pb.QuantaResponse{Epoch: ^uint64(0), Database: own}},
		"quantum":         {reply: &pb.QuantaResponse{Epoch: 7, Database: own, Quanta: []*pb.Quantum{{Number: 9}}}},
	}
	for text, refusal := range refusals {
		for _, followed := range []bool{true, false} {
			if !followed && text == "is below" {
				continue // this is the first balancer that it hears from
			}
			d := reader(t, r.DB)
			p := &Process{distributor: d}
			poll := func(a answer) string {
				d.balancer = a
				if err := d.ask(t.Context()); (err == nil) != (a.reply == well.reply) {
					t.Errorf("%s: the poll ended with %v", text, err)
				}
				return strings.Join(p.ready(), "\n")
			}
			if followed {
				poll(well)
			}
			if why := poll(refusal); !strings.Contains(why, text) {
				t.Errorf("%s, followed %v: ready says %q", text, followed, why)
			}
			if why := poll(away); !strings.Contains(why, text) {
				t.Errorf("%s, followed %v: forgotten while the balancer is away", text, followed)
			}
			if why := poll(well); why != "" {
				t.Errorf("%s, followed %v: well again, and ready says %q", text, followed, why)
			}
			if why := poll(away); why != "" {
				t.Errorf("%s: a balancer that is away: %q", text, why)
			}
		}
	}
}
