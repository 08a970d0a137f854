package database

import (
	"fmt"
	"time"

	"adshard/backend"
)

// rekeyingEvery is the least time between two lines about the rebuilding of keys.
const rekeyingEvery = 10 * time.Second

// tellRekeying returns a function that takes the progress of the rebuilding of keys. That function calls `tell` from time to
// time and at the end.
func tellRekeying(tell func(string), now func() time.Time) func(done, of int) {
	told, ended := now(), false
	return func(done, of int) {
		switch {
		case ended:
		case done == of:
			ended = true
			tell(fmt.Sprintf("words have a new version: the keys of keywords were made anew in %d lists of keywords and negatives", of))
		case now().Sub(told) >= rekeyingEvery:
			told = now()
			tell(fmt.Sprintf("words have a new version: the keys of keywords are made anew in %d of %d lists of keywords and negatives", done, of))
		}
	}
}

// removed returns a line about the keywords that opening the database has removed, or "" if there are none. A new version of
// words may turn several keywords into one.
func removed(s backend.Store) string {
	w, ok := s.(backend.Worded)
	if !ok || w.Rekeyed() == 0 {
		return ""
	}
	return fmt.Sprintf("words have a new version, with which keywords or negatives have become one or are none any more: %d were removed; `adshard db words` lists them", w.Rekeyed())
}
