package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"adshard/internal/node/httpapi/api"
)

// Types of answers, described in the document.
type (
	SearchAnswer  = api.SearchAnswer
	ExplainAnswer = api.ExplainAnswer
	Ad            = api.Ad
	Coverage      = api.Coverage
	// PlacementAnswer has the ads of a placement of a page, or its Error.
	PlacementAnswer = api.PlacementAnswer
	EventsAnswer    = api.EventsAnswer
)

// SearchRequest is a request for ads. Zero values mean the server's defaults.
type SearchRequest struct {
	Query     string
	Slots     int    // places, 1 to 20
	Device    string // desktop, mobile, tablet
	Variants  string // identical, folded, inflected, synonym
	TimeoutMS int    // time until the answer, at the server
	Strict    bool   // whether an incomplete answer is an error
	MinClock  string // clock of a change that the answer must include
	// Context says where, when and by whom the query was made, and what its page blocks.
	Context Context
	// Placements, up to 8, are filled by this one query, in their order. Their ads are in Placements of the answer. Slots is then
	// the number of places of a placement that does not set its own.
	Placements []Placement
	// PerAdvertiser is the number of places, of all placements together, that an advertiser may have. 0 means one.
	PerAdvertiser int
	// If WhyEmpty is set, Why of an answer without ads counts what keeps matching keywords from taking part.
	WhyEmpty bool
	// RequestID names the request in logs. LowPriority and Tenant matter if there is too much to do.
	RequestID   string
	LowPriority bool
	Tenant      string
}

// Placement is a part of a page that has its own ads. It has an id, and optionally slots, a reserve, and blocks in addition to those
// of the request.
type Placement = api.PlacementRequest

// Context is what is known about the user and the page of a query. Zero values mean that nothing is known. All of it must fit into a
// URL, unless there are placements.
type Context struct {
	Locations          []uint32  // ids of places where the user is
	InterestLocations  []uint32  // ids of places that the query is about
	Point              string    // "lat,lon" in degrees, with at most 6 decimals
	Time               time.Time // time of the query; zero means now
	Languages          []string  // of the user: names or codes
	Audiences          []string  // segments to which the user belongs
	Site               string    // host of the page, optionally with a path
	Block              []string  // names of stored block lists
	BlockAdvertisers   []uint64  // ids
	BlockDomains       []string  // hosts
	BlockCategories    []string
	BlockUncategorised bool // whether campaigns without any category are blocked
}

// field is one field of a request, by its name in a query string.
type field struct {
	name  string
	value any
}

// said returns the fields that a request sets.
func (r *SearchRequest) said() []field {
	c := &r.Context
	asked := ""
	if !c.Time.IsZero() {
		asked = c.Time.Format(time.RFC3339)
	}
	all := []field{
		{"q", r.Query}, {"device", r.Device}, {"variants", r.Variants}, {"min_clock", r.MinClock},
		{"slots", r.Slots}, {"timeout_ms", r.TimeoutMS}, {"strict", r.Strict}, {"why_empty", r.WhyEmpty},
		{"location", c.Locations}, {"interest_location", c.InterestLocations}, {"point", c.Point}, {"time", asked},
		{"language", c.Languages}, {"audience", c.Audiences}, {"site", c.Site},
		{"block", c.Block}, {"block_advertiser", c.BlockAdvertisers}, {"block_domain", c.BlockDomains},
		{"block_category", c.BlockCategories}, {"block_uncategorised", c.BlockUncategorised},
	}
	return slices.DeleteFunc(all, func(f field) bool {
		v := reflect.ValueOf(f.value)
		return v.IsZero() && f.name != "q" || v.Kind() == reflect.Slice && v.Len() == 0
	})
}

// query returns the request as a query string.
func (r *SearchRequest) query() url.Values {
	q := url.Values{}
	for _, f := range r.said() {
		v := reflect.ValueOf(f.value)
		if v.Kind() != reflect.Slice {
			q.Set(f.name, fmt.Sprint(f.value))
			continue
		}
		for i := range v.Len() {
			q.Add(f.name, fmt.Sprint(v.Index(i)))
		}
	}
	return q
}

// body returns the request and its placements as the JSON of a POST.
func (r *SearchRequest) body() (map[string]any, error) {
	b, names := map[string]any{"placements": r.Placements}, new(api.SearchParams)
	for _, f := range r.said() {
		b[names.BodyName(f.name)] = f.value
	}
	if r.PerAdvertiser != 0 {
		b["per_advertiser"] = r.PerAdvertiser
	}
	if r.Context.Point != "" {
		lat, lon, ok := strings.Cut(r.Context.Point, ",")
		if !ok {
			return nil, fmt.Errorf("client: Point must be lat,lon in degrees, not %q", r.Context.Point)
		}
		b["point"] = map[string]json.Number{"lat": json.Number(lat), "lon": json.Number(lon)}
	}
	return b, nil
}

func (r *SearchRequest) header() http.Header {
	h := http.Header{}
	if r.RequestID != "" {
		h.Set("X-Request-Id", r.RequestID)
	}
	if r.Tenant != "" {
		h.Set("X-Tenant", r.Tenant)
	}
	if r.LowPriority {
		h.Set("X-Priority", "low")
	}
	return h
}

// Search returns the ads of a query. If an answer lacks a part of the data, its Coverage says so.
func (c *Client) Search(ctx context.Context, r SearchRequest) (*SearchAnswer, error) {
	var out SearchAnswer
	sent := request{method: http.MethodGet, path: "/v1/search", header: r.header(), to: &out}
	if len(r.Placements) == 0 {
		sent.query = r.query()
	} else {
		body, err := r.body()
		if err != nil {
			return nil, err
		}
		sent.method, sent.body = http.MethodPost, body
	}
	if err := c.do(ctx, c.masters, &sent); err != nil {
		return nil, err
	}
	return &out, nil
}

// ExplainRequest is a request to explain why each keyword that matches a query won or lost. Strict, MinClock, WhyEmpty and
// Placements do not apply.
type ExplainRequest struct {
	SearchRequest
	Limit, Offset int // keywords
	// WhyNot names keywords to explain instead, whether they match or not: a keyword by its id, or all of an advertiser by its name
	// or as advertiser:ID.
	WhyNot string
}

// Explain explains a query. Masters must allow that on the port that Config names.
func (c *Client) Explain(ctx context.Context, r ExplainRequest) (*ExplainAnswer, error) {
	q := r.query()
	q.Del("strict")
	q.Del("min_clock")
	q.Del("why_empty")
	if r.Limit != 0 {
		q.Set("limit", fmt.Sprint(r.Limit))
	}
	if r.Offset != 0 {
		q.Set("offset", fmt.Sprint(r.Offset))
	}
	if r.WhyNot != "" {
		q.Set("why_not", r.WhyNot)
	}
	var out ExplainAnswer
	err := c.do(ctx, c.masters, &request{method: http.MethodGet, path: "/v1/explain", query: q, header: r.header(), to: &out})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Event is an impression or click of an ad.
type Event struct {
	Kind  string `json:"kind"`  // impression, click
	Token string `json:"token"` // EventToken of the ad
}

// Events counts 1 to 5,000 events. An event that is sent again is counted only once.
func (c *Client) Events(ctx context.Context, list []Event) (*EventsAnswer, error) {
	var out EventsAnswer
	body := map[string]any{"events": list}
	if err := c.do(ctx, c.collectors, &request{method: http.MethodPost, path: "/v1/events", body: body, to: &out}); err != nil {
		return nil, err
	}
	return &out, nil
}
