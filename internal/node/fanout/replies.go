package fanout

import "adshard/fault"

// replies holds the answers of a map's shards to one query.
type replies[A any] struct {
	shards  []Shard
	answers []*A    // by shard; nil if there is no answer
	errs    []error // by shard; nil if the shard has answered, or no time was left to wait for it
}

// refused returns fault.Overloaded if all shards refused for that reason: then the cluster is
// overloaded. In all other cases it returns nil, since missing shards are not an error.
func (r *replies[A]) refused() error {
	for _, err := range r.errs {
		if !fault.Is(err, fault.Overloaded) {
			return nil
		}
	}
	return r.errs[0]
}
