package delivery_test

import (
	"testing"

	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/fault"
)

// content is the content of a bucket in these tests: nothing.
type content struct{}

// follower returns a distributor at clock 10 that knows a model in which slave a has
// everything.
func follower(t *testing.T, items balance.Items) *delivery.Distributor[content] {
	t.Helper()
	base, err := balance.NewModel([]balance.Shard{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := base.Edit().Model()
	if err != nil {
		t.Fatal(err)
	}
	d := delivery.New[content](delivery.Config{Epoch: 1}, items, 10)
	if err := d.Quantum(balance.Quantum{Epoch: 1, Number: 4, Clock: 10, View: 1, Model: model}); err != nil {
		t.Fatal(err)
	}
	return d
}

func all(state balance.HeldState, from uint64) balance.Table {
	return balance.Table{View: 1, Slices: []balance.Held{{ID: 1, Hi: balance.MaxKey, Generation: 1, From: from, State: state}}}
}

// TestSlavesThatContradictThemselves: slaves that contradict themselves are refilled, and so
// are those that know changes that the feed does not have. All other slaves go on with what
// they have.
func TestSlavesThatContradictThemselves(t *testing.T) {
	good := balance.Position{Epoch: 1, Clock: 5, Quantum: 1}
	filling := balance.Position{Epoch: 1, Clock: 5, Quantum: 1, Offset: 7}
	overlap := balance.Table{Slices: []balance.Held{{ID: 1, Hi: 9}, {ID: 2, Lo: 9, Hi: 12}}}
	for _, c := range []struct {
		name   string
		at     balance.Position
		table  balance.Table
		newest uint64
		reset  bool
	}{
		{"follows", good, all(balance.Full, 1), 10, false},
		{"is not told yet that it serves", good, all(balance.Full, 0), 10, false},
		{"goes on with its filling", filling, all(balance.Filling, 0), 10, false},
		{"has residue", good, all(balance.Residue, 0), 10, false},
		{"has nothing of what it should", good, balance.Table{}, 10, false},
		{"says it is empty", balance.Position{}, balance.Table{}, 10, true},
		{"empty with slices", balance.Position{}, all(balance.Full, 1), 10, true},
		{"fills nothing", filling, all(balance.Full, 0), 10, true},
		{"fills without an offset", good, all(balance.Filling, 0), 10, true},
		{"serves what is filling", filling, all(balance.Filling, 1), 10, true},
		{"slices overlap", good, overlap, 10, true},
		{"of another database", balance.Position{Epoch: 1, Clock: 99}, all(balance.Full, 1), 10, true},
	} {
		d := follower(t, &balance.Index{})
		if _, err := d.Register(balance.Joining{Name: "a", Position: c.at, Table: c.table}, c.newest); err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Work().Fetches {
			d.Fetched(delivery.Fetched{Slave: "a", Seq: f.Seq})
		}
		d.Work()
		b, err := d.Pull("a", 1, c.at)
		if err != nil || b == nil || b.Reset != c.reset {
			t.Errorf("%s: %+v, %v", c.name, b, err)
		}
	}
}

// TestASlaveAheadWaits: a slave that knows changes or quanta that this distributor has not
// read yet gets nothing until they are read.
func TestASlaveAheadWaits(t *testing.T) {
	items := &balance.Index{}
	d := follower(t, items)
	at := balance.Position{Epoch: 1, Clock: 12, Quantum: 6, Offset: 7}
	if _, err := d.Register(balance.Joining{Name: "a", Position: at, Table: all(balance.Filling, 0)}, 12); err != nil {
		t.Fatal(err)
	}
	nothing := func() {
		t.Helper()
		if w := d.Work(); len(w.Builds)+len(w.Fetches) > 0 {
			t.Fatalf("too early: %+v", w)
		}
	}
	nothing()
	items.Put(3, 1)
	items.Put(9, 1)
	if err := d.Changes([]balance.Change{{Clock: 11, Key: 3}, {Clock: 12, Key: 9}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Quantum(balance.Quantum{Epoch: 1, Number: 5, Clock: 12, View: 1}); err != nil {
		t.Fatal(err)
	}
	nothing()
	if err := d.Quantum(balance.Quantum{Epoch: 1, Number: 6, Clock: 12, View: 1}); err != nil {
		t.Fatal(err)
	}
	w := d.Work()
	if len(w.Builds) != 1 || len(w.Builds[0].Entries) != 1 || w.Builds[0].Entries[0].Key != 9 {
		t.Fatalf("the item that is still to come is not built: %+v", w)
	}
}

// TestAlone: without a mapper, changes continue under the last model if the distributor was
// told so; otherwise they wait for a quantum.
func TestAlone(t *testing.T) {
	items := &balance.Index{}
	d := follower(t, items)
	at := balance.Position{Epoch: 1, Clock: 10, Quantum: 4}
	if _, err := d.Register(balance.Joining{Name: "a", Position: at, Table: all(balance.Full, 1)}, 10); err != nil {
		t.Fatal(err)
	}
	items.Put(3, 1)
	if err := d.Changes([]balance.Change{{Clock: 11, Key: 3}}); err != nil {
		t.Fatal(err)
	}
	if w := d.Work(); len(w.Builds) > 0 {
		t.Fatalf("too early: %+v", w)
	}
	d.Alone(true)
	w := d.Work()
	if len(w.Builds) != 1 || w.Builds[0].Clock != 11 || d.Head() != 11 {
		t.Fatalf("alone at %d: %+v", d.Head(), w)
	}
	d.Alone(false)
	d.Built(delivery.Built[content]{Slave: "a", Seq: w.Builds[0].Seq, Entries: 1})
	if err := d.Changes([]balance.Change{{Clock: 12, Key: 3}}); err != nil {
		t.Fatal(err)
	}
	if w := d.Work(); len(w.Builds) > 0 {
		t.Fatalf("not alone any more: %+v", w)
	}
	if err := d.Quantum(balance.Quantum{Epoch: 1, Number: 3, Clock: 12, View: 1, Model: d.Model()}); !fault.Is(err, fault.Stale) {
		t.Fatalf("a model of the past: %v", err)
	}
	if err := d.Quantum(balance.Quantum{Epoch: 1, Number: 9, Clock: 12, View: 1, Model: d.Model()}); err != nil {
		t.Fatal(err)
	}
	if w := d.Work(); len(w.Builds) != 1 {
		t.Fatalf("after the reinitialising quantum: %+v", w)
	}
}
