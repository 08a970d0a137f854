package rocks

import "errors"

var errCrash = errors.New("crashed")

// PlaceAndCrash does what opening does to let a complete database take the place of
// the one in dir, and stops after a given number of steps. It returns how many it made.
func PlaceAndCrash(dir string, steps int) (made int) {
	_ = place(dir, func(change func() error) error {
		if made == steps {
			return errCrash
		}
		made++
		return change()
	})
	return made
}

// Names are the column families in the order in which RocksDB makes them: its own first.
func Names() []string {
	all := names()
	return append([]string{chainFamily}, all[:len(all)-1]...)
}
