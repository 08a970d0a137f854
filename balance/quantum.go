package balance

// Quantum is all changes of the model in one iteration of a strategy, applied
// whole or not at all (thesis 6.3.7), or none: then it only allows data changes up to its clock.
type Quantum struct {
	Epoch, Number uint64
	// Clock is that of the last data change that the mapper had seen.
	Clock uint64
	// View is the model's after the quantum.
	View uint64
	Ops  []Op
	// Model, when set, takes the place of the receiver's model: a
	// reinitialising quantum (thesis 6.3.8).
	Model *Model
}

// Empty reports whether the quantum leaves the model unchanged.
func (q Quantum) Empty() bool { return q.Model == nil && len(q.Ops) == 0 }
