package corpus

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"adshard/targeting"
)

// Targeting says where, when and to whom a campaign of a corpus is shown, in the forms of JSON lines. A field is "" if it
// restricts nothing.
type Targeting struct {
	StartDate, EndDate, Schedule, Locations, Audiences, Sites, Categories string
}

// day is the day, a Wednesday, on which all drawn campaigns run and to which all drawn contexts belong.
var day = time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC)

// markets has countries, by their ids in the table of places, as often as in the mix of queries.
var markets = [...]uint32{2840, 2840, 2840, 2840, 2840, 2840, 2826, 2826, 2276, 2203}

// others has countries from which no query comes.
var others = [...]uint32{2036, 2040, 2056, 2076, 2124, 2152, 2208, 2246, 2348, 2356, 2372, 2380, 2392, 2484, 2528, 2578, 2616, 2620, 2642, 2702, 2703, 2724, 2752, 2756}

// segments is the number of audiences; a tenth of the users belong to each.
const segments = 200

// TargetingOf returns the targeting of a campaign of a corpus of these options. ok is false if the campaign has none. Each
// advertiser uses at most three of the o.Profiles distinct ones.
func (o *Options) TargetingOf(advertiser, campaign string) (Targeting, bool) {
	if o.Targeted <= 0 || o.Profiles < 1 {
		return Targeting{}, false
	}
	key := mix(o.Seed, hashOf(advertiser))
	own := mix(key, hashOf(campaign))
	if float64(own>>32) >= o.Targeted*(1<<32) {
		return Targeting{}, false
	}
	const ofAdvertiser = 3
	number := key + own%ofAdvertiser
	if o.Profiles > manyProfiles {
		number = own
	}
	return o.profile(int(number % uint64(o.Profiles))), true
}

// manyProfiles is the number of profiles above which each campaign gets its own while there are any left.
const manyProfiles = 10_000

// profile draws the n-th distinct targeting. Most contexts of WriteContexts pass it; they differ in the bid.
func (o *Options) profile(n int) (t Targeting) {
	d := newDice()
	d.reset(o.Seed, -2, n)
	t.StartDate = targeting.DateOf(day.AddDate(0, 0, -1-d.IntN(2000))).String()
	if d.chance(200) {
		t.EndDate = targeting.DateOf(day.AddDate(0, 0, 1+d.IntN(400))).String()
	}
	if d.chance(300) {
		t.Schedule = drawSchedule(d).JSON()
	}
	if d.chance(800) {
		t.Locations = drawLocations(d).JSON()
	}
	if d.chance(400) {
		t.Audiences = drawAudiences(d, n).JSON()
	}
	if d.chance(150) {
		t.Sites = drawSites(d).JSON()
	}
	if d.chance(200) {
		t.Categories = targeting.Categories{pick(d, categories[:])}.JSON()
	}
	return t
}

// percents has the mix of bid modifiers; most campaigns leave bids unchanged in most places.
var percents = [...]int{0, 0, 0, 0, 0, -50, -30, -20, -10, 5, 10, 10, 15, 20, 25, 30, 40, 50}

func drawModifier(d dice) uint16 { return uint16(targeting.Default + 10*pick(d, percents[:])) }

// drawSchedule draws the hours of a user's day, sometimes with hours at another bid.
func drawSchedule(d dice) (s targeting.Schedule) {
	from, to := uint8(4*(4+d.IntN(3))), uint8(4*(22+d.IntN(3)))
	noon, bid, later := uint8(4*(9+d.IntN(6))), drawModifier(d), drawModifier(d)
	for i := range 7 {
		of := time.Weekday((i + 1) % 7)
		s = append(s, targeting.Interval{Day: of, From: from, To: noon, Modifier: bid}, targeting.Interval{Day: of, From: noon, To: to, Modifier: later})
	}
	return s
}

