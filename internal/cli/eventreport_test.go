package cli

import (
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
	"adshard/internal/money"
	"adshard/internal/node/database"
	"adshard/search/words"
)

// reportData has keywords 1 to 5 of campaigns 1 to 3 of advertisers 1 and 2.
const reportData = "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC\n" +
	"Acme,Shoes,G,red shoes,Exact,1\nAcme,Shoes,G2,old shoes,Broad,1\nAcme,Hats,H,Červené klobouky,Phrase,1\n" +
	"\"Beta, Inc\",Shoes,G,red shoes,Exact,1\n\"Beta, Inc\",Shoes,G,blue shoes,Exact,1\n"

var (
	reportTexts     = []string{"", "red shoes", "old shoes", "Červené klobouky", "red shoes", "blue shoes"} // keywords' texts, by id
	reportTypes     = []string{"", "exact", "broad", "phrase", "exact", "exact"}
	reportCampaigns = []uint64{0, 1, 1, 2, 3, 3} // campaigns of keywords
	reportNames     = []string{"", "Shoes", "Hats", "Shoes"}
	reportOwners    = []uint64{0, 1, 1, 2} // owners of campaigns
	reportAccounts  = []string{"", "Acme", "Beta, Inc"}
	reportStart     = time.Unix(1_700_000_000, 0)
)

const firstDay = 19675 // first day of the events

func queryOf(t testing.TB, text string) uint64 {
	t.Helper()
	list, err := new(words.Analyser).Split(text)
	if err != nil {
		t.Fatal(err)
	}
	var norms []uint64
	for _, w := range list {
		norms = append(norms, w.Norm)
	}
	return token.QueryHash(norms...)
}

// askedEvent is an event with the words of its query. kept says whether it is still stored as a single event.
type askedEvent struct {
	store.Event
	query string
	kept  bool
}

// reported returns a database with a file of random events, some of which are folded.
func reported(t *testing.T) (db string, list []askedEvent) {
	t.Helper()
	db = "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "data.csv", reportData)); status != exitDone {
		t.Fatal(errOut)
	}
	dice := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	queries := []string{"red shoes", "RED  shoes", "old shoes", "cheap red shoes", "červené klobouky", "what is wrong with me", "my name"}
	s, err := database.OpenEvents(t.Context(), db+"-events")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all []store.Event
	for n := range 600 {
		keyword := 1 + dice.IntN(5)
		campaign := reportCampaigns[keyword]
		e := store.Event{ID: token.From(reportStart.Add(time.Duration(n) * time.Second)), Kind: store.Kind(1 + dice.IntN(2)), Day: store.Day(firstDay + dice.IntN(3))}
		binary.BigEndian.PutUint64(e.ID[4:], uint64(n))
		query := queries[dice.IntN(len(queries))]
		e.Token = token.Token{Advertiser: reportOwners[campaign], Campaign: campaign, Keyword: uint64(keyword), Ad: 1, Price: dice.Uint64N(3_000_000), Query: queryOf(t, query)}
		all = append(all, e)
		list = append(list, askedEvent{e, query, n >= 250})
	}
	if _, err = s.Add(t.Context(), all); err == nil {
		_, err = s.Forget(t.Context(), reportStart.Add(250*time.Second), 1000)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db, list
}

// TestReportsAreOfWhatCounts: reports and erasures use the database's own events, or those that a flag names.
func TestReportsAreOfWhatCounts(t *testing.T) {
	url, _ := reported(t)
	db, err := database.Open(t.Context(), url, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.SaveControl(t.Context(), events.DatabaseKey, []byte("another")); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"adshard", "report", "--by", "campaign", "--since", "2026-01-01", "--db", url},
		{"adshard", "events", "erase", "--advertiser", "1", "--db", url},
	} {
		if status, out, errOut := run(t, c[0], c[1:]...); status == exitDone || !strings.Contains(errOut, "another") {
			t.Errorf("%q: %d %s %s", c, status, out, errOut)
		}
		if status, _, errOut := run(t, c[0], append(c[1:], "--events", url+"-events")...); status != exitDone {
			t.Errorf("%q of a database that is named: %d %s", c, status, errOut)
		}
	}
}

