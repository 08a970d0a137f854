package rocks

import "errors"

var errCrash = errors.New("crashed")

// PlaceAndCrash does what opening does to put a complete database in the place of the
// one in dir, but stops after a given number of steps. It returns the number of steps
// made.
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

// Names returns the column families in the order in which RocksDB makes them: its own
// first.
func Names() []string {
	all := names()
	return append([]string{chainFamily}, all[:len(all)-1]...)
}
