package mapper_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/delivery"
	"adshard/balance/mapper"
	"adshard/fault"
)

// stubborn is a strategy that proposes what a test wants.
type stubborn struct {
	initial, iterate func(balance.Input) (balance.Proposal, error)
}

func (stubborn) Name() string { return "stubborn" }

func (s stubborn) Initial(in balance.Input) (balance.Proposal, error) {
	if s.initial == nil {
		return balance.Proposal{}, nil
	}
	return s.initial(in)
}

func (s stubborn) Iterate(in balance.Input) (balance.Proposal, error) {
	if s.iterate == nil {
		return balance.Proposal{}, nil
	}
	return s.iterate(in)
}

// planned returns a mapper whose first quantum was sent.
func planned(t *testing.T, s balance.Strategy, slaves ...string) *mapper.Mapper {
	t.Helper()
	m, err := mapper.New(cluster.Config{
		Epoch: 1, Slaves: len(slaves), Strategy: s, Pace: cluster.DefaultPace, Beat: cluster.DefaultBeat, Interval: time.Second,
	}, &balance.Index{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Loaded(0, 10)
	for _, n := range slaves {
		if err := m.Join(0, balance.Joining{Name: n}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func saved(m *mapper.Mapper, now time.Duration) mapper.Out {
	out := m.Out()
	if out.Save != nil {
		m.Saved(now, out.Save.Seq)
		more := m.Out()
		more.Troubles = append(out.Troubles, more.Troubles...)
		return more
	}
	return out
}

// TestProposalsThatAreNonsense: invalid proposals are refused completely, with a reason, and
// the mapper goes on.
func TestProposalsThatAreNonsense(t *testing.T) {
	split := func(in balance.Input) (balance.Proposal, error) {
		e := in.Model.Edit()
		_, err := e.Split(in.Model.Slices()[0].ID, 1<<60)
		return balance.Proposal{Ops: e.Ops()}, err
	}
	next := split
	m := planned(t, stubborn{iterate: func(in balance.Input) (balance.Proposal, error) { return next(in) }}, "a", "b")
	saved(m, 0)
	m.Tick(time.Second)
	if out := saved(m, time.Second); len(out.Quanta) == 0 || len(m.Model().Slices()) != 2 || m.Model().View() != 1 {
		t.Fatalf("a split was not done: %+v, %v", out, m.Model().Slices())
	}
	now := time.Second
	for name, bad := range map[string]func(in balance.Input) (balance.Proposal, error){
		"only split, merge and start": func(in balance.Input) (balance.Proposal, error) {
			return balance.Proposal{Ops: []balance.Op{{Kind: balance.OpMap, Slice: 1, Shard: 2}}}, nil
		},
		"not possible": func(in balance.Input) (balance.Proposal, error) {
			return balance.Proposal{Ops: []balance.Op{{Kind: balance.OpSplit, Slice: 77, At: 5, New: 9}}}, nil
		},
		"there is no shard 9": func(in balance.Input) (balance.Proposal, error) {
			return balance.Proposal{Ops: []balance.Op{{Kind: balance.OpStart, Slice: 1, Shard: 9}}}, nil
		},
		"there is no slice 5": func(in balance.Input) (balance.Proposal, error) {
			return balance.Proposal{Ops: []balance.Op{{Kind: balance.OpStart, Slice: 5, Shard: 2}}}, nil
		},
		"on its way already": func(in balance.Input) (balance.Proposal, error) {
			return balance.Proposal{Ops: []balance.Op{
				{Kind: balance.OpStart, Slice: 1, Shard: 2}, {Kind: balance.OpStart, Slice: 1, Shard: 2},
			}}, nil
		},
		"no idea": func(balance.Input) (balance.Proposal, error) { return balance.Proposal{}, errors.New("no idea") },
	} {
		before := m.Model()
		now += time.Second
		next = bad
		m.Tick(now)
		out := saved(m, now)
		if m.Model() != before || len(out.Troubles) != 1 || !strings.Contains(out.Troubles[0].Error(), name) {
			t.Errorf("%s: %v", name, out.Troubles)
		}
		if s := m.Status(now); !strings.Contains(s.Last.Refused, name) {
			t.Errorf("%s: the status says %q", name, s.Last.Refused)
		}
	}
}

func TestAPlanThatFailsIsTriedAgain(t *testing.T) {
	fail := true
	m := planned(t, stubborn{initial: func(balance.Input) (balance.Proposal, error) {
		if fail {
			return balance.Proposal{}, errors.New("not now")
		}
		return balance.Proposal{}, nil
	}}, "a")
	if out := m.Out(); len(out.Troubles) != 1 || out.Save != nil {
		t.Fatalf("%+v", out)
	}
	fail = false
	m.Tick(500 * time.Millisecond)
	if out := m.Out(); out.Save != nil {
		t.Fatal("tried again too soon")
	}
	m.Tick(2 * time.Second)
	if out := saved(m, 2*time.Second); len(out.Quanta) != 1 || out.Quanta[0].Model == nil || out.Quanta[0].Clock != 10 {
		t.Fatalf("%+v", out)
	}
}

// TestQuantaKeepTheirPace: a change waits for at most 10 ms; without changes there is a
// quantum every 200 ms.
func TestQuantaKeepTheirPace(t *testing.T) {
	m := planned(t, stubborn{}, "a")
	saved(m, 0)
	quanta := 0
	for now := time.Duration(0); now < time.Second; now += time.Millisecond {
		m.Changes(now, []balance.Change{{Clock: 11 + uint64(now), Key: 5}})
		quanta += len(m.Out().Quanta)
	}
	if quanta < 90 || quanta > 100 {
		t.Errorf("%d quanta in a second of changes", quanta)
	}
	quanta = 0
	for now := time.Second; now < 2*time.Second; now += time.Millisecond {
		if m.Next() <= now {
			m.Tick(now)
		}
		quanta += len(m.Out().Quanta)
	}
	if quanta < 4 || quanta > 6 {
		t.Errorf("%d quanta in a second of silence", quanta)
	}
}

func TestJoinsThatAreNonsense(t *testing.T) {
	m := planned(t, stubborn{}, "a")
	overlap := balance.Table{View: 1, Slices: []balance.Held{{ID: 1, Hi: 9, From: 1}, {ID: 2, Lo: 9, Hi: 20, From: 1}}}
	for _, j := range []balance.Joining{{}, {Name: "b", Table: overlap}} {
		if err := m.Join(0, j); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", j, err)
		}
	}
	d := delivery.New[content](delivery.Config{Epoch: 3}, m.Items(), 10)
	if _, err := d.Register(balance.Joining{Name: "a", Position: balance.Position{Epoch: 4}}, 10); !fault.Is(err, fault.Conflict) {
		t.Errorf("a slave of a later epoch: %v", err)
	}
}
