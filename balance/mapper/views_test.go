package mapper

import (
	"testing"
	"time"

	"adshard/balance"
)

// published returns views of a model of the shards a and b that is durable, whose slaves have
// the views that are given.
func published(t *testing.T, a, b uint64) (w *views, c *cluster) {
	t.Helper()
	_, c, _ = planning(t, Config{Strategy: proposes{}}, balance.Active)
	c.loaded = true
	w = newViews(c, newJournal())
	w.stage(modelChange{model: c.model}, balance.State{})
	c.model = nil
	if save, quanta := w.out(); save == nil || quanta != nil {
		t.Fatalf("to save %v, sent before it is durable %v", save, quanta)
	}
	if w.saved(99) || !w.saved(1) {
		t.Fatal("the state is not known by its number")
	}
	if _, ok := w.commit(0); !ok {
		t.Fatal("not committed")
	}
	c.node("a").table.View, c.node("b").table.View = a, b
	return w, c
}

// TestViewsArePublishedWhenAllHaveThem: of those that live.
func TestViewsArePublishedWhenAllHaveThem(t *testing.T) {
	w, c := published(t, 1, 0)
	view := c.model.View()
	c.node("a").table.View = view
	if view == 0 || w.publish(0) || w.published != nil {
		t.Fatalf("view %d is published before b has it", view)
	}
	c.node("b").table.View = view
	w.delayed["b"] = view - 1
	if w.publish(0) {
		t.Fatal("published though it waits for b to join")
	}
	delete(w.delayed, "b")
	if !w.publish(0) || w.published.View() != view || w.publish(0) {
		t.Errorf("published %v", w.published)
	}
	if oldest, _ := w.oldestAsked(0); oldest != view {
		t.Errorf("the oldest that may be asked is %d", oldest)
	}
	w.masters["m"] = master{view: view - 1, heard: time.Second}
	if oldest, _ := w.oldestAsked(time.Second); oldest != view-1 {
		t.Errorf("the oldest is %d though a master has %d", oldest, view-1)
	}
	if oldest, _ := w.oldestAsked(time.Second + c.cfg.MasterLease); oldest != view {
		t.Errorf("the oldest is %d after the master's lease", oldest)
	}
}

// TestViewsKeepTheFloor: nothing is sent before the clock has reached it.
func TestViewsKeepTheFloor(t *testing.T) {
	w, c := published(t, 0, 0)
	w.out()
	w.floor = 9
	w.stage(modelChange{model: c.model, ops: []balance.Op{}}, balance.State{})
	w.saved(2)
	if _, ok := w.commit(0); ok {
		t.Fatal("committed below the floor")
	}
	c.clock = 9
	if _, ok := w.commit(0); !ok {
		t.Fatal("not committed at the floor")
	}
	if _, quanta := w.out(); len(quanta) != 1 || quanta[0].Clock != 9 || quanta[0].Number != 2 {
		t.Errorf("sent %+v", quanta)
	}
}
