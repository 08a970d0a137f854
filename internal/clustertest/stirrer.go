package clustertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/places"
	"adshard/search"
	"adshard/targeting"
)

// Stirrer keeps changing campaigns, block lists and the table of places of the golden set without changing their effect: it adds and
// removes targets and blocks that no request and no ad meets. It also changes data of its own.
type Stirrer struct {
	store     backend.Store
	dice      *rand.Rand
	campaigns []*backend.Campaign // of the golden set, in their original state
	lists     []string
	changes   atomic.Int64
	writing   sync.Mutex // held during each change
}

// NewStirrer reads the existing data. It must be called before a Changer and a Shifter create data of their own.
func NewStirrer(ctx context.Context, store backend.Store) (*Stirrer, error) {
	s := &Stirrer{store: store, dice: rand.New(rand.NewPCG(40, 2))}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	all, err := snapshot.Campaigns(ctx, nil)
	if err != nil {
		return nil, err
	}
	s.campaigns = all
	heads, err := blocklist.Heads(ctx, store)
	for _, h := range heads {
		s.lists = append(s.lists, h.Name)
	}
	return s, err
}

// Changes returns the number of changes so far.
func (s *Stirrer) Changes() int { return int(s.changes.Load()) }

// Run makes `rate` changes a second until ctx is done. It stops at the first error for which goOn is nil or returns false, and
// returns that error.
func (s *Stirrer) Run(ctx context.Context, rate int, goOn func(error) bool) error {
	return paced(ctx, rate, func(i int) error {
		s.writing.Lock()
		err := s.change(ctx, i)
		s.writing.Unlock()
		switch {
		case err == nil:
			s.changes.Add(1)
		case ctx.Err() != nil, fault.Is(err, fault.Conflict): // another writer has changed the table of places
		case goOn == nil || !goOn(err):
			return err
		}
		return nil
	})
}

func (s *Stirrer) change(ctx context.Context, i int) error {
	switch i % 4 {
	case 0:
		return s.list(ctx)
	case 1:
		return savePlace(ctx, s.store, places.Row{
			ID: 4_200_000_000 + s.dice.Uint32N(50), Name: fmt.Sprint("zz", s.dice.Uint32()), Parent: 2203,
		})
	case 2:
		return s.own(ctx)
	}
	return s.campaign(ctx)
}

// list adds entries that meet nothing to a block list, or removes them.
func (s *Stirrer) list(ctx context.Context) error {
	if len(s.lists) == 0 {
		return nil
	}
	l, err := blocklist.Load(ctx, s.store, s.lists[s.dice.IntN(len(s.lists))])
	if err != nil {
		return err
	}
	const domain, category, advertiser = "zz-nowhere.example", "zz/nothing", 1 << 50
	next := blocklist.List{Uncategorised: l.Uncategorised}
	had := false
	for _, d := range l.Domains {
		if had = had || d == domain; d != domain {
			next.Domains = append(next.Domains, d)
		}
	}
	for _, c := range l.Categories {
		if c != category {
			next.Categories = append(next.Categories, c)
		}
	}
	for _, a := range l.Advertisers {
		if a != advertiser {
			next.Advertisers = append(next.Advertisers, a)
		}
	}
	if !had {
		next.Domains, next.Categories, next.Advertisers = append(next.Domains, domain), append(next.Categories, category), append(next.Advertisers, advertiser)
	}
	_, err = blocklist.Save(ctx, s.store, l.Name, l.Version, &next)
	return err
}

// own changes a campaign of its own, which no query finds.
func (s *Stirrer) own(ctx context.Context) error {
	return s.write(ctx, func(tx backend.Tx) error {
		advertiser, err := tx.Advertiser(ctx, "Stirring")
		if err != nil {
			return err
		}
		p := backend.CampaignPatch{
			Locations:  backend.To(fmt.Sprintf(`[{"id":%d,"modifier_percent":900}]`, 2000+s.dice.IntN(800))),
			Audiences:  backend.To(fmt.Sprintf(`{"observe":[{"id":"zz%d","modifier_percent":900}]}`, s.dice.IntN(10))),
			Categories: backend.To(fmt.Sprintf(`["zz%d"]`, s.dice.IntN(10))),
		}
		campaign, err := tx.Campaign(ctx, advertiser, fmt.Sprint(s.dice.IntN(5)), p)
		if err != nil {
			return err
		}
		group, err := tx.Group(ctx, campaign, "zz", backend.GroupPatch{Bid: backend.To(uint64(1_000_000))})
		if err != nil {
			return err
		}
		if err := tx.Ad(ctx, group, Shown(1)); err != nil {
			return err
		}
		return tx.Keyword(ctx, group, backend.KeywordPatch{Text: "zzstirring", Words: "zzstirring", Type: search.Broad})
	})
}

// campaign gives a campaign of the golden set a restriction that never applies, or its original settings.
func (s *Stirrer) campaign(ctx context.Context) error {
	if len(s.campaigns) == 0 {
		return nil
	}
	c := s.campaigns[s.dice.IntN(len(s.campaigns))]
	p, err := neutral(c)
	if err != nil {
		return err
	}
	if s.dice.IntN(2) == 0 {
		p = backend.CampaignPatch{Locations: original(c.Locations), Audiences: original(c.Audiences), Sites: original(c.Sites), StartDate: original(c.StartDate)}
	}
	return s.write(ctx, func(tx backend.Tx) error {
		_, err := tx.Campaign(ctx, c.AdvertiserID, c.Name, p)
		return err
	})
}

// original returns the patch that restores a setting.
func original(was string) backend.Patch[string] {
	if was == "" {
		return backend.Patch[string]{Op: backend.Reset}
	}
	return backend.To(was)
}

// nowhere is a place that is not in the table and that no request names.
const nowhere = 4_290_000_000

// neutral returns the patch that restricts a campaign by a place, a segment and a site that no query names, and a start date long ago.
func neutral(c *backend.Campaign) (p backend.CampaignPatch, err error) {
	l, err := targeting.ParseLocations(jsonOr(c.Locations))
	if err != nil {
		return p, err
	}
	if l, err = l.Put(targeting.Location{Place: nowhere, Exclude: true, Modifier: targeting.Default}); err != nil {
		return p, err
	}
	a, err := targeting.ParseAudiences(jsonOr(c.Audiences))
	if err != nil {
		return p, err
	}
	a.Exclude = append(a.Exclude, targeting.Segment{ID: "zz-nobody", Modifier: targeting.Default})
	sites, err := targeting.ParseSites(jsonOr(c.Sites))
	if err != nil {
		return p, err
	}
	sites.Exclude = append(sites.Exclude, targeting.Site{Page: targeting.Page{Host: "zz-nowhere.example"}, Modifier: targeting.Default})
	if a, err = targeting.ParseAudiences([]byte(a.JSON())); err != nil { // in canonical order
		return p, err
	}
	if sites, err = targeting.ParseSites([]byte(sites.JSON())); err != nil {
		return p, err
	}
	p = backend.CampaignPatch{Locations: backend.To(l.JSON()), Audiences: backend.To(a.JSON()), Sites: backend.To(sites.JSON())}
	if c.StartDate == "" {
		p.StartDate = backend.To("1970-01-01")
	}
	return p, nil
}

func jsonOr(text string) []byte {
	if text == "" {
		return []byte("null")
	}
	return []byte(text)
}

func (s *Stirrer) write(ctx context.Context, f func(backend.Tx) error) error {
	tx, err := s.store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
