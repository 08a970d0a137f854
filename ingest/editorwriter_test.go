package ingest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"adshard/fault"
)

// TestEditorFile checks the rows of an export.
func TestEditorFile(t *testing.T) {
	var file strings.Builder
	rows, err := WriteEditorFile(&file, strings.NewReader(`{"type":"advertiser","name":"Acme","time_zone":"Europe/Prague","status":"enabled"}
{"type":"negative","advertiser":"Acme","text":"[never]","match_type":"broad","status":"paused"}
{"type":"campaign","advertiser":"Acme","name":"Cables, \"new\"","desktop_bid_modifier":null,"mobile_bid_modifier":-12.5,"tablet_bid_modifier":0,"daily_budget_micros":5000000,"delivery_method":"standard","languages":["cs","en"],"ad_rotation":"even","status":"paused"}
{"type":"negative","advertiser":"Acme","campaign":"Cables, \"new\"","text":"used","match_type":"exact","status":"enabled"}
{"type":"group","advertiser":"Acme","campaign":"Cables, \"new\"","name":"USB","max_cpc_micros":450000,"status":"enabled"}
{"type":"keyword","advertiser":"Acme","campaign":"Cables, \"new\"","group":"USB","text":"[usb cable]","match_type":"broad","max_cpc_micros":1,"quality_score":7,"status":"paused"}
{"type":"negative","advertiser":"Acme","campaign":"Cables, \"new\"","group":"USB","text":"free","match_type":"phrase","status":"enabled"}
{"type":"ad","advertiser":"Acme","campaign":"Cables, \"new\"","group":"USB","headlines":["Cables","New\nones"],"descriptions":["All"],"path_1":"usb","final_url":"https://a.example/","status":"enabled"}
`))
	if err != nil || rows != 7 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	if !strings.HasPrefix(file.String(), "\ufeffAccount,Campaign,Ad Group,Keyword,") {
		t.Errorf("%.60q", file.String())
	}
	const owners, group = `Account=Acme|Campaign=Cables, "new"|`, `Ad Group=USB|`
	want := `Account=Acme|Campaign=<Account-level>|Keyword="[never]"|Criterion Type=Negative Broad|Time zone=Europe/Prague|Status=Paused
` + owners + `Desktop Bid Modifier=[]|Mobile Bid Modifier=-12.5|Tablet Bid Modifier=0|Campaign Daily Budget=5|Delivery method=Standard|` +
		`Languages=cs;en|Ad rotation=Rotate indefinitely|Time zone=Europe/Prague|Campaign Status=Paused
` + owners + `Keyword=used|Criterion Type=Campaign Negative Exact|Status=Enabled
` + owners + group + `Max CPC=0.45|Ad Group Status=Enabled
` + owners + group + `Keyword="[usb cable]"|Criterion Type=Broad|Max CPC=0.000001|Quality score=7|Status=Paused
` + owners + group + `Keyword=free|Criterion Type=Negative Phrase|Status=Enabled
` + owners + group + `Ad type=Responsive search ad|Headline 1=Cables|Headline 2=New
ones|Description 1=All|Path 1=usb|Final URL=https://a.example/|Status=Enabled
`
	if got := filledCells(t, file.String()); got != want {
		t.Errorf("rows\n%swant\n%s", got, want)
	}
}

// filledCells returns the cells of a file that are not empty, one line for each row.
func filledCells(t *testing.T, file string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, row := range rows[1:] {
		var cells []string
		for i, cell := range row {
			if cell != "" {
				cells = append(cells, rows[0][i]+"="+cell)
			}
		}
		b.WriteString(strings.Join(cells, "|") + "\n")
	}
	return b.String()
}

