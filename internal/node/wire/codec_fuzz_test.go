package wire

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
)

// generated reads a message as calls do: its bounds, then with the generated code.
func generated(b []byte, m proto.Message) error {
	if err := shapes()[m.ProtoReflect().Descriptor().FullName()].check(b); err != nil {
		return err
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, m)
}

// FuzzCodec reads any bytes as each of the messages that have a codec of ours: what
// it takes, the generated code takes as the same.
func FuzzCodec(f *testing.F) {
	r, a := benchmarked()
	f.Add(AppendRequest(nil, r))
	f.Add(AppendAnswer(nil, a))
	r.Page = &search.Page{PerAdvertiser: 2, Filters: []search.Filter{{Reserve: 1}, {Blocks: []*targeting.Blocks{targeting.NewBlocks([]uint64{1}, []string{"a"}, nil, true)}}}}
	a.Filtered, a.Hits[0].Filters = []uint64{3, 1}, 3
	f.Add(AppendRequest(nil, r))
	f.Add(AppendAnswer(nil, a))
	f.Add(AppendCancel(AppendAsk(nil, &Ask{ID: 1, View: 2, Left: 3000, Search: AppendRequest(nil, r)}), 1))
	f.Add(AppendGoodbye(AppendReply(nil, 1, a, nil)))
	f.Add([]byte("\n\x03Z\x01\xfe")) // a hit with a name that is not UTF-8
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzRequest(t, b)
		fuzzAnswer(t, b)
		fuzzFrames(t, b)
	})
}

func fuzzRequest(t *testing.T, b []byte) {
	got, err := ParseRequest(b)
	if err != nil {
		return
	}
	m := new(pb.SearchRequest)
	if err := generated(b, m); err != nil {
		t.Fatalf("taken, and refused by the generated code: %v", err)
	}
	if want, err := ToRequest(m); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, not %+v, %v", got, want, err)
	}
	if again, err := ParseRequest(AppendRequest(nil, got)); err != nil || !reflect.DeepEqual(again.Query, got.Query) || !reflect.DeepEqual(again.Page, got.Page) {
		t.Fatalf("written and read again: %+v, %v", again, err)
	}
}

func fuzzAnswer(t *testing.T, b []byte) {
	got, err := ParseAnswer(b)
	if err != nil {
		return
	}
	m := new(pb.SearchResponse)
	if err := generated(b, m); err != nil {
		t.Fatalf("taken, and refused by the generated code: %v", err)
	}
	if want := toAnswer(m); !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, not %+v", got, want)
	}
}

// fuzzFrames does not compare frames whose hello the generated code refuses: ours
// does not look at it.
func fuzzFrames(t *testing.T, b []byte) {
	asks, cancels := 0, 0
	err := ReadMasterFrame(b, func(a *Ask) error { asks++; return parsesRequest(a.Search) }, func(uint64) { cancels++ })
	if m := new(pb.MasterFrame); err == nil && generated(b, m) == nil && (len(m.GetAsks()) != asks || len(m.GetCancels()) != cancels) {
		t.Fatalf("%d asks, %d cancels; generated: %v", asks, cancels, m)
	}
	replies := 0
	goodbye, err := ReadSlaveFrame(b, func(r Reply) error { replies++; _, _ = r.Answer(); return nil })
	if m := new(pb.SlaveFrame); err == nil && generated(b, m) == nil && (len(m.GetReplies()) != replies || m.GetGoodbye() != goodbye) {
		t.Fatalf("%d replies, goodbye %v; generated: %v", replies, goodbye, m)
	}
}
