package queryserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// TestPagesAreThoseOfHTTP: pages of valid and invalid placements, and refused pages, have the same answers over gRPC as over HTTP, and
// the searcher receives the same request.
func TestPagesAreThoseOfHTTP(t *testing.T) {
	var asked []*search.Request
	var answer *search.Answer
	s := &searcher{answer: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		asked = append(asked, r)
		return answer, nil
	}}
	h, c := serve(t, s, nil, func(c *searchapi.Config) {
		c.Scorer = func() search.ScorerID { return search.ScorerID{1, 2} }
		c.List = func(name string) (uint64, error) {
			if name == "kids" {
				return 7, nil
			}
			return 0, fault.Newf(fault.Invalid, "test", "no list")
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		m := drawPage(t)
		answer = found()
		for i := range answer.Hits {
			answer.Hits[i].Filters = rapid.Uint8().Draw(t, "filters")
		}
		for range search.MaxPlacements {
			answer.Filtered = append(answer.Filtered, rapid.Uint64().Draw(t, "candidates"))
		}
		asked = nil
		r := httptest.NewRequest(http.MethodPost, "/v1/search", bytes.NewReader(pageBody(t, m)))
		r.Header.Set("Content-Type", "application/json")
		w := answered(h, r)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		got, err := c.Search(ctx, m)
		if err != nil || w.Code != http.StatusOK {
			var refused api.ErrorAnswer
			_ = json.Unmarshal(w.Body.Bytes(), &refused)
			if err = wire.FromStatus(err); !fault.Is(err, fault.Invalid) || refused.Error.Code != api.ErrorCodeInvalid || refused.Error.Field != fault.FieldOf(err) {
				t.Fatalf("%v\n%v, over HTTP %d %s", m, err, w.Code, w.Body)
			}
			return
		}
		got.TookUs = 0
		if want := message(t, w.Body.Bytes()); !proto.Equal(got, want) {
			t.Fatalf("%v:\n got %v\nwant %v", m, got, want)
		}
		if len(asked) != 2 || !reflect.DeepEqual(asked[0], asked[1]) {
			t.Fatalf("asked %+v", asked)
		}
	})
}

// drawPage draws a request with placements, some of which are invalid.
func drawPage(t *rapid.T) *pb.AdsRequest {
	m := &pb.AdsRequest{
		Q: "usb", RequestId: "id-1", Time: "2026-03-04T12:00:00Z", Slots: rapid.SampledFrom([]int32{0, 2, 21}).Draw(t, "slots"),
		PerAdvertiser: rapid.SampledFrom([]int32{0, 1, 2, 20, 21, -1}).Draw(t, "per advertiser"), WhyEmpty: rapid.Bool().Draw(t, "why empty"),
		BlockDomains: drawTexts(t, "c.example", "d.example"),
	}
	for range rapid.IntRange(0, search.MaxPlacements+1).Draw(t, "placements") {
		m.Placements = append(m.Placements, &pb.AdsPlacement{
			Id:            rapid.SampledFrom([]string{"top", "side", "<a>", "d", "e", "f", "g", "", "ä"}).Draw(t, "id"),
			Slots:         rapid.SampledFrom([]int32{0, 1, 1, 1, 2, 21, -1}).Draw(t, "slots"),
			ReserveMicros: rapid.SampledFrom([]int64{0, 0, 5, 50_000, 5_000_000, -1, 1 << 40}).Draw(t, "reserve"),
			Block:         drawTexts(t, "kids", "none"), BlockDomains: drawTexts(t, "a.example", "/"), BlockCategories: drawTexts(t, "toys", "alcohol"),
			BlockAdvertisers:   rapid.SampledFrom([][]uint64{nil, nil, {7, 8}, {0}}).Draw(t, "advertisers"),
			BlockUncategorised: rapid.Bool().Draw(t, "uncategorised"),
		})
	}
	return m
}

func drawTexts(t *rapid.T, right, other string) []string {
	return rapid.SampledFrom([][]string{nil, nil, nil, {right}, {right, other}}).Draw(t, "texts")
}

// pageBody returns a request as the body of a POST. If several fields are wrong, the answer names the first one.
func pageBody(t *rapid.T, m *pb.AdsRequest) []byte {
	body := struct {
		Q             string                 `json:"q"`
		Slots         int32                  `json:"slots,omitempty"`
		PerAdvertiser int32                  `json:"per_advertiser,omitempty"`
		Time          string                 `json:"time"`
		WhyEmpty      bool                   `json:"why_empty"`
		BlockDomains  []string               `json:"block_domains,omitempty"`
		Placements    []api.PlacementRequest `json:"placements,omitempty"`
	}{m.Q, m.Slots, m.PerAdvertiser, m.Time, m.WhyEmpty, m.BlockDomains, nil}
	for _, p := range m.Placements {
		body.Placements = append(body.Placements, api.PlacementRequest{
			ID: p.Id, Slots: int(p.Slots), ReserveMicros: p.ReserveMicros, Block: p.Block, BlockAdvertisers: p.BlockAdvertisers,
			BlockDomains: p.BlockDomains, BlockCategories: p.BlockCategories, BlockUncategorised: p.BlockUncategorised,
		})
	}
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