// TestNoEditorFile: lines that an Editor file cannot express end the export, and the error names the place.
func TestNoEditorFile(t *testing.T) {
	const a, c = `{"type":"advertiser","name":"A"}` + "\n", `{"type":"campaign","advertiser":"A","name":"C"}` + "\n"
	const group = `"advertiser":"A","campaign":"C","group":"G",`
	for _, test := range []struct{ lines, says string }{
		{`{"type":"advertiser","name":"A","status":"paused"}` + "\n" + c, `advertiser "A" is paused`},
		{a, `advertiser "A" has no campaign and no negative`},
		{a + `{"type":"advertiser","name":"B"}` + "\n" + c, `advertiser "A" has no campaign and no negative`},
		{a + c + `{"type":"advertiser","name":"B"}` + "\n" + c, `advertiser "B" has no campaign and no negative`},
		{`{"type":"advertiser","name":"[]"}`, `Account of "[]" is []`},
		{a + `{"type":"campaign","advertiser":"A","name":"[]"}`, `Campaign of "A" / "[]" is []`},
		{a + `{"type":"campaign","advertiser":"A","name":"<Account-level>"}`, `"A" / "<Account-level>" is a campaign: in angle brackets`},
		{a + c + `{"type":"ad",` + group + `"headlines":["h","[]"]}`, `Headline 2 of "A" / "C" / "G" is []`},
		{a + c + `{"type":"ad",` + group + `"headlines":["h"],"descriptions":["a\r\nb"]}`, `Description 1 of "A" / "C" / "G" has a line break`},
		{a + c + `{"type":"keyword",` + group + `"text":"k"}`, "line 3 of the export: match_type: missing"},
		{a + c + `{`, "line 3 of the export: the line: not valid JSON"},
	} {
		_, err := WriteEditorFile(io.Discard, strings.NewReader(test.lines))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.200s\n%v; want %q", test.lines, err, test.says)
		}
	}
	broken := errors.New("broken")
	if _, err := WriteEditorFile(io.Discard, io.MultiReader(strings.NewReader(a+c), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("of a source that fails: %v", err)
	}
	for _, broken := range []error{broken, io.EOF} {
		if _, err := WriteEditorFile(failing{broken}, strings.NewReader(a+c)); err != broken {
			t.Errorf("to a full disk: %v", err)
		}
	}
	if _, err := WriteEditorFile(io.Discard, &once{fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut off at the start: %v", err)
	}
}

// failing is a reader and writer of which every call fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

// once is a reader that fails once, and then returns io.EOF.
type once struct{ err error }

func (o *once) Read([]byte) (int, error) {
	err := o.err
	o.err = io.EOF
	return 0, err
}

// FuzzEditorFile: an Editor file says the same as the JSON lines from which it was made.
func FuzzEditorFile(f *testing.F) {
	const group = `"advertiser":"A","campaign":"C","group":"G",`
	for _, seed := range []string{
		`{"type":"advertiser","name":"A"}` + "\n" + `{"type":"campaign","advertiser":"A","name":"C","languages":null,"mobile_bid_modifier":-1.5,"ad_rotation":"optimize","status":"removed"}`,
		`{"type":"group","advertiser":"a,b","campaign":"\"","name":"\t\\.","max_cpc_micros":10000000000,"tablet_bid_modifier":null}`,
		`{"type":"keyword",` + group + `"text":"\"=a\"","match_type":"phrase","max_cpc_micros":null,"quality_score":null}`,
		`{"type":"keyword",` + group + `"text":"[\"a\"]","match_type":"exact","max_cpc_micros":0,"quality_score":1,"status":"paused"}`,
		`{"type":"negative",` + group + `"text":"'a","match_type":"exact"}` + "\n" + `{"type":"negative","advertiser":"A","campaign":"C","text":"a\rb\nc","match_type":"broad"}`,
		`{"type":"ad",` + group + `"headlines":["\rh\r","","\ufeff"],"descriptions":["d"],"path_2":"p","final_url":"http://a","status":"enabled"}`,
		`{"type":"ad",` + group + `"descriptions":["\u00a0;","a\r\r\n"]}`,
		`{"type":"advertiser","name":"A","time_zone":null}` + "\n" + `{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":9223372036854775807}`,
		`{"type":"advertiser","name":"A","time_zone":"UTC"}` + "\n" + `{"type":"campaign","advertiser":"B","name":"C"}` + "\n" + `{"type":"campaign","advertiser":"A","name":"C"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		var file strings.Builder
		if _, err := WriteEditorFile(&file, strings.NewReader(string(lines))); err != nil {
			return
		}
		was, err := newJSONSource(strings.NewReader(string(lines)), "l", "")
		if err != nil {
			t.Fatal(err)
		}
		is, err := newEditorSource(strings.NewReader(file.String()), "f", "")
		if err != nil {
			t.Fatal(err)
		}
		var of entry // the last advertiser, which is in the rows of its campaigns
		for {
			var want, got entry
			if was.next(&want) != nil {
				break
			}
			if want.kind == kindAdvertiser {
				of = want
				continue
			}
			if want.kind == kindCampaign && want.advertiser == of.advertiser {
				want.advertiserPatch.TimeZone = of.advertiserPatch.TimeZone
			}
			if err := is.next(&got); err != nil || !sameContent(&got, &want) {
				t.Fatalf("%v\n%+v\nof\n%+v\nin\n%s", err, got, want, file.String())
			}
		}
		if err := is.next(new(entry)); err != io.EOF {
			t.Fatalf("%v at the end of\n%s", err, file.String())
		}
	})
}

// sameContent reports whether two rows say the same about the same entity.
func sameContent(a, b *entry) bool {
	own := func(e *entry) []any {
		return []any{e.reject, e.skipped, e.warning, e.kind, e.advertiser, e.campaign, e.group, e.advertiserPatch, e.campaignPatch, e.groupPatch, e.keyword, e.negative,
			append([]string{}, e.ad.Headlines...), append([]string{}, e.ad.Descriptions...), e.ad.Path1, e.ad.Path2, e.ad.FinalURL, e.ad.Status}
	}
	return reflect.DeepEqual(own(a), own(b))
}
