package e2e

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"adshard/backend/sqlite"
	"adshard/ingest"
	"adshard/internal/cli"
	"adshard/internal/clustertest"
)

const accountHeader = "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Headline 1,Final URL,Status\n"

// groupsOf returns the rows of the given number of groups of an advertiser, spread over all slaves, each with one
// keyword.
func groupsOf(advertiser string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%[1]s,C%[2]d,G%[3]d,lamp,Broad,1.00,,,\n%[1]s,C%[2]d,G%[3]d,,,,H,https://a.example/,\n", advertiser, i%3, i)
	}
	return b.String()
}

// imports imports an Editor file into the database of a running cluster, and waits until all slaves serve it.
func (c *cluster) imports(t *testing.T, rows string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), c.db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(accountHeader + rows)})
	if err != nil || sum.Rejected > 0 {
		t.Fatal(err, sum.First)
	}
	for end := time.Now().Add(clustertest.Patience); ; time.Sleep(20 * time.Millisecond) {
		if a := c.search(t, url.Values{"q": {"lamp"}}); a.Coverage.Complete && a.Coverage.AppliedClock >= sum.ClockAfter {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the cluster does not follow")
		}
	}
}

// shows checks that a query shows these advertisers, A or B, with the given number of candidates.
func (c *cluster) shows(t *testing.T, when, query, advertisers string, candidates uint64) {
	t.Helper()
	a := c.search(t, url.Values{"q": {query}, "counts": {"exact"}})
	got := ""
	for _, ad := range a.Ads {
		got += ad.Advertiser
	}
	if got != advertisers || a.Candidates != candidates || !a.Coverage.Complete {
		t.Fatalf("%s, %q: %q with %d candidates, want %q with %d; %+v", when, query, got, a.Candidates, advertisers, candidates, a.Coverage)
	}
}

// TestNegativesOfAdvertisers: from its import until it is paused or removed, a negative of an advertiser applies to all of
// its groups, on every slave: to existing groups, to later ones, and to groups that move to another slave. It also applies if
// it comes before anything else of its advertiser, also in stores that were built offline.
func TestNegativesOfAdvertisers(t *testing.T) {
	const first, banned = 24, 6
	text := accountHeader + groupsOf("A", first) + groupsOf("B", first)
	c := startCluster(t, importEditor(t, []byte(text), 0), 3, false, "default")
	c.shows(t, "before", "lamp", "AB", 2*first)
	c.imports(t, "A,<Account-level>,,lamp,Negative Exact,,,,\n")
	c.shows(t, "with the negative", "lamp", "B", first)
	c.shows(t, "with the negative", "lamp red", "AB", 2*first)
	c.imports(t, groupsOf("A", first+banned))
	c.shows(t, "with more groups", "lamp", "B", first)
	var out, bad bytes.Buffer
	if status := cli.Main(t.Context(), "adshard", []string{"slaves", "drain", "slave-1", "--addr", c.admin},
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &bad}); status != 0 {
		t.Fatalf("drain: %d %s%s", status, out.String(), bad.String())
	}
	c.shows(t, "after a move", "lamp", "B", first)
	c.imports(t, "A,<Account-level>,,lamp,Negative Exact,,,,Paused\n")
	c.shows(t, "paused", "lamp", "AB", 2*first+banned)
	c.imports(t, "A,<Account-level>,,lamp,Negative Exact,,,,Enabled\n")
	c.shows(t, "enabled again", "lamp", "B", first)
	c.imports(t, "A,<Account-level>,,lamp,Negative Exact,,,,Removed\n")
	c.shows(t, "removed", "lamp", "AB", 2*first+banned)

	text = accountHeader + "A,<Account-level>,,lamp,Negative Broad,,,,\n" + groupsOf("A", first) + groupsOf("B", first)
	for _, built := range []bool{false, true} {
		c := startCluster(t, importEditor(t, []byte(text), 0), 3, built, "default")
		c.shows(t, fmt.Sprint("built ", built), "lamp", "B", first)
	}
}
