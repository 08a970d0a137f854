package fanout

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// older is a slave that explains what matches whatever it is asked.
type older struct{ pb.SlaveClient }

func (older) Explain(context.Context, *pb.ExplainRequest, ...grpc.CallOption) (*pb.ExplainResponse, error) {
	return &pb.ExplainResponse{Shard: 7, Total: 3}, nil
}

// TestOlderSlavesDoNotExplainNames: what they say of other keywords does not count.
func TestOlderSlavesDoNotExplainNames(t *testing.T) {
	c := NewClient(Target{Shard: "slave-0", ID: 7}, older{})
	r := &search.Request{Query: &search.Query{}, Slots: 4}
	if e, err := c.Explain(t.Context(), r, 5); err != nil || e.Total != 3 {
		t.Fatal(e, err)
	}
	r.Wanted.Keyword = 9
	if _, err := c.Explain(t.Context(), r, 5); !fault.Is(err, fault.Version) {
		t.Fatal(err)
	}
}
