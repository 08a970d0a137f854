package barreltest

import (
	"testing"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
)

// TB is the part of testing.T and rapid.T that the helpers use.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// At returns a position of epoch 1 with a clock.
func At(clock uint64) *pb.Position { return &pb.Position{Epoch: 1, Clock: clock} }

// WholeRing returns a table with one slice that is served from view 1 on.
func WholeRing() *pb.SliceTable {
	return &pb.SliceTable{View: 1, Slices: []*pb.HeldSlice{{Id: 1, Hi: ^uint64(0), Generation: 1, From: 1}}}
}

// Key returns a group's place on the ring.
func Key(t TB, it *backend.Item) uint64 {
	t.Helper()
	k, err := balance.ByOwner.Key(it.Group.AdvertiserID, it.Group.ID)
	if err != nil {
		t.Fatalf("key of group %d: %v", it.Group.ID, err)
	}
	return uint64(k)
}

// Builder makes records of a world's entities.
type Builder struct {
	T     TB
	World *oracletest.World
	build *nodedata.Builder
}

// NewBuilder returns a builder that orders groups by their owners.
func NewBuilder(t TB, w *oracletest.World) *Builder {
	return &Builder{T: t, World: w, build: nodedata.NewIn(balance.ByOwner, w.Languages)}
}

// Item returns a group's record.
func (b *Builder) Item(it *backend.Item) *pb.Item {
	b.T.Helper()
	out, err := b.build.Item(it, b.World.Campaign(it.Group.CampaignID))
	if err != nil {
		b.T.Fatalf("item %d: %v", it.Group.ID, err)
	}
	return out
}

func (b *Builder) advertiser(a *backend.Advertiser) *pb.Advertiser {
	b.T.Helper()
	out, err := b.build.Advertiser(a)
	if err != nil {
		b.T.Fatalf("advertiser %d: %v", a.ID, err)
	}
	return out
}

// Campaign returns a campaign's record.
func (b *Builder) Campaign(c *backend.Campaign) *pb.Campaign {
	b.T.Helper()
	out, err := b.build.Campaign(c)
	if err != nil {
		b.T.Fatalf("campaign %d: %v", c.ID, err)
	}
	return out
}

// All returns a bucket that puts the whole world into an empty store.
func (b *Builder) All() *pb.NodeData {
	b.T.Helper()
	d := &pb.NodeData{Reset_: true, To: At(b.World.Clock), Slices: WholeRing()}
	for _, a := range b.World.Advertisers {
		d.Advertisers = append(d.Advertisers, b.advertiser(a))
	}
	for _, c := range b.World.Campaigns {
		d.Campaigns = append(d.Campaigns, b.Campaign(c))
	}
	for _, it := range b.World.Items {
		d.Items = append(d.Items, b.Item(it))
	}
	return d
}

// Changes returns the bucket for the entries of a feed between a position and the world's clock:
// the present content of what they name, and the parents of the groups.
func (b *Builder) Changes(from *pb.Position, changes []backend.Change) *pb.NodeData {
	b.T.Helper()
	d := &pb.NodeData{From: from, To: At(b.World.Clock)}
	type entity struct {
		kind backend.Kind
		id   uint64
	}
	seen := map[entity]bool{}
	var parents func(kind backend.Kind, id uint64)
	parents = func(kind backend.Kind, id uint64) {
		if seen[entity{kind, id}] {
			return
		}
		seen[entity{kind, id}] = true
		if c := b.World.Campaign(id); kind == backend.KindCampaign && c != nil {
			d.Campaigns = append(d.Campaigns, b.Campaign(c))
			parents(backend.KindAdvertiser, c.AdvertiserID)
		}
		if a := b.World.Advertiser(id); kind == backend.KindAdvertiser && a != nil {
			d.Advertisers = append(d.Advertisers, b.advertiser(a))
		}
	}
	for _, c := range changes {
		if c.Kind != backend.KindGroup {
			parents(c.Kind, c.ID)
			continue
		}
		if seen[entity{c.Kind, c.ID}] {
			continue
		}
		seen[entity{c.Kind, c.ID}] = true
		it := b.World.Item(c.ID)
		if it == nil {
			k := &backend.Item{Group: backend.Group{ID: c.ID, AdvertiserID: c.AdvertiserID}}
			d.Deleted = append(d.Deleted, Key(b.T, k))
			continue
		}
		d.Items = append(d.Items, b.Item(it))
		parents(backend.KindCampaign, it.Group.CampaignID)
	}
	return d
}

var _ TB = testing.TB(nil)
