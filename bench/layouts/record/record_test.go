package record_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/bench/layouts"
	"adshard/bench/layouts/record"
	"adshard/fault"
	"adshard/schema/pb"
)

func written(t testing.TB, norm []uint64) []byte {
	t.Helper()
	b := layouts.NewBuilder()
	b.Word("usb")
	b.Word("cable")
	b.Keyword(120_000, 7)
	raw, err := record.Append(nil, b.Set(), 0, norm)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestRead(t *testing.T) {
	for _, norm := range [][]uint64{nil, {1, 1 << 63}} {
		var r record.Record
		if err := r.Read(written(t, norm)); err != nil {
			t.Fatal(err)
		}
		if r.ID != 1 || r.Bid != 120_000 || r.Quality != 7 || string(r.Text) != "usb cable" {
			t.Errorf("read %+v", r)
		}
	}
}

// FuzzRead: bytes that are not a record are refused without a panic.
func FuzzRead(f *testing.F) {
	f.Add(written(f, []uint64{1, 2}))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r record.Record
		if err := r.Read(b); err != nil && !fault.Is(err, fault.Corrupt) {
			t.Error(err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	raw := written(b, nil)
	var r record.Record
	for b.Loop() {
		if err := r.Read(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnmarshal measures generated code for the same task.
func BenchmarkUnmarshal(b *testing.B) {
	raw := written(b, nil)
	var k pb.Keyword
	for b.Loop() {
		if err := proto.Unmarshal(raw, &k); err != nil {
			b.Fatal(err)
		}
	}
}
