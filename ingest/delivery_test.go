package ingest_test

import (
	"strings"
	"testing"

	"adshard/ingest"
)

// TestEditorDelivery: any row may set how its campaign's budget is spent, and its advertiser's time zone.
func TestEditorDelivery(t *testing.T) {
	const header = "Account,Campaign,Ad Group,Keyword,Delivery method,Time zone,Status\n"
	for _, c := range []struct{ name, header, rows, want, rejects string }{
		{"campaign row", header, "A,C,,,Standard,Europe/Prague,\n", "A = status=enabled zone=Europe/Prague\nA / C = standard=true status=enabled\n", ""},
		{"keyword row", header, "A,C,G,k,ACCELERATED,UTC,\n",
			"A = status=enabled zone=UTC\nA / C = standard=false status=enabled\nA / C / G = status=enabled\nA / C / G / broad k = status=enabled text=k\n", ""},
		{"other names of the columns", "account,campaign,BUDGET_DELIVERY_METHOD,Account time zone\n", "A,C,standard,Asia/Tokyo\n",
			"A = status=enabled zone=Asia/Tokyo\nA / C = standard=true status=enabled\n", ""},
		{"an empty cell changes nothing", header, "A,C,,,Standard,Europe/Prague,\nA,C,,,,,\n",
			"A = status=enabled zone=Europe/Prague\nA / C = standard=true status=enabled\n", ""},
		{"[] restores the time zone", header, "A,C,,,,Europe/Prague,\nA,C,,,,[],\n", "A = status=enabled\nA / C = status=enabled\n", ""},
		{"the last row holds", header, "A,C,,,,Europe/Prague,\nA,C,,,,Asia/Tokyo,\nB,C,,,,Europe/Prague,\n",
			"A = status=enabled zone=Asia/Tokyo\nA / C = status=enabled\nB = status=enabled zone=Europe/Prague\nB / C = status=enabled\n", ""},
		{"a row that removes", header, "A,C,G,k,,,\nA,C,G,k,Standard,Asia/Tokyo,Removed\n",
			"A = status=enabled zone=Asia/Tokyo\nA / C = standard=true status=enabled\nA / C / G = status=enabled\n", ""},
		{"a row that removes what is not there", header, "A,C,G,k,Standard,Asia/Tokyo,Removed\n", "", ""},
		{"rejects", header, "A,C,,,slow,,\nA,C,,,[],,\nA,C,,,,Prague,\nA,C,,,,(GMT+01:00) Prague,\nA,C,,,slow,Prague,\n", "A = status=enabled\nA / C = hold=refused_row status=paused\n",
			"2 Delivery\n3 Delivery\n4 Time\n5 Time\n6 Delivery\n"},
	} {
		dump, rejects := importText(t, ingest.Options{}, c.header+c.rows)
		if dump != c.want {
			t.Errorf("%s: entities:\n%swant:\n%s", c.name, dump, c.want)
		}
		var got strings.Builder
		for line := range strings.Lines(rejects) {
			words := strings.Fields(line)
			got.WriteString(strings.Join(words[:2], " ") + "\n")
		}
		if got.String() != c.rejects {
			t.Errorf("%s: rejects:\n%swant:\n%s", c.name, rejects, c.rejects)
		}
	}
}
