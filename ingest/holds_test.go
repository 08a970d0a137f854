package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/postgres"
	"adshard/ingest"
)

// importing imports a file at a fixed time.
func importing(t testing.TB, store backend.Store, o ingest.Options, file string) ingest.Summary {
	t.Helper()
	o.Stdin, o.Now = strings.NewReader(file), time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC)
	sum, err := ingest.Run(t.Context(), store, []string{"-"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// states returns campaigns and groups with their status and hold.
func states(t testing.TB, store backend.Store) string {
	t.Helper()
	var list []string
	state := func(name string, enabled bool, h backend.Hold) {
		status := "paused"
		if enabled {
			status = "enabled"
		}
		list = append(list, strings.Join(append([]string{name, status}, h.Reasons()...), " "))
	}
	each(t, store, func(c *backend.Campaign) { state(c.Name, c.Enabled, c.Hold) },
		func(campaign string, it *backend.Item) {
			state(campaign+"/"+it.Group.Name, it.Group.Enabled, it.Group.Hold)
		})
	return sorted(list)
}

func sorted(list []string) string {
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// each calls the functions with all campaigns, and all groups with the campaign's name.
func each(t testing.TB, store backend.Store, campaign func(*backend.Campaign), group func(campaign string, it *backend.Item)) {
	t.Helper()
	ctx := context.Background()
	n, err := store.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	campaigns, err := n.Campaigns(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[uint64]string)
	for _, c := range campaigns {
		names[c.ID] = c.Name
		campaign(c)
	}
	for it, err := range n.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		group(names[it.Group.CampaignID], it)
	}
}

// export writes all campaigns and groups as JSON lines.
func export(t testing.TB, store backend.Store) string {
	lines := ingest.AppendAdvertiser(nil, &backend.Advertiser{Name: "A", AdvertiserSettings: backend.AdvertiserSettings{TimeZone: "UTC", Enabled: true}})
	each(t, store, func(c *backend.Campaign) { lines = ingest.AppendCampaign(lines, ingest.Owners{Advertiser: "A"}, c) },
		func(campaign string, it *backend.Item) {
			lines = ingest.AppendItem(lines, ingest.Owners{Advertiser: "A", Campaign: campaign}, it)
		})
	return string(lines)
}

func toldShut(sum ingest.Summary) string {
	var list []string
	for i := range sum.Shut {
		list = append(list, sum.Shut[i].String())
	}
	return strings.Join(list, "\n")
}

const holdColumns = "Account,Campaign,Ad Group,Keyword,Max CPC,Budget,Ad rotation,Languages,End Date,Campaign Status,Ad Group Status,Status\n"

// rowsOf writes rows of holdColumns from "campaign|group|keyword|cell=value …".
func rowsOf(rows ...string) string {
	names := strings.Split(strings.TrimSpace(holdColumns), ",")
	var b strings.Builder
	for _, r := range rows {
		parts := strings.SplitN(r, "|", 4)
		cells := make([]string, len(names))
		cells[0] = "A"
		copy(cells[1:4], parts[:3])
		for _, pair := range strings.Split(parts[3], ";") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				cells[slices.Index(names, name)] = value
			}
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	return b.String()
}

// The rows from which the tests build files.
const (
	wrongCampaign = "C|||Ad rotation=nonsense;Budget=9.00;Status=Paused"
	rightCampaign = "C|||Budget=9.00;Campaign Status=Enabled"
	wrongGroup    = "C|G||Max CPC=much"
	rightGroup    = "C|G||Max CPC=1"
	keywordRow    = "C|G|lamp|Max CPC=1;Campaign Status=Enabled;Ad Group Status=Enabled"
	otherGroup    = "C|H|desk|Max CPC=1"
)

// TestARefusedOwnerStaysShut imports files, one after the other, into one database.
func TestARefusedOwnerStaysShut(t *testing.T) {
	for _, c := range []struct {
		name  string
		files [][]string
		want  string
	}{
		{"own row first", [][]string{{wrongCampaign, keywordRow}}, "C enabled refused_row, C/G enabled"},
		{"own row last", [][]string{{keywordRow, wrongCampaign}}, "C enabled refused_row, C/G enabled"},
		{"own row of a group", [][]string{{rightCampaign, wrongGroup, keywordRow}}, "C enabled, C/G enabled refused_row"},
		{"own row of a group last", [][]string{{keywordRow, wrongGroup}}, "C enabled, C/G enabled refused_row"},
		{"rejected and accepted", [][]string{{wrongCampaign, rightCampaign, keywordRow}}, "C enabled refused_row, C/G enabled"},
		{"accepted and rejected", [][]string{{rightCampaign, keywordRow, wrongCampaign}}, "C enabled refused_row, C/G enabled"},
		{"no own row", [][]string{{keywordRow}}, "C enabled, C/G enabled"},
		{"the same again", [][]string{{wrongCampaign, keywordRow}, {wrongCampaign, keywordRow}}, "C enabled refused_row, C/G enabled"},
		{"other rows' cells do not lift it", [][]string{{wrongCampaign, keywordRow}, {keywordRow}, {otherGroup}},
			"C enabled refused_row, C/G enabled, C/H enabled"},
		{"its own row lifts it", [][]string{{wrongCampaign, keywordRow}, {rightCampaign}}, "C enabled, C/G enabled"},
		{"its own row says what it becomes", [][]string{{wrongCampaign, keywordRow}, {"C|||Status=Paused"}}, "C paused, C/G enabled"},
		{"a rejected one does not lift it", [][]string{{wrongCampaign, keywordRow}, {rightCampaign, wrongCampaign}}, "C enabled refused_row, C/G enabled"},
		{"in any order", [][]string{{wrongCampaign, keywordRow}, {wrongCampaign, rightCampaign}}, "C enabled refused_row, C/G enabled"},
		{"of a group", [][]string{{keywordRow, wrongGroup}, {rightGroup}}, "C enabled, C/G enabled"},
		{"a group whose campaign is lifted alone", [][]string{{wrongCampaign, wrongGroup, keywordRow}, {rightCampaign}},
			"C enabled, C/G enabled refused_row"},
		{"one that was there before", [][]string{{rightCampaign, keywordRow}, {wrongCampaign, wrongGroup, otherGroup}},
			"C enabled, C/G enabled, C/H enabled"},
		{"a new group of one that was there", [][]string{{rightCampaign, keywordRow}, {otherGroup, "C|H||Max CPC=much"}},
			"C enabled, C/G enabled, C/H enabled refused_row"},
		{"removed and made again", [][]string{{wrongCampaign, keywordRow, "C|||Campaign Status=Removed", otherGroup}}, "C enabled refused_row, C/H enabled"},
		{"two parts", [][]string{{keywordRow}, {wrongCampaign}}, "C enabled, C/G enabled"},
		{"too many cells", [][]string{{"C|||Status=Paused,,surplus", keywordRow}}, "C enabled refused_row, C/G enabled"},
	} {
		for _, rows := range []int{1, 1000} {
			t.Run(fmt.Sprint(c.name, " by ", rows), func(t *testing.T) {
				store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
				defer store.Close()
				for _, file := range c.files {
					importing(t, store, ingest.Options{BatchRows: rows}, holdColumns+rowsOf(file...))
				}
				if got := states(t, store); got != c.want {
					t.Errorf("%s\nwant %s", got, c.want)
				}
			})
		}
	}
}

// TestARefusedLineStaysShut does the same with JSON lines, among them some that are not whole JSON objects.
func TestARefusedLineStaysShut(t *testing.T) {
	const keyword = `{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"lamp","match_type":"broad"}` + "\n"
	for line, status := range map[string]string{
		`{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":"9","status":"paused"}`: "enabled",
		`{"type":"campaign","advertiser":"A","name":"C","budget":9,"status":"enabled"}`:               "paused",
		`{"type":"campaign","advertiser":"A","name":"C","schedule":[{"day":"monday"}]}`:               "paused",
		`{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":9`:                      "enabled",
		`{"type":"campaign","advertiser":"A","name":"C","paused_by":["nonsense"]}`:                    "enabled",
	} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		sum := importing(t, store, ingest.Options{}, keyword+line+"\n")
		if got := states(t, store); got != "C "+status+" refused_row, C/G enabled" || sum.Rejected != 1 {
			t.Errorf("%s: %s, %+v", line, got, sum)
		}
		if text := toldShut(sum); !strings.Contains(text, `1 served as paused, whose own row was rejected`) || !strings.Contains(text, `campaign "C" of "A"`) {
			t.Errorf("told: %s", text)
		}
		store.Close()
	}
}

// TestARejectedAdvertiserPauses: if a rejected line of an advertiser would restrict it, the campaigns that existed before the
// import are paused, whatever other lines say of them, and no others.
func TestARejectedAdvertiserPauses(t *testing.T) {
	const old = `{"type":"keyword","advertiser":"A","campaign":"Old","group":"G","text":"lamp","match_type":"broad"}` + "\n" +
		`{"type":"campaign","advertiser":"B","name":"Other"}` + "\n"
	for line, want := range map[string]string{
		`{"type":"advertiser","name":"A","categories":["A B"]}`:    "paused",
		`{"type":"advertiser","name":"A","time_zone":"Nowhere"}`:   "paused",
		`{"type":"advertiser","name":"A","status":"nonsense"}`:     "enabled",
		`{"type":"advertiser","name":"A","categories":["casino"]}`: "enabled",
	} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		importing(t, store, ingest.Options{}, old)
		importing(t, store, ingest.Options{}, `{"type":"campaign","advertiser":"A","name":"Made"}`+"\n"+line+"\n"+
			`{"type":"campaign","advertiser":"A","name":"Old","status":"enabled"}`+"\n")
		if got := states(t, store); got != "Made enabled, Old "+want+", Old/G enabled, Other enabled" {
			t.Errorf("%s: %s", line, got)
		}
		store.Close()
	}
}

