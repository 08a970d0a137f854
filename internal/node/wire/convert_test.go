package wire

import (
	"math"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/display"
)

func drawRequest(t *rapid.T) *search.Request {
	n := rapid.IntRange(0, search.MaxQueryUnits).Draw(t, "words")
	q := &search.Query{Text: rapid.String().Draw(t, "text")}
	for range n {
		q.Words = append(q.Words, search.Word{Norm: rapid.Uint64().Draw(t, "norm"), Fold: rapid.Uint64().Draw(t, "fold")})
	}
	for range rapid.IntRange(0, 5*min(n, 1)).Draw(t, "runs") {
		at := rapid.IntRange(0, n-1).Draw(t, "first word")
		q.Runs = append(q.Runs, search.Run{Norm: rapid.Uint64().Draw(t, "run"), Word: uint8(at), More: uint8(rapid.IntRange(0, n-1-at).Draw(t, "more"))})
	}
	for range rapid.IntRange(0, 5*min(n, 1)).Draw(t, "terms") {
		term := search.QueryTerm{Term: rapid.Uint64().Draw(t, "term")}
		for range rapid.IntRange(1, 3).Draw(t, "senses") {
			term.Senses = append(term.Senses, search.Sense{
				Word: uint16(rapid.IntRange(0, n+len(q.Runs)-1).Draw(t, "word")), Synonym: rapid.Uint64().Draw(t, "synonym"), Misspelt: rapid.Bool().Draw(t, "misspelt")})
		}
		q.Terms = append(q.Terms, term)
	}
	r := &search.Request{
		Query:       q,
		Device:      search.Device(rapid.IntRange(0, search.Devices-1).Draw(t, "device")),
		Slots:       rapid.IntRange(1, MaxSlots).Draw(t, "slots"),
		Reserve:     rapid.Uint64().Draw(t, "reserve"),
		ExactCounts: rapid.Bool().Draw(t, "exact"),
		RequestID:   rapid.StringMatching(`[!-~]{0,64}`).Draw(t, "id"),
		View:        rapid.Uint64().Draw(t, "view"),
		Context:     drawContext(t),
		Page:        drawPage(t),
		Scorer:      drawScorer(t),
	}
	for i := range r.Profile {
		r.Profile[i] = search.Rule{Others: rapid.Bool().Draw(t, "others"), Ordered: rapid.Bool().Draw(t, "ordered"),
			Adjacent: rapid.Bool().Draw(t, "adjacent"), Reach: search.Level(rapid.IntRange(0, search.Levels-1).Draw(t, "reach"))}
	}
	return r
}

func drawScorer(t *rapid.T) (id search.ScorerID) {
	if rapid.Bool().Draw(t, "scored") {
		id[0], id[15] = rapid.Byte().Draw(t, "scorer"), 1
	}
	return id
}

func TestRequestsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		got, err := ToRequest(overWire(t, FromRequest(r), &pb.SearchRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("sent %+v\ngot  %+v", r, got)
		}
	})
}

// overWire marshals and reads back.
func overWire[M proto.Message](t rapid.TB, m, into M) M {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func drawHit(t *rapid.T) search.Hit {
	text := rapid.String()
	var lines []string
	for range rapid.IntRange(0, 3).Draw(t, "lines") {
		lines = append(lines, text.Draw(t, "line"))
	}
	id := rapid.Uint64()
	return search.Hit{
		Keyword: id.Draw(t, "k"), Group: id.Draw(t, "g"), Campaign: id.Draw(t, "c"), Advertiser: id.Draw(t, "a"),
		Score: id.Draw(t, "r"), Quality: id.Draw(t, "q"),
		Type:  search.MatchType(rapid.IntRange(0, search.MatchTypes-1).Draw(t, "type")),
		Level: search.Level(rapid.IntRange(0, search.Levels).Draw(t, "level")),
		Ad:    id.Draw(t, "ad"),
		Display: display.New(text.Draw(t, "an"), text.Draw(t, "cn"), text.Draw(t, "gn"), text.Draw(t, "kt"), &display.Ad{
			Headlines: lines, Descriptions: lines, Path1: text.Draw(t, "p1"), Path2: text.Draw(t, "p2"), FinalURL: text.Draw(t, "url")}),
	}
}

func TestAnswersSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64()
		a := &search.Answer{
			Matched: n.Draw(t, "m"), Candidates: n.Draw(t, "c"), CountsExact: rapid.Bool().Draw(t, "e"),
			Width: search.Width{Hi: n.Draw(t, "hi"), Lo: n.Draw(t, "lo")},
			View:  n.Draw(t, "v"), AppliedClock: n.Draw(t, "clock"), Lag: 7 * time.Millisecond,
			Work: search.Work{Examined: n.Draw(t, "l"), BlocksRead: n.Draw(t, "br"), BlocksSkipped: n.Draw(t, "bp"),
				BlocksBad: n.Draw(t, "bb")},
			Shards: 1, Answered: 1,
		}
		for range rapid.IntRange(0, 3).Draw(t, "hits") {
			a.Hits = append(a.Hits, drawHit(t))
		}
		if got := toAnswer(overWire(t, fromAnswer(a), &pb.SearchResponse{})); !reflect.DeepEqual(got, a) {
			t.Fatalf("sent %+v\ngot  %+v", a, got)
		}
	})
}

func TestRequestsToExplainSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		r.Wanted = search.Wanted{Keyword: rapid.Uint64().Draw(t, "keyword"), Advertiser: rapid.Uint64().Draw(t, "advertiser"), AdvertiserName: rapid.String().Draw(t, "name")}
		m := overWire(t, FromExplain(r, 7), &pb.ExplainRequest{})
		if got, err := ToExplain(m); err != nil || !reflect.DeepEqual(got, r) || m.GetLimit() != 7 {
			t.Fatalf("sent %+v\ngot  %+v, %v", r, got, err)
		}
	})
}

func TestExplanationsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64()
		counts := [search.Verdicts]uint64{search.Eligible: n.Draw(t, "eligible"), search.Blocked: n.Draw(t, "blocked")}
		e := &search.Explanation{Counts: counts, Total: n.Draw(t, "total"), Width: search.Width{Lo: n.Draw(t, "lo")}, View: 3, AppliedClock: 9}
		for range rapid.IntRange(0, 3).Draw(t, "matches") {
			x := search.Explained{
				Hit:            drawHit(t),
				AdvertiserName: "a", CampaignName: "c", GroupName: "g", KeywordText: rapid.String().Draw(t, "text"),
				Verdict: search.Verdict(rapid.IntRange(0, search.Verdicts-1).Draw(t, "verdict")),
				Bid:     n.Draw(t, "bid"), Modifier: n.Draw(t, "mod"), Effective: n.Draw(t, "eff"),
				BidFromGroup: rapid.Bool().Draw(t, "from"), Negative: "x", NegativeOwner: "group",
				NegativeType: search.Phrase, Shard: "slave-1", Slice: n.Draw(t, "slice"),
				Points: rapid.Uint8().Draw(t, "points"), Given: rapid.Uint8().Draw(t, "given"), Learned: n.Draw(t, "learned"),
				Mismatch: search.Mismatch(rapid.IntRange(0, search.Mismatches-1).Draw(t, "mismatch")),
				Context:  drawOutcome(t),
			}
			if rapid.Bool().Draw(t, "device") {
				x.Device = &search.DeviceFactor{Permille: rapid.Uint64Range(0, 10_000).Draw(t, "of device"), OfGroup: rapid.Bool().Draw(t, "group's")}
				x.Clamped = rapid.Bool().Draw(t, "clamped")
			}
			if rapid.Bool().Draw(t, "with its factor") {
				x.Scored = &search.Scored{Factor: n.Draw(t, "factor") % 2001, Parts: []search.ScoredPart{{Feature: "hour", Value: "3", Weight: -7}, {Feature: "trees", Weight: 9}}}
			}
			if x.Mismatch != search.NoMismatch {
				x.MismatchWords = []string{"a", "b"}
			}
			for range rapid.IntRange(0, 2).Draw(t, "agreements") {
				x.Words = append(x.Words, search.Agreement{Keyword: "a", Query: "b", Level: search.Synonym})
			}
			x.Ad, x.Display = 0, display.Pieces{}
			e.Matches = append(e.Matches, x)
		}
		if got := ToExplanation(overWire(t, FromExplanation(e), &pb.ExplainResponse{}), "slave-1"); !reflect.DeepEqual(got, e) {
			t.Fatalf("sent %+v\ngot  %+v", e, got)
		}
	})
}

func TestRequestsOutOfBoundsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*pb.SearchRequest){
		"device":        func(m *pb.SearchRequest) { m.Device = 3 },
		"no slots":      func(m *pb.SearchRequest) { m.Slots = 0 },
		"21 slots":      func(m *pb.SearchRequest) { m.Slots = 21 },
		"two rules":     func(m *pb.SearchRequest) { m.Profile = m.Profile[:2] },
		"reach":         func(m *pb.SearchRequest) { m.Profile[0].Reach = 5 },
		"scorer":        func(m *pb.SearchRequest) { m.Scorer = make([]byte, 15) },
		"41 words":      func(m *pb.SearchRequest) { m.Query.Norm = make([]uint64, 41); m.Query.Fold = m.Query.Norm },
		"forms missing": func(m *pb.SearchRequest) { m.Query.Norm = make([]uint64, 2) },
		"sense of a word that is not there": func(m *pb.SearchRequest) {
			m.Query.Terms, m.Query.Senses, m.Query.Words = []uint64{1}, []uint32{1}, []uint32{1}
		},
		"a count missing": func(m *pb.SearchRequest) { m.Query.Terms = []uint64{1} },
		"more senses counted than there": func(m *pb.SearchRequest) {
			m.Query.Terms, m.Query.Senses, m.Query.Words = []uint64{1}, []uint32{2}, []uint32{0}
		},
		"a sense of no term": func(m *pb.SearchRequest) {
			m.Query.Terms, m.Query.Senses, m.Query.Words = []uint64{1}, []uint32{1}, []uint32{0, 0}
		},
		"synonyms of some senses": func(m *pb.SearchRequest) {
			m.Query.Terms, m.Query.Senses, m.Query.Words = []uint64{1}, []uint32{2}, []uint32{0, 0}
			m.Query.Synonyms = []uint64{5}
		},
		"781 runs": func(m *pb.SearchRequest) {
			m.Query.Runs, m.Query.RunWords, m.Query.RunMore = make([]uint64, 781), make([]uint32, 781), make([]uint32, 781)
		},
		"a run without a length": func(m *pb.SearchRequest) { m.Query.Runs, m.Query.RunWords = []uint64{5}, []uint32{0} },
		"a run longer than the query": func(m *pb.SearchRequest) {
			m.Query.Runs, m.Query.RunWords, m.Query.RunMore = []uint64{5}, []uint32{0}, []uint32{1}
		},
		"a run whose end overflows": func(m *pb.SearchRequest) {
			m.Query.Runs, m.Query.RunWords, m.Query.RunMore = []uint64{5}, []uint32{1}, []uint32{math.MaxUint32}
		},
		"sense of a run that is not there": func(m *pb.SearchRequest) {
			m.Query.Runs, m.Query.RunWords, m.Query.RunMore = []uint64{5}, []uint32{0}, []uint32{0}
			m.Query.Terms, m.Query.Senses, m.Query.Words = []uint64{1}, []uint32{1}, []uint32{2}
		},
		"corrections of some senses": func(m *pb.SearchRequest) {
			m.Query.Terms, m.Query.Senses, m.Query.Words = []uint64{1}, []uint32{2}, []uint32{0, 0}
			m.Query.Misspelt = []uint32{1}
		},
		"no query words for a term": func(m *pb.SearchRequest) {
			m.Query = &pb.Query{Terms: []uint64{1}, Senses: []uint32{1}, Words: []uint32{0}}
		},
	} {
		m := FromRequest(&search.Request{Query: &search.Query{Words: make([]search.Word, 1)}, Slots: 4})
		spoil(m)
		if _, err := ToRequest(m); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzToRequest(f *testing.F) {
	b, _ := proto.Marshal(FromRequest(&search.Request{Query: &search.Query{Words: make([]search.Word, 2),
		Terms: []search.QueryTerm{{Term: 7, Senses: []search.Sense{{Word: 1}}}}}, Slots: 4}))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var m pb.SearchRequest
		if proto.Unmarshal(b, &m) != nil {
			return
		}
		r, err := ToRequest(&m)
		if err != nil {
			return
		}
		for _, term := range r.Query.Terms {
			for _, s := range term.Senses {
				if int(s.Word) >= len(r.Query.Words)+len(r.Query.Runs) {
					t.Fatal("a sense of a word that is not there was taken")
				}
			}
		}
	})
}
