package ingest_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adshard/ingest"
	"adshard/ingest/rejected"
)

func TestAdvertisers(t *testing.T) {
	for file, want := range map[string]string{
		"Account,Campaign,Status\nA,x,\nB,y,Removed\nA,z,\n,z,\n": "[A B]",
		"Campaign\nx\n":                         "[given]",
		`{"type":"advertiser","name":"A"}`:      "[A]",
		`{"type":"campaign","name":"c"}`:        "[given]",
		"Account,Campaign,Location\nA,x,Brno\n": "[]",
	} {
		got, err := ingest.Advertisers(t.Context(), strings.NewReader(file), ingest.Options{Advertiser: " given "})
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v %v, want %s", file, got, err, want)
		}
	}
	if _, err := ingest.Advertisers(t.Context(), strings.NewReader("nothing\n"), ingest.Options{}); err == nil {
		t.Error("a file without columns has advertisers")
	}
}

// TestRejectedCells checks that only the cell at fault of a rejected row is marked.
func TestRejectedCells(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	const file = "Account,Campaign,Ad Group,Keyword,Max CPC\n" +
		"A,C,G,k,1\nA,C,G,k,many\nA,C,,k,1\nA,C,G,k,1,1.5,x\nA,C,G,k\nA,C,G"
	var got []string
	for _, content := range []string{file, `{"type":"campaign","advertiser":"A"}`} {
		_, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(content), BatchRows: 2,
			Rejected: func(r rejected.Row, cells []ingest.Cell) {
				got = append(got, fmt.Sprint(r.Record, " ", r.Column, " ", cells))
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"3 Max CPC [{Account A false} {Campaign C false} {Ad Group G false} {Keyword k false} {Max CPC many true}]",
		"4 Ad Group [{Account A false} {Campaign C false} {Ad Group  true} {Keyword k false} {Max CPC 1 false}]",
		"5 cell 6 [{Account A false} {Campaign C false} {Ad Group G false} {Keyword k false} {Max CPC 1 false} {cell 6 1.5 true} {cell 7 x false}]",
		"7 cell 3 [{Account A false} {Campaign C false} {Ad Group G true}]",
		"1 name []",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
