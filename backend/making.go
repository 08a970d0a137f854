package backend

import (
	"fmt"
	"strings"
	"time"
)

// Making is a command that makes a database in more than one transaction. The first one notes it in
// the database, the last one takes the note away. In between nobody else opens the database, and
// nobody at all once the command was killed: a part would pass for the whole.
type Making struct {
	// By is the command, for example "db migrate"; "": none, nothing is noted.
	By string
	// Of is what it makes the database of. A command that is run again with the same By and Of
	// completes what it finds. What cannot be completed has an Of of its own each time.
	Of string
	// Do is what to do if the command was ended before it was done.
	Do string
	// Shared: several commands of this name may make the database at the same time, each of
	// something else. It is whole when all of them are done.
	Shared bool
	// Since is when it began, in databases.
	Since time.Time
}

// Admits returns nil if a database that makings are noted in is open to m: all may open one without;
// the others are for those who make them. Errors: an *Unfinished.
func (m Making) Admits(noted []Making) error {
	if len(noted) == 0 {
		return nil
	}
	for _, n := range noted {
		if !m.Same(n) && !(m.Shared && m.By == n.By) {
			return &Unfinished{noted}
		}
	}
	return nil
}

// Same reports whether n is m, begun at some time.
func (m Making) Same(n Making) bool { return m.By == n.By && m.Of == n.Of }

// Unfinished is the cause (errors.As) of errors of kind fault.Conflict about a database that was not made to
// its end.
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
