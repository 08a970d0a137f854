package countfile_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/auction"
	"adshard/fault"
	"adshard/quality"
	"adshard/quality/countfile"
)

func read(text string) (*quality.Counts, countfile.Summary, error) {
	c, sum := new(quality.Counts), countfile.Summary{}
	err := countfile.Read(strings.NewReader(text), "f", c, &sum)
	return c, sum, err
}

const header = "campaign,group,keyword,ad,position,day,impressions,clicks\n"

func TestRead(t *testing.T) {
	cell := quality.Cell{Key: quality.Key{Campaign: 1, Group: 2, Keyword: 3, Ad: 4}, Position: 1, Day: 20780}
	count := quality.Count{Impressions: 100, Clicks: 3}
	noAd := cell
	noAd.Ad = 0
	for name, c := range map[string]struct {
		text string
		cell quality.Cell
	}{
		"CSV":                {header + "1,2,3,4,1,2026-11-23,100,3\n", cell},
		"other order, names": {"\ufeffDay, Clicks ,impressions,position,note,ad_id,KEYWORD_ID,\"group\",campaign\r\n2026-11-23,3,100,1,x,4,3,2,\"1\"\r\n", cell},
		"without an ad":      {"campaign,group,keyword,position,day,impressions,clicks\n1,2,3,1,2026-11-23,100,3", noAd},
		"empty ad":           {header + "1,2,3,,1,2026-11-23,100,3\n", noAd},
		"rows add up":        {header + "\n1,2,3,4,1,2026-11-23,99,3\n\n1,2,3,4,1,2026-11-23,1,0\n", cell},
		"JSON":               {`{"campaign":1,"group":2,"keyword":3,"ad":4,"position":1,"day":"2026-11-23","impressions":100,"clicks":3,"more":{}}` + "\n", cell},
		"JSON of answers":    {`{"campaign_id":1,"group_id":2,"keyword_id":3,"position":1,"day":"2026-11-23","impressions":100,"clicks":3}`, noAd},
	} {
		counts, sum, err := read(c.text)
		if got := maps.Collect(counts.All()); err != nil || sum.Rejected != 0 || len(got) != 1 || got[c.cell] != count || sum.Newest != c.cell.Day {
			t.Errorf("%s: %v, %+v, %v", name, got, sum, err)
		}
	}
}

