package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/ingest"
	"adshard/internal/goldentest"
)

func openDatabase(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(context.Background(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// contents returns everything in a store, with ids but without versions.
func contents(t testing.TB, store backend.Store) string {
	t.Helper()
	ctx := context.Background()
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	var b strings.Builder
	advertisers, err := snapshot.Advertisers(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range advertisers {
		a.Version = 0
		fmt.Fprintf(&b, "%+v\n", *a)
	}
	campaigns, err := snapshot.Campaigns(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range campaigns {
		c.Version = 0
		fmt.Fprintf(&b, "%+v\n", *c)
	}
	for item, err := range snapshot.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		item.Group.Version = 0
		fmt.Fprintf(&b, "%+v\n", *item)
	}
	return b.String()
}

// manyRows returns an Editor file with the given number of keywords. Every ten keywords have an ad and a negative, and each advertiser
// has one more negative. Its last part changes, pauses and removes some of them.
func manyRows(keywords int) string {
	var b strings.Builder
	b.WriteString("Account\tCampaign\tAd Group\tKeyword\tCriterion Type\tMax CPC\tHeadline 1\tStatus\n")
	for i := range keywords {
		path := fmt.Sprintf("A%d\tC%d\tG%d\t", i/1000, i/100, i/10)
		fmt.Fprintf(&b, "%sword%d of %d\tBroad\t0.%02d\t\t\n", path, i, i/7, i%100)
		if i%10 == 9 {
			fmt.Fprintf(&b, "%s\t\t\tHeadline %d\t\n%sunwanted%d\tNegative Exact\t\t\t\n", path, i, path, i)
		}
		if i%1000 == 500 {
			fmt.Fprintf(&b, "A%d\t<Account-level>\t\tnever%d\tNegative Exact\t\t\t\n", i/1000, i)
		}
	}
	for i := 0; i < keywords; i += 13 {
		fmt.Fprintf(&b, "A%d\tC%d\tG%d\tword%d of %d\tBroad\t\t\tPaused\n", i/1000, i/100, i/10, i, i/7)
	}
	return b.String()
}

const killEnv = "ADSHARD_TEST_IMPORT"

// TestImportChild is the process that TestKilled kills, not a test.
func TestImportChild(t *testing.T) {
	dir := os.Getenv(killEnv)
	if dir == "" {
		return // this process is not the child
	}
	store := openDatabase(t, filepath.Join(dir, "ads.db"))
	_, err := ingest.Run(context.Background(), store, []string{filepath.Join(dir, "ads.tsv")}, ingest.Options{BatchRows: 500,
		Progress: func(p ingest.Progress) { fmt.Printf("committed %d\n", p.Rows) }})
	if err != nil {
		t.Fatal(err)
	}
}

// TestKilled: an import that is killed in the middle has lost nothing that it reported as committed, and a second run
// gives the same database as an undisturbed import.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	text := manyRows(6000)
	want := openDatabase(t, filepath.Join(t.TempDir(), "want.db"))
	defer want.Close()
	if _, err := ingest.Run(context.Background(), want, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{500, 2500, 7000} {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "ads.tsv"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			reported := killAfter(t, dir, after)
			store := openDatabase(t, filepath.Join(dir, "ads.db"))
			defer store.Close()
			counts, err := store.Counts(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if rows := counts.Keywords + counts.Negatives + counts.Ads; reported < 7200 && rows < uint64(reported) {
				t.Errorf("%d rows were reported, the database has %d", reported, rows)
			}
			sum, err := ingest.Run(context.Background(), store, []string{filepath.Join(dir, "ads.tsv")}, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := contents(t, store); got != contents(t, want) {
				t.Errorf("a different content than without the kill")
			}
			again, err := ingest.Run(context.Background(), store, []string{filepath.Join(dir, "ads.tsv")}, ingest.Options{})
			if err != nil || again.ClockAfter != sum.ClockAfter {
				t.Errorf("a further run moved the clock from %d to %d (%v)", sum.ClockAfter, again.ClockAfter, err)
			}
		})
	}
}

// killAfter runs an import in a child process and kills it (SIGKILL) when it has reported that many rows. It returns
// how many it reported.
func killAfter(t *testing.T, dir string, rows int) (reported int) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestImportChild$")
	cmd.Env = append(os.Environ(), killEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for reported < rows {
		var line string
		if _, err := fmt.Fscanln(out, &line, &reported); err != nil {
			t.Fatalf("the child ended after %d rows: %v", reported, err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // always an error, since it was killed
	return reported
}

func TestConflicts(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	file := "Account,Campaign,Ad Group,Keyword,Criterion Type,Status\n" +
		"A,C,G,Red Shoes,Broad,\nA,C,G,shoes,Exact,\nA,C,G,cheap red shoes,Phrase,\nA,C,H,shoes red,Exact,\n" +
		"A,C,G,red,Negative Broad,\nA,C,G,shoes,Negative Exact,\nA,C,,red shoes,Campaign Negative Phrase,\n" +
		"A,C,,shoes shoes red,Campaign Negative Broad,\nA,C,,shoes,Campaign Negative Broad,Paused\nA,D,G,red,Negative Broad,\nA,D,G,redder,Broad,\n" +
		"A,<Account-level>,,redder,Negative Exact,\nB,<Account-level>,,red,Negative Broad,\n"
	var report bytes.Buffer
	sum, err := ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file), Conflicts: &report})
	if err != nil {
		t.Fatal(err)
	}
	want := `advertiser campaign group negative negative_type negative_of keyword keyword_type
A C G red broad group Red Shoes broad
A C G red shoes phrase campaign Red Shoes broad
A C G shoes shoes red broad campaign Red Shoes broad
A C G shoes exact group shoes exact
A C G red broad group cheap red shoes phrase
A C G red shoes phrase campaign cheap red shoes phrase
A C G shoes shoes red broad campaign cheap red shoes phrase
A C H shoes shoes red broad campaign shoes red exact
A D G redder exact advertiser redder broad
`
	if got := strings.ReplaceAll(report.String(), "\t", " "); got != want || sum.Conflicts != 9 {
		t.Errorf("%d conflicts:\n%s", sum.Conflicts, got)
	}
}

func TestGoldenDatabase(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	text := goldentest.Read(t, "editor.csv.gz")
	var clock uint64
	for run := range 2 {
		sum, err := ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: bytes.NewReader(text)})
		if err != nil || sum.Rejected != 0 {
			t.Fatal(sum, err)
		}
		if run == 1 && sum.ClockAfter != clock {
			t.Errorf("a second run moved the clock from %d to %d", clock, sum.ClockAfter)
		}
		clock = sum.ClockAfter
	}
	counts, err := store.Counts(context.Background())
	if err != nil || counts.Groups != 4103 || counts.Keywords != 45003 || counts.Negatives != 677 {
		t.Errorf("%+v, %v", counts, err)
	}
}

// BenchmarkImport imports rows of new keywords; its metric is rows a second.
func BenchmarkImport(b *testing.B) {
	text := manyRows(20_000)
	rows := 0
	for b.Loop() {
		store := openDatabase(b, filepath.Join(b.TempDir(), "ads.db"))
		sum, err := ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text)})
		if err != nil {
			b.Fatal(err)
		}
		rows += int(sum.Rows)
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
