package wire

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/display"
	"adshard/search/words"
)

// schemaFiles are the files of all messages that peers exchange.
func schemaFiles() (files []protoreflect.FileDescriptor) {
	protoregistry.GlobalFiles.RangeFilesByPackage("adshard.v1", func(f protoreflect.FileDescriptor) bool {
		if f.Path() != "adshard/v1/pages.proto" { // of stores: no peer sends a page
			files = append(files, f)
		}
		return true
	})
	return files
}

// unbounded returns the fields that a peer can grow and that have no bound, and
// what else makes a message impossible to check.
func unbounded(files []protoreflect.FileDescriptor, bounds map[string]bound) (faults []string) {
	used := make(map[string]bool)
	for _, f := range files {
		for i := range f.Messages().Len() {
			m := f.Messages().Get(i)
			counted := 0
			for j := range m.Fields().Len() {
				d := m.Fields().Get(j)
				name := string(m.Name()) + "." + string(d.Name())
				key, b := boundOf(bounds, string(m.Name()), string(d.Name()))
				used[key] = true
				grows := d.Kind() == protoreflect.StringKind || d.Kind() == protoreflect.BytesKind
				if d.IsMap() || grows != (b.bytes > 0) || d.IsList() != (b.entries > 0) {
					faults = append(faults, name)
				}
				if d.IsList() || d.Message() != nil {
					counted++
				}
				if d.Message() != nil && shapes()[d.Message().FullName()] == nil {
					faults = append(faults, name+" of an unknown message")
				}
			}
			if counted > maxSlots {
				faults = append(faults, string(m.Name())+" has more lists and messages than maxSlots")
			}
			if m.Messages().Len() > 0 {
				faults = append(faults, string(m.Name())+" has messages inside")
			}
		}
	}
	for name := range bounds {
		if !used[name] {
			faults = append(faults, name+" is not a field")
		}
	}
	slices.Sort(faults)
	return faults
}

func TestEveryTextAndListIsBounded(t *testing.T) {
	files := schemaFiles()
	if len(files) < 5 {
		t.Fatalf("%d files of the schema", len(files))
	}
	if faults := unbounded(files, bounds()); len(faults) > 0 {
		t.Errorf("give these fields a bound in bounds.go:\n%s", strings.Join(faults, "\n"))
	}
	for _, f := range files {
		for i := range f.Messages().Len() {
			if m := f.Messages().Get(i); shapes()[m.FullName()] == nil {
				t.Errorf("%s is not checked", m.FullName())
			}
		}
	}
}

// TestAllLanguagesAreWithinBounds: there is room for the version of words of a cluster that has all languages, and as many again.
func TestAllLanguagesAreWithinBounds(t *testing.T) {
	all, err := words.ParseLanguages(strings.Join(words.Stemmed(), ","))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"NodeData.words", "Hello.words", "OpenCopyRequest.words", "OpenCopyResponse.words"} {
		if most := bounds()[field].bytes; most < 2*len(all.Version()) {
			t.Errorf("%s may have %d bytes, all languages have %d", field, most, len(all.Version()))
		}
	}
}

// TestANewFieldNeedsABound adds fields to the schema: each of those that can
// grow must be reported.
func TestANewFieldNeedsABound(t *testing.T) {
	file := protodesc.ToFileDescriptorProto(pb.File_adshard_v1_load_proto)
	add := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label, of string) {
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: &label, JsonName: &name}
		if of != "" {
			f.TypeName = &of
		}
		file.MessageType[0].Field = append(file.MessageType[0].Field, f)
	}
	const one, many = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	add("number_too", 90, descriptorpb.FieldDescriptorProto_TYPE_UINT64, one, "")
	add("words", 91, descriptorpb.FieldDescriptorProto_TYPE_STRING, one, "")
	add("raw", 92, descriptorpb.FieldDescriptorProto_TYPE_BYTES, one, "")
	add("numbers", 93, descriptorpb.FieldDescriptorProto_TYPE_UINT64, many, "")
	add("costs", 94, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, many, ".adshard.v1.Cost")
	changed, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	files := slices.DeleteFunc(schemaFiles(), func(f protoreflect.FileDescriptor) bool { return f.Path() == changed.Path() })
	got := unbounded(append(files, changed), bounds())
	if want := []string{"Load.costs", "Load.numbers", "Load.raw", "Load.words"}; !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
}

// TestNoFieldExceedsItsBound fills each field of each message up to its bound,
// and with one more.
func TestNoFieldExceedsItsBound(t *testing.T) {
	for _, f := range schemaFiles() {
		for i := range f.Messages().Len() {
			m := f.Messages().Get(i)
			for j := range m.Fields().Len() {
				d := m.Fields().Get(j)
				name := string(m.Name()) + "." + string(d.Name())
				_, b := boundOf(bounds(), string(m.Name()), string(d.Name()))
				if b.bytes > 0 {
					holds(t, m, name, b.bytes, func(n int) []byte { return tagged(nil, d, zeros[:n]) })
				}
				if b.entries > 0 {
					holds(t, m, name, b.entries, func(n int) []byte { return entries(d, n) })
				}
				if !d.IsList() && d.Message() != nil {
					holds(t, m, name, 1, func(n int) []byte { return entries(d, n) })
				}
			}
		}
	}
}

// holds checks that m takes a field of size most and none larger.
func holds(t *testing.T, m protoreflect.MessageDescriptor, name string, most int, field func(n int) []byte) {
	t.Helper()
	s := thorough()[m.FullName()]
	if err := s.check(field(most)); err != nil {
		t.Errorf("%s of %d: %v", name, most, err)
	}
	if err := s.check(field(most + 1)); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != name {
		t.Errorf("%s of %d: %v", name, most+1, err)
	}
}

// thorough has the shapes with no message taken for harmless.
var thorough = sync.OnceValue(func() map[protoreflect.FullName]*shape {
	all := shapesOf(bounds(), schemaFiles()...)
	for _, s := range all {
		s.harmless = -1
	}
	return all
})

// TestHarmlessMessagesExceedNoBound: messages that are not checked are within all bounds,
// whatever they hold.
func TestHarmlessMessagesExceedNoBound(t *testing.T) {
	for _, f := range schemaFiles() {
		for i := range f.Messages().Len() {
			m := f.Messages().Get(i)
			most := min(shapes()[m.FullName()].harmless, 1<<20)
			for j := range m.Fields().Len() {
				d := m.Fields().Get(j)
				b := crowded(d, most)
				if err := thorough()[m.FullName()].check(b); err != nil {
					t.Errorf("%d bytes of %s are not harmless: %v", len(b), d.FullName(), err)
				}
			}
		}
	}
	if least := shapes()["adshard.v1.SearchResponse"].harmless; least == 0 {
		t.Error("each answer is looked into")
	}
}

// crowded is a field with as much in it as at most a given number of bytes can hold.
func crowded(d protoreflect.FieldDescriptor, most int) []byte {
	var b []byte
	switch {
	case !d.IsList() && d.Message() != nil:
		return nil
	case d.IsList() && scalar(d.Kind()) == protowire.BytesType:
		for len(b)+2 <= most {
			b = tagged(b, d, nil)
		}
	case scalar(d.Kind()) == protowire.BytesType || d.IsList():
		for n := most; n > 0; n-- {
			if b = tagged(nil, d, zeros[:n]); len(b) <= most && n%8 == 0 {
				return b
			}
		}
		return nil
	}
	return b
}

// zeros is shared by all fields of text.
var zeros = make([]byte, maxState+1)

func tagged(b []byte, d protoreflect.FieldDescriptor, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, d.Number(), protowire.BytesType), v)
}

// entries are n of the least entries of a list: half of them packed, where they
// can be.
func entries(d protoreflect.FieldDescriptor, n int) (b []byte) {
	alone := n
	b = make([]byte, 0, 3*n)
	if size := map[protowire.Type]int{protowire.VarintType: 1, protowire.Fixed64Type: 8}[scalar(d.Kind())]; size > 0 {
		alone = n / 2
		b = tagged(b, d, zeros[:(n-alone)*size])
	}
	for range alone {
		switch scalar(d.Kind()) {
		case protowire.Fixed64Type:
			b = protowire.AppendFixed64(protowire.AppendTag(b, d.Number(), protowire.Fixed64Type), 0)
		case protowire.VarintType:
			b = protowire.AppendVarint(protowire.AppendTag(b, d.Number(), protowire.VarintType), 0)
		default:
			b = tagged(b, d, nil)
		}
	}
	return b
}

// TestWhatLiesDeepIsCheckedToo: the bound of a message holds inside of others.
func TestWhatLiesDeepIsCheckedToo(t *testing.T) {
	table := &pb.SliceTable{Shards: []*pb.Shard{{Name: "slave-0", Replicas: []*pb.Replica{{Address: strings.Repeat("x", MaxAddress+1)}}}}}
	for _, m := range []proto.Message{
		&pb.RegisterRequest{Slices: table}, &pb.ReportRequest{Slices: table}, &pb.PullResponse{Data: &pb.NodeData{Slices: table}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := shapes()[m.ProtoReflect().Descriptor().FullName()].check(b); fault.FieldOf(err) != "Replica.address" {
			t.Errorf("%T: %v", m, err)
		}
	}
}

// TestARefusedMessageCostsNothing: it is refused without being decoded.
func TestARefusedMessageCostsNothing(t *testing.T) {
	s := shapes()["adshard.v1.RegisterRequest"]
	table := make([]byte, 0, 8<<20)
	for len(table) < 8<<20 { // empty slices: two bytes each, more than a hundred when decoded
		table = append(table, 1<<3|2, 0)
	}
	b := protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), table)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := s.check(b)
	runtime.ReadMemStats(&after)
	if fault.FieldOf(err) != "SliceTable.slices" {
		t.Fatal(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("refusing %d bytes took %d", len(b), used)
	}
}

func FuzzCheck(f *testing.F) {
	ok, _ := proto.Marshal(&pb.RegisterRequest{Name: "slave-0", Slices: &pb.SliceTable{Slices: []*pb.HeldSlice{{Id: 1}}}})
	f.Add(ok)
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		if shapes()["adshard.v1.RegisterRequest"].check(b) != nil {
			return
		}
		var m pb.RegisterRequest
		if proto.Unmarshal(b, &m) == nil && (len(m.Name) > MaxName || len(m.GetSlices().GetSlices()) > MaxSlices) {
			t.Errorf("%d bytes of a name and %d slices passed", len(m.Name), len(m.GetSlices().GetSlices()))
		}
	})
}

// BenchmarkCheck checks the answer of a slave to a search.
func BenchmarkCheck(b *testing.B) {
	what := display.New("an advertiser", "a campaign", "a group", "usb cable", &display.Ad{
		Headlines:    []string{"one headline", "another headline", "a third"},
		Descriptions: []string{"what is described", "and more of it"}, FinalURL: "https://shop.example/usb-cables"})
	hit := &pb.Hit{Keyword: 1 << 20, Group: 1 << 20, Campaign: 1 << 15, Advertiser: 1 << 10, Score: 1 << 40, Quality: 500_000,
		AdId: 1 << 20, Text: what.Keyword, Shown: what.Group}
	m := &pb.SearchResponse{Hits: []*pb.Hit{hit, hit, hit, hit, hit}, Matched: 200, Candidates: 90, WidthLo: 1 << 63, View: 300}
	raw, err := proto.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	s := shapes()["adshard.v1.SearchResponse"]
	b.ReportAllocs()
	for b.Loop() {
		if err := s.check(raw); err != nil {
			b.Fatal(err)
		}
	}
}
