package backend

import (
	"fmt"
	"strings"
	"time"
)

// Making is a command that makes a database in more than one transaction. The first transaction notes
// it in the database, the last one removes the note. Any other program refuses a database with a note,
// also after the command was killed: what it has made so far would pass for the whole.
type Making struct {
	// By is the command, for example "db migrate", or "" if there is none, and nothing is
	// noted.
	By string
	// Of is what the database is made from. A command that is run again with the same By and Of
	// completes what it finds. A command that cannot be completed has a new Of at each run.
	Of string
	// Do is what to do if the command was ended before it was done.
	Do string
	// Shared: several commands of this name may make the database at the same time, each from
	// something else. It is whole when all of them are done.
	Shared bool
	// Since is when it began. It is set in makings that are read from a database.
	Since time.Time
}

// MayOpen returns nil if m may open a database in which some makings are noted. Anybody may if there are
// none, else only those that make it. Errors: an *Unfinished.
func (m Making) MayOpen(noted []Making) error {
	for _, n := range noted {
		if !m.Same(n) && !(m.Shared && m.By == n.By) {
			return &Unfinished{noted}
		}
	}
	return nil
}

// Same reports whether m and n are the same command with the same source, whenever they began.
func (m Making) Same(n Making) bool { return m.By == n.By && m.Of == n.Of }

// Unfinished is the cause (errors.As) of errors of kind fault.Conflict about a database that is not finished.
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
