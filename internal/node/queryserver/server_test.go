package queryserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/queryserver"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/display"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// searcher returns fixed answers.
type searcher struct {
	answer func(context.Context, *search.Request) (*search.Answer, error)
}

func (s *searcher) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	return s.answer(ctx, r)
}

// observed counts requests by status.
type observed map[int]int

func (o observed) Observe(seen *searchapi.Observation) { o[seen.Status]++ }

// serve returns the HTTP handler, and a gRPC client of the same searcher.
func serve(t *testing.T, s *searcher, o searchapi.Observer, with ...func(*searchapi.Config)) (http.Handler, pb.MasterClient) {
	t.Helper()
	c := searchapi.Config{Searcher: s, Counter: s, Reserve: 10_000, MaxInFlight: 2, Observer: o}
	for _, f := range with {
		f(&c)
	}
	h := searchapi.New(c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(wire.QueryOptions(nil)...)
	pb.RegisterMasterServer(server, queryserver.New(h))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	conn, err := wire.Dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return h, pb.NewMasterClient(conn)
}

func found(missing ...search.Missing) *search.Answer {
	a := &search.Answer{Matched: 46, Candidates: 31, CountsExact: len(missing) == 0, AppliedClock: 9, Shards: 3,
		Answered: 3 - len(missing), Missing: missing}
	if len(missing) == 0 {
		a.Width = search.WholeRing()
	}
	for i := range uint64(5) {
		a.Hits = append(a.Hits, search.Hit{
			Keyword: i + 1, Group: 20 + i, Campaign: 30 + i, Advertiser: 40 + i, Score: (9 - i) * 1e12, Quality: 1e6,
			Type: search.MatchType(i % 3), Level: search.Level(i % 4), Ad: 50 + i,
			Display: display.New("Čapek & \"S\"", "<c>", "g\n", "usb", &display.Ad{
				Headlines: []string{"one", "two"}, Descriptions: []string{"\u2028"}, Path1: "a", Path2: "b", FinalURL: "https://a.example/?a=1&b=2"}),
		})
	}
	return a
}

// overHTTP returns the answer of GET /v1/search in the form of the gRPC message.
func overHTTP(t *testing.T, h http.Handler, query string) *pb.AdsResponse {
	t.Helper()
	w := answered(h, httptest.NewRequest(http.MethodGet, "/v1/search?"+query, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return message(t, w.Body.Bytes())
}

func answered(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.Header.Set("X-Request-Id", "id-1")
	h.ServeHTTP(w, r)
	return w
}

// message converts an HTTP answer to the gRPC message, without the time it took.
func message(t rapid.TB, body []byte) *pb.AdsResponse {
	t.Helper()
	var a api.SearchAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%v %s", err, body)
	}
	m := &pb.AdsResponse{Query: a.Query, Truncated: a.Truncated, Matched: a.Matched, Candidates: a.Candidates,
		CountsExact: a.Counts == "", RequestId: a.RequestID, Ads: ads(a.Ads), Why: why(a.Why), Scorer: a.Scorer,
		Coverage: &pb.Coverage{Shards: uint32(a.Coverage.Shards), Answered: uint32(a.Coverage.Answered), Complete: a.Coverage.Complete,
			PricesExact: a.Coverage.PricesExact, AppliedClock: a.Coverage.AppliedClock}}
	for _, name := range a.Coverage.Missing {
		m.Coverage.Missing = append(m.Coverage.Missing, &pb.MissingShard{Name: name, Reason: string(a.Coverage.Reasons[name])})
	}
	for _, p := range a.Placements {
		filled := &pb.FilledPlacement{Id: p.ID, Ads: ads(p.Ads), Matched: p.Matched, Candidates: p.Candidates, Why: why(p.Why)}
		if p.Error != nil {
			filled.Error = &pb.PlacementError{Code: string(p.Error.Code), Message: p.Error.Message, Field: p.Error.Field}
		}
		m.Placements = append(m.Placements, filled)
	}
	return m
}

func ads(list []api.Ad) (out []*pb.PlacedAd) {
	for _, ad := range list {
		out = append(out, &pb.PlacedAd{
			Position: uint32(ad.Position), AdId: ad.AdID, KeywordId: ad.KeywordID, GroupId: ad.GroupID, CampaignId: ad.CampaignID,
			AdvertiserId: ad.AdvertiserID, Advertiser: ad.Advertiser, Campaign: ad.Campaign, Group: ad.Group, Keyword: ad.Keyword,
			MatchType: string(ad.MatchType), Variant: string(ad.Variant), PriceMicros: ad.PriceMicros,
			Headlines: ad.Headlines, Descriptions: ad.Descriptions, Path: ad.Path, FinalUrl: ad.FinalURL,
		})
	}
	return out
}

func why(counts map[string]int) (out []*pb.KeptOut) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, &pb.KeptOut{Verdict: name, Keywords: uint64(counts[name])})
	}
	return out
}