// crashing is a store of which one commit, counted down by left, fails before or after it is done.
type crashing struct {
	backend.Store
	left  int
	after bool
}

var errCrash = errors.New("crash")

func (s *crashing) Begin(ctx context.Context) (backend.Tx, error) {
	tx, err := s.Store.Begin(ctx)
	return &crashingTx{tx, s}, err
}

type crashingTx struct {
	backend.Tx
	s *crashing
}

func (t *crashingTx) Commit(ctx context.Context) error {
	t.s.left--
	if t.s.left != 0 {
		return t.Tx.Commit(ctx)
	}
	if t.s.after {
		return errors.Join(t.Tx.Commit(ctx), errCrash)
	}
	return errors.Join(t.Tx.Rollback(), errCrash)
}

// heldFiles returns a file that creates, changes, rejects and releases entities, and an earlier one to import before
// it.
func heldFiles() (earlier, file string) {
	earlier = holdColumns + rowsOf("Old|||Budget=5", "Old|G|a|Max CPC=1", "Shut|||Ad rotation=nonsense", "Shut|G|a|Max CPC=1", "Shut2|||Ad rotation=nonsense", "Shut2|G|a|Max CPC=1")
	file = holdColumns + rowsOf(keywordRow, "Old|New|a|Max CPC=1", "Old|Wrong|a|Max CPC=1", "D|G|a|Max CPC=1", "Shut|||Budget=1", "Old|Wrong||Max CPC=much",
		"Shut|H|b|Max CPC=1", wrongCampaign, "D|||Budget=7;Campaign Status=Paused", "D|G||Max CPC=much", "E|G|e|Max CPC=1", "Shut2|||Budget=1", "E|||End Date=2020-01-01",
		"Shut2|||Ad rotation=nonsense", "F|G|f|Max CPC=1", "F|||Budget=3", "F|||Campaign Status=Removed", "F|H|g|Max CPC=1")
	return earlier, file
}