// slowReport adds events up one by one, and returns rows with the cells of CSV that name what a row is about.
func slowReport(list []askedEvent, by string, daily bool, advertiser uint64, from, to store.Day) [][]string {
	sums := make(map[string]*store.Sum)
	others := make(map[string]map[uint64]bool)
	for i := range list {
		e := &list[i]
		t := &e.Token
		if e.Day < from || e.Day > to || advertiser != 0 && advertiser != t.Advertiser {
			continue
		}
		cells := []string{fmt.Sprint(t.Advertiser), reportAccounts[t.Advertiser], fmt.Sprint(t.Campaign), reportNames[t.Campaign]}
		if daily {
			cells = append([]string{time.Unix(int64(e.Day)*86400, 0).UTC().Format(time.DateOnly)}, cells...)
		}
		other := false
		switch {
		case by == "keyword":
			cells = append(cells, fmt.Sprint(t.Keyword), reportTexts[t.Keyword], reportTypes[t.Keyword])
		case by == "query" && !e.kept:
			cells = append(cells, "", "0")
		case by == "query":
			plain := strings.Join(strings.Fields(strings.ToLower(e.query)), " ")
			other = true
			for k := 1; k <= 5; k++ {
				if reportCampaigns[k] == t.Campaign && plain == strings.ToLower(reportTexts[k]) {
					cells, other = append(cells, plain, "1"), false
					break
				}
			}
			if other {
				cells = append(cells, "", "many")
			}
		}
		key := strings.Join(cells, "|")
		if sums[key] == nil {
			sums[key], others[key] = new(store.Sum), make(map[uint64]bool)
		}
		if e.Kind == store.Click {
			sums[key].Clicks++
			sums[key].Spend += t.Price
		} else {
			sums[key].Impressions++
		}
		if other {
			others[key][t.Query] = true
		}
	}
	var out [][]string
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		s := sums[key]
		rate := ""
		if s.Impressions > 0 {
			rate = fmt.Sprintf("%.6f", float64(s.Clicks)/float64(s.Impressions))
		}
		about := strings.Split(strings.Replace(key, "|many", fmt.Sprint("|", len(others[key])), 1), "|")
		out = append(out, append(about, fmt.Sprint(s.Impressions), fmt.Sprint(s.Clicks), rate, fmt.Sprintf("%d.%06d", s.Spend/1_000_000, s.Spend%1_000_000)))
	}
	slices.SortFunc(out, slices.Compare[[]string])
	return out
}

// TestReportAsOracle: every report equals the result of plain loops over the events, single and folded ones, and
// amounts of money are exact.
func TestReportAsOracle(t *testing.T) {
	db, list := reported(t)
	for _, by := range []string{"campaign", "keyword", "query"} {
		for _, daily := range []bool{false, true} {
			for advertiser, name := range []string{"", "Acme", "2"} {
				args := []string{"report", "--db", db, "--by", by, "--since", "2023-11-14", "--csv", fmt.Sprint("--daily=", daily), "--advertiser", name}
				to := store.Day(1 << 30)
				if daily && advertiser == 0 {
					args, to = append(args, "--until", "2023-11-15"), firstDay+1
				}
				status, out, errOut := run(t, "adshard", args...)
				rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
				if status != exitDone || errOut != "" || err != nil || len(rows) == 0 {
					t.Fatalf("%v: %d %s%s%v", args, status, out, errOut, err)
				}
				got := rows[1:]
				for _, cells := range got { // money has at least two decimals, and six here
					whole, decimals, _ := strings.Cut(cells[len(cells)-1], ".")
					cells[len(cells)-1] = whole + "." + (decimals + "000000")[:6]
				}
				slices.SortFunc(got, slices.Compare[[]string])
				if want := slowReport(list, by, daily, uint64(advertiser), firstDay, to); !slices.EqualFunc(got, want, slices.Equal[[]string]) {
					t.Errorf("%v:\n%q\nwant\n%q", args, got, want)
				}
			}
		}
	}
}

