package node

import (
	"context"
	"log/slog"
	"testing"

	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
)

// leaper is a balancer of an epoch that cannot be.
type leaper struct{ database string }

func (l leaper) Quanta(context.Context, *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	return &pb.QuantaResponse{Epoch: ^uint64(0), Database: l.database}, nil
}

// TestADistributorFollowsNoAbsurdEpoch: it would refuse every balancer after it.
func TestADistributorFollowsNoAbsurdEpoch(t *testing.T) {
	r := newDatabase(t)
	p := newProvider("d", "127.0.0.1:1", defaultSupply(), balance.ByOwner, r.db, nil, newHealth(), slog.New(slog.DiscardHandler))
	r.must(p.load(t.Context()))
	reply, err := leaper{p.data.database}.Quanta(t.Context(), nil)
	r.must(err)
	if err := p.hear(reply); !fault.Is(err, fault.Invalid) || p.epoch != 0 || p.dist != nil {
		t.Fatalf("%v, epoch %d", err, p.epoch)
	}
	if err := p.hear(&pb.QuantaResponse{Epoch: 7, Database: p.data.database}); err != nil || p.epoch != 7 {
		t.Errorf("afterwards: %v, epoch %d", err, p.epoch)
	}
}
