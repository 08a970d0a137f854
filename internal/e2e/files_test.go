package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend/sqlite"
	"adshard/ingest"
)

// peoplesFiles maps advertisers to files such as people have. The last row of an ad group is its ad.
var peoplesFiles = map[string]string{
	"negatives in Type": `Account,Campaign,Ad group,Keyword,Type,Status,Max. CPC,Headline 1,Final URL
negatives in Type,C,G,free,Negative,Enabled,,,
negatives in Type,C,G,sofa,Broad,Enabled,1.00,,
negatives in Type,C,G,,,,,H,https://a.example/
`,
	"states": `Account,Campaign,Campaign state,Campaign budget,Ad group,Keyword,Keyword state,Max. CPC,Headline 1,Final URL
states,Paused,paused,9.00,,,,,,
states,Paused,,,G,pausedlamp,enabled,1.00,,
states,Paused,,,G,,,,H,https://a.example/
states,Empty,enabled,0,,,,,,
states,Empty,,,G,emptylamp,enabled,1.00,,
states,Empty,,,G,,,,H,https://a.example/
states,Shown,enabled,9.00,,,,,,
states,Shown,,,G,shownlamp,enabled,1.00,,
states,Shown,,,G,shutlamp,paused,1.00,,
states,Shown,,,G,,,,H,https://a.example/
`,
	"refused owners": `Account;Campaign;Budget;Ad rotation;Campaign Status;Ad Group;Ad Group Status;Keyword;Max CPC;Headline 1;Final URL
refused owners;Refused;9,00;Rotate ads indefinitely;Paused;;;;;;
refused owners;Refused;;;;G;;refusedlamp;1.00;;
refused owners;Refused;;;;G;;;;H;https://a.example/
refused owners;Taken;9.00;Rotate ads indefinitely;Enabled;;;;;;
refused owners;Taken;;;;G;;takenlamp;1.00;;
refused owners;Taken;;;;G;;;;H;https://a.example/
refused owners;Taken;;;;F;Paused;;much;;
refused owners;Taken;;;;F;;grouplamp;1.00;;
refused owners;Taken;;;;F;;;;H;https://a.example/
`,
	"named": `Account,Account name,Campaign,Ad Group,Keyword,Max CPC,Headline 1,Final URL
123-456-7890,named,C,G,namedlamp,1.00,,
123-456-7890,named,C,G,,,H,https://a.example/
`,
	"images": `Account,Campaign,Ad Group,Keyword,Max CPC,Ad type,Headline 1,Final URL
images,C,G,imagelamp,1.00,,,
images,C,G,,,Image ad,,https://image.example/
images,C,G,,,Responsive search ad,H,https://a.example/
`,
	"ended": `Account,Campaign,End Date,Campaign Status,Ad Group,Keyword,Max CPC,Headline 1,Final URL
ended,C,2023-11-30,Enabled,,,,,
ended,C,,Enabled,G,endedlamp,1.00,,
ended,C,,Enabled,G,,,H,https://a.example/
`,
	"languages": `Account,Campaign,Languages,Ad Group,Keyword,Max CPC,Mobile Bid Modifier,Quality score,Headline 1,Final URL
languages,C,All,G,,1.00,-20%,,,
languages,C,All,G,alllamp,,,--,,
languages,C,All,G,,,,,H,https://a.example/
`,
	"others' rows": `Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Headline 1,Final URL
others' rows,C,G,otherlamp,Broad,1.00,,
others' rows,C,G,,,,H,https://a.example/
others' rows,C,,cheap,Negative Phrase,,,
others' rows,<Account-level>,,nude,Negative Broad,,,
,,,,,,,
` + "\ufeffAccount,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Headline 1,Final URL\n" + `Total: Campaigns,,,,,12.00,,
`,
	"hidden cells": `Account,Action,Serving status,Campaign,Ad Group,Keyword,Keyword match type,Max CPC,Headline 1,Final URL,Campaign end date
hidden cells,Add,Serving,C,G,hiddenlamp,BROAD,1.00,,,
hidden cells,Remove,Serving,C,G,removedlamp,BROAD,1.00,,,
hidden cells,Add,CAMPAIGN_PAUSED,C,G,servedlamp,BROAD,1.00,,,
hidden cells,Add,Serving,C,G,narrowlamp,EXACT,1.00,,,
hidden cells,Add,Serving,C,G,-minuslamp,BROAD,1.00,,,
hidden cells,Add,Serving,C,G,,,,H,https://a.example/,
hidden cells,Add,,Over,,,,,,,2024-01-31
hidden cells,Add,,Over,G,overlamp,BROAD,1.00,,,
hidden cells,Add,,Over,G,,,,H,https://a.example/,
`,
}

// TestFilesAsPeopleHaveThem: entities that files exclude are not shown, and those that they enable are, with an ad
// that has a headline.
func TestFilesAsPeopleHaveThem(t *testing.T) {
	c := startCluster(t, importPeoplesFiles(t), 3, false, "default")
	for query, want := range map[string]string{
		"cheap free sofa": "", "free": "", "cheap sofa": "negatives in Type",
		"pausedlamp": "", "emptylamp": "", "shutlamp": "", "shownlamp": "states",
		"refusedlamp": "", "grouplamp": "", "takenlamp": "refused owners",
		"namedlamp": "named", "imagelamp": "images", "endedlamp": "", "alllamp": "languages",
		"otherlamp": "others' rows", "cheap otherlamp": "", "nude": "", "nude otherlamp": "", "cheap": "", "keyword": "", "total campaigns": "",
		"hiddenlamp": "hidden cells", "removedlamp": "", "servedlamp": "", "narrowlamp": "", "minuslamp": "", "overlamp": "",
	} {
		a := c.search(t, url.Values{"q": {query}, "slots": {"20"}})
		var got []string
		for _, ad := range a.Ads {
			got = append(got, ad.Advertiser)
			if len(ad.Headlines) != 1 || ad.Headlines[0] != "H" {
				t.Errorf("%q: an ad with headlines %q", query, ad.Headlines)
			}
		}
		if strings.Join(got, ",") != want || !a.Coverage.Complete {
			t.Errorf("%q: %q, want %q; %+v", query, got, want, a.Coverage)
		}
	}
}

// importPeoplesFiles imports peoplesFiles in one run into a new database, and returns its path.
func importPeoplesFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for name, text := range peoplesFiles {
		path := filepath.Join(dir, name+".csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	db := filepath.Join(dir, "ads.db")
	store, err := sqlite.Open(t.Context(), db, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := ingest.Run(t.Context(), store, paths, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	counts, err := store.Counts(t.Context())
	if err != nil || counts.Advertisers != uint64(len(peoplesFiles)) {
		t.Fatalf("%+v, %v: want an advertiser of each of %d files", counts, err, len(peoplesFiles))
	}
	return db
}