const heldStates = "C enabled refused_row, C/G enabled, D paused, D/G enabled refused_row, E enabled, E/G enabled, F enabled, F/H enabled, " +
	"Old enabled, Old/G enabled, Old/New enabled, Old/Wrong enabled refused_row, Shut enabled, Shut/G enabled, Shut/H enabled, " +
	"Shut2 enabled refused_row, Shut2/G enabled"

// crashes imports a file into new databases, with a crash at each commit. Nothing that the file created is served before its end,
// not even after another file names it, and a second run gives the same result as a run without a crash.
func crashes(t *testing.T, open func() backend.Store) {
	earlier, file := heldFiles()
	between := holdColumns + rowsOf(keywordRow, "D|G|a|Max CPC=2", "Old|New|z|Max CPC=1", "E|G|y|Max CPC=1", "F|H|x|Max CPC=1")
	calm := open()
	defer calm.Close()
	importing(t, calm, ingest.Options{}, earlier)
	commits := importing(t, calm, ingest.Options{BatchRows: 1}, file).Transactions
	if got := states(t, calm); got != heldStates || commits < 10 {
		t.Fatalf("%d commits without a crash: %s\nwant %s", commits, got, heldStates)
	}
	for crash := range 2 * commits {
		n, after := crash/2+1, crash%2 == 1
		store := open()
		importing(t, store, ingest.Options{}, earlier)
		_, err := ingest.Run(t.Context(), &crashing{store, n, after}, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file), BatchRows: 1})
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		made := states(t, store)
		if open := served(made); n < commits && open != "Old/G" {
			t.Errorf("after a crash at commit %d, %v: %s is served: %s", n, after, open, made)
		}
		importing(t, store, ingest.Options{BatchRows: 1}, file)
		if got := states(t, store); got != heldStates {
			t.Errorf("after a crash at commit %d, %v: %s\nwant %s", n, after, got, heldStates)
		}
		store.Close()
		if after || n == commits {
			continue
		}
		store = open()
		importing(t, store, ingest.Options{}, earlier)
		_, _ = ingest.Run(t.Context(), &crashing{store, n + 1, false}, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file), BatchRows: 1})
		made = states(t, store)
		importing(t, store, ingest.Options{}, between)
		for name := range strings.SplitSeq(served(states(t, store)), " ") {
			if name != "Old/G" && strings.Contains(made, name+" ") {
				t.Errorf("after a crash at commit %d another import opens %s: %s", n, name, states(t, store))
			}
		}
		store.Close()
	}
}

