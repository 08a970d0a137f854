package barrels

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of a group's record that name its parents.
const (
	groupCampaignField   = 3
	groupAdvertiserField = 4
)

// sweep removes parents without groups, makes the largest modifiers the least
// that hold, and starts a new table of terms when many are gone.
func (s *store) sweep(st *state) error {
	campaigns, advertisers, err := usedParents(st.snapshot)
	if err != nil {
		return err
	}
	w := s.writer
	w.begin(st, false)
	drop := func(kind byte, used map[uint64]bool) func(uint64) bool {
		return func(id uint64) bool {
			if !used[id] {
				w.batch.Delete(Parents, appendParentKey(w.key[:0], kind, id))
			}
			return !used[id]
		}
	}
	p := w.parents.copy()
	if p.campaigns.size > len(campaigns) {
		p.campaigns = p.campaigns.without(drop(parentCampaign, campaigns))
	}
	if p.advertisers.size > len(advertisers) {
		p.advertisers = p.advertisers.without(drop(parentAdvertiser, advertisers))
	}
	if p.tighten() || w.batch.Len() > 0 {
		w.parents, w.parentsOwned = p, true
	}
	if st.terms.used > minTerms && int64(st.terms.used) > st.counters.terms*5/4 {
		w.terms = st.terms.fresh()
	}
	return s.settled(st)
}

// minTerms is the number of terms below which a table is never made anew.
const minTerms = 1 << 12

// usedParents returns the campaigns and advertisers of all groups.
func usedParents(s Snapshot) (campaigns, advertisers map[uint64]bool, err error) {
	campaigns, advertisers = make(map[uint64]bool), make(map[uint64]bool)
	it := s.Full(Items)
	defer it.Close()
	for ok := it.Seek(nil); ok; ok = it.Next() {
		if keyPart(it.Key(), 1) != groupRecord {
			continue
		}
		err := eachField(it.Value(), func(n protowire.Number, _ []byte, id uint64) error {
			switch n {
			case groupCampaignField:
				campaigns[id] = true
			case groupAdvertiserField:
				advertisers[id] = true
			}
			return nil
		})
		if err != nil {
			return nil, nil, damaged("group", err)
		}
	}
	return campaigns, advertisers, it.Err()
}
