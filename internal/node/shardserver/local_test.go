package shardserver_test

import (
	"context"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/shardserver"
	"adshard/search"
)

func asked() *search.Request {
	return &search.Request{Query: &search.Query{}, Slots: 4, Profile: search.DefaultProfile(), View: 9, Shard: 1}
}

// TestLocalIsAsStrictAsCalls: what is asked within the process has the same places,
// guard, checks and counts.
func TestLocalIsAsStrictAsCalls(t *testing.T) {
	n := new(noted)
	inside, leave := make(chan struct{}), make(chan struct{})
	st := &testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		switch {
		case r.Slots == 1:
			panic("boom")
		case r.Slots == 2:
			close(inside)
			<-leave
		case r.View == 3:
			return nil, fault.Newf(fault.Stale, "store", "view 3 is over")
		}
		return &search.Answer{View: r.View, Shard: r.Shard}, nil
	}}
	l := shardserver.New(self, st, kept{lacking: "slice 7"}, gate(1), n, nil).Local()
	for range 3 { // places are given back, whatever happens
		a, err := l.Search(t.Context(), asked())
		if err != nil || a.View != 9 || a.WhyIncomplete != "slice 7" || a.Lag != 7*time.Second {
			t.Fatalf("%+v, %v", a, err)
		}
		for kind, spoil := range map[fault.Kind]func(*search.Request){
			fault.Internal: func(r *search.Request) { r.Slots = 1 },
			fault.Invalid:  func(r *search.Request) { r.Shard = 0 },
			fault.Stale:    func(r *search.Request) { r.View = 3 },
		} {
			r := asked()
			spoil(r)
			if _, err := l.Search(t.Context(), r); fault.KindOf(err) != kind {
				t.Fatalf("search: %v, want %v", err, kind)
			}
			if _, err := l.Explain(t.Context(), r, 1); fault.KindOf(err) != kind {
				t.Fatalf("explain: %v, want %v", err, kind)
			}
		}
		if e, err := l.Explain(t.Context(), asked(), 1<<30); err != nil || e.Total != 3 || st.limit != shardserver.MaxExplained {
			t.Fatalf("%+v, %v, limit %d", e, err, st.limit)
		}
	}
	if n.searched != 12 || n.failed != 9 || n.panicked != 6 {
		t.Fatalf("%+v", n)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := asked()
		r.Slots = 2
		_, _ = l.Search(context.Background(), r)
	}()
	<-inside
	if _, err := l.Search(t.Context(), asked()); !fault.Is(err, fault.Overloaded) {
		t.Errorf("search: %v", err)
	}
	if _, err := l.Explain(t.Context(), asked(), 1); !fault.Is(err, fault.Overloaded) {
		t.Errorf("explain: %v", err)
	}
	close(leave)
	<-ended
	if m, err := l.Map(t.Context()); err != nil || m.GetView() != 5 {
		t.Errorf("%v, %v", m, err)
	}
}
