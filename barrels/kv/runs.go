package kv

// Runs takes the keys and values of a new database, most of them in sorted runs.
type Runs interface {
	// Dir returns a directory for temporary files, which Close removes.
	Dir() string
	// Run begins a run of ascending keys of a family. Runs of one family must not overlap. Several
	// may be written at the same time.
	Run(f Family) (Run, error)
	// Batch takes the few values that are not sorted. It is called only once.
	Batch(b *Batch) error
	// Finish makes the database from what was taken. All runs must be closed.
	Finish() error
	// Close removes what is no longer needed after Finish. Without Finish it removes everything.
	Close() error
}

// Run is one sorted run.
type Run interface {
	Add(key, value []byte) error
	// Close ends the run. A run without keys is dropped.
	Close() error
}
