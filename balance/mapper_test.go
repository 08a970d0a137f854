package balance_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"adshard/balance"
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

// planned returns a mapper of one node whose first quantum went out.
func planned(t *testing.T, s balance.Strategy, nodes ...string) *balance.Mapper {
	t.Helper()
	m, err := balance.NewMapper(balance.MapperConfig{
		Epoch: 1, Nodes: len(nodes), Strategy: s, Pace: balance.DefaultPace, Beat: balance.DefaultBeat, Interval: time.Second,
	}, &balance.Index{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Loaded(0, 10)
	for _, n := range nodes {
		if err := m.Join(0, balance.Joining{Name: n}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func saved(m *balance.Mapper, now time.Duration) balance.MapperOut {
	out := m.Out()
	if out.Save != nil {
		m.Saved(now, out.Save.Seq)
		more := m.Out()
		more.Troubles = append(out.Troubles, more.Troubles...)
		return more
	}
	return out
}

func TestIterationsThatMoveAreRefused(t *testing.T) {
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
	for name, bad := range map[string]func(in balance.Input) (balance.Proposal, error){
		"stay where they are": func(in balance.Input) (balance.Proposal, error) {
			return balance.Proposal{Ops: []balance.Op{{Kind: balance.OpMap, Slice: 1, Node: 2}}}, nil
		},
		"cannot be": func(in balance.Input) (balance.Proposal, error) {
			return balance.Proposal{Ops: []balance.Op{{Kind: balance.OpSplit, Slice: 77, At: 5, New: 9}}}, nil
		},
		"no idea": func(balance.Input) (balance.Proposal, error) { return balance.Proposal{}, errors.New("no idea") },
	} {
		before, now := m.Model(), m.Next()+2*time.Second
		next = bad
		m.Tick(now)
		out := saved(m, now)
		if m.Model() != before || len(out.Troubles) != 1 || !strings.Contains(out.Troubles[0].Error(), name) {
			t.Errorf("%s: %v", name, out.Troubles)
		}
		m.Tick(now + 2*time.Second) // let it go on
		m.Out()
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

// TestQuantaKeepTheirPace: a change waits 10 ms at most, nothing 200 ms.
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
	d := balance.NewDistributor[content](balance.DistributorConfig{Epoch: 3}, m.Items(), 10)
	if _, err := d.Register(balance.Joining{Name: "a", Position: balance.Position{Epoch: 4}}, 10); !fault.Is(err, fault.Conflict) {
		t.Errorf("a node of a later epoch: %v", err)
	}
}

// TestNodesThatContradictThemselves are filled anew, as are those that know
// changes which the feed does not have.
func TestNodesThatContradictThemselves(t *testing.T) {
	whole := balance.Table{View: 1, Slices: []balance.Held{{ID: 1, Hi: balance.MaxKey, Generation: 1, From: 1}}}
	held := balance.Table{View: 1, Slices: []balance.Held{{ID: 1, Hi: balance.MaxKey, Generation: 1}}}
	good := balance.Position{Epoch: 1, Clock: 5, Quantum: 1}
	filling := balance.Position{Epoch: 1, Clock: 5, Quantum: 1, Offset: 7}
	for _, c := range []struct {
		name   string
		at     balance.Position
		table  balance.Table
		newest uint64
		reset  bool
	}{
		{"follows", good, whole, 10, false},
		{"goes on with its filling", filling, held, 10, false},
		{"says it is empty", balance.Position{}, balance.Table{}, 10, true},
		{"empty with slices", balance.Position{}, whole, 10, true},
		{"filled and not serving", good, held, 10, true},
		{"filling and serving", filling, whole, 10, true},
		{"other slices", good, balance.Table{}, 10, true},
		{"of another database", balance.Position{Epoch: 1, Clock: 99}, whole, 10, true},
	} {
		m := planned(t, stubborn{}, "a")
		d := balance.NewDistributor[content](balance.DistributorConfig{Epoch: 1}, m.Items(), 10)
		for _, q := range saved(m, 0).Quanta {
			if err := d.Quantum(q); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Register(balance.Joining{Name: "a", Position: c.at, Table: c.table}, c.newest); err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Work().Fetches {
			d.Fetched(balance.Fetched{Node: "a", Seq: f.Seq})
		}
		d.Work()
		b, err := d.Pull("a", 1, c.at)
		if err != nil || b == nil || b.Reset != c.reset {
			t.Errorf("%s: %+v, %v", c.name, b, err)
		}
	}
}

// TestANodeAheadWaits: a node that knows changes which this balancer has still
// to read gets nothing until they are read.
func TestANodeAheadWaits(t *testing.T) {
	m := planned(t, stubborn{}, "a")
	d := balance.NewDistributor[content](balance.DistributorConfig{Epoch: 1}, m.Items(), 10)
	feed := func(now time.Duration, list ...balance.Change) {
		m.Changes(now, list)
		if err := d.Changes(list); err != nil {
			t.Fatal(err)
		}
		for _, q := range saved(m, now).Quanta {
			if err := d.Quantum(q); err != nil {
				t.Fatal(err)
			}
		}
	}
	feed(0)
	at := balance.Position{Epoch: 1, Clock: 12, Quantum: 4, Offset: 7}
	held := balance.Table{View: 1, Slices: []balance.Held{{ID: 1, Hi: balance.MaxKey, Generation: 1}}}
	if _, err := d.Register(balance.Joining{Name: "a", Position: at, Table: held}, 12); err != nil {
		t.Fatal(err)
	}
	if w := d.Work(); len(w.Builds)+len(w.Fetches) > 0 {
		t.Fatalf("too early: %+v", w)
	}
	feed(time.Second, balance.Change{Clock: 11, Key: 3}, balance.Change{Clock: 12, Key: 9})
	w := d.Work()
	if len(w.Builds) != 1 || len(w.Builds[0].Entries) != 1 || w.Builds[0].Entries[0].Key != 9 {
		t.Fatalf("the item that is still to come is not built: %+v", w)
	}
}
