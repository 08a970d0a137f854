package corpus

import (
	"bytes"
	"context"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"adshard/backend/sqlite"
	"adshard/ingest"
)

func open(t testing.TB) *Corpus {
	t.Helper()
	c, err := Open(Extract())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t testing.TB, c *Corpus, o Options) (string, Summary) {
	t.Helper()
	var out bytes.Buffer
	sum, err := c.Write(context.Background(), &out, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), sum
}

// rows parses a UTF-8 corpus into one map by column for each row.
func rows(t testing.TB, text string) (out []map[string]string) {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = '\t'
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, cell := range cells {
			if cell != "" {
				row[all[0][i]] = cell
			}
		}
		out = append(out, row)
	}
	return out
}

func positive(row map[string]string) bool {
	return row["Keyword"] != "" && !strings.Contains(row["Criterion Type"], "Negative")
}

func TestSameSeedSameBytes(t *testing.T) {
	o := Options{Keywords: 3000, Queries: 500, Seed: 7, Encoding: UTF8}
	a, _ := write(t, open(t), o)
	b, _ := write(t, open(t), o)
	if a != b {
		t.Error("the same seed gave another file")
	}
	var qa, qb bytes.Buffer
	for _, q := range []*bytes.Buffer{&qa, &qb} {
		if n, err := open(t).WriteQueries(q, o); n != 500 || err != nil {
			t.Fatal(n, err)
		}
	}
	if qa.String() != qb.String() || strings.Count(qa.String(), "\n") != 500 {
		t.Error("the same seed gave other queries")
	}
	o.Seed = 8
	if c, _ := write(t, open(t), o); a == c {
		t.Error("another seed gave the same file")
	}
	o.Seed, o.Encoding = 7, UTF16
	wide, _ := write(t, open(t), o)
	var units []uint16
	for i := 2; i < len(wide); i += 2 {
		units = append(units, uint16(wide[i])|uint16(wide[i+1])<<8)
	}
	if wide[:2] != "\xff\xfe" || string(utf16.Decode(units)) != a {
		t.Error("UTF-16 holds another text")
	}
}

// TestImports: a corpus is imported without a reject, with the number of keywords requested, and "usb cable" is among
// its titles.
func TestImports(t *testing.T) {
	for _, keywords := range []int64{1, 2500, 60_000} {
		text, sum := write(t, open(t), Options{Keywords: keywords, Seed: 3})
		store, err := sqlite.Open(context.Background(), t.TempDir()+"/ads.db", sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		for range 2 {
			got, err := ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text)})
			if err != nil || got.Rejected != 0 || got.Rows != sum.Rows {
				t.Fatalf("%+v, %v; %+v", got, err, sum)
			}
			if got.ClockBefore != 0 && got.ClockBefore != got.ClockAfter {
				t.Errorf("%d keywords: a second import moved the clock", keywords)
			}
		}
		counts, err := store.Counts(context.Background())
		if err != nil || counts.Keywords != uint64(keywords) || counts.Groups != uint64(sum.Groups) || sum.Keywords != keywords {
			t.Errorf("%+v, %v; %+v", counts, err, sum)
		}
	}
	text, _ := write(t, open(t), Options{Keywords: 2500, Seed: 3, Encoding: UTF8})
	found := 0
	for _, row := range rows(t, text) {
		if title := strings.ToLower(row["Ad Group"]); row["Headline 1"] != "" && strings.Contains(title, "usb") && strings.Contains(title, "cable") {
			found++
		}
	}
	if found < 4 {
		t.Errorf("%d ads for usb cable", found)
	}
}

// TestWordsKeepTheirShape: a corpus many times the catalogues' size has the same most frequent words as the first
// round, and a tail that keeps growing.
func TestWordsKeepTheirShape(t *testing.T) {
	c := open(t)
	head := func(keywords int64) (share float64, distinct int) {
		text, _ := write(t, c, Options{Keywords: keywords, Seed: 1, Encoding: UTF8})
		count, all := map[string]int{}, 0
		for _, row := range rows(t, text) {
			if positive(row) {
				for _, word := range strings.Fields(strings.ToLower(row["Keyword"])) {
					count[word]++
					all++
				}
			}
		}
		var counts []int
		for _, n := range count {
			counts = append(counts, n)
		}
		slices.Sort(counts)
		top := 0
		for _, n := range counts[max(0, len(counts)-50):] {
			top += n
		}
		return float64(top) / float64(all), len(count)
	}
	first, words := head(40_000)
	later, more := head(400_000)
	if later < first*0.8 || later > first*1.25 {
		t.Errorf("the 50 commonest words make %.3f of all at first, %.3f later", first, later)
	}
	if more < words*3/2 {
		t.Errorf("%d different words at first, %d ten times later", words, more)
	}
}

// TestMix: match types and the sizes of groups and advertisers are as described.
func TestMix(t *testing.T) {
	text, sum := write(t, open(t), Options{Keywords: 40_000, Seed: 1, Encoding: UTF8})
	types, sizes, bids := map[string]int{}, map[string]int{}, 0
	for _, row := range rows(t, text) {
		if positive(row) {
			types[row["Criterion Type"]]++
			sizes[row["Account"]]++
			if row["Max CPC"] != "" {
				bids++
			}
		}
	}
	for name, want := range map[string]int{"Broad": 30, "Phrase": 30, "Exact": 40} {
		if got := types[name] * 100 / 40_000; got < want-4 || got > want+4 {
			t.Errorf("%d %% %s, want about %d", got, name, want)
		}
	}
	if perGroup := float64(sum.Keywords) / float64(sum.Groups); perGroup < 9 || perGroup > 13 {
		t.Errorf("%.1f keywords a group", perGroup)
	}
	if bids < 12_000 || bids > 16_000 {
		t.Errorf("%d of 40,000 keywords have a bid", bids)
	}
	var largest []int
	for _, n := range sizes {
		largest = append(largest, n)
	}
	slices.Sort(largest)
	if top, median := largest[len(largest)-1], largest[len(largest)/2]; top < 20*median {
		t.Errorf("the largest of %d advertisers has %d keywords, the median %d", len(largest), top, median)
	}
}

func TestRefuses(t *testing.T) {
	c := open(t)
	if _, err := c.Write(context.Background(), &bytes.Buffer{}, Options{}); err == nil {
		t.Error("no keywords were taken")
	}
	if _, err := c.Write(context.Background(), &bytes.Buffer{}, Options{Keywords: 1, Encoding: "ebcdic"}); err == nil {
		t.Error("an unknown encoding was taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Write(ctx, &bytes.Buffer{}, Options{Keywords: 1 << 40}); err == nil {
		t.Error("did not stop")
	}
}

// BenchmarkWrite makes corpora of 20,000 keywords; its metric is rows a second.
func BenchmarkWrite(b *testing.B) {
	c := open(b)
	all := int64(0)
	for b.Loop() {
		_, sum := write(b, c, Options{Keywords: 20_000, Seed: 1})
		all += sum.Rows
	}
	b.ReportMetric(float64(all)/b.Elapsed().Seconds(), "rows/s")
}
