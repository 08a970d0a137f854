package distributor

import (
	"context"
	"log/slog"
	"testing"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/health"
	"adshard/schema/pb"
)

// forgetful is a mapper of a new epoch that has not answered anything else yet.
type forgetful struct {
	told []*pb.QuantaRequest
	end  context.CancelFunc
}

func (f *forgetful) Quanta(_ context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	f.told = append(f.told, r)
	if len(f.told) == 3 {
		f.end()
		return nil, fault.Newf(fault.Unavailable, "", "over")
	}
	return &pb.QuantaResponse{Epoch: 8, Database: "db"}, nil
}

// TestWeightsWaitForAMapperThatKnowsTheItems: weights that were sent to a new mapper are kept until
// its first quantum arrives.
func TestWeightsWaitForAMapperThatKnowsTheItems(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &forgetful{end: cancel}
	p := New("d", "there:1", DefaultDataConfig(), balance.ByHash, nil, f, health.New(), slog.New(slog.DiscardHandler))
	p.Begin("db", &balance.Index{}, backend.Position{Clock: 5})
	p.epoch, p.number, p.weights[7] = 7, 4, 70
	_ = p.poll(ctx)
	if p.epoch != 8 || p.weights[7] != 70 {
		t.Errorf("epoch %d, weights %v", p.epoch, p.weights)
	}
	if len(f.told) != 3 || len(f.told[0].Weights) != 1 || len(f.told[1].Weights)+len(f.told[2].Weights) != 0 {
		t.Errorf("%v", f.told)
	}
}
