package barrels

import (
	"slices"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/record"
	"adshard/schema/pb"
)

// usedParents are the campaigns and advertisers that groups name.
type usedParents struct{ campaigns, advertisers map[uint64]bool }

func newUsedParents() *usedParents {
	return &usedParents{make(map[uint64]bool), make(map[uint64]bool)}
}

// addBucket adds the parents that a bucket's groups name.
func (u *usedParents) addBucket(d *pb.NodeData) {
	for _, it := range d.Items {
		u.campaigns[it.Group.CampaignId], u.advertisers[it.Group.AdvertiserId] = true, true
	}
	for _, c := range d.Campaigns {
		u.campaigns[c.Id] = true
	}
	for _, a := range d.Advertisers {
		u.advertisers[a.Id] = true
	}
}

// record adds the parents that a group's record names.
func (u *usedParents) record(b []byte) error {
	campaign, advertiser, err := record.Parents(b)
	if err != nil {
		return kv.Damaged("group", err)
	}
	u.campaigns[campaign], u.advertisers[advertiser] = true, true
	return nil
}

// sweep visits the groups from cursor on and returns where to continue. At the end it returns nil;
// before that it removes parents without groups, lowers the largest modifiers, and starts a new
// table of terms if many are unused.
func (s *barrel) sweep(st *index.Snapshot, cursor []byte) (next []byte, err error) {
	it := st.Data.Full(kv.Items)
	defer it.Close()
	clock := stepClock{pace: &s.writer.pace}
	clock.pace.begin()
	defer clock.pace.end()
	ok := it.Seek(cursor)
	for ; ok && !clock.over(); ok = it.Next() {
		if kv.KeyPart(it.Key(), 1) != kv.GroupRecord {
			continue
		}
		if err := s.upkeep.used.record(it.Value()); err != nil {
			return nil, err
		}
	}
	if it.Err() != nil {
		return nil, it.Err()
	}
	if ok {
		return slices.Clone(it.Key()), nil
	}
	return nil, s.dropUnused(st)
}

// dropUnused does what sweep does at the end of a pass.
func (s *barrel) dropUnused(st *index.Snapshot) error {
	w := s.writer
	w.begin(st, false)
	drop := func(kind byte, used map[uint64]bool) func(uint64) bool {
		return func(id uint64) bool {
			if !used[id] {
				w.batch.Delete(kv.Parents, kv.AppendParentKey(w.key[:0], kind, id))
			}
			return !used[id]
		}
	}
	p, u := w.parents.Copy(), s.upkeep.used
	p.Campaigns = p.Campaigns.Without(drop(kv.CampaignKind, u.campaigns))
	p.Advertisers = p.Advertisers.Without(drop(kv.AdvertiserKind, u.advertisers))
	if p.Tighten() || w.batch.Len() > 0 {
		w.parents, w.parentsOwned = p, true
	}
	if st.Terms.Len() > minTerms && int64(st.Terms.Len()) > st.Counters.Terms*5/4 {
		w.terms = st.Terms.Fresh()
	}
	return s.settled(st)
}

// minTerms is the number of terms below which a table is never rebuilt.
const minTerms = 1 << 12
