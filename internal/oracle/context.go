package oracle

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"adshard/backend"
	"adshard/search"
)

// Context is the user and page of a request (serving.md §11), with the table of places that is needed to interpret it.
type Context struct {
	Time                          time.Time
	Locations, Interest           []uint32
	Parents                       map[uint32]uint32 // of places
	Lat, Lon                      float64           // degrees, with HasPoint
	HasPoint                      bool
	Languages, Audiences          []string // codes and segments
	Host, Path                    string   // of the page, normalised, or "" if there is none
	Include                       bool     // unknown_location is "include"
	BlockAdvertisers              []uint64
	BlockDomains, BlockCategories []string
	BlockUncategorised            bool
}

// entry is an entry of any of the lists in serving.md §13.
type entry struct {
	Day, From, To    string
	ID               any
	Lat, Lon         float64
	Radius           float64 `json:"radius_m"`
	Exclude          bool
	Site             string
	ModifierPercent  float64 `json:"modifier_percent"`
	permille, number uint64
}

// read reads a list, or an object's lists by name.
func read(text string) (list []entry, named map[string][]entry) {
	if text == "" {
		return nil, nil
	}
	if text[0] == '[' {
		if json.Unmarshal([]byte(text), &list) != nil {
			panic("oracle: " + text)
		}
		return completed(list), nil
	}
	if json.Unmarshal([]byte(text), &named) != nil {
		panic("oracle: " + text)
	}
	for name := range named {
		named[name] = completed(named[name])
	}
	return nil, named
}

func completed(list []entry) []entry {
	for i := range list {
		e := &list[i]
		e.permille = uint64(math.Round(1000 + 10*e.ModifierPercent))
		if n, ok := e.ID.(float64); ok {
			e.number = uint64(n)
		}
	}
	return list
}

// context returns the first dimension of targeting that keeps the keyword from taking part, or Eligible and the
// factors of its bid.
func (k *keyword) context(r *Request) (v search.Verdict, factors [4]uint64) {
	factors = [4]uint64{1000, 1000, 1000, 1000}
	c := r.Context
	if c == nil {
		return search.Eligible, factors
	}
	for _, dimension := range []func(*Context, *[4]uint64) search.Verdict{
		k.dates, k.schedule, k.location, k.language, k.audience, k.site, k.blocked,
	} {
		if v := dimension(c, &factors); v != search.Eligible {
			return v, factors
		}
	}
	return search.Eligible, factors
}

func (k *keyword) wall(c *Context) time.Time {
	zone, err := time.LoadLocation(k.advertiser.TimeZone)
	if err != nil {
		panic(err)
	}
	return c.Time.In(zone)
}

func (k *keyword) dates(c *Context, _ *[4]uint64) search.Verdict {
	day := k.wall(c).Format(time.DateOnly)
	switch {
	case k.campaign.StartDate != "" && day < k.campaign.StartDate:
		return search.NotStarted
	case k.campaign.EndDate != "" && day > k.campaign.EndDate:
		return search.Ended
	}
	return search.Eligible
}

func (k *keyword) schedule(c *Context, factors *[4]uint64) search.Verdict {
	list, _ := read(k.campaign.Schedule)
	if len(list) == 0 {
		return search.Eligible
	}
	now := k.wall(c)
	day, clock := strings.ToLower(now.Weekday().String()), now.Format("15:04")
	for _, e := range list {
		if e.Day == day && e.From <= clock && clock < e.To {
			factors[0] = e.permille
			return search.Eligible
		}
	}
	return search.OffSchedule
}

// around returns the places in a list and all places that contain them, each with its depth: the number of places
// from it up to the root.
func (c *Context) around(list []uint32) map[uint64]int {
	out := map[uint64]int{}
	for _, id := range list {
		for ; id != 0; id = c.Parents[id] {
			depth := 0
			for p := id; p != 0; p = c.Parents[p] {
				depth++
			}
			out[uint64(id)] = depth
		}
	}
	return out
}

func (k *keyword) location(c *Context, factors *[4]uint64) search.Verdict {
	list, _ := read(k.campaign.Locations)
	counted := func(presence bool) map[uint64]int {
		if presence {
			return c.around(c.Locations)
		}
		return c.around(slices.Concat(c.Locations, c.Interest))
	}
	targets, exclusions := counted(k.campaign.LocationPresence), counted(k.campaign.ExclusionPresence)
	var circle, place *entry
	any, circles := false, false
	for i := range list {
		e := &list[i]
		of := targets
		if e.Exclude {
			of = exclusions
		}
		depth, applies := of[e.number], of[e.number] > 0
		if e.number == 0 {
			applies = c.HasPoint && distance(e.Lat, e.Lon, c.Lat, c.Lon) <= e.Radius
		}
		switch {
		case e.Exclude && applies:
			return search.LocationExcluded
		case e.Exclude:
			continue
		}
		any, circles = true, circles || e.number == 0
		switch {
		case !applies:
		case e.number == 0:
			if circle == nil || e.Radius < circle.Radius || e.Radius == circle.Radius && e.permille > circle.permille {
				circle = e
			}
		case place == nil || depth > of[place.number] || depth == of[place.number] && e.permille > place.permille:
			place = e
		}
	}
	for _, e := range list { // an exclusion counts before a target
		if e.Exclude && (e.number > 0 && exclusions[e.number] > 0 || e.number == 0 && c.HasPoint && distance(e.Lat, e.Lon, c.Lat, c.Lon) <= e.Radius) {
			return search.LocationExcluded
		}
	}
	switch {
	case !any:
	case circle != nil:
		factors[1] = circle.permille
	case place != nil:
		factors[1] = place.permille
	case len(targets) == 0 && (!c.HasPoint || !circles):
		if !c.Include {
			return search.LocationUnknown
		}
	default:
		return search.LocationMissed
	}
	return search.Eligible
}

