package queryserver

import (
	"context"
	"encoding/json"
	"strconv"

	"google.golang.org/grpc/metadata"

	"adshard/auction"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/searchapi"
	"adshard/schema/pb"
	"adshard/search"
)

// Asker answers searches (searchapi.Handler).
type Asker interface {
	Ask(ctx context.Context, b *api.SearchBody, tags search.Tags, id string) (searchapi.Result, error)
}

// Server is the gRPC service Master. Make it with New.
type Server struct {
	pb.UnimplementedMasterServer
	asker Asker
}

// New returns a server that has searches answered by a.
func New(a Asker) *Server { return &Server{asker: a} }

// Search implements pb.MasterServer.
func (s *Server) Search(ctx context.Context, m *pb.AdsRequest) (*pb.AdsResponse, error) {
	b, err := body(m)
	if err != nil {
		return nil, err
	}
	md, _ := metadata.FromIncomingContext(ctx)
	tags, err := searchapi.Tags(md["x-priority"], md["x-tenant"])
	if err != nil {
		return nil, err
	}
	r, err := s.asker.Ask(ctx, b, tags, m.GetRequestId())
	if err != nil {
		return nil, err
	}
	return response(&r)
}

// body converts a request, with the same checks as for a request over HTTP.
func body(m *pb.AdsRequest) (*api.SearchBody, error) {
	b := api.NewSearchBody()
	for _, f := range []struct {
		name  string
		given bool
		value api.Value
	}{
		{"q", true, api.Value{Kind: api.String, Raw: m.GetQ()}},
		{"slots", m.GetSlots() != 0, number(m.GetSlots())},
		{"device", m.GetDevice() != "", api.Value{Kind: api.String, Raw: m.GetDevice()}},
		{"variants", m.GetVariants() != "", api.Value{Kind: api.String, Raw: m.GetVariants()}},
		{"timeout_ms", m.GetTimeoutMs() != 0, number(m.GetTimeoutMs())},
		{"min_clock", m.GetMinClock() != "", api.Value{Kind: api.String, Raw: m.GetMinClock()}},
		{"per_advertiser", m.GetPerAdvertiser() != 0, number(m.GetPerAdvertiser())},
	} {
		if !f.given {
			continue
		}
		if _, err := b.Set(f.name, f.value); err != nil {
			return nil, err
		}
	}
	said(b.SearchParams, m)
	b.Strict, b.WhyEmpty = m.GetStrict(), m.GetWhyEmpty()
	if m.GetExactCounts() {
		b.Counts = api.ExactCountsExact
	}
	for _, p := range m.GetPlacements() {
		if err := addPlacement(b, p); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// addPlacement adds a placement in the form that it has in a body, so that its faults are reported as over
// HTTP.
func addPlacement(b *api.SearchBody, p *pb.AdsPlacement) error {
	raw, err := json.Marshal(api.PlacementRequest{
		ID: p.GetId(), Slots: int(p.GetSlots()), ReserveMicros: p.GetReserveMicros(), Block: p.GetBlock(), BlockAdvertisers: p.GetBlockAdvertisers(),
		BlockDomains: p.GetBlockDomains(), BlockCategories: p.GetBlockCategories(), BlockUncategorised: p.GetBlockUncategorised(),
	})
	if err != nil {
		return err
	}
	return b.AddPlacement(api.Value{Kind: api.Object, Raw: string(raw)})
}

// said adds the parts of a request that describe its user and page. They are checked when they are
// resolved.
func said(p *api.SearchParams, m *pb.AdsRequest) {
	p.Location, p.InterestLocation = numbers(m.GetLocations()), numbers(m.GetInterestLocations())
	p.Language, p.Audience = texts(m.GetLanguages()), texts(m.GetAudiences())
	p.Block, p.BlockDomain, p.BlockCategory = texts(m.GetBlock()), texts(m.GetBlockDomains()), texts(m.GetBlockCategories())
	p.BlockAdvertiser, p.BlockUncategorised = numbers(m.GetBlockAdvertisers()), m.GetBlockUncategorised()
	p.Point, p.Time, p.Site = given(m.GetPoint()), given(m.GetTime()), given(m.GetSite())
}

// given returns a value, or none if it is empty.
func given(value string) api.Values {
	if value == "" {
		return nil
	}
	return api.Values{{Kind: api.Untyped, Raw: value}}
}

func texts(list []string) (out api.Values) {
	for _, s := range list {
		out = append(out, api.Value{Kind: api.String, Raw: s})
	}
	return out
}

func numbers[T uint32 | uint64](list []T) (out api.Values) {
	for _, n := range list {
		out = append(out, api.Value{Kind: api.Number, Raw: strconv.FormatUint(uint64(n), 10)})
	}
	return out
}

func number(n int32) api.Value { return api.Value{Kind: api.Number, Raw: strconv.Itoa(int(n))} }

// response converts a result into a message. Errors: fault.Corrupt if data to be shown is damaged.
func response(r *searchapi.Result) (*pb.AdsResponse, error) {
	ads, err := placedAds(r, r.Won)
	if err != nil {
		return nil, err
	}
	m := &pb.AdsResponse{
		Query: r.Request.Query.Text, Truncated: r.Request.Query.Truncated, Ads: ads,
		Matched: r.Found.Matched, Candidates: r.Candidates(), CountsExact: r.Found.CountsExact, VocabularyVersion: r.Vocabulary(), Why: keptOut(r.Why()),
		Coverage: coverage(r.Found), RequestId: r.Request.RequestID, TookUs: uint64(max(0, r.Took.Microseconds())),
		Scorer: r.Request.Scorer.String(), IncludeUnknownLocations: r.Request.Context.UnknownLocation,
	}
	m.LocationsVersion, m.UnknownLocations = r.Locations()
	for _, p := range r.Placements() {
		filled, err := filledPlacement(r, &p)
		if err != nil {
			return nil, err
		}
		m.Placements = append(m.Placements, filled)
	}
	return m, nil
}

func filledPlacement(r *searchapi.Result, p *searchapi.Filled) (*pb.FilledPlacement, error) {
	ads, err := placedAds(r, p.Won)
	m := &pb.FilledPlacement{Id: p.ID, Ads: ads, Matched: p.Matched, Candidates: p.Candidates, Why: keptOut(p.Why)}
	if p.Error != nil {
		m.Error = &pb.PlacementError{Code: string(p.Error.Code), Message: p.Error.Message, Field: p.Error.Field}
	}
	return m, err
}

func keptOut(list []searchapi.KeptOut) (out []*pb.KeptOut) {
	for _, w := range list {
		out = append(out, &pb.KeptOut{Verdict: w.Verdict.String(), Keywords: w.Keywords})
	}
	return out
}

// placedAds converts winners into messages. Errors: those of response.
func placedAds(r *searchapi.Result, won []auction.Placement) ([]*pb.PlacedAd, error) {
	ads := make([]*pb.PlacedAd, len(won))
	for i := range won {
		ad, err := placed(&won[i], &r.Found.Hits[won[i].Index])
		if err != nil {
			return nil, err
		}
		ad.EventToken = r.EventToken(&won[i])
		ads[i] = ad
	}
	return ads, nil
}

func placed(p *auction.Placement, h *search.Hit) (*pb.PlacedAd, error) {
	c, err := h.Display.Content()
	return &pb.PlacedAd{
		Position: uint32(p.Position), PriceMicros: p.Price, AdId: h.Ad,
		KeywordId: h.Keyword, GroupId: h.Group, CampaignId: h.Campaign, AdvertiserId: h.Advertiser,
		Advertiser: c.Advertiser, Campaign: c.Campaign, Group: c.Group, Keyword: c.Keyword,
		MatchType: h.Type.String(), Variant: h.Level.String(),
		Headlines: c.Headlines, Descriptions: c.Descriptions, Path: c.Path, FinalUrl: c.FinalURL,
	}, err
}

func coverage(found *search.Answer) *pb.Coverage {
	complete := found.Width == search.WholeRing()
	c := &pb.Coverage{Shards: uint32(found.Shards), Answered: uint32(found.Answered), Complete: complete,
		PricesExact: complete, AppliedClock: found.AppliedClock, LagMs: uint64(found.Lag.Milliseconds())}
	for _, m := range found.Missing {
		c.Missing = append(c.Missing, &pb.MissingShard{Name: m.Shard, Reason: m.Reason.String()})
	}
	return c
}
