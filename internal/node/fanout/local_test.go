package fanout

import (
	"context"
	"errors"
	"testing"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// echo is a slave in this process that answers as the shard that was asked, or as another one.
type echo struct {
	as    search.ShardID // 0 for the shard that was asked
	asked search.ShardID
	err   error
}

func (e *echo) from(r *search.Request) search.ShardID {
	e.asked = r.Shard
	if e.as != 0 {
		return e.as
	}
	return r.Shard
}

func (e *echo) Search(_ context.Context, r *search.Request) (*search.Answer, error) {
	return &search.Answer{Shard: e.from(r)}, e.err
}

func (e *echo) Explain(_ context.Context, r *search.Request, _ int) (*search.Explanation, error) {
	return &search.Explanation{Shard: e.from(r), Matches: make([]search.Explained, 2)}, e.err
}

func (*echo) Map(context.Context) (*pb.MapResponse, error) { return nil, nil }

// TestSlavesOfThisProcessAreAskedDirectly: slaves in this process are asked directly, under their
// shard's id. Others are dialled.
func TestSlavesOfThisProcessAreAskedDirectly(t *testing.T) {
	e := new(echo)
	elsewhere := errors.New("dialled")
	dial := Within(func(address string) Local {
		if address == "here" {
			return e
		}
		return nil
	}, func(Target) (Slave, func() error, error) { return nil, nil, elsewhere })
	if _, _, err := dial(Target{Shard: "slave-1", ID: 7, Address: "there"}); !errors.Is(err, elsewhere) {
		t.Fatal(err)
	}
	s, hangUp, err := dial(Target{Shard: "slave-0", ID: 7, Address: "here"})
	if err != nil {
		t.Fatal(err)
	}
	r := &search.Request{View: 3}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if a, err := Ask(ctx, s, r); err != nil || a.Shard != 7 || e.asked != 7 || r.Shard != 0 {
		t.Fatalf("%+v, %v; asked %d, the request is of %d", a, err, e.asked, r.Shard)
	}
	if x, err := s.Explain(t.Context(), r, 2); err != nil || x.Matches[1].Shard != "slave-0" {
		t.Fatalf("%+v, %v", x, err)
	}
	e.as = 8
	if _, err := Ask(ctx, s, r); !fault.Is(err, fault.Conflict) {
		t.Errorf("the answer of another shard: %v", err)
	}
	if _, err := s.Explain(t.Context(), r, 2); !fault.Is(err, fault.Conflict) {
		t.Errorf("the explanation of another shard: %v", err)
	}
	e.err = fault.Newf(fault.Stale, "store", "view 3 is over")
	if _, err := Ask(ctx, s, r); !fault.Is(err, fault.Stale) {
		t.Errorf("%v", err)
	}
	if err := hangUp(); err != nil {
		t.Error(err)
	}
}
