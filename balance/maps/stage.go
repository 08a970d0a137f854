package maps

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// staged is a change of the model that is not durable yet.
type staged struct {
	cluster.Change
	seq     uint64
	durable bool // it only waits for the floor
}

// Stage starts to save a new model. s has the other data that are saved with it.
func (w *Views) Stage(c cluster.Change, s balance.State) {
	w.saves++
	w.staged = &staged{Change: c, seq: w.saves}
	s.Quantum, s.Model = w.number, c.Model
	w.save = &SaveState{Seq: w.saves, Bytes: s.Encode()}
}

// Stages reports whether the change that is not durable yet has an operation for which `is` returns true.
func (w *Views) Stages(is func(balance.Op) bool) bool {
	return w.staged != nil && slices.ContainsFunc(w.staged.Ops, is)
}

// Saved notes that a state is durable. It returns false if that state is not the expected one.
func (w *Views) Saved(seq uint64) bool {
	if w.staged == nil || w.staged.seq != seq {
		return false
	}
	w.staged.durable = true
	return true
}

// Commit makes a durable model the newest model, and sends it. ok is false if the floor is not reached yet.
func (w *Views) Commit(now time.Duration) (c cluster.Change, ok bool) {
	if w.Clock < w.floor {
		return c, false
	}
	c = w.staged.Change
	old := w.Model
	w.staged, w.Model = nil, c.Model
	if w.published != nil {
		w.published = w.published.WithMembers(c.Model)
	}
	if c.Ops == nil {
		w.emit(now, balance.Quantum{Model: c.Model})
	} else {
		w.emit(now, balance.Quantum{Ops: c.Ops})
	}
	if old == nil || old.View() != c.Model.View() || c.Ops == nil {
		w.await(now, c.Model)
	}
	return c, true
}

// emit stamps a quantum and sends it.
func (w *Views) emit(now time.Duration, q balance.Quantum) {
	w.number++
	q.Epoch, q.Number, q.Clock, q.View = w.Config.Epoch, w.number, w.Clock, w.Model.View()
	w.last, w.stamped = now, w.Clock
	w.quanta = append(w.quanta, q)
}

// Next returns when the next quantum is due.
func (w *Views) Next() time.Duration {
	if w.Model != nil && w.Loaded && w.Clock > w.stamped {
		return w.last + w.Config.Pace
	}
	return w.last + w.Config.Beat
}

// Beat sends a quantum if one is due.
func (w *Views) Beat(now time.Duration) {
	switch {
	case w.Model == nil:
		w.last = now
	case w.Clock > w.stamped && now >= w.last+w.Config.Pace || now >= w.last+w.Config.Beat:
		w.emit(now, balance.Quantum{})
	}
}

// Out returns the state to save and the quanta to send, each once.
func (w *Views) Out() (*SaveState, []balance.Quantum) {
	save, quanta := w.save, w.quanta
	w.save, w.quanta = nil, nil
	return save, quanta
}

// Reinit does what Mapper.Reinit says.
func (w *Views) Reinit() (balance.Quantum, bool) {
	if w.Model == nil || !w.Loaded || w.number == 0 || w.stamped < w.floor {
		return balance.Quantum{}, false
	}
	return balance.Quantum{
		Epoch: w.Config.Epoch, Number: w.number, Clock: w.stamped, View: w.Model.View(), Model: w.Model,
	}, true
}

// Resume continues after the quanta of an earlier mapper. Masters may still have views of that mapper.
func (w *Views) Resume(quantum uint64) { w.number, w.resumed = quantum, true }

// ItemsLoaded allows sending to begin. It reports whether there is a saved model, which can be committed at
// once.
func (w *Views) ItemsLoaded(now time.Duration) bool {
	w.since = now
	if w.Model == nil {
		return false
	}
	w.staged = &staged{Change: cluster.Change{Model: w.Model}, durable: true}
	return true
}

// SetFloor raises the floor, the least clock that quanta may have.
func (w *Views) SetFloor(clock uint64) { w.floor = max(w.floor, clock) }

// FloorReached reports whether quanta may be sent.
func (w *Views) FloorReached() bool { return w.Clock >= w.floor }

// Saving reports whether a change waits to become durable and to be sent.
func (w *Views) Saving() bool { return w.staged != nil }

// SaveDone reports whether the change is durable and only waits for the floor.
func (w *Views) SaveDone() bool { return w.staged != nil && w.staged.durable }

// SaveState is a state that must be durable before the mapper continues.
type SaveState struct {
	Seq   uint64
	Bytes []byte
}
