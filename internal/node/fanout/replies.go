package fanout

import "adshard/fault"

// replies are what the shards of a map have answered to one query.
type replies[A any] struct {
	shards  []Shard
	answers []*A    // by shard; nil: none
	errs    []error // by shard, or nil if it has answered, or there was no time left to wait
}

// refused returns fault.Overloaded if all shards refused for that reason: then the cluster
// is overloaded. In all other cases missing shards are no error.
func (r *replies[A]) refused() error {
	for _, err := range r.errs {
		if !fault.Is(err, fault.Overloaded) {
			return nil
		}
	}
	return r.errs[0]
}