// TestAnswersAreThoseOfHTTP: answers equal those over HTTP, field by field, and the searcher receives the same request.
func TestAnswersAreThoseOfHTTP(t *testing.T) {
	var asked []*search.Request
	s := &searcher{}
	h, c := serve(t, s, nil)
	for _, missing := range [][]search.Missing{nil, {{Shard: "slave-2", Reason: search.Late}, {Shard: "slave-0", Reason: search.Silent}}} {
		s.answer = func(_ context.Context, r *search.Request) (*search.Answer, error) {
			asked = append(asked, r)
			return found(missing...), nil
		}
		for _, m := range []*pb.AdsRequest{
			{Q: "usb kábel"},
			{Q: strings.Repeat("w ", 40), Slots: 2, Device: "mobile", Variants: "folded", TimeoutMs: 5000, ExactCounts: true},
			{Q: "", Slots: 20, Device: "tablet", Variants: "identical"},
		} {
			m.RequestId, m.Time = "id-1", "2026-03-04T12:00:00Z"
			query := url.Values{"q": {m.Q}, "time": {m.Time}}
			for name, value := range map[string]string{"slots": fmt.Sprint(m.Slots), "device": m.Device, "variants": m.Variants, "timeout_ms": fmt.Sprint(m.TimeoutMs)} {
				if value != "" && value != "0" {
					query.Set(name, value)
				}
			}
			if m.ExactCounts {
				query.Set("counts", "exact")
			}
			asked = nil
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			got, err := c.Search(ctx, m)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			got.TookUs = 0
			if want := overHTTP(t, h, query.Encode()); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v:\n got %v\nwant %v", m, got, want)
			}
			if len(asked) != 2 || !reflect.DeepEqual(asked[0], asked[1]) {
				t.Errorf("asked %+v", asked)
			}
		}
	}
}

// Explain counts one keyword that a block excludes.
func (s *searcher) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	e := new(search.Explanation)
	e.Counts[search.Blocked], e.Counts[search.Eligible] = 1, 2
	return e, nil
}

