package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"adshard/fault"
	"adshard/search"
	"adshard/search/display"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// part is a slave that serves a part of the ring: an eighth of it for each keyword. It answers
// after a delay.
type part struct {
	keywords []uint64
	damaged  []uint64 // keywords whose pieces are damaged
	delay    time.Duration
	err      error

	mu    sync.Mutex
	views []uint64 // views that it was asked for; guarded by mu
	ends  time.Duration
}

const eighth = 1 << 61

func (p *part) wait(ctx context.Context, view uint64) error {
	p.mu.Lock()
	p.views = append(p.views, view)
	if d, ok := ctx.Deadline(); ok {
		p.ends = time.Until(d)
	}
	p.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(p.delay):
		return p.err
	}
}

func (p *part) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	if err := p.wait(ctx, r.View); err != nil {
		return nil, err
	}
	a := &search.Answer{CountsExact: true, Shards: 1, Answered: 1, AppliedClock: 10 + p.keywords[0], View: r.View}
	for _, k := range p.keywords {
		a.Hits = append(a.Hits, search.Hit{Keyword: k, Advertiser: k, Score: 100 - k, Quality: 1,
			Display: display.New("a", "c", "g", "k", new(display.Ad))})
		if slices.Contains(p.damaged, k) {
			a.Hits[len(a.Hits)-1].Display.Keyword = []byte("\"k\",\"price_micros\":0")
		}
		a.Matched++
		a.Width = a.Width.Add(search.Width{Lo: eighth})
	}
	return a, nil
}

func (p *part) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	if err := p.wait(ctx, r.View); err != nil {
		return nil, err
	}
	e := &search.Explanation{AppliedClock: 10 + p.keywords[0], View: r.View}
	for _, k := range p.keywords[:min(limit, len(p.keywords))] {
		e.Matches = append(e.Matches, search.Explained{Hit: search.Hit{Keyword: k, Score: 100 - k}})
	}
	e.Total = uint64(len(p.keywords))
	return e, nil
}

// listedMaps returns its maps one after the other.
type listedMaps struct {
	list []*Map
	wait time.Duration // until Newer returns the next map
}

func (m *listedMaps) Current() *Map {
	if len(m.list) == 0 {
		return nil
	}
	return m.list[0]
}

func (m *listedMaps) Newer(ctx context.Context, old *Map) *Map {
	if len(m.list) < 2 {
		<-ctx.Done()
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(m.wait):
	}
	m.list = m.list[1:]
	return m.list[0]
}

func three() (a, b, c *part, m *Map) {
	a, b, c = &part{keywords: []uint64{1, 4, 7}}, &part{keywords: []uint64{2, 5, 8}}, &part{keywords: []uint64{3, 6}}
	return a, b, c, &Map{Epoch: 1, View: 5, Shards: []Shard{single("a", Concurrent(a)), single("b", Concurrent(b)), single("c", Concurrent(c))}}
}

func ask(t *testing.T, f *Fanout, timeout time.Duration) (*search.Answer, error) {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	return f.Search(ctx, &search.Request{Query: new(search.Query), Slots: 3})
}

func names(list []search.Missing) (out []string) {
	for _, m := range list {
		out = append(out, m.Shard)
	}
	return out
}

func keywords(a *search.Answer) (ids []uint64) {
	for _, h := range a.Hits {
		ids = append(ids, h.Keyword)
	}
	return ids
}

func TestAllShardsMakeOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c, m := three()
		answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(keywords(answer), []uint64{1, 2, 3, 4}) || answer.Matched != 8 || answer.Width != search.WholeRing() ||
			answer.AppliedClock != 11 || answer.View != 5 || answer.Shards != 3 || answer.Answered != 3 ||
			len(answer.Missing) != 0 || !answer.CountsExact {
			t.Fatalf("%+v", answer)
		}
		for _, p := range []*part{a, b, c} {
			if !slices.Equal(p.views, []uint64{5}) || p.ends != time.Second-maxMargin {
				t.Fatalf("asked for %v with %v to answer", p.views, p.ends)
			}
		}
	})
}

func TestASlowShardIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b, _, m := three()
		b.delay = time.Minute
		began := time.Now()
		answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), 100*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took >= 100*time.Millisecond || took < 90*time.Millisecond {
			t.Errorf("answered after %v", took)
		}
		if !slices.Equal(names(answer.Missing), []string{"b"}) || answer.Shards != 3 || answer.Answered != 2 ||
			answer.Width == search.WholeRing() || answer.CountsExact || !slices.Equal(keywords(answer), []uint64{1, 3, 4, 6}) {
			t.Fatalf("%+v", answer)
		}
	})
}

func TestAnAnswerAtTheLastMomentCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b, _, m := three()
		b.delay = 100*time.Millisecond - maxMargin - time.Microsecond
		answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), 100*time.Millisecond)
		if err != nil || len(answer.Missing) != 0 {
			t.Fatalf("%+v, %v", answer, err)
		}
	})
}

func TestADeadShardIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, c, m := three()
		c.err = fault.Newf(fault.Unavailable, "", "connection refused")
		answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
		if err != nil || !slices.Equal(names(answer.Missing), []string{"c"}) {
			t.Fatalf("%+v, %v", answer, err)
		}
		// All slaves are dead: there is still an answer, which says so.
		for _, s := range m.Shards {
			s.Replicas[0].Slave.(concurrent).Answering.(*part).err = c.err
		}
		answer, err = ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
		if err != nil || len(answer.Missing) != 3 || answer.Width != (search.Width{}) || answer.Shards != 3 || answer.CountsExact {
			t.Fatalf("%+v, %v", answer, err)
		}
	})
}

func TestAStaleViewIsAskedAgainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _, old := three()
		a.err = fault.Newf(fault.Stale, "", "view 5 is over")
		x, y, _, newer := three()
		newer.View = 6
		answer, err := ask(t, New(&listedMaps{list: []*Map{old, newer}, wait: 10 * time.Millisecond}, nil), time.Second)
		if err != nil || answer.View != 6 || answer.Width != search.WholeRing() || answer.Matched != 8 {
			t.Fatalf("%+v, %v", answer, err)
		}
		if !slices.Equal(b.views, []uint64{5}) || !slices.Equal(x.views, []uint64{6}) {
			t.Fatalf("asked for %v and %v", b.views, x.views)
		}
		// Stale a second time: the shard is missing.
		y.err = a.err
		third := &Map{Epoch: 1, View: 7}
		answer, err = ask(t, New(&listedMaps{list: []*Map{old, newer, third}}, nil), time.Second)
		if err != nil || answer.View != 6 || !slices.Equal(names(answer.Missing), []string{"b"}) {
			t.Fatalf("%+v, %v", answer, err)
		}
		// There is no newer map: the answers of the others count.
		answer, err = ask(t, New(&listedMaps{list: []*Map{old}}, nil), time.Second)
		if err != nil || answer.View != 5 || !slices.Equal(names(answer.Missing), []string{"a"}) || answer.Answered != 2 {
			t.Fatalf("%+v, %v", answer, err)
		}
	})
}

func TestWithoutAMapOrPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := ask(t, New(&listedMaps{}, nil), time.Second); !fault.Is(err, fault.Unavailable) {
			t.Errorf("no map: %v", err)
		}
		_, _, _, m := three()
		for _, s := range m.Shards {
			s.Replicas[0].Slave.(concurrent).Answering.(*part).err = overloaded
		}
		if _, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second); !fault.Is(err, fault.Overloaded) {
			t.Errorf("all refuse: %v", err)
		}
	})
}

func TestACallerWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b, _, m := three()
		b.delay = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := New(&listedMaps{list: []*Map{m}}, nil).Search(ctx, &search.Request{Slots: 1})
		if !fault.Is(err, fault.Cancelled) || !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	})
}

// noted is an observer that counts what it is told.
type noted struct {
	quick
	mu                             sync.Mutex
	calls, failed, merged, retried int
	missing                        []search.Missing
	out                            []string
}

func (n *noted) Called(_, _ string, _ time.Duration, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	if err != nil {
		n.failed++
	}
}

func (n *noted) Merged(time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.merged++
}

func (n *noted) Retried() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.retried++
}

func (n *noted) Missing(name string, why search.Reason) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.missing = append(n.missing, search.Missing{Shard: name, Reason: why})
}

func (n *noted) LeftOut(_, name string, why Absence) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.out = append(n.out, fmt.Sprintf("%s %s", name, why))
}

func TestTheObserverIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b, _, m := three()
		b.err = stale
		n := new(noted)
		if _, err := ask(t, New(&listedMaps{list: []*Map{m}}, n), time.Second); err != nil {
			t.Fatal(err)
		}
		if n.calls != 3 || n.failed != 1 || n.merged != 1 || n.retried != 1 ||
			!slices.Equal(n.missing, []search.Missing{{Shard: "b", Reason: search.Outdated}}) {
			t.Fatalf("%+v", n)
		}
	})
}

func TestExplanationsAreUnited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b, _, m := three()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		f := New(&listedMaps{list: []*Map{m}}, nil)
		e, err := f.Explain(ctx, &search.Request{}, 5)
		if err != nil || e.Total != 8 || len(e.Matches) != 5 || e.AppliedClock != 11 || e.View != 5 {
			t.Fatalf("%+v, %v", e, err)
		}
		for i, x := range e.Matches {
			if x.Keyword != uint64(i+1) {
				t.Fatalf("place %d has keyword %d", i, x.Keyword)
			}
		}
		b.delay = time.Minute
		if e, err = f.Explain(ctx, &search.Request{}, 5); err != nil || !slices.Equal(names(e.Missing), []string{"b"}) {
			t.Fatalf("%+v, %v", e, err)
		}
	})
}
