package wire

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/display"
	"adshard/targeting"
)

// marshalled returns what the generated code makes of m.
func marshalled(t rapid.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRequestsAreAsGenerated: what one codec writes, the other reads as the same
// request, and ours of what the generated code writes.
func TestRequestsAreAsGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		r.View = 0
		ours := AppendRequest([]byte("before"), r)[len("before"):]
		m := new(pb.SearchRequest)
		if err := proto.Unmarshal(ours, m); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(m, FromRequest(r)) {
			t.Fatalf("wrote %v, not %v", m, FromRequest(r))
		}
		for _, b := range [][]byte{ours, marshalled(t, FromRequest(r)), unknown(t, ours)} {
			got, err := ParseRequest(b)
			if err != nil || !reflect.DeepEqual(got, r) {
				t.Fatalf("read %+v, %v\nnot  %+v", got, err, r)
			}
		}
	})
}

// unknown adds fields to a message that its schema does not have.
func unknown(t *rapid.T, b []byte) []byte {
	b = slices.Clone(b)
	for range rapid.IntRange(1, 3).Draw(t, "unknown") {
		number := protowire.Number(rapid.IntRange(100, 1<<20).Draw(t, "number"))
		switch rapid.IntRange(0, 3).Draw(t, "type") {
		case 0:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), rapid.Uint64().Draw(t, "v"))
		case 1:
			b = protowire.AppendFixed32(protowire.AppendTag(b, number, protowire.Fixed32Type), 7)
		case 2:
			b = protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), 7)
		default:
			b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}
	}
	return b
}

// TestListsNeedNotBePacked: lists of numbers may come entry by entry, and in pieces.
func TestListsNeedNotBePacked(t *testing.T) {
	var q []byte
	for _, v := range []uint64{5, 6} {
		q = protowire.AppendFixed64(protowire.AppendTag(q, 2, protowire.Fixed64Type), v)
		q = protowire.AppendBytes(protowire.AppendTag(q, 3, protowire.BytesType), []byte{byte(v), 0, 0, 0, 0, 0, 0, 0})
	}
	q = protowire.AppendFixed64(protowire.AppendTag(q, 4, protowire.Fixed64Type), 9)
	q = protowire.AppendVarint(protowire.AppendTag(q, 5, protowire.VarintType), 1)
	q = protowire.AppendVarint(protowire.AppendTag(q, 6, protowire.VarintType), 1)
	var b []byte
	b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), q)
	for range search.MatchTypes {
		b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), nil)
	}
	b = appendVarint(b, 4, 3)
	m := new(pb.SearchRequest)
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	want, err := ToRequest(m)
	if err != nil || len(want.Query.Words) != 2 || len(want.Query.Terms) != 1 {
		t.Fatalf("%+v, %v", want, err)
	}
	if got, err := ParseRequest(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
}

func drawAnswer(t *rapid.T) *search.Answer {
	n := rapid.Uint64()
	a := &search.Answer{
		Matched: n.Draw(t, "m"), Candidates: n.Draw(t, "c"), CountsExact: rapid.Bool().Draw(t, "e"),
		Width: search.Width{Hi: n.Draw(t, "hi"), Lo: n.Draw(t, "lo")},
		View:  n.Draw(t, "v"), AppliedClock: n.Draw(t, "clock"), Lag: time.Duration(rapid.IntRange(0, 1e9).Draw(t, "lag")) * time.Microsecond, Shard: search.ShardID(n.Draw(t, "shard")),
		Work: search.Work{Examined: n.Draw(t, "l"), BlocksRead: n.Draw(t, "br"), BlocksSkipped: n.Draw(t, "bp"),
			BlocksBad: n.Draw(t, "bb")},
		WhyIncomplete: rapid.String().Draw(t, "lacking"), Shards: 1, Answered: 1, Scorer: drawScorer(t),
	}
	for range rapid.IntRange(0, 3).Draw(t, "filtered") {
		a.Filtered = append(a.Filtered, n.Draw(t, "of a filter"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "hits") {
		a.Hits = append(a.Hits, drawHit(t))
		a.Hits[len(a.Hits)-1].Filters = rapid.Uint8().Draw(t, "filters")
	}
	return a
}

func TestAnswersAreAsGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAnswer(t)
		ours := AppendAnswer(nil, a)
		m := new(pb.SearchResponse)
		if err := proto.Unmarshal(ours, m); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(m, fromAnswer(a)) {
			t.Fatalf("wrote %v, not %v", m, fromAnswer(a))
		}
		for _, b := range [][]byte{ours, marshalled(t, fromAnswer(a)), unknown(t, ours)} {
			got, err := ParseAnswer(b)
			if err != nil || !reflect.DeepEqual(got, a) {
				t.Fatalf("read %+v, %v\nnot  %+v", got, err, a)
			}
		}
	})
}