func distance(lat1, lon1, lat2, lon2 float64) float64 {
	rad := func(d float64) float64 { return d * math.Pi / 180 }
	a := math.Pow(math.Sin((rad(lat2)-rad(lat1))/2), 2) + math.Cos(rad(lat1))*math.Cos(rad(lat2))*math.Pow(math.Sin((rad(lon2)-rad(lon1))/2), 2)
	return 2 * 6_371_008.8 * math.Asin(min(1, math.Sqrt(a)))
}

func (k *keyword) language(c *Context, _ *[4]uint64) search.Verdict {
	own := k.campaign.Languages.Codes()
	if len(own) == 0 || len(c.Languages) == 0 || slices.ContainsFunc(own, func(l string) bool { return slices.Contains(c.Languages, l) }) {
		return search.Eligible
	}
	return search.LanguageMissed
}

func (k *keyword) audience(c *Context, factors *[4]uint64) search.Verdict {
	text := k.item.Group.Audiences
	if text == "" {
		text = k.campaign.Audiences
	}
	_, lists := read(text)
	has := func(e entry) bool { return slices.Contains(c.Audiences, e.ID.(string)) }
	if slices.ContainsFunc(lists["exclude"], has) {
		return search.AudienceExcluded
	}
	if len(lists["target"]) > 0 && !slices.ContainsFunc(lists["target"], has) {
		return search.AudienceMissed
	}
	most := uint64(0)
	for _, e := range slices.Concat(lists["target"], lists["observe"]) {
		if has(e) {
			most = max(most, e.permille)
		}
	}
	if most > 0 {
		factors[2] = most
	}
	return search.Eligible
}

func (k *keyword) site(c *Context, factors *[4]uint64) search.Verdict {
	text := k.item.Group.Sites
	if text == "" {
		text = k.campaign.Sites
	}
	_, lists := read(text)
	type applied struct {
		host, path string
		exclude    bool
		entry
	}
	var best *applied
	for _, name := range []string{"include", "exclude"} {
		for _, e := range lists[name] {
			host, path, found := strings.Cut(e.Site, "/")
			if found {
				path = "/" + path
			}
			page := strings.Split(c.Path+"/", "/")
			want := strings.Split(path+"/", "/")
			if c.Host == "" || c.Host != host && !strings.HasSuffix(c.Host, "."+host) || len(want) > len(page) || !slices.Equal(want[:len(want)-1], page[:len(want)-1]) {
				continue
			}
			a := &applied{host, path, name == "exclude", e}
			if best == nil || len(host) > len(best.host) || len(host) == len(best.host) && len(path) > len(best.path) ||
				len(host) == len(best.host) && len(path) == len(best.path) && a.exclude {
				best = a
			}
		}
	}
	switch {
	case best != nil && best.exclude:
		return search.SiteExcluded
	case best != nil:
		factors[3] = best.permille
	case len(lists["include"]) > 0:
		return search.SiteMissed
	}
	return search.Eligible
}

func (k *keyword) blocked(c *Context, _ *[4]uint64) search.Verdict {
	var categories []string
	for _, text := range []string{k.campaign.Categories, k.advertiser.Categories} {
		var list []string
		if text != "" && json.Unmarshal([]byte(text), &list) != nil {
			panic("oracle: " + text)
		}
		categories = append(categories, list...)
	}
	met := slices.Contains(c.BlockAdvertisers, k.advertiser.ID) || c.BlockUncategorised && len(categories) == 0
	for _, b := range c.BlockCategories {
		met = met || slices.ContainsFunc(categories, func(own string) bool { return strings.HasPrefix(own+"/", b+"/") })
	}
	switch ads := enabledAds(k.item); {
	case met:
	case k.FinalURL != "":
		met = c.meets(k.FinalURL)
	default:
		met = len(ads) > 0 && len(c.shown(ads)) == 0
	}
	if met {
		return search.Blocked
	}
	return search.Eligible
}

// meets reports whether the host of a URL is in a blocked domain. Drawn worlds have only plain URLs.
func (c *Context) meets(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return url != "" && slices.ContainsFunc(c.BlockDomains, func(d string) bool { return strings.HasSuffix("."+host, "."+d) })
}

// shown returns the ads that no block meets.
func (c *Context) shown(ads []*backend.Ad) []*backend.Ad {
	return slices.DeleteFunc(slices.Clone(ads), func(a *backend.Ad) bool { return c.meets(a.FinalURL) })
}
