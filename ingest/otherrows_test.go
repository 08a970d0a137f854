package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adshard/ingest"
)

// there is a file of entities that rows of other kinds must not change.
const there = "Account,Campaign,Ad Group,Keyword,Max CPC,Campaign Daily Budget\nA,Brand,,,,10\nA,Brand,G,,1,\nA,Brand,G,k,2,\n"

// TestRowsOfOtherKinds: one row of each kind as Google Ads Editor writes it,
// with a status, a bid and a modifier of its own. It is skipped, and the
// campaign and the group that it names stay as they are.
func TestRowsOfOtherKinds(t *testing.T) {
	for _, c := range []struct{ kind, columns, cells string }{
		{"location", "Location group,ID,Bid Modifier,Status", "Airports,2203,-50,Removed"},
		{"location", "Criterion Type,Status", "Location,Removed"},
		{"audience segment", "Audience segment,Bid Modifier,Max CPC,Status", "In-market: Shoes,20,3,Paused"},
		{"placement", "Placement,Max CPC,Status", "example.com,5,Removed"},
		{"topic", "Topic,Status", "Topic:34:Movies,Removed"},
		{"demographic", "Age,Bid Modifier,Status", "18-24,-90,Paused"},
		{"demographic", "Gender,Criterion Type,Status", "Male,Negative,Removed"},
		{"demographic", "Household income,Mobile Bid Modifier,Status", "Top 10%,-100,Paused"},
		{"product group", "Product Group,Product Group Type,Max CPC,Status", "* / Brand='acme',Biddable,0,Removed"},
		{"dynamic ad target", "Dynamic Ad Target Condition 1,Dynamic Ad Target Value 1,Max CPC,Status", "URL contains,shop,4,Paused"},
		{"asset group", "Asset Group,Headline 1,Final URL,Asset Group Status", "Assets,Shoes,https://a.example,Paused"},
		{"sitelink", "Link Text,Description Line 1,Final URL,Status", "Sale,All,https://a.example,Removed"},
		{"callout", "Callout text,Status", "Free delivery,Removed"},
		{"structured snippet", "Header,Snippet Values,Status", "Types,\"a\nb\",Removed"},
		{"call", "Phone Number,Status", "+420 123,Removed"},
		{"promotion", "Promotion target,Occasion,Language,Status", "Shoes,[],cs,Paused"},
		{"price", "Type,Price Qualifier,Header 1,Price 1,Status", "Brands,From,Shoes,10 CZK,Removed"},
		{"image", "Asset name,Image Size,Status", "logo,300x250,Removed"},
		{"business name", "Business name,Status", "Acme,Paused"},
		{"label", "Label,Color,Status", "sale,#ff0000,Removed"},
		{"experiment", "Experiment,Status", "test,Removed"},
		{"IP exclusion", "IP address,Status", "192.0.2.1,Removed"},
		{"other", "Criterion Type,Status", "Something of next year,Removed"},
	} {
		for _, group := range []string{"", "G"} {
			if c.kind == "asset group" && group != "" {
				continue // with a headline and a group it is an ad
			}
			store := newFakeStore()
			run(t, store, there)
			before, ids := store.dump(), store.created
			file := "Account,Campaign,Ad Group," + c.columns + "\nA,Brand," + group + "," + c.cells + "\nNew,New,," + c.cells + "\n"
			sum := run(t, store, file)
			if got := store.dump(); got != before || store.created != ids {
				t.Errorf("%s (%s): changed to\n%s", c.kind, c.columns, got)
			}
			if fmt.Sprint(sum.Skipped) != fmt.Sprintf("[{%s 2}]", c.kind) || sum.Rejected != 0 || sum.Warnings != 0 {
				t.Errorf("%s (%s): %+v", c.kind, c.columns, sum)
			}
		}
	}
}

