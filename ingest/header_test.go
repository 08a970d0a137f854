package ingest

import (
	"fmt"
	"strings"
	"testing"

	"adshard/ingest/textfile"
)

func TestHeader(t *testing.T) {
	read := func(header string, needAccount bool) (string, error) {
		r := textfile.NewReader(strings.NewReader(header))
		l, err := readHeader(r, needAccount)
		var found []string
		for c, at := range l.cell {
			if at >= 0 {
				found = append(found, fmt.Sprintf("%s=%d", column(c), at))
			}
		}
		return strings.Join(found, " "), err
	}
	for header, want := range map[string]string{
		"Account,Campaign\n":                                          "Account=0 Campaign=1",
		"Campaign\tACCOUNT name\tx,y\n":                               "Account=1 Campaign=0",
		"campaign_name,\"Account\",Daily Budget,status":               "Account=1 Campaign=0 Campaign Daily Budget=2 Status=3",
		"Account,Campaign,Keyword text,Keyword type,Default max CPC":  "Account=0 Campaign=1 Keyword=2 Criterion Type=3 Max CPC=4",
		"Account,Campaign,MatchType,max_cpc_bid,Headline15":           "Account=0 Campaign=1 Criterion Type=2 Max CPC=3 Headline 15=4",
		"Account,Campaign,Description 4,Path2,FinalURL,Foo,Foo,,":     "Account=0 Campaign=1 Description 4=2 Path 2=3 Final URL=4",
		"Account;Campaign;Max. CPC;Ad-group":                          "Account=0 Campaign=1 Ad Group=3 Max CPC=2",
		"Account,Campaign,Budget,Campaign Daily Budget\n":             "Account=0 Campaign=1 Campaign Daily Budget=3",
		"Account,Campaign,Campaign Daily Budget,Budget,Budget\n":      "Account=0 Campaign=1 Campaign Daily Budget=2",
		"Account,Campaign,Campaign state,Ad group_state,State":        "Account=0 Campaign=1 Campaign Status=2 Ad Group Status=3 Status=4",
		"Account,Campaign,Campaign state,Campaign Status":             "Account=0 Campaign=1 Campaign Status=3",
		"Account,Campaign,Language targeting,Campaign budget":         "Account=0 Campaign=1 Campaign Daily Budget=3 Languages=2",
		"Account name,Account,Campaign,Type,Match type":               "Account=1 Campaign=2 Criterion Type=4 Account name=0",
		"Account\tcampaign_NAME\tCampaign":                            "Account=0 Campaign=2",
		"Account name,Campaign,Type":                                  "Account=0 Campaign=1 Type=2",
		"Account,Campaign,Headline,Description Line 2":                "Account=0 Campaign=1 Headline 1=2 Description 2=3",
		"\n,,,\n \t\n\"\",\nAccount,Campaign\n":                       "Account=0 Campaign=1",
		"sep=;\nAccount;Campaign;a,Keyword,Status\n":                  "Account=0 Campaign=1",
		"\nSEP=\t\r\n\r\nAccount\tCampaign\n":                         "Account=0 Campaign=1",
		"\"sep=,\"\nAccount,Campaign\n":                               "Account=0 Campaign=1",
		"Account,Campaign,Headline 16,Description 5,Path 3,Ad Groups": "Account=0 Campaign=1",
	} {
		if got, err := read(header, true); got != want || err != nil {
			t.Errorf("%q: %s, %v; want %s", header, got, err, want)
		}
	}
	if got, err := read("Campaign,x", false); got != "Campaign=0" || err != nil {
		t.Errorf("without an account: %s, %v", got, err)
	}
	for header, want := range map[string]string{
		"":                                       "is empty",
		"a,b,c\n":                                "no column of a Google Ads Editor file",
		"\n":                                     "is empty",
		"Account|Campaign\n":                     "no column of a Google Ads Editor file",
		"Konto,Kampagne\n":                       `the language "English"`,
		"Kampagne;Status\n":                      `the language "English"`,
		"sep=|\nAccount|Campaign\n":              "only tabs, commas and semicolons",
		"sep=;\nAccount,Campaign\n":              "no column of a Google Ads Editor file",
		"Account,Ad Group\n":                     "no column Campaign",
		"Campaign,Ad Group\n":                    "no column Account",
		"Account,Campaign,Budget,Daily Budget\n": "two columns for Campaign Daily Budget, the 3rd and the 4th",
		"Account,Campaign,Budget,Budget\n":       "two columns for Campaign Daily Budget, the 3rd and the 4th",
		"Account,Campaign,Max CPC,Max. CPC\n":    "two columns for Max CPC, the 3rd and the 4th",
		"Account,Campaign\rA,B\r":                "single carriage return",
		"A\x00c\x00,\x00":                        "byte order mark",
		"Account,\"Campaign\n":                   "never closed",
		"Account,Cam\"paign\n":                   "a quote inside a cell",
		strings.Repeat("x", maxHeader+1) + "\n":  "longer than",
		strings.Repeat("x", textfile.MaxRecord+9) + "\n": "longer than",
	} {
		_, err := read(header, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", header, err, want)
		}
	}
}

// TestEmptyTexts: an empty text is written as null in a line.
func TestEmptyTexts(t *testing.T) {
	var l fieldList
	l.orNull(fieldText, "")
	l.orNull(fieldText, "žž")
	if l[0].Value != "null" || l[1].Value != `"žž"` {
		t.Error(l)
	}
}