// TestReportForms: JSON has the same rows and total as CSV. Text has the largest rows first, the total of all, and
// the number of rows not shown. No form contains words of a query that is not a keyword.
func TestReportForms(t *testing.T) {
	db, list := reported(t)
	var want store.Sum
	for _, e := range list {
		if e.Kind == store.Click {
			want.Clicks, want.Spend = want.Clicks+1, want.Spend+e.Token.Price
		} else {
			want.Impressions++
		}
	}
	_, out, errOut := run(t, "adshard", "report", "--db", db, "--by", "query", "--since", "2023-11-14", "--json")
	var sum store.Sum
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		var object map[string]struct {
			Lines, Impressions, Clicks uint64
			Spend                      uint64 `json:"spend_micros"`
		}
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err, errOut)
		}
		if last, ok := object["sum"]; ok != (i == len(lines)-1) || ok && (last.Lines != uint64(i) || last.Impressions != want.Impressions || last.Clicks != want.Clicks || last.Spend != want.Spend) {
			t.Errorf("line %d of %d: %s, want %+v", i, len(lines), line, want)
		}
		l := object["line"]
		sum.Impressions, sum.Clicks, sum.Spend = sum.Impressions+l.Impressions, sum.Clicks+l.Clicks, sum.Spend+l.Spend
	}
	if sum != want {
		t.Errorf("the lines come to %+v, want %+v", sum, want)
	}
	_, text, _ := run(t, "adshard", "report", "--db", db, "--by", "query", "--since", "2023-11-14")
	if !strings.Contains(text, "(others)") || !strings.Contains(text, "(no longer kept)") || !strings.Contains(text, money.Format(want.Spend)) {
		t.Error(text)
	}
	for _, secret := range []string{"wrong with", "my name", "cheap"} {
		if strings.Contains(out+text, secret) {
			t.Errorf("the words %q of a user are shown", secret)
		}
	}
	_, text, _ = run(t, "adshard", "report", "--db", db, "--by", "campaign", "--since", "2023-11-14")
	rows := strings.Split(strings.TrimSpace(text), "\n")
	if len(rows) != 5 || !strings.HasPrefix(rows[0], "ADVERTISER") || !strings.HasPrefix(rows[4], "all 3 lines") {
		t.Error(text)
	}
	slices.SortFunc(rows[1:4], func(a, b string) int { return cmp.Compare(lastCell(b), lastCell(a)) })
	if got := strings.Join(rows, "\n"); got != strings.TrimSpace(text) {
		t.Errorf("not by spend:\n%s", text)
	}
}

// lastCell returns the spend of a row in micros.
func lastCell(row string) (n uint64) {
	cells := strings.Fields(row)
	whole, decimals, _ := strings.Cut(cells[len(cells)-1], ".")
	n, _ = strconv.ParseUint(strings.ReplaceAll(whole, ",", "")+(decimals + "000000")[:6], 10, 64)
	return n
}

