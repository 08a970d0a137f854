package barreltest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/barrels"
	"adshard/internal/corpus"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
	"adshard/targeting/message"
)

// Targeted returns the corpus with targeting on the given share of its campaigns, drawn from the given number of distinct profiles.
func (c *Corpus) Targeted(t testing.TB, share float64, profiles int) *Corpus {
	t.Helper()
	o := corpus.Options{Seed: 1, Targeted: share, Profiles: profiles}
	names := map[uint64]string{}
	for _, a := range c.Data.Advertisers {
		names[a.Id] = a.Name
	}
	return c.changed(func(to *pb.Campaign) {
		says, ok := o.TargetingOf(names[to.AdvertiserId], to.Name)
		if !ok {
			return
		}
		to.Targeting = message.From(targetingOf(t, &backend.CampaignSettings{
			StartDate: says.StartDate, EndDate: says.EndDate, Schedule: says.Schedule, Locations: says.Locations,
			Audiences: says.Audiences, Sites: says.Sites, Categories: says.Categories,
		}))
	})
}

func targetingOf(t testing.TB, s *backend.CampaignSettings) *targeting.Targeting {
	t.Helper()
	says, err := (&backend.Campaign{CampaignSettings: *s}).Targeting()
	if err != nil {
		t.Fatal(err)
	}
	return says
}

// Outlier returns the corpus with one campaign in the middle that bids ten times as much at any time.
func (c *Corpus) Outlier(t testing.TB) *Corpus {
	t.Helper()
	var week string
	for d := range time.Weekday(7) {
		week += fmt.Sprintf(`,{"day":%q,"from":"00:00","to":"24:00","modifier_percent":900}`, d)
	}
	says := targetingOf(t, &backend.CampaignSettings{Schedule: "[" + week[1:] + "]"})
	which := c.Data.Campaigns[len(c.Data.Campaigns)/2].Id
	return c.changed(func(to *pb.Campaign) {
		if to.Id == which {
			to.Targeting = message.From(says)
		}
	})
}

// changed returns the corpus with its campaigns changed by the function change.
func (c *Corpus) changed(change func(*pb.Campaign)) *Corpus {
	d := &pb.NodeData{
		Reset_: c.Data.Reset_, From: c.Data.From, To: c.Data.To, Slices: c.Data.Slices, Items: c.Data.Items, Advertisers: c.Data.Advertisers,
	}
	for _, of := range c.Data.Campaigns {
		of = proto.CloneOf(of)
		change(of)
		d.Campaigns = append(d.Campaigns, of)
	}
	return &Corpus{Data: d, Queries: c.Queries}
}

// asked returns copies of the requests, each with a context and changed by the function change.
func asked(list []*search.Request, change func(*search.Request)) (out []*search.Request) {
	o := corpus.Options{Seed: 1}
	for n, r := range list {
		r := *r
		c := o.Context(n)
		r.Context = &targeting.Context{
			Time: c.Time, Places: []targeting.Place{{ID: c.Location, Presence: true, Depth: 1}}, Languages: c.Languages, Audiences: c.Audiences,
			Site: &targeting.Page{Host: c.Site},
		}
		change(&r)
		out = append(out, &r)
	}
	return out
}

// domains returns n blocked domains, a few of which are the corpus' advertisers'.
func (c *Corpus) domains(t testing.TB, n int) *targeting.Blocks {
	t.Helper()
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("blocked-%d.example", i))
	}
	for i := range 10 {
		it := c.Data.Items[i*7919%len(c.Data.Items)]
		if host, ok := targeting.URLHost(it.Group.Ads[0].FinalUrl); ok {
			list = append(list, host)
		}
	}
	return targeting.NewBlocks(nil, list, nil, false)
}

// side is one of two sides that are compared: a store and its requests.
type side struct {
	store    barrels.Store
	requests []*search.Request
}

// BenchmarkTargeting measures what contexts, targeting and blocked domains cost. It compares each with searches without it: the
// processor time of alternate turns, and the work and candidates of all queries.
func BenchmarkTargeting(b *testing.B, keywords int64, build func(testing.TB, *Corpus) barrels.Store) {
	c := LoadCorpus(b, keywords)
	plain := build(b, c)
	some, many := build(b, c.Targeted(b, 0.8, 500)), build(b, c.Targeted(b, 0.8, 100_000))
	outlier := build(b, c.Outlier(b))
	inline, list := c.domains(b, 1000), c.domains(b, 1_000_000)
	list.Name = "list"
	for _, exact := range []bool{false, true} {
		bare := c.Requests(b)
		for _, r := range bare {
			r.ExactCounts = exact
		}
		with := asked(bare, func(*search.Request) {})
		block := func(blocks *targeting.Blocks) []*search.Request {
			return asked(bare, func(r *search.Request) { r.Context.Blocks = []*targeting.Blocks{blocks} })
		}
		of := map[bool]string{false: "top", true: "exact"}[exact]
		for _, pair := range []struct {
			name          string
			first, second side
		}{
			{"context", side{plain, bare}, side{plain, with}},
			{"500", side{plain, bare}, side{some, with}},
			{"100000", side{plain, bare}, side{many, with}},
			{"domains", side{plain, with}, side{plain, block(inline)}},
			{"list", side{plain, with}, side{plain, block(list)}},
			{"outlier", side{plain, with}, side{outlier, with}},
		} {
			b.Run(of+"/"+pair.name, func(b *testing.B) { sides(b, pair.first, pair.second) })
		}
	}
}

// sides measures how much more the second side costs.
func sides(b *testing.B, first, second side) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := func(s side) (candidates uint64, w search.Work) {
		for range 2 { // the first time fills caches
			candidates, w = 0, search.Work{}
			for _, r := range s.requests {
				a, err := s.store.Search(context.Background(), r)
				if err != nil {
					b.Fatal(err)
				}
				candidates += a.Candidates
				w.Add(a.Work)
			}
		}
		return candidates, w
	}
	had, worked := all(first)
	has, works := all(second)
	next := 0
	turn := func(s side) time.Duration {
		start := processorTime(b)
		for i := range sideTurn {
			if _, err := s.store.Search(context.Background(), s.requests[(next+i)%len(s.requests)]); err != nil {
				b.Fatal(err)
			}
		}
		return processorTime(b) - start
	}
	var ratios []float64
	var before, after time.Duration
	for b.Loop() {
		x, y := turn(first), turn(second)
		y, x = y+turn(second), x+turn(first)
		before, after = before+x, after+y
		ratios = append(ratios, float64(y)/float64(x))
		next += sideTurn
	}
	slices.Sort(ratios)
	n := float64(2 * sideTurn * len(ratios))
	b.ReportMetric(float64(before.Nanoseconds())/n/1e3, "without-µs")
	b.ReportMetric(float64(after.Nanoseconds())/n/1e3, "with-µs")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(ratios[0], "least")
	b.ReportMetric(ratios[len(ratios)-1], "most")
	b.ReportMetric(float64(has)/float64(had), "candidates-ratio")
	b.ReportMetric(float64(works.BlocksRead)/float64(worked.BlocksRead), "blocks-ratio")
	b.ReportMetric(float64(second.store.Stats().Memory.Lists)/float64(second.store.Stats().Keywords), "list-B/keyword")
	b.ReportMetric(float64(second.store.Stats().Memory.Parents)/float64(second.store.Stats().Keywords), "parent-B/keyword")
}

// sideTurn is the number of searches in a turn.
const sideTurn = 2000
