package distributor

import (
	"context"
	"log/slog"
	"testing"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/health"
	"adshard/internal/node/nodetest"
	"adshard/schema/pb"
)

// leaper is a balancer with an impossibly large epoch.
type leaper struct{ database string }

func (l leaper) Quanta(context.Context, *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	return &pb.QuantaResponse{Epoch: ^uint64(0), Database: l.database}, nil
}

// TestADistributorFollowsNoAbsurdEpoch: a distributor refuses an impossibly large epoch, because it
// would have to refuse every later balancer.
func TestADistributorFollowsNoAbsurdEpoch(t *testing.T) {
	r := nodetest.NewDatabase(t)
	p := New("d", "127.0.0.1:1", DefaultDataConfig(), balance.ByOwner, r.DB, nil, health.New(), slog.New(slog.DiscardHandler))
	r.Must(p.Load(t.Context()))
	reply, err := leaper{p.data.Database}.Quanta(t.Context(), nil)
	r.Must(err)
	if err := p.receive(reply); !fault.Is(err, fault.Invalid) || p.epoch != 0 || p.machine != nil {
		t.Fatalf("%v, epoch %d", err, p.epoch)
	}
	if err := p.receive(&pb.QuantaResponse{Epoch: 7, Database: p.data.Database}); err != nil || p.epoch != 7 {
		t.Errorf("afterwards: %v, epoch %d", err, p.epoch)
	}
}
