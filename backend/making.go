package backend

import (
	"fmt"
	"strings"
	"time"
)

// Making is a command that makes a database in more than one transaction. Its first transaction adds a note to the
// database, and its last one removes the note. All other programs refuse a database with a note, also after the
// command was killed, since a part could be mistaken for the whole.
type Making struct {
	// By is the command, for example "db migrate", or "" if there is none, so that nothing is noted.
	By string
	// Of is the source of the database. A command that is run again with the same By and Of completes what it finds.
	// A command that cannot be completed uses a new Of for each run.
	Of string
	// Do is what people should do if the command was ended before it was done.
	Do string
	// Shared says that several commands of this name may make the database at the same time, each from another
	// source. The database is whole when all of them are done.
	Shared bool
	// Since is when the command began. It is set in makings that are read from a database.
	Since time.Time
}

// MayOpen returns nil if m may open a database with these noted makings, or an *Unfinished. Any program may open a
// database without any; otherwise only the commands that make it may.
func (m Making) MayOpen(noted []Making) error {
	for _, n := range noted {
		if !m.Same(n) && !(m.Shared && m.By == n.By) {
			return &Unfinished{noted}
		}
	}
	return nil
}

// Same reports whether m and n are the same command with the same source, no matter when they began.
func (m Making) Same(n Making) bool { return m.By == n.By && m.Of == n.Of }

// Unfinished is the cause (errors.As) of errors of kind fault.Conflict about an unfinished database.
type Unfinished struct{ Makings []Making }

// Error implements error.
func (u *Unfinished) Error() string {
	list := make([]string, len(u.Makings))
	for i, m := range u.Makings {
		list[i] = fmt.Sprintf("`adshard %s`, begun at %s, is still running or was ended before it was done; if it was ended, %s",
			m.By, m.Since.UTC().Format(time.RFC3339), m.Do)
	}
	return "it is unfinished: " + strings.Join(list, "; ")
}
