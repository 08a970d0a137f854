package corpus

import (
	"context"
	"strconv"
	"testing"
)

// TestGroupsAreTheFiles: Groups returns the groups of the file, keyword by keyword.
func TestGroupsAreTheFiles(t *testing.T) {
	c := open(t)
	for _, o := range []Options{{Keywords: 1}, {Keywords: 5000, Seed: 3}, {Keywords: 60_000, Seed: 4, PerGroup: 30}} {
		o.Encoding = UTF8
		text, _ := write(t, c, o)
		var want []map[string]string
		bids := map[string]string{}
		for _, row := range rows(t, text) {
			group := row["Account"] + "\t" + row["Campaign"] + "\t" + row["Ad Group"]
			if positive(row) {
				want = append(want, row)
			} else if row["Max CPC"] != "" {
				bids[group] = row["Max CPC"]
			}
		}
		i := 0
		for g, err := range c.Groups(context.Background(), o) {
			if err != nil {
				t.Fatal(err)
			}
			if bids[g.Advertiser+"\t"+g.Campaign+"\t"+g.Name] != money(g.Bid) {
				t.Fatalf("group %s has another bid in the file", g.Name)
			}
			for _, k := range g.Keywords {
				row := want[i]
				i++
				own, quality := "", ""
				if k.Bid > 0 {
					own = money(k.Bid)
				}
				if k.Quality > 0 {
					quality = strconv.Itoa(k.Quality)
				}
				if row["Account"] != g.Advertiser || row["Campaign"] != g.Campaign || row["Ad Group"] != g.Name ||
					row["Keyword"] != k.Text || row["Criterion Type"] != k.Match || row["Max CPC"] != own || row["Quality score"] != quality {
					t.Fatalf("keyword %d of group %s is %+v, in the file %v", i, g.Name, k, row)
				}
			}
		}
		if i != len(want) || i != int(o.Keywords) {
			t.Errorf("%d keywords, %d in the file, %d asked for", i, len(want), o.Keywords)
		}
	}
}

func TestGroupsEnd(t *testing.T) {
	c := open(t)
	for _, err := range c.Groups(context.Background(), Options{}) {
		if err == nil {
			t.Error("no keywords were taken")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n, failed := 0, false
	for _, err := range c.Groups(ctx, Options{Keywords: 1 << 40}) {
		if n++; n == 5 {
			cancel()
		}
		failed = err != nil
	}
	if !failed || n > 1000 {
		t.Errorf("%d groups after the end, failed: %t", n, failed)
	}
	for range c.Groups(context.Background(), Options{Keywords: 1 << 40}) {
		break
	}
}

// BenchmarkGroups measures the time for each keyword.
func BenchmarkGroups(b *testing.B) {
	c := open(b)
	b.ReportAllocs()
	n := 0
	for n < b.N {
		for g, err := range c.Groups(context.Background(), Options{Keywords: int64(b.N), Seed: 1}) {
			if err != nil {
				b.Fatal(err)
			}
			n += len(g.Keywords)
		}
	}
}