// TestRequests: Each reads the columns about requests, in both formats, and Read ignores them.
func TestRequests(t *testing.T) {
	const more = "campaign,group,keyword,position,day,impressions,clicks,Device,hour,query_words,site\n1,2,3,1,2026-11-23,100,3,"
	each := func(text string) (got []countfile.Row, sum countfile.Summary, err error) {
		err = countfile.Each(strings.NewReader(text), "f", &sum, func(r *countfile.Row) error { got = append(got, *r); return nil })
		return got, sum, err
	}
	all := countfile.Says{Device: true, Hour: true, QueryWords: true, Site: true}
	for text, want := range map[string]countfile.Row{
		more + "tablet,23,4,WWW.shop.example": {Request: auction.Situation{Device: 2, Hour: 23, Words: 4, Site: "shop.example"}, Says: all},
		more + "desktop,0,0,":                 {Says: all},
		header + "1,2,3,4,1,2026-11-23,100,3": {},
		`{"campaign":1,"group":2,"keyword":3,"position":1,"day":"2026-11-23","impressions":100,"clicks":3,"device":"mobile","hour":7}`: {
			Request: auction.Situation{Device: 1, Hour: 7}, Says: countfile.Says{Device: true, Hour: true},
		},
	} {
		got, sum, err := each(text)
		if err != nil || sum.Rejected > 0 || len(got) != 1 || got[0].Request != want.Request || got[0].Says != want.Says || got[0].Count.Clicks != 3 {
			t.Errorf("%q: %+v, %+v, %v", text, got, sum, err)
		}
	}
	for values, column := range map[string]string{
		"phone,1,1,": "device", ",1,1,": "device", "mobile,24,1,": "hour", "mobile,,1,": "hour", "mobile,1,41,": "query_words", "mobile,1,1,a b": "site",
	} {
		_, sum, err := each(more + values)
		if err != nil || sum.Rejected != 1 || sum.First[0].Column != column {
			t.Errorf("%s: %+v, %v", values, sum, err)
		}
		if counts, sum, err := read(more + values); err != nil || sum.Rejected > 0 || len(maps.Collect(counts.All())) != 1 {
			t.Errorf("%s, without requests: %+v, %v", values, sum, err)
		}
	}
	full := errors.New("full")
	if err := countfile.Each(strings.NewReader(more+"mobile,1,1,"), "f", new(countfile.Summary), func(*countfile.Row) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
}

// TestRejects: a faulty row is reported with its column and not counted, and the other rows are
// counted.
func TestRejects(t *testing.T) {
	good := "1,2,3,4,1,2026-11-23,100,3"
	for line, column := range map[string]string{
		"0,2,3,4,1,2026-11-23,100,3":                    "campaign",
		"1,,3,4,1,2026-11-23,100,3":                     "group",
		"1,2,x,4,1,2026-11-23,100,3":                    "keyword",
		"1,2,3,-4,1,2026-11-23,100,3":                   "ad",
		"1,2,3,4,0,2026-11-23,100,3":                    "position",
		"1,2,3,4,257,2026-11-23,100,3":                  "position",
		"1,2,3,4,1,2026-02-30,100,3":                    "day",
		"1,2,3,4,1,2026-11-23,1.5,3":                    "impressions",
		"1,2,3,4,1,2026-11-23,100,18446744073709551616": "clicks",
		"1,2,3,4,1,2026-11-23,100":                      "",
		"1,2,3,4,1,2026-11-23,100,3,5":                  "",
	} {
		counts, sum, err := read(header + line + "\n" + good + "\n")
		if err != nil || sum.Rows != 2 || sum.Rejected != 1 || len(maps.Collect(counts.All())) != 1 {
			t.Errorf("%s: %+v, %v", line, sum, err)
			continue
		}
		if r := sum.First[0]; r.Column != column || r.Row != 2 || !strings.HasPrefix(r.String(), "f: row 2") {
			t.Errorf("%s: %v", line, r)
		}
	}
	for _, line := range []string{`{"campaign":1}`, `{"campaign":"1"}`, `{`, `[1]`, `null`, `{"campaign":1.5}`, `{"campaign":1e3}`} {
		if _, sum, err := read("{}\n" + line); err != nil || sum.Rejected != 2 {
			t.Errorf("%s: %+v, %v", line, sum, err)
		}
	}
	if _, sum, _ := read(header + strings.Repeat("x\n", 50)); sum.Rejected != 50 || len(sum.First) != countfile.FirstRejects {
		t.Errorf("%d rejects, %d held", sum.Rejected, len(sum.First))
	}
}

// TestUnreadable: a file that cannot be read any further gives an error that names the place. The
// rows before it are counted.
func TestUnreadable(t *testing.T) {
	for text, want := range map[string]string{
		"campaign,group\n1,2\n": "row 1: the header lacks keyword",
		"day,day\n":             "two columns day",
		header + "1,2,3,4,1,2026-11-23,100,3\n" + strings.Repeat("1", 70_000): "row 3 is longer",
	} {
		counts, _, err := read(text)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%.40q: %v", text, err)
		}
		if n := len(maps.Collect(counts.All())); (n == 1) != strings.Contains(text, "100,3") {
			t.Errorf("%.40q: %d cells", text, n)
		}
	}
	broken := errors.New("broken")
	err := countfile.Read(failing{broken}, "f", new(quality.Counts), new(countfile.Summary))
	if !errors.Is(err, broken) {
		t.Errorf("an error of reading became %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.Int32Range(0, 100_000).Draw(t, "day")
		if got, err := countfile.ParseDay(countfile.FormatDay(day)); err != nil || got != day {
			t.Fatalf("%d is %s is %d, %v", day, countfile.FormatDay(day), got, err)
		}
	})
}

// FuzzRead: any bytes are read without a panic, and rows are counted or rejected. Counts that are
// written to a file are read as the same counts.
func FuzzRead(f *testing.F) {
	f.Add(header + "1,2,3,4,1,2026-11-23,100,3\n1,2,3,,20,2026-11-24,18446744073709551615,0")
	f.Add(`{"campaign":1,"group":2,"keyword":3,"ad":4,"position":1,"day":"2026-11-23","impressions":100,"clicks":3}`)
	f.Add("\ufeffday,clicks\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		counts, sum, err := read(text)
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatal(err)
		}
		if sum.Rejected > sum.Rows || int64(len(sum.First)) != min(sum.Rejected, countfile.FirstRejects) {
			t.Fatalf("%+v", sum)
		}
		var b strings.Builder
		b.WriteString(header)
		for c, n := range counts.All() {
			fmt.Fprintf(&b, "%d,%d,%d,%d,%d,%s,%d,%d\n", c.Campaign, c.Group, c.Keyword, c.Ad, c.Position, countfile.FormatDay(c.Day), n.Impressions, n.Clicks)
		}
		again, sum, err := read(b.String())
		if err != nil || sum.Rejected != 0 || !maps.Equal(maps.Collect(again.All()), maps.Collect(counts.All())) {
			t.Fatalf("%+v, %v: %q", sum, err, b.String())
		}
	})
}