// served returns the groups in `states` that are served.
func served(states string) string {
	open := make(map[string]bool)
	var groups []string
	for s := range strings.SplitSeq(states, ", ") {
		name, state, _ := strings.Cut(s, " ")
		open[name] = state == "enabled"
		if strings.Contains(name, "/") {
			groups = append(groups, name)
		}
	}
	return strings.Join(slices.DeleteFunc(groups, func(name string) bool {
		campaign, _, _ := strings.Cut(name, "/")
		return !open[name] || !open[campaign]
	}), " ")
}

func TestCrashesSQLite(t *testing.T) {
	n := 0
	dir := t.TempDir()
	crashes(t, func() backend.Store {
		n++
		return openDatabase(t, filepath.Join(dir, fmt.Sprint(n, ".db")))
	})
}

func TestCrashesPostgreSQL(t *testing.T) {
	server := postgresServer(t, "fsync=off")
	n := 0
	crashes(t, func() backend.Store {
		n++
		name, from := fmt.Sprint("crash", n), ""
		if n > 1 {
			from = " TEMPLATE empty" // with its schema
		}
		if err := server.Do(t.Context(), "postgres", "CREATE DATABASE "+name+from); err != nil {
			t.Fatal(err)
		}
		store, err := postgres.Open(t.Context(), server.URL(name), postgres.Options{Create: true})
		if err == nil && n == 1 {
			err = errors.Join(store.Close(), server.Do(t.Context(), "postgres", "ALTER DATABASE crash1 RENAME TO empty"),
				server.Do(t.Context(), "postgres", "CREATE DATABASE crash1 TEMPLATE empty"))
			if err == nil {
				store, err = postgres.Open(t.Context(), server.URL(name), postgres.Options{})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}
