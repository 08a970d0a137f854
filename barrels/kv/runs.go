package kv

// Runs takes the keys and values of a new database, most of them in sorted runs.
type Runs interface {
	// Dir is a directory for temporary files, which Close removes.
	Dir() string
	// Run begins a run of ascending keys of a family. Runs of one family do not
	// overlap; several are written at once.
	Run(f Family) (Run, error)
	// Batch takes the few values that are not sorted. It is called once.
	Batch(b *Batch) error
	// Finish makes the database of what was taken; all runs must be closed.
	Finish() error
	// Close removes what is not needed after Finish; without Finish nothing is left.
	Close() error
}

// Run is one sorted run.
type Run interface {
	Add(key, value []byte) error
	// Close ends the run; a run without keys is dropped.
	Close() error
}
