package up

import (
	"fmt"

	"adshard/barrels"
	"adshard/internal/node/slave"
)

// openStores opens the stores of all slaves. A store that cannot be opened does not hold up the others: it is set
// aside and filled again (slave.Replace). If that fails, too, its slave is left out until the next start, and the
// result has nil for it. If no store can be opened, the error says why the first could not be.
func (u *up) openStores(configs []slave.Config) ([]barrels.Store, error) {
	stores, causes := make([]barrels.Store, len(configs)), make([]error, len(configs))
	for i := range configs {
		stores[i], causes[i] = slave.OpenStore(&configs[i], u.plan)
		u.closeLater(stores[i])
	}
	for i, cause := range causes {
		if cause == nil {
			continue
		}
		stores[i], causes[i] = slave.Replace(&configs[i], u.plan, cause, len(u.stores) > 0, u.log)
		u.closeLater(stores[i])
	}
	var first error
	for i, cause := range causes {
		if cause == nil {
			continue
		}
		if first == nil {
			first = cause
		}
		u.log.Error("a store cannot be opened: its slave is left out until the next start", "node", configs[i].Name, "err", cause)
		u.leftOut = append(u.leftOut, fmt.Sprintf("%s is left out: %v", configs[i].Name, cause))
	}
	if len(u.stores) == 0 {
		return nil, first
	}
	return stores, nil
}

// closeLater makes close close a store.
func (u *up) closeLater(store barrels.Store) {
	if store != nil {
		u.stores = append(u.stores, store)
	}
}
