package ingest_test

import (
	"strings"
	"testing"

	"adshard/ingest"
)

// TestHeadingsOfReports: headings of reports and bulk sheets have the meaning that they have there.
func TestHeadingsOfReports(t *testing.T) {
	const want = "A = status=enabled\nA / C = budget=10000 lang=cs status=paused\nA / C / G = status=paused\n" +
		"A / C / G / broad k = bid=1500000 status=paused text=k\n"
	const values = "A;C;G;k;0.01;cs;paused;paused;paused;1.5\n"
	for _, head := range []string{
		"Account;Campaign;Ad group;Keyword;Campaign budget;Language;Campaign state;Ad group state;Keyword state;Max. CPC",
		"Account name;Campaign name;Ad group name;Keyword text;Budget;Language targeting;Campaign_Status;Ad-Group Status;Status;Default max. CPC",
		"account;CAMPAIGN;adgroup;KEYWORD;Campaign daily budget;Languages;Campaign state;Ad group state;State;Max CPC bid",
	} {
		for _, sep := range []string{";", ",", "\t"} {
			for _, before := range []string{"", "sep=" + sep + "\r\n", "\n\r\n" + sep + sep + "\n"} {
				text := before + strings.ReplaceAll(head+"\n\n"+values, ";", sep) + "\n"
				if dump, rejects := importText(t, ingest.Options{}, text); dump != want || rejects != "" {
					t.Errorf("%q:\n%s%s", text, dump, rejects)
				}
			}
		}
	}
}

// TestStatusOfKeywordsAndAds: the status columns of keywords and ads apply only to these, and only in files without a
// Status column.
func TestStatusOfKeywordsAndAds(t *testing.T) {
	const rows = "A,C,G,k,,Paused,x,x\nA,C,G,,h,x,paused,x\nA,C,G,,,x,x,Paused\n"
	dump, rejects := importText(t, ingest.Options{}, "Account,Campaign,Ad Group,Keyword,Headline,Keyword state,Ad state,Ad group state\n"+strings.ReplaceAll(rows, ",x", ","))
	want := "A = status=enabled\nA / C = status=enabled\nA / C / G = status=paused\n" +
		"A / C / G / ad [\"h\"] [] \"\" \"\" \"\" = status=paused\nA / C / G / broad k = status=paused text=k\n"
	if dump != want || rejects != "" {
		t.Errorf("%s%s", dump, rejects)
	}
	dump, rejects = importText(t, ingest.Options{}, "Account,Campaign,Ad Group,Keyword,Headline,Keyword state,Ad state,Status\n"+rows)
	if strings.Count(rejects, "Status") != 2 || !strings.Contains(dump, "A / C / G = status=paused") {
		t.Errorf("beside Status:\n%s%s", dump, rejects)
	}
}

// TestAccountNumbers: the account name names the advertiser, or the number where the name is empty. Each name has
// only one number.
func TestAccountNumbers(t *testing.T) {
	dump, rejects := importText(t, ingest.Options{}, "Account,Account name,Campaign\n123-456-7890,Acme,C\n1234567890,Acme,D\n,Acme,E\n9,,F\n"+
		"1,Acme,G\n1234567890,Acme,E\n123-456-7890,Other,C\n,,H\n")
	want := "9 = status=enabled\n9 / F = status=enabled\nAcme = status=enabled\nAcme / C = status=enabled\nAcme / D = status=enabled\n" +
		"Acme / E = status=enabled\nOther = status=enabled\nOther / C = status=enabled\n"
	if dump != want || !strings.HasPrefix(rejects, "6 Account an earlier row has this account name with another number") ||
		!strings.Contains(rejects, "\n9 Account no advertiser") || strings.Count(rejects, "\n") != 2 {
		t.Errorf("%s%s", dump, rejects)
	}
}