func run(t *testing.T, store *fakeStore, file string) ingest.Summary {
	t.Helper()
	sum, err := ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestKeywordsWithoutCampaign: keywords of shared sets and of the account are skipped; in rows without a cell that
// marks them as such, the missing campaign is an error.
func TestKeywordsWithoutCampaign(t *testing.T) {
	store := newFakeStore()
	sum := run(t, store, "Account,Campaign,Ad Group,Keyword,Criterion Type,Shared set name,Account keyword type\n"+
		"A,,,free,Negative Phrase,List,\nA,,,free,Broad,,Negative\nA,,,free,Broad,,\nA,C,G,taken,Broad,List,\nA,C,G,lost,Broad,,Negative\n")
	if fmt.Sprint(sum.Skipped) != "[{account keyword 1} {shared set 1}]" || sum.Rejected != 2 || sum.First[0].Column != "Campaign" ||
		sum.First[1].Column != "Account keyword type" ||
		!strings.Contains(store.dump(), "broad taken") {
		t.Errorf("%+v\n%s", sum, store.dump())
	}
}

// TestStatusBesideUnknownColumns: on a campaign or group row, Status applies only if every filled column is one that
// docs/import.md names. A Status that is not applied causes a warning.
func TestStatusBesideUnknownColumns(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword,Status,Campaign Status,Ad Group Status,Labels,\n"
	const acc, camp, grp = "A = status=enabled\n", "A / C = status=enabled\n", "A / C / G = status=enabled\n"
	for _, c := range []struct {
		row, want string
		warnings  int64
	}{
		{"A,C,,,Paused,,,,", acc + "A / C = status=paused\n", 0},
		{"A,C,,,Paused,,,x,", acc + camp, 1},
		{"A,C,,,Paused,,,,x", acc + camp, 1},
		{"A,C,,,Paused,,,[],", acc + camp, 1},
		{"A,C,,,nonsense,,,x,", acc + camp, 1},
		{"A,C,,,Removed,Paused,,x,", acc + "A / C = status=paused\n", 0},
		{"A,C,G,,Removed,,,x,", acc + camp + grp, 1},
		{"A,C,G,,Removed,,Paused,x,", acc + camp + "A / C / G = status=paused\n", 0},
		{"A,C,G,k,Paused,,,x,", acc + camp + grp + "A / C / G / broad k = status=paused text=k\n", 0},
		{"A,C,G,,,,,x,", acc + camp + grp, 0},
	} {
		store := newFakeStore()
		sum := run(t, store, head+c.row+"\n")
		if store.dump() != c.want || sum.Warnings != c.warnings || len(sum.FirstWarnings) != int(c.warnings) || sum.Rejected != 0 {
			t.Errorf("%s: %+v\n%s", c.row, sum, store.dump())
		}
	}
}

// TestMixedExport: a whole export as Google Ads Editor writes it, UTF-16 with tabs and all columns, gives the same
// database as only the rows that adshard imports.
func TestMixedExport(t *testing.T) {
	columns := []string{"Account", "Campaign", "Labels", "Campaign Type", "Networks", "Budget", "Languages", "Bid Strategy Type", "Start Date",
		"Ad Schedule", "Ad rotation", "Ad Group", "Max CPC", "Mobile Bid Modifier", "Audience name", "Age demographic", "ID", "Audience segment",
		"Bid Modifier", "Final URL", "Age", "Criterion Type", "Location", "Reach", "Keyword", "Quality score", "Ad type", "Headline 1", "Description 1",
		"Shared set name", "Link Text", "Header", "Snippet Values", "Callout text", "Campaign Status", "Ad Group Status", "Status", "Comment"}
	export := func(rows ...string) []byte {
		var b strings.Builder
		b.WriteString(strings.Join(columns, "\t") + "\r\n")
		for _, row := range rows {
			cells := make([]string, len(columns))
			for pair := range strings.SplitSeq(row, "|") {
				name, value, _ := strings.Cut(pair, "=")
				for i, column := range columns {
					if column == name {
						cells[i] = value
					}
				}
			}
			b.WriteString(strings.Join(cells, "\t") + "\r\n")
		}
		return utf16(b.String())
	}
	const campaign, group = "Account=A|Campaign=Brand|", "Account=A|Campaign=Brand|Ad Group=G|"
	ours := []string{
		campaign + "Labels=x|Campaign Type=Search|Networks=Google search|Budget=10|Languages=cs|Ad Schedule=[]|Ad rotation=Optimize for clicks|Campaign Status=Enabled",
		group + "Max CPC=1|Age demographic=18-24|Campaign Status=Enabled|Ad Group Status=Paused",
		group + "Keyword=red shoes|Criterion Type=Phrase|Max CPC=2|Quality score=7|Campaign Status=Enabled|Ad Group Status=Paused|Status=Enabled|Comment=c",
		group + "Ad type=Responsive search ad|Headline 1=Shoes|Description 1=All|Final URL=https://a.example/|Status=Enabled",
		campaign + "Keyword=free|Criterion Type=Campaign Negative Broad|Status=Enabled",
	}
	mixed := []string{ours[0], campaign + "ID=2203|Location=Czechia|Reach=10800000|Bid Modifier=-10|Status=Removed",
		ours[1], group + "Audience segment=In-market|Bid Modifier=20|Max CPC=9|Ad Group Status=Removed|Status=Paused", ours[2],
		group + "Age=18-24|Criterion Type=Negative|Status=Removed", ours[3], campaign + "Link Text=Sale|Final URL=https://a.example/s|Status=Removed",
		campaign + "Callout text=Free|Status=Paused", campaign + "Header=Types|Snippet Values=a|Status=Removed",
		"Account=A|Shared set name=List|Keyword=free|Criterion Type=Negative Broad", "Account=A|Location=Slovakia|Status=Removed", ours[4]}
	var dumps []string
	for _, rows := range [][]string{ours, mixed} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		defer store.Close()
		for range 2 {
			sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: bytes.NewReader(export(rows...))})
			if err != nil || sum.Rejected != 0 || sum.Warnings != 0 {
				t.Fatalf("%+v, %v", sum, err)
			}
			if len(rows) == len(mixed) && fmt.Sprint(sum.Skipped) !=
				"[{audience segment 1} {callout 1} {demographic 1} {location 1} {shared set 1} {sitelink 1} {structured snippet 1}]" {
				t.Errorf("skipped: %v", sum.Skipped)
			}
		}
		dumps = append(dumps, contents(t, store))
	}
	if dumps[0] != dumps[1] {
		t.Errorf("with rows of other kinds:\n%s\nwithout:\n%s", dumps[1], dumps[0])
	}
}

func utf16(text string) []byte {
	out := []byte{0xFF, 0xFE}
	for _, r := range text { // in the basic plane
		out = append(out, byte(r), byte(r>>8))
	}
	return out
}