// TestReportMost: text has the fifty rows with the largest spend and the number of the others; CSV has all rows.
func TestReportMost(t *testing.T) {
	db, _ := reported(t)
	s, err := database.OpenEvents(t.Context(), db+"-events")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n := range 80 {
		e := store.Event{ID: token.From(reportStart.Add(time.Hour)), Kind: store.Click, Day: firstDay, Token: token.Token{Advertiser: 9, Campaign: 9, Keyword: uint64(100 + n), Price: uint64(n*37%80) * 1_000_000}}
		e.ID[15] = byte(n)
		if _, err := s.Add(t.Context(), []store.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	_, out, _ := run(t, "adshard", "report", "--db", db, "--by", "keyword", "--since", "2023-11-14", "--advertiser", "9")
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if len(rows) != 53 || !strings.HasSuffix(rows[1], " 79.00") || !strings.HasSuffix(rows[50], " 30.00") || rows[52] != "30 more lines with less spend; --csv and --json show them" {
		t.Error(out)
	}
	if !strings.Contains(rows[1], "(advertiser 9, removed)") || !strings.Contains(rows[1], "(keyword ") || !strings.Contains(rows[1], " – ") {
		t.Errorf("what was removed: %q", rows[1])
	}
	if _, out, _ = run(t, "adshard", "report", "--db", db, "--by", "keyword", "--since", "2023-11-14", "--advertiser", "9", "--csv"); strings.Count(out, "\n") != 81 {
		t.Error(out)
	}
}

func TestReportRefuses(t *testing.T) {
	db, _ := reported(t)
	other := "sqlite:" + filepath.Join(t.TempDir(), "other.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", other, file(t, "ads.csv", reportData)); status != exitDone {
		t.Fatal(errOut)
	}
	if status, _, errOut := run(t, "adshard", "report", "--db", db, "--by", "campaign", "--since", "2023-11-14"); status != exitDone { // from now on the owners are known
		t.Fatal(errOut)
	}
	for args, says := range map[string]string{
		"--by x --since 2023-11-14":                                                   "campaign, keyword or query",
		"--by query":                                                                  "--since is missing",
		"--by query --since 14.11.":                                                   "not a day such as",
		"--by query --since 2023-11-14 --until 2023-11-13":                            "is before",
		"--by query --since 2023-11-14 --csv --json":                                  "choose one",
		"--by query --since 2023-11-14 --advertiser Nobody":                           "no advertiser of this name",
		"--by query --since 2023-11-14 --events sqlite:none":                          "there are no events at none",
		"--by query --since 2023-11-14 --events x":                                    "not a database URL",
		"--by query --since 2023-11-14 --db " + other:                                 "there are no events at",
		"--by query --since 2023-11-14 --db " + other + " --events " + db + "-events": "the events of another database",
	} {
		status, out, errOut := run(t, "adshard", append([]string{"report", "--db", db}, strings.Fields(args)...)...)
		if status == exitDone || !strings.Contains(errOut, says) || out != "" {
			t.Errorf("%s: %d %q %q", args, status, out, errOut)
		}
	}
}

// learnedOf returns how many keywords of each advertiser have a learned quality.
func learnedOf(t *testing.T, db string) map[uint64]int {
	t.Helper()
	s, err := database.Open(t.Context(), db, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	n := make(map[uint64]int)
	for it, err := range snapshot.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range it.Keywords {
			if k.Learned != 0 {
				n[it.Group.AdvertiserID]++
			}
		}
	}
	return n
}

// TestErase: reports and learned qualities have nothing left of an erased advertiser, and everything of the others.
// One line is printed at the beginning and one at the end; a repeated erasure changes nothing.
func TestErase(t *testing.T) {
	db, list := reported(t)
	report := func(advertiser uint64) [][]string {
		t.Helper()
		_, out, errOut := run(t, "adshard", "report", "--db", db, "--by", "keyword", "--daily", "--since", "2023-11-14", "--csv", "--advertiser", fmt.Sprint(advertiser))
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) == 0 {
			t.Fatal(out, errOut, err)
		}
		return rows[1:]
	}
	const shown = "day,campaign,group,keyword,ad,position,impressions,clicks\n2023-11-14,1,1,1,1,1,1000,400\n2023-11-14,3,4,4,1,1,1000,1\n2023-11-14,3,4,5,1,1,1000,400\n"
	if status, _, errOut := runIn(t, shown, "adshard", "quality", "learn", "--db", db, "-"); status != exitDone {
		t.Fatal(errOut)
	}
	if n := learnedOf(t, db); n[1] != 1 || n[2] != 2 {
		t.Fatalf("learned qualities of advertisers: %v", n)
	}
	before := report(2)
	for i, says := range []string{"qualities=1", "events=0 counts=0 qualities=0"} {
		status, out, errOut := run(t, "adshard", "events", "erase", "--db", db, "--advertiser", "1")
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		if status != exitDone || len(lines) != 2 || !strings.Contains(lines[0], `msg="erasing events" advertiser=1 name=Acme`) ||
			!strings.Contains(lines[1], `msg="events are erased" advertiser=1 name=Acme`) || !strings.Contains(lines[1], says) || !strings.HasPrefix(out, "erased ") {
			t.Errorf("run %d: %d %q %q", i, status, out, errOut)
		}
		if got := report(1); len(got) != 0 {
			t.Errorf("left: %q", got)
		}
		if got := report(2); !slices.EqualFunc(got, before, slices.Equal[[]string]) {
			t.Errorf("of the other one %q, before %q", got, before)
		}
		if n := learnedOf(t, db); n[1] != 0 || n[2] != 2 {
			t.Errorf("learned qualities of advertisers: %v", n)
		}
	}
	s, err := database.OpenEvents(t.Context(), db+"-events")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sums, err := s.Sums(t.Context(), 0)
	if err != nil || slices.ContainsFunc(sums, func(s store.Sum) bool { return s.Campaign != 3 }) {
		t.Errorf("%v, %v", sums, err)
	}
	late := list[len(list)-1].Event // of a token that is still valid
	late.ID, late.Token.Advertiser = token.From(time.Now()), 1
	if out, err := s.Add(t.Context(), []store.Event{late}); err != nil || out[0] != store.Forgotten {
		t.Errorf("a late event of an earlier token: %v, %v", out, err)
	}
	if status, _, errOut := run(t, "adshard", "events", "erase", "--db", db); status != exitUsage || !strings.Contains(errOut, "--advertiser is missing") {
		t.Errorf("%d %s", status, errOut)
	}
}
