package backendtest

import (
	"testing"

	"adshard/backend"
	"adshard/fault"
)

// replica follows the feed as a distributor does: it keeps the content of everything that the log has named.
type replica struct {
	at    backend.Position
	state State
}

// newReplica starts from a snapshot.
func newReplica(t testing.TB, s backend.Store) *replica {
	t.Helper()
	n := snapshot(t, s)
	defer n.Close()
	return &replica{at: n.Position(), state: Read(t, n)}
}

// follow applies the log to its end, at most `limit` changes at a time. If changes that it needs were compacted away,
// the replica starts again.
func (r *replica) follow(t testing.TB, s backend.Store, limit int) {
	t.Helper()
	for {
		changes, err := s.Changes(t.Context(), r.at, limit)
		if fault.Is(err, fault.Stale) {
			*r = *newReplica(t, s)
			continue
		}
		check(t, err)
		if len(changes) == 0 {
			return
		}
		n := snapshot(t, s)
		for _, c := range changes {
			if c.Clock <= r.at.Clock || c.Clock > n.Position().Clock {
				t.Fatalf("clock %d after %v in a snapshot of %v", c.Clock, r.at, n.Position())
			}
			r.at = backend.Position{Clock: c.Clock, Mark: c.Mark}
			r.apply(t, n, c)
		}
		check(t, n.Close())
	}
}

func (r *replica) apply(t testing.TB, n backend.Snapshot, c backend.Change) {
	t.Helper()
	ids := []uint64{c.ID}
	switch c.Kind {
	case backend.KindAdvertiser:
		list, err := n.Advertisers(t.Context(), ids)
		check(t, err)
		delete(r.state.Advertisers, c.ID)
		for _, a := range list {
			r.state.Advertisers[a.ID] = *a
		}
		removed(t, c, len(list))
	case backend.KindCampaign:
		list, err := n.Campaigns(t.Context(), ids)
		check(t, err)
		if old, ok := r.state.Campaigns[c.ID]; ok && old.AdvertiserID != c.AdvertiserID {
			t.Fatalf("%+v: the campaign's advertiser is %d", c, old.AdvertiserID)
		}
		delete(r.state.Campaigns, c.ID)
		for _, p := range list {
			r.state.Campaigns[p.ID] = *p
		}
		removed(t, c, len(list))
	case backend.KindGroup:
		list, err := n.Items(t.Context(), ids)
		check(t, err)
		if old, ok := r.state.Items[c.ID]; ok && (old.Group.AdvertiserID != c.AdvertiserID || old.Group.CampaignID != c.CampaignID) {
			t.Fatalf("%+v: the group is of advertiser %d, campaign %d", c, old.Group.AdvertiserID, old.Group.CampaignID)
		}
		delete(r.state.Items, c.ID)
		for _, it := range list {
			r.state.Items[it.Group.ID] = *it
		}
		removed(t, c, len(list))
	default:
		t.Fatalf("unknown kind in %+v", c)
	}
}

// removed checks that an entity that is logged as removed does not exist. Ids are never reused.
func removed(t testing.TB, c backend.Change, found int) {
	t.Helper()
	if c.Removed && found > 0 {
		t.Fatalf("%+v: it is still there", c)
	}
}
