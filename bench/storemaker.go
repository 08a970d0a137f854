package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/barrels/bulk"
	"adshard/bench/measure"
	"adshard/internal/corpus"
	"adshard/schema/pb"
	"adshard/search"
)

// storeMaker makes a corpus' groups into a store.
type storeMaker struct {
	builder          *bulk.Builder
	advertisers      map[string]uint64
	campaigns        map[campaignName]uint64
	of               []campaignName // by id, from 1
	groups, keywords uint64
	names            []string // of advertisers by id, from 1
}

// campaignName identifies a campaign by its advertiser's id and its name.
type campaignName struct {
	advertiser uint64
	name       string
}

// matchTypes maps Editor's names to match types.
var matchTypes = map[string]search.MatchType{"Exact": search.Exact, "Phrase": search.Phrase, "Broad": search.Broad}

// makerBatch is the number of groups that one goroutine passes to another at
// once.
const makerBatch = 256

// addAll adds all groups: one goroutine makes them; several others analyse and
// add them.
func (m *storeMaker) addAll(ctx context.Context, c *corpus.Corpus, o corpus.Options, report func(float64)) error {
	group, ctx := errgroup.WithContext(ctx)
	made := make(chan []*backend.Item, 4)
	group.Go(func() error {
		defer close(made)
		return m.makeAll(ctx, c, o, made, report)
	})
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			b := nodedata.New(balance.ByOwner)
			for list := range made {
				for _, it := range list {
					item, err := b.Item(it, &backend.Campaign{ID: it.Group.CampaignID, AdvertiserID: it.Group.AdvertiserID})
					if err != nil {
						return err
					}
					if err := m.builder.Add(item); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (m *storeMaker) makeAll(ctx context.Context, c *corpus.Corpus, o corpus.Options, made chan<- []*backend.Item, report func(float64)) error {
	var list []*backend.Item
	send := func() error {
		select {
		case made <- list:
			list = make([]*backend.Item, 0, makerBatch)
			report(0.5 * float64(m.keywords) / float64(o.Keywords))
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for g, err := range c.Groups(ctx, o) {
		if err != nil {
			return err
		}
		if list = append(list, m.item(g)); len(list) == makerBatch {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// item returns a group as it would be in a database.
func (m *storeMaker) item(g *corpus.Group) *backend.Item {
	advertiser := m.advertisers[g.Advertiser]
	if advertiser == 0 {
		m.names = append(m.names, g.Advertiser)
		advertiser = uint64(len(m.names))
		m.advertisers[g.Advertiser] = advertiser
	}
	name := campaignName{advertiser, g.Campaign}
	campaign := m.campaigns[name]
	if campaign == 0 {
		m.of = append(m.of, name)
		campaign = uint64(len(m.of))
		m.campaigns[name] = campaign
	}
	m.groups++
	it := &backend.Item{
		Group: backend.Group{ID: m.groups, CampaignID: campaign, AdvertiserID: advertiser, Name: g.Name, GroupSettings: backend.GroupSettings{Enabled: true}},
		Ads: []backend.Ad{{
			ID: m.groups, GroupID: m.groups, Enabled: true,
			Headlines:    []string{g.Name, "at " + g.Advertiser},
			Descriptions: []string{"All of " + g.Name + " by " + g.Advertiser + ", in stock."},
			FinalURL:     fmt.Sprintf("https://shop.example/%d", m.groups),
		}},
	}
	for _, k := range g.Keywords {
		m.keywords++
		it.Keywords = append(it.Keywords, backend.Keyword{
			ID: m.keywords, GroupID: m.groups, Text: k.Text, Words: k.Text, Type: matchTypes[k.Match], KeywordSettings: backend.KeywordSettings{Enabled: true, Bid: uint64(cmp.Or(k.Bid, g.Bid, 1)) * 10_000, HasBid: true, Quality: uint8(cmp.Or(k.Quality, backend.DefaultQuality))},
		})
	}
	return it
}

// finish writes the store, with the parents of what was added and with one slice,
// the whole ring.
func (m *storeMaker) finish() error {
	var advertisers []*pb.Advertiser
	var campaigns []*pb.Campaign
	for i, name := range m.names {
		advertisers = append(advertisers, &pb.Advertiser{Id: uint64(i + 1), Name: name, Enabled: true})
	}
	for i, c := range m.of {
		campaigns = append(campaigns, &pb.Campaign{Id: uint64(i + 1), AdvertiserId: c.advertiser, Name: c.name, Enabled: true})
	}
	if err := m.builder.AddParents(advertisers, campaigns); err != nil {
		return err
	}
	return m.builder.Finish(&pb.Position{Clock: 1}, &pb.SliceTable{
		Slices: []*pb.HeldSlice{{Id: 1, Hi: math.MaxUint64, Generation: 1, State: pb.HeldState_HELD_STATE_FULL, From: 1}}, View: 1,
	})
}

// figures adds the cost of the build.
func (f *buildFlags) figures(r *measure.Report, m *storeMaker, added, took time.Duration) error {
	disk := uint64(0)
	files, err := os.ReadDir(f.out)
	if err != nil {
		return err
	}
	for _, e := range files {
		if i, err := os.Stat(filepath.Join(f.out, e.Name())); err == nil {
			disk += uint64(i.Size())
		}
	}
	memory, err := measure.MemoryOf(0)
	if err != nil {
		return err
	}
	r.Add("keywords", "", float64(m.keywords))
	r.Add("groups", "", float64(m.groups))
	r.Add("corpus made and analysed", "s", added.Seconds())
	r.Add("in all", "s", took.Seconds())
	r.Add("keywords per second", "/s", float64(m.keywords)/took.Seconds())
	r.Add("disk", "bytes a keyword", float64(disk)/float64(m.keywords))
	r.Add("memory, most", "MiB", float64(memory.Peak)/(1<<20))
	return nil
}
