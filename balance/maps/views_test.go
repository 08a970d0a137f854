package maps

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/cluster/clustertest"
)

// published returns views of a durable model of the shards a and b, whose slaves have the
// given views.
func published(t *testing.T, a, b uint64) (w *Views, c *cluster.Cluster) {
	t.Helper()
	c, _ = clustertest.New(t, cluster.Config{Strategy: clustertest.Proposes{}}, balance.Active)
	c.Loaded = true
	w = New(c, cluster.NewJournal())
	w.Stage(cluster.Change{Model: c.Model}, balance.State{})
	c.Model = nil
	if save, quanta := w.Out(); save == nil || quanta != nil {
		t.Fatalf("to save %v, sent before it is durable %v", save, quanta)
	}
	if w.Saved(99) || !w.Saved(1) {
		t.Fatal("the state is not known by its number")
	}
	if _, ok := w.Commit(0); !ok {
		t.Fatal("not committed")
	}
	c.Slave("a").Table.View, c.Slave("b").Table.View = a, b
	return w, c
}

// TestViewsArePublishedWhenAllHaveThem: a view is published when all living slaves have it.
func TestViewsArePublishedWhenAllHaveThem(t *testing.T) {
	w, c := published(t, 1, 0)
	view := c.Model.View()
	c.Slave("a").Table.View = view
	if view == 0 || w.Publish(0) || w.published != nil {
		t.Fatalf("view %d is published before b has it", view)
	}
	c.Slave("b").Table.View = view
	w.delayed["b"] = view - 1
	if w.Publish(0) {
		t.Fatal("published though it waits for b to join")
	}
	delete(w.delayed, "b")
	if !w.Publish(0) || w.published.View() != view || w.Publish(0) {
		t.Errorf("published %v", w.published)
	}
	if oldest, _ := w.OldestAsked(0); oldest != view {
		t.Errorf("the oldest that may be asked is %d", oldest)
	}
	w.masters["m"] = master{view: view - 1, heard: time.Second}
	if oldest, _ := w.OldestAsked(time.Second); oldest != view-1 {
		t.Errorf("the oldest is %d though a master has %d", oldest, view-1)
	}
	if oldest, _ := w.OldestAsked(time.Second + c.Config.MasterLease); oldest != view {
		t.Errorf("the oldest is %d after the master's lease", oldest)
	}
}

// TestViewsKeepTheFloor: nothing is sent before the clock has reached the floor.
func TestViewsKeepTheFloor(t *testing.T) {
	w, c := published(t, 0, 0)
	w.Out()
	w.floor = 9
	w.Stage(cluster.Change{Model: c.Model, Ops: []balance.Op{}}, balance.State{})
	w.Saved(2)
	if _, ok := w.Commit(0); ok {
		t.Fatal("committed below the floor")
	}
	c.Clock = 9
	if _, ok := w.Commit(0); !ok {
		t.Fatal("not committed at the floor")
	}
	if _, quanta := w.Out(); len(quanta) != 1 || quanta[0].Clock != 9 || quanta[0].Number != 2 {
		t.Errorf("sent %+v", quanta)
	}
}
