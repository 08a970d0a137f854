package kv

// Runs takes the sorted keys and values of a store.
type Runs interface {
	// Run begins a run of rising keys of a family. Runs of one family do not
	// overlap; several are written at once.
	Run(f Family) (Run, error)
	// Batch takes the few values that are not sorted.
	Batch(b *Batch) error
}

// Run is one sorted run.
type Run interface {
	Add(key, value []byte) error
	// Close ends the run; a run without keys is dropped.
	Close() error
}