func drawAsk(t *rapid.T) *Ask {
	a := &Ask{ID: rapid.Uint64().Draw(t, "id"), View: rapid.Uint64().Draw(t, "view"),
		Left: time.Duration(rapid.IntRange(0, 5_000_000).Draw(t, "left")) * time.Microsecond,
		Tags: search.Tags{Low: rapid.Bool().Draw(t, "low"),
			Tenant: rapid.StringMatching(`[a-z]{0,8}`).Draw(t, "tenant"), Hedge: rapid.Bool().Draw(t, "hedge"),
			Least: search.Position{Clock: rapid.Uint64().Draw(t, "clock"), Mark: rapid.Uint64().Draw(t, "mark")}},
		Search: AppendRequest([]byte{}, drawRequest(t))}
	if rapid.Bool().Draw(t, "traced") {
		a.Trace = strings.Repeat("t", TraceBytes)
	}
	return a
}

// TestFramesAreAsGenerated compares both kinds of frames with the generated code.
func TestFramesAreAsGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var asks []Ask
		var frame []byte
		var want pb.MasterFrame
		for range rapid.IntRange(0, 3).Draw(t, "asks") {
			a := drawAsk(t)
			asks, frame = append(asks, *a), AppendAsk(frame, a)
			m := new(pb.SearchRequest)
			if err := proto.Unmarshal(a.Search, m); err != nil {
				t.Fatal(err)
			}
			x := &pb.Ask{Id: a.ID, View: a.View, LeftMicros: uint64(a.Left.Microseconds()), Tenant: a.Tenant, LeastClock: a.Least.Clock,
				LeastMark: a.Least.Mark, Hedge: a.Hedge, Search: m}
			if a.Low {
				x.Priority = 1
			}
			if a.Trace != "" {
				x.Trace = []byte(a.Trace)
			}
			want.Asks = append(want.Asks, x)
		}
		for range rapid.IntRange(0, 2).Draw(t, "cancels") {
			id := rapid.Uint64().Draw(t, "cancel")
			frame, want.Cancels = AppendCancel(frame, id), append(want.Cancels, id)
		}
		var got pb.MasterFrame
		if err := proto.Unmarshal(frame, &got); err != nil || !proto.Equal(&got, &want) {
			t.Fatalf("wrote %v, %v, not %v", &got, err, &want)
		}
		for _, b := range [][]byte{frame, marshalled(t, &want), unknown(t, frame)} {
			var read []Ask
			var cancels []uint64
			err := ReadMasterFrame(b, func(a *Ask) error { read = append(read, *a); return nil }, func(id uint64) { cancels = append(cancels, id) })
			if err != nil || !slices.EqualFunc(read, asks, func(a, b Ask) bool {
				// Two encodings of one search may differ in the order of fields.
				sa, ea := ParseRequest(a.Search)
				sb, eb := ParseRequest(b.Search)
				a.Search, b.Search = nil, nil
				return ea == nil && eb == nil && reflect.DeepEqual(sa, sb) && reflect.DeepEqual(a, b)
			}) || !slices.Equal(cancels, want.Cancels) {
				t.Fatalf("read %v and %v, %v, not %v", read, cancels, err, &want)
			}
		}
	})
}

func TestRepliesAreAsGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAnswer(t)
		failure := fault.Field("op", "field", "%s", rapid.StringN(0, 40, 80).Draw(t, "text"))
		frame := AppendReply(nil, 7, a, nil)
		frame = AppendReply(frame, 8, nil, failure)
		want := &pb.SlaveFrame{Goodbye: rapid.Bool().Draw(t, "goodbye"), Replies: []*pb.Reply{
			{Id: 7, Answer: fromAnswer(a)},
			{Id: 8, Fault: &pb.Fault{Kind: uint32(fault.Invalid), Op: "op", Field: "field"}, Text: errors.Unwrap(failure).Error()}}}
		if want.Goodbye {
			frame = AppendGoodbye(frame)
		}
		got := new(pb.SlaveFrame)
		if err := proto.Unmarshal(frame, got); err != nil || !proto.Equal(got, want) {
			t.Fatalf("wrote %v, %v, not %v", got, err, want)
		}
		for _, b := range [][]byte{frame, marshalled(t, want), unknown(t, frame)} {
			var replies []Reply
			goodbye, err := ReadSlaveFrame(b, func(r Reply) error { replies = append(replies, r); return nil })
			if err != nil || goodbye != want.Goodbye || len(replies) != 2 || replies[0].ID != 7 || replies[1].ID != 8 {
				t.Fatalf("read %v, %v, %v", replies, goodbye, err)
			}
			if read, err := replies[0].Answer(); err != nil || !reflect.DeepEqual(read, a) {
				t.Fatalf("read %+v, %v, not %+v", read, err, a)
			}
			if _, err := replies[1].Answer(); !reflect.DeepEqual(err.Error(), failure.Error()) || fault.KindOf(err) != fault.Invalid || fault.FieldOf(err) != "field" {
				t.Fatalf("read %v, not %v", err, failure)
			}
		}
	})
}

// TestABoundIsCheckedBeforeAllocating: a message that says that it holds much costs
// no more than its bytes.
func TestABoundIsCheckedBeforeAllocating(t *testing.T) {
	nested := func(number protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), b)
	}
	hit := nested(1, nil)
	for name, c := range map[string]struct {
		read func([]byte) error
		b    []byte
	}{
		"Query.norm":               {parsesRequest, nested(1, nested(2, make([]byte, 8*(search.MaxQueryUnits+1))))},
		"Query.terms":              {parsesRequest, nested(1, nested(4, make([]byte, 8*(maxTerms+1))))},
		"Query.senses":             {parsesRequest, nested(1, nested(5, make([]byte, maxTerms+1)))},
		"Query.words":              {parsesRequest, nested(1, nested(6, make([]byte, maxSenses+1)))},
		"Query.runs":               {parsesRequest, nested(1, nested(8, make([]byte, 8*(search.MaxQueryRuns+1))))},
		"Query.run_words":          {parsesRequest, nested(1, nested(9, make([]byte, search.MaxQueryRuns+1)))},
		"Query.run_more":           {parsesRequest, nested(1, nested(10, make([]byte, search.MaxQueryRuns+1)))},
		"Query.synonyms":           {parsesRequest, nested(1, nested(7, make([]byte, 8*(maxSenses+1))))},
		"Query.misspelt":           {parsesRequest, nested(1, nested(11, make([]byte, maxSenses+1)))},
		"Query.text":               {parsesRequest, nested(1, nested(1, make([]byte, search.MaxQueryBytes+1)))},
		"SearchRequest.query":      {parsesRequest, append(nested(1, nil), nested(1, nil)...)},
		"SearchRequest.profile":    {parsesRequest, slices.Repeat(nested(2, nil), maxRules+1)},
		"SearchResponse.hits":      {parsesAnswer, slices.Repeat(hit, maxHits+1)},
		"SearchResponse.lacking":   {parsesAnswer, appendText(nil, 20, strings.Repeat("x", maxLacking+1))},
		"SearchRequest.page":       {parsesRequest, append(nested(18, nil), nested(18, nil)...)},
		"Page.filters":             {parsesRequest, nested(18, slices.Repeat(nested(1, nil), search.MaxPlacements+1))},
		"PageFilter.block_domains": {parsesRequest, nested(18, nested(1, slices.Repeat(nested(3, nil), targeting.MaxBlocks+1)))},
		"SearchResponse.filtered":  {parsesAnswer, nested(21, make([]byte, search.MaxPlacements+1))},
		"Hit.text":                 {parsesAnswer, nested(1, nested(14, make([]byte, maxPiece+1)))},
		"Hit.shown":                {parsesAnswer, nested(1, nested(15, make([]byte, maxPiece+1)))},
		"MasterFrame.asks":         {readsMasterFrame, slices.Repeat(nested(2, nil), MaxSearches+1)},
		"MasterFrame.cancels":      {readsMasterFrame, nested(3, make([]byte, MaxSearches+1))},
		"Ask.tenant":               {readsMasterFrame, nested(2, nested(5, make([]byte, MaxTenant+1)))},
		"Ask.trace":                {readsMasterFrame, nested(2, nested(7, make([]byte, TraceBytes+1)))},
		"SlaveFrame.replies":       {readsSlaveFrame, slices.Repeat(nested(2, nil), MaxSearches+1)},
		"Reply.text":               {readsSlaveFrame, nested(2, nested(4, make([]byte, 2*maxMessage+1)))},
	} {
		if err := c.read(c.b); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnExplainedRequestHasTheBoundsOfASearch: the request within an ExplainRequest is checked by its shape, that of a search as it is parsed.
func TestAnExplainedRequestHasTheBoundsOfASearch(t *testing.T) {
	rules := func(n int) []byte { return slices.Repeat([]byte{2<<3 | byte(protowire.BytesType), 0}, n) }
	explained := thorough()["adshard.v1.SearchRequest"]
	if err := explained.check(rules(maxRules)); err != nil {
		t.Error(err)
	}
	for name, check := range map[string]func([]byte) error{"explained": explained.check, "search": parsesRequest} {
		if err := check(rules(maxRules + 1)); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "SearchRequest.profile" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func parsesRequest(b []byte) error { _, err := ParseRequest(b); return err }
func parsesAnswer(b []byte) error  { _, err := ParseAnswer(b); return err }
func readsMasterFrame(b []byte) error {
	return ReadMasterFrame(b, func(*Ask) error { return nil }, func(uint64) {})
}
func readsSlaveFrame(b []byte) error {
	_, err := ReadSlaveFrame(b, func(r Reply) error { _, err := r.Answer(); return err })
	return err
}

func TestTagsAreChecked(t *testing.T) {
	for _, tags := range []search.Tags{{Tenant: strings.Repeat("x", MaxTenant+1)}, {Tenant: "\xff"}, {Trace: "short"}} {
		if err := CheckTags(&tags); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", tags, err)
		}
	}
	if err := CheckTags(&search.Tags{Tenant: strings.Repeat("x", MaxTenant), Trace: strings.Repeat("x", TraceBytes)}); err != nil {
		t.Error(err)
	}
}

func benchmarked() (*search.Request, *search.Answer) {
	r := &search.Request{Query: &search.Query{Text: "cheap usb cable"}, Slots: 4, Profile: search.DefaultProfile(), Reserve: 10_000}
	for i := range uint64(3) {
		r.Query.Words = append(r.Query.Words, search.Word{Norm: i << 50, Fold: i << 51})
		for range 4 {
			r.Query.Terms = append(r.Query.Terms, search.QueryTerm{Term: i << 52, Senses: []search.Sense{{Word: uint16(i)}}})
		}
	}
	a := &search.Answer{Width: search.Width{Lo: 1 << 62}, View: 9, AppliedClock: 1 << 20, Shard: 1 << 60}
	for i := range uint64(5) {
		a.Hits = append(a.Hits, search.Hit{Keyword: 1000 + i, Group: 900 + i, Campaign: 300, Advertiser: 20 + i, Score: 1 << 40, Quality: 500_000,
			Ad: i, Display: display.New("advertiser", "campaign", "group", "usb cable", &display.Ad{
				Headlines:    []string{"headline 1", "headline 2", "headline 3"},
				Descriptions: []string{"a description that is long"}, FinalURL: "https://shop.example/usb"})})
	}
	return r, a
}

func BenchmarkCodec(b *testing.B) {
	r, a := benchmarked()
	var buf []byte
	request, answer := AppendRequest(nil, r), AppendAnswer(nil, a)
	for name, f := range map[string]func() error{
		"append request": func() error { buf = AppendRequest(buf[:0], r); return nil },
		"parse request":  func() error { return parsesRequest(request) },
		"append answer":  func() error { buf = AppendAnswer(buf[:0], a); return nil },
		"parse answer":   func() error { return parsesAnswer(answer) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
