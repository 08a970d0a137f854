package mapper

import (
	"slices"
	"time"

	"adshard/balance"
)

// staged is a change of the model that is not durable yet.
type staged struct {
	modelChange
	seq     uint64
	durable bool // only the floor is awaited
}

// stage asks for a new model to be made durable. What else is saved with it is in s.
func (w *views) stage(c modelChange, s balance.State) {
	w.saves++
	w.staged = &staged{modelChange: c, seq: w.saves}
	s.Quantum, s.Model = w.number, c.model
	w.save = &SaveState{Seq: w.saves, Bytes: s.Encode()}
}

// stages reports whether a change that is not durable yet has such an operation.
func (w *views) stages(is func(balance.Op) bool) bool {
	return w.staged != nil && slices.ContainsFunc(w.staged.ops, is)
}

// saved notes that a state is durable; false: it is not the one that is waited for.
func (w *views) saved(seq uint64) bool {
	if w.staged == nil || w.staged.seq != seq {
		return false
	}
	w.staged.durable = true
	return true
}

// commit makes the model that is durable the newest and sends it; false: the floor is not
// reached.
func (w *views) commit(now time.Duration) (c modelChange, ok bool) {
	if w.clock < w.floor {
		return c, false
	}
	c = w.staged.modelChange
	old := w.model
	w.staged, w.model = nil, c.model
	if w.published != nil {
		w.published = w.published.WithMembers(c.model)
	}
	if c.ops == nil {
		w.emit(now, balance.Quantum{Model: c.model})
	} else {
		w.emit(now, balance.Quantum{Ops: c.ops})
	}
	if old == nil || old.View() != c.model.View() || c.ops == nil {
		w.await(now, c.model)
	}
	return c, true
}

// emit stamps a quantum and sends it.
func (w *views) emit(now time.Duration, q balance.Quantum) {
	w.number++
	q.Epoch, q.Number, q.Clock, q.View = w.cfg.Epoch, w.number, w.clock, w.model.View()
	w.last, w.stamped = now, w.clock
	w.quanta = append(w.quanta, q)
}

// next returns when the next quantum is due.
func (w *views) next() time.Duration {
	if w.model != nil && w.loaded && w.clock > w.stamped {
		return w.last + w.cfg.Pace
	}
	return w.last + w.cfg.Beat
}

// beat sends a quantum if one is due.
func (w *views) beat(now time.Duration) {
	switch {
	case w.model == nil:
		w.last = now
	case w.clock > w.stamped && now >= w.last+w.cfg.Pace || now >= w.last+w.cfg.Beat:
		w.emit(now, balance.Quantum{})
	}
}

// out returns the state to save and the quanta to send, each once.
func (w *views) out() (*SaveState, []balance.Quantum) {
	save, quanta := w.save, w.quanta
	w.save, w.quanta = nil, nil
	return save, quanta
}

// reinit is Mapper.Reinit.
func (w *views) reinit() (balance.Quantum, bool) {
	if w.model == nil || !w.loaded || w.number == 0 || w.stamped < w.floor {
		return balance.Quantum{}, false
	}
	return balance.Quantum{
		Epoch: w.cfg.Epoch, Number: w.number, Clock: w.stamped, View: w.model.View(), Model: w.model,
	}, true
}

// resume continues after the quanta of an earlier mapper, whose views masters may have.
func (w *views) resume(quantum uint64) { w.number, w.resumed = quantum, true }

// itemsLoaded begins to send. It reports whether there is a model, which is durable already, to be committed.
func (w *views) itemsLoaded(now time.Duration) bool {
	w.since = now
	if w.model == nil {
		return false
	}
	w.staged = &staged{modelChange: modelChange{model: w.model}, durable: true}
	return true
}

// setFloor raises the least clock of quanta.
func (w *views) setFloor(clock uint64) { w.floor = max(w.floor, clock) }

// floorReached reports whether quanta may be sent.
func (w *views) floorReached() bool { return w.clock >= w.floor }

// saving reports whether a change waits to be durable and sent.
func (w *views) saving() bool { return w.staged != nil }

// saveDone reports whether a change is durable, and only the floor is awaited.
func (w *views) saveDone() bool { return w.staged != nil && w.staged.durable }