// drawLocations draws targets in the markets and some other countries, or exclusions of a few other countries.
func drawLocations(d dice) targeting.Locations {
	var list targeting.Locations
	at := d.IntN(len(others))
	if d.chance(250) {
		for i := range 1 + d.IntN(4) {
			list = append(list, targeting.Location{Place: others[(at+i)%len(others)], Exclude: true, Modifier: targeting.Default})
		}
		return inOrder(list)
	}
	last := uint32(0)
	for _, id := range markets {
		if id != last && !d.chance(50) { // not every campaign sells everywhere
			list = append(list, targeting.Location{Place: id, Modifier: drawModifier(d)})
		}
		last = id
	}
	for i := range d.IntN(12) {
		list = append(list, targeting.Location{Place: others[(at+i)%len(others)], Modifier: targeting.Default})
	}
	if d.chance(100) {
		center := targeting.Point{Lat: int32(d.IntN(180_000_000) - 90_000_000), Lon: int32(d.IntN(360_000_000) - 180_000_000)}
		list = append(list, targeting.Location{Circle: targeting.Circle{Point: center, Radius: uint32(5000 + 1000*d.IntN(50))}, Modifier: drawModifier(d)})
	}
	return inOrder(list)
}

func inOrder(list targeting.Locations) targeting.Locations {
	l, err := targeting.NewLocations(list)
	if err != nil {
		panic(err) // a defect: no place may occur twice
	}
	return l
}

// drawAudiences observes the advertiser's own visitors and some segments. It rarely excludes one.
func drawAudiences(d dice, n int) (a targeting.Audiences) {
	a.Observe = append(a.Observe, targeting.Segment{ID: fmt.Sprintf("visitors:%d", n), Modifier: targeting.Default + 300})
	at := d.IntN(segments)
	for i := range d.IntN(5) {
		a.Observe = append(a.Observe, targeting.Segment{ID: segment(at + i), Modifier: drawModifier(d)})
	}
	if d.chance(100) {
		a.Exclude = append(a.Exclude, targeting.Segment{ID: segment(at + 10), Modifier: targeting.Default})
	}
	return a
}

func segment(n int) string { return fmt.Sprintf("segment:%d", n%segments) }

// sites is the number of pages from which requests come.
const sites = 50

func site(n int) string { return fmt.Sprintf("site-%d.example", n%sites) }

// drawSites excludes some sites.
func drawSites(d dice) (s targeting.Sites) {
	at := d.IntN(sites)
	for i := range 1 + d.IntN(3) {
		s.Exclude = append(s.Exclude, targeting.Site{Page: targeting.Page{Host: site(at + i)}, Modifier: targeting.Default})
	}
	return s
}

var categories = [...]string{"alcohol/wine", "clothing/shoes", "computers/parts", "finance", "furniture", "gambling", "games", "garden", "health", "toys"}

// line is a campaign as a JSON line.
type line struct {
	Type       string          `json:"type"`
	Advertiser string          `json:"advertiser"`
	Name       string          `json:"name"`
	StartDate  string          `json:"start_date,omitempty"`
	EndDate    string          `json:"end_date,omitempty"`
	Schedule   json.RawMessage `json:"schedule,omitempty"`
	Locations  json.RawMessage `json:"locations,omitempty"`
	Audiences  json.RawMessage `json:"audiences,omitempty"`
	Sites      json.RawMessage `json:"sites,omitempty"`
	Categories json.RawMessage `json:"categories,omitempty"`
}

// WriteTargeting writes the targeting of campaigns as JSON lines, for import after the Editor file of the corpus of the same
// options. It returns the number of campaigns with targeting.
func (c *Corpus) WriteTargeting(ctx context.Context, w io.Writer, o Options) (n int, err error) {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	type name struct{ advertiser, campaign string }
	known := make(map[name]bool)
	for g, err := range c.Groups(ctx, o) {
		if err != nil {
			return n, err
		}
		if at := (name{g.Advertiser, g.Campaign}); known[at] {
			continue
		} else {
			known[at] = true
		}
		t, ok := o.TargetingOf(g.Advertiser, g.Campaign)
		if !ok {
			continue
		}
		n++
		if err := lines.Encode(line{"campaign", g.Advertiser, g.Campaign, t.StartDate, t.EndDate, raw(t.Schedule), raw(t.Locations),
			raw(t.Audiences), raw(t.Sites), raw(t.Categories)}); err != nil {
			return n, err
		}
	}
	return n, out.Flush()
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }
