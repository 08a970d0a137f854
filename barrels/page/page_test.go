package page

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"adshard/barrels/record"
	"adshard/schema/pb"
	"adshard/search/words"
)

// drawKeywords draws keywords of one group by ascending id: most of them as the source makes
// them, some with other values that a record may have.
func drawKeywords(t *rapid.T) []*pb.Keyword {
	languages := rapid.SampledFrom([][]string{{"en"}, {"cs", "en"}, {""}}).Draw(t, "languages")
	var list []*pb.Keyword
	id := uint64(0)
	for range rapid.IntRange(1, 20).Draw(t, "keywords") {
		id += rapid.Uint64Range(1, 1<<40).Draw(t, "delta")
		k := &pb.Keyword{
			Id: id, Type: pb.MatchType(rapid.IntRange(0, 2).Draw(t, "type")), Enabled: rapid.Bool().Draw(t, "enabled"),
			BidFromGroup: rapid.Bool().Draw(t, "from group"), Quality: uint32(rapid.IntRange(1, 10).Draw(t, "quality")),
		}
		if rapid.Bool().Draw(t, "has bid") {
			bid := rapid.SampledFrom([]uint64{0, 10_000, 250_000, record.MaxBid}).Draw(t, "bid")
			k.Bid = &bid
		}
		k.Text = strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"usb", "USB", "Cables", "kabely", "červené", "boty", "2", "wi-fi", "Ⅷ",
		}), 1, 5).Draw(t, "words"), rapid.SampledFrom([]string{" ", " ", "  ", "-"}).Draw(t, "space"))
		analysed(t, k, languages)
		odd(t, k)
		list = append(list, k)
	}
	return list
}

// analysed sets the hashes of a keyword's words.
func analysed(t *rapid.T, k *pb.Keyword, languages []string) {
	list, err := words.Split(k.Text)
	if err != nil {
		t.Fatal(err)
	}
	list = list[:min(len(list), 10)]
	for _, w := range list {
		k.Norm, k.Fold = append(k.Norm, words.Hash(w.Normalised)), append(k.Fold, words.Hash(w.Fold))
	}
	for _, l := range languages {
		f := &pb.Form{Language: l}
		for _, w := range list {
			f.Terms = append(f.Terms, words.TermOf(l, w.Fold))
		}
		k.Forms = append(k.Forms, f)
	}
}

// odd gives some keywords values that the source never makes.
func odd(t *rapid.T, k *pb.Keyword) {
	switch rapid.IntRange(0, 20).Draw(t, "odd") {
	case 7:
		k.FinalUrl = "https://shop.example/"
	case 0:
		k.Norm[0]++
	case 1:
		k.Fold[0]++
	case 2:
		k.Forms[0].Terms[0]++
	case 3:
		k.Forms[0].Language = "xx"
	case 4:
		k.Text = ""
	case 5:
		k.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7))
	case 6:
		k.Forms[0].ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7))
	}
}

// TestPages: what is read from a page equals what was written, byte for byte.
func TestPages(t *testing.T) {
	var e Encoder
	var r Reader
	rapid.Check(t, func(t *rapid.T) {
		var list []*anchored
		for _, k := range drawKeywords(t) {
			a := &anchored{id: k.Id, pb: k}
			for _, f := range k.Forms {
				a.anchors = append(a.anchors, f.Terms[len(f.Terms)-1])
			}
			list = append(list, a)
		}
		value := encoded(t, &e, list...)
		checkMessage(t, value[:len(value)-tail], list)
		if err := r.Open(value); err != nil || r.First() != list[0].id {
			t.Fatal(err, r.First())
		}
		for _, e := range list {
			checkKeyword(t, &r, e)
		}
		if k, err := r.Next(); k != nil || err != nil {
			t.Fatalf("after the last: %v, %v", k, err)
		}
		checkTexts(t, &r, value, list)
	})
}

// checkTexts compares what is read from a page whose texts only are read.
func checkTexts(t *rapid.T, r *Reader, value []byte, list []*anchored) {
	if err := r.OpenTexts(value); err != nil || r.Len() != len(list) {
		t.Fatalf("%d keywords, want %d; %v", r.Len(), len(list), err)
	}
	for _, e := range list {
		k, err := r.Next()
		if err != nil || k == nil || k.ID != e.id || string(k.Text) != e.pb.Text {
			t.Fatalf("keyword %v, %v, want %v", k, err, e.pb)
		}
		if url, err := k.FinalURL(); err != nil || url != e.pb.FinalUrl {
			t.Fatalf("its URL is %q, %v, want %q", url, err, e.pb.FinalUrl)
		}
	}
	if k, err := r.Next(); k != nil || err != nil {
		t.Fatalf("after the last: %v, %v", k, err)
	}
}

// checkMessage compares a page with what generated code reads from it: encoding that gives the
// same bytes, with a row for each keyword.
func checkMessage(t *rapid.T, b []byte, list []*anchored) {
	var m pb.KeywordPage
	if err := proto.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if again, err := record.Marshal.Marshal(&m); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("%v: generated code writes %x\nwant %x", err, again, b)
	}
	id, words, wholes := uint64(0), 0, 0
	for i, a := range list {
		if id += m.Ids[i]; id != a.id {
			t.Fatalf("keyword %d is %d", i, id)
		}
		if m.Flags[i]&isWhole != 0 {
			if w := m.Whole[wholes]; !proto.Equal(w.Keyword, a.pb) || !slices.Equal(w.Anchors, a.anchors) {
				t.Fatalf("keyword %d is %v, want %v", i, w, a)
			}
			wholes++
			continue
		}
		if uint32(m.Types[i]) != uint32(a.pb.Type) || m.Qualities[i] != a.pb.Quality || m.Flags[i]&enabled != 0 != a.pb.Enabled || int(m.Lengths[i]) != len(a.pb.Norm) {
			t.Fatalf("row %d is not of %v", i, a.pb)
		}
		words += len(a.pb.Norm)
	}
	if len(m.Ids) != len(list) || len(m.Whole) != wholes || len(m.References) != words || len(m.OwnNorms) != len(m.Norms) {
		t.Fatalf("%v is not of %d keywords", &m, len(list))
	}
}

// anchored is a keyword with its anchors.
type anchored struct {
	id      uint64
	pb      *pb.Keyword
	anchors []uint64
}

// encoded returns the page of some keywords.
func encoded(t interface{ Fatal(...any) }, e *Encoder, list ...*anchored) []byte {
	e.Reset()
	for _, a := range list {
		var k record.Keyword
		if err := k.Set(a.pb); err != nil {
			t.Fatal(err)
		}
		k.Anchors = a.anchors
		e.Add(&k)
	}
	return e.Append(nil)
}

// checkKeyword compares the next keyword of the page.
func checkKeyword(t *rapid.T, r *Reader, e *anchored) {
	k, err := r.Next()
	if err != nil || k == nil {
		t.Fatalf("keyword %d: %v", e.id, err)
	}
	want, err := record.Marshal.Marshal(e.pb)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.AppendRecord(nil); !bytes.Equal(got, want) {
		t.Fatalf("got  %x\nwant %x", got, want)
	}
	if !slices.Equal(k.Anchors, e.anchors) || !k.Sound() || string(k.Text) != e.pb.Text {
		t.Fatalf("anchors %x, text %q of %v", k.Anchors, k.Text, e.pb)
	}
	m, err := k.Message()
	if err != nil || !proto.Equal(m, e.pb) || !k.Equal(e.pb) {
		t.Fatalf("%v: %v, %v", m, e.pb, err)
	}
	other := proto.CloneOf(e.pb)
	other.Quality++
	if k.Equal(other) {
		t.Fatal("another quality is the same record")
	}
}

// FuzzPage: whatever its bytes, a page is read or refused.
func FuzzPage(f *testing.F) {
	k := &pb.Keyword{Id: 5, Text: "usb cable", Quality: 3, Norm: []uint64{1, 2}, Fold: []uint64{1, 3}, Forms: []*pb.Form{{Language: "en", Terms: []uint64{7, 8}}}}
	value := encoded(f, new(Encoder), &anchored{id: 5, pb: k, anchors: []uint64{8}})
	f.Add(value[:len(value)-tail])
	f.Fuzz(func(t *testing.T, b []byte) {
		value := append(bytes.Clone(b), Format)
		value = binary.LittleEndian.AppendUint64(value, xxhash.Sum64(value))
		var r Reader
		for _, open := range [...]func([]byte) error{r.Open, r.OpenTexts} {
			err := open(value)
			for k := &r.current; k != nil && err == nil; {
				if k, err = r.Next(); k != nil && err == nil {
					k.AppendRecord(nil)
					k.Sound()
				}
			}
		}
	})
}

func TestPageLen(t *testing.T) {
	for n, want := range map[int]int{1: 1, 96: 96, 97: 64} {
		if got := Fill(n); got != want {
			t.Errorf("a page of %d keywords: %d", n, got)
		}
	}
}
