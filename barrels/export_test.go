package barrels

// Rot flips a bit of what a store keeps in memory, and reports whether there was
// anything of that kind.
func Rot(s Store, what string) bool {
	st := s.(*store)
	state := st.newest.Load()
	switch what {
	case "group":
		for i := range st.groups.shards {
			for _, e := range st.groups.shards[i].entries {
				e.value.Name += "!"
				return true
			}
		}
	case "shown":
		for i := range st.shown.slots {
			if s := st.shown.slots[i].Load(); s != nil {
				s.KeywordText += "!"
				return true
			}
		}
	case "campaign":
		c, ok := state.parents.campaigns.get(1)
		if ok {
			c.campaign.name += "!"
		}
		return ok
	case "advertiser":
		a, ok := state.parents.advertisers.get(1)
		if ok {
			a.advertiser.name += "!"
		}
		return ok
	}
	for i := range state.terms.slots {
		l := state.terms.slots[i].list.Load()
		if l == nil || len(l.blocks) == 0 || !l.blocks[0].Load().ready {
			continue
		}
		b := l.blocks[0].Load()
		switch what {
		case "signature":
			b.signatures[0] ^= 1 << 20
		case "members":
			b.members()[0].keyword ^= 1 << 3
		case "bound":
			b.bounds[0].Own ^= 1
		case "bytes":
			e := entryOf(b)
			*e ^= 1
		case "judgement":
			j := b.judged[0].Load()
			if j == nil {
				return false
			}
			j.entries(b, 0)[0] ^= 1 << 30
		}
		return true
	}
	return false
}

// entryOf returns a byte of the block that its view reads.
func entryOf(b *termBlock) *byte {
	_, refs := b.view.Posting(0)
	return &refs[0]
}
