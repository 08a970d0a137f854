package sqlite

import (
	"runtime"
	"time"

	"adshard/backend"
)

// Options configure Open. The zero value has the defaults.
type Options struct {
	// Create creates the file if it is missing.
	Create bool
	// Making is the command that makes the database. It is noted in the first transaction of a new database and stays
	// until Finish. A database that another command is making is refused.
	Making backend.Making
	// Unfinished also opens an unfinished database, so that it can be checked.
	Unfinished bool
	// BusyTimeout is how long a writer waits for another one before it fails
	// with fault.Locked; default 5 s.
	BusyTimeout time.Duration
	// Readers is the number of connections with which Snapshot.All reads at once; default the number of processors,
	// at most 4.
	Readers int
	// Poll is how often Wait looks for changes by other processes; default 20 ms.
	Poll time.Duration
	// Rekeying is called from time to time while the keys of keywords are rebuilt (package rekey), which may take
	// minutes. Its arguments are the number of finished lists of keywords and negatives and the number of all lists.
	Rekeying func(done, of int)
	// schema is the schema that the database gets; default the schema of this program. Only tests set it.
	schema schema
	// stepped is called after each step of making a database; only tests set it.
	stepped func()
}

// admit returns an error unless a database with these noted makings may be opened.
func (o *Options) admit(path string, noted []backend.Making) error {
	if o.Unfinished {
		return nil
	}
	return unfinished(path, o.Making.MayOpen(noted))
}

// rekeyed is called after each step of rebuilding keys.
func (o *Options) rekeyed(done, of int) {
	o.step()
	if o.Rekeying != nil && of > 0 {
		o.Rekeying(done, of)
	}
}

// step calls stepped.
func (o *Options) step() {
	if o.stepped != nil {
		o.stepped()
	}
}

func (o Options) withDefaults() Options {
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.Readers <= 0 {
		o.Readers = min(runtime.GOMAXPROCS(0), 4)
	}
	if o.Poll <= 0 {
		o.Poll = 20 * time.Millisecond
	}
	if o.schema.files == nil {
		o.schema = thisSchema()
	}
	return o
}
