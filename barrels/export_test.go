package barrels

import (
	"adshard/barrels/kv"
	"adshard/schema/pb"
	"adshard/search/display"
)

// Rot flips a bit in data of a kind that a store caches in memory, and reports
// whether there were any.
func Rot(s Store, what string) bool {
	st := s.(*barrel)
	state := st.Newest.Load()
	switch what {
	case "group":
		it := state.Data.Full(kv.Items)
		defer it.Close()
		for ok := it.Seek(nil); ok; ok = it.Next() {
			if g, ok := st.engine.Groups.Get(kv.KeyPart(it.Key(), 0), state.Number); ok {
				g.Name += "!"
				return true
			}
		}
		return false
	case "display":
		found := false
		st.engine.Display.Each(func(p *display.Pieces) bool {
			p.Keyword[1] ^= 1
			p.Group[2] ^= 1
			found = true
			return false
		})
		return found
	case "campaign":
		c, ok := state.Parents.Campaigns.Get(1)
		if ok {
			c.Campaign.Name += "!"
		}
		return ok
	case "share":
		c, ok := state.Parents.Campaigns.Get(1)
		if ok {
			state.Parents.SetCampaign(&pb.Campaign{Id: 1, AdvertiserId: c.Advertiser, Name: c.Name, Enabled: c.Enabled, Withheld: 1, Languages: []string{"en"}})
		}
		return ok
	case "advertiser":
		a, ok := state.Parents.Advertisers.Get(1)
		if ok {
			a.Advertiser.Name += "!"
		}
		return ok
	case "negative of an advertiser":
		a, ok := state.Parents.Advertisers.Get(1)
		if ok {
			a.Advertiser.Negatives = append(a.Advertiser.Negatives, &pb.Negative{Id: 1, Enabled: true, Norm: []uint64{1}})
		}
		return ok
	}
	for _, term := range state.Terms.Terms() {
		l := state.Terms.Peek(term, state.Number)
		if l == nil || len(l.Blocks) == 0 || len(l.Blocks[0].Load().Signatures()) == 0 {
			continue
		}
		b := l.Blocks[0].Load()
		switch what {
		case "signature":
			b.Signatures()[0] ^= 1 << 20
		case "members":
			b.Members()[0] ^= 1 << 3
		case "bytes":
			_, refs := b.View.Posting(0)
			refs.Key()[0] ^= 1
		case "impacts":
			j := b.Impacts[0].Load()
			if j == nil {
				return false
			}
			j.Ranked(b, 0)[0] ^= 1 << 30
		}
		return true
	}
	return false
}

// CountSearch counts a search for bulk work, which yields to searches.
func CountSearch(s Store) { s.(*barrel).searches.Add(1) }
