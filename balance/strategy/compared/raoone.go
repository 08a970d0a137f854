package compared

const raoOneName = "rao-one"

// one makes each light shard draw another shard.
func (x *exchange) one() {
	for l := range x.Shards {
		if !x.light(l) || len(x.Shards) < 2 {
			continue
		}
		h := int(x.draw(l, 0) % uint64(len(x.Shards)))
		if h != l && x.heavy(h) {
			if i := x.best(h, l); i >= 0 {
				x.give(i, l, "the light shard drew the heavy one")
			}
		}
	}
}