// TestContext: what a request says about its user and page has the same meaning as over HTTP, and so does what the answer says
// about it.
func TestContext(t *testing.T) {
	var asked []*search.Request
	s := &searcher{answer: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		asked = append(asked, r)
		return &search.Answer{Shards: 1, Answered: 1, Width: search.WholeRing(), CountsExact: true}, nil
	}}
	h, c := serve(t, s, nil)
	m := &pb.AdsRequest{
		Q: "usb", RequestId: "id-1", Locations: []uint32{2203, 1}, InterestLocations: []uint32{2840}, Point: "50.087,14.421", Time: "2026-03-04T12:00:00Z",
		Languages: []string{"Czech"}, Audiences: []string{"a", "b"}, Site: "shop.example/x", BlockAdvertisers: []uint64{7}, BlockDomains: []string{"c.example"},
		BlockCategories: []string{"alcohol"}, BlockUncategorised: true, WhyEmpty: true,
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := c.Search(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	overHTTP(t, h, "q=usb&location=2203&location=1&interest_location=2840&point=50.087,14.421&time=2026-03-04T12:00:00Z&language=Czech&audience=a&audience=b"+
		"&site=shop.example/x&block_advertiser=7&block_domain=c.example&block_category=alcohol&block_uncategorised=true&why_empty=true")
	if len(asked) != 2 || !reflect.DeepEqual(asked[0].Context, asked[1].Context) {
		t.Errorf("asked %+v", asked)
	}
	if got.LocationsVersion == "" || !reflect.DeepEqual(got.UnknownLocations, []uint32{1}) || len(got.Why) != 1 || got.Why[0].Verdict != "blocked" || got.Why[0].Keywords != 1 {
		t.Errorf("answer %v", got)
	}
	for field, m := range map[string]*pb.AdsRequest{
		"locations": {Q: "a", Locations: []uint32{0}}, "point": {Q: "a", Point: "91,0"}, "site": {Q: "a", Site: "/"}, "block": {Q: "a", Block: []string{"nobody"}}, "time": {Q: "a", Time: "a.example", Site: "a.example"},
	} {
		if _, err := c.Search(ctx, m); !fault.Is(wire.FromStatus(err), fault.Invalid) || fault.FieldOf(wire.FromStatus(err)) != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestALargeContext: 1,000 domains of the longest names are accepted, as over HTTP. One more is refused, and the error names
// the field.
func TestALargeContext(t *testing.T) {
	_, c := serve(t, &searcher{answer: func(context.Context, *search.Request) (*search.Answer, error) { return found(), nil }}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m := &pb.AdsRequest{Q: "usb"}
	for i := range 1000 {
		label := strings.Repeat("a", 60)
		m.BlockDomains = append(m.BlockDomains, fmt.Sprintf("%d.%s.%[2]s.%[2]s", i, label))
	}
	if _, err := c.Search(ctx, m); err != nil {
		t.Fatal(err)
	}
	m.BlockDomains = append(m.BlockDomains, "one.more.example")
	if _, err := c.Search(ctx, m); fault.FieldOf(wire.FromStatus(err)) != "block_domains" {
		t.Errorf("1,001 domains: %v", err)
	}
}

// TestRefusals: errors have the same kind and field as over HTTP, and are observed.
func TestRefusals(t *testing.T) {
	seen := observed{}
	s := &searcher{answer: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		switch r.Slots {
		case 11:
			panic("boom")
		case 12:
			return nil, fault.Newf(fault.Overloaded, "", "all places are taken")
		case 13:
			a := found()
			a.Hits[0].Display.Keyword = []byte("x")
			return a, nil
		}
		return found(search.Missing{Shard: "slave-1", Reason: search.Late}), nil
	}}
	_, c := serve(t, s, seen)
	for name, w := range map[string]struct {
		m     *pb.AdsRequest
		kind  fault.Kind
		field string
	}{
		"slots":      {&pb.AdsRequest{Q: "a", Slots: 21}, fault.Invalid, "slots"},
		"below 0":    {&pb.AdsRequest{Q: "a", Slots: -1}, fault.Invalid, "slots"},
		"device":     {&pb.AdsRequest{Q: "a", Device: "phone"}, fault.Invalid, "device"},
		"variants":   {&pb.AdsRequest{Q: "a", Variants: "all"}, fault.Invalid, "variants"},
		"timeout":    {&pb.AdsRequest{Q: "a", TimeoutMs: 5001}, fault.Invalid, "timeout_ms"},
		"long":       {&pb.AdsRequest{Q: strings.Repeat("a", 1025)}, fault.Invalid, "q"},
		"id":         {&pb.AdsRequest{Q: "a", RequestId: "\x01"}, fault.Invalid, "request_id"},
		"incomplete": {&pb.AdsRequest{Q: "a", Strict: true}, fault.Unavailable, ""},
		"panic":      {&pb.AdsRequest{Q: "a", Slots: 11}, fault.Internal, ""},
		"overload":   {&pb.AdsRequest{Q: "a", Slots: 12}, fault.Overloaded, ""},
		"damaged":    {&pb.AdsRequest{Q: "a", Slots: 13}, fault.Corrupt, ""},
	} {
		for range 3 { // places are released
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := c.Search(ctx, w.m)
			cancel()
			if err = wire.FromStatus(err); !fault.Is(err, w.kind) || fault.FieldOf(err) != w.field {
				t.Errorf("%s: %v (%v, %q)", name, err, fault.KindOf(err), fault.FieldOf(err))
			}
		}
	}
	if _, err := c.Search(context.Background(), &pb.AdsRequest{Q: "a"}); !fault.Is(wire.FromStatus(err), fault.Invalid) {
		t.Errorf("without a deadline: %v", err)
	}
	if seen[400] != 3 || seen[503] != 6 || seen[500] != 3 || seen[200] != 3 {
		t.Errorf("observed %v", seen)
	}
}

// TestTheDeadlineOfTheCallBoundsTheSearch: a search does not last longer than the deadline of the call.
func TestTheDeadlineOfTheCallBoundsTheSearch(t *testing.T) {
	const most = 4 * time.Second // of the 5 that the message allows
	left := make(chan time.Duration, 1)
	s := &searcher{answer: func(ctx context.Context, _ *search.Request) (*search.Answer, error) {
		deadline, _ := ctx.Deadline()
		left <- time.Until(deadline)
		return nil, fault.New(fault.Deadline, "test", context.DeadlineExceeded)
	}}
	_, c := serve(t, s, nil)
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	if _, err := c.Search(ctx, &pb.AdsRequest{Q: "a", TimeoutMs: 5000}); !fault.Is(wire.FromStatus(err), fault.Deadline) {
		t.Errorf("%v", err)
	}
	if d := <-left; d > most {
		t.Errorf("the search has %v", d)
	}
}
