package database

import (
	"fmt"

	"adshard/backend"
)

// Rekeyed returns what to tell people of keywords that were removed when the database was
// opened, since a new version of words made one of several; "": none was.
func Rekeyed(s backend.Store) string {
	w, ok := s.(backend.Worded)
	if !ok || w.Rekeyed() == 0 {
		return ""
	}
	return fmt.Sprintf("words have a new version, with which keywords or negatives have become one or are none any more: %d were removed; `adshard db words` lists them", w.Rekeyed())
}
