package ingest_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/ingest"
)

// TestDates: valid dates are stored, a cell that means no date erases the date, and an unreadable date pauses the
// campaign.
func TestDates(t *testing.T) {
	const before = "C enabled 2020-01-01 2020-12-31"
	for _, c := range []struct{ cell, want string }{
		{"2026-03-31", "C enabled 2026-03-31 2026-03-31"}, {"2026/03/31", "C enabled 2026-03-31 2026-03-31"}, {"20260331", "C enabled 2026-03-31 2026-03-31"},
		{"[]", "C enabled  "}, {"None", "C enabled  "}, {"--", "C enabled  "}, {"", before},
		{"11/30/2023", "C paused 2020-01-01 2020-12-31"}, {"30.11.2023", "C paused 2020-01-01 2020-12-31"}, {"2026-3-31", "C paused 2020-01-01 2020-12-31"},
		{"2026-02-30", "C paused 2020-01-01 2020-12-31"}, {"45260", "C paused 2020-01-01 2020-12-31"}, {"2026-03-31 23:59", "C paused 2020-01-01 2020-12-31"},
	} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		const head = "Account,Campaign,Start Date,End Date,Campaign Status\n"
		importing(t, store, ingest.Options{}, head+"A,C,2020-01-01,2020-12-31,Enabled\n")
		sum := importing(t, store, ingest.Options{}, head+"A,C,"+c.cell+","+c.cell+",Enabled\n")
		k := backendtest.ReadNow(t, store).Campaigns[1]
		got := k.Name + " " + map[bool]string{true: "enabled", false: "paused"}[k.Enabled] + " " + k.StartDate + " " + k.EndDate
		if paused := strings.Contains(toldShut(sum), "restricts it and was rejected"); got != c.want || paused == k.Enabled {
			t.Errorf("%q: %s, want %s; told %q", c.cell, got, c.want, toldShut(sum))
		}
		store.Close()
	}
}

// TestAMarkOfAnEndDateIsLifted: a campaign that was marked as ended before the program had targeting is released by a row with an
// end date, which then applies.
func TestAMarkOfAnEndDateIsLifted(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	importing(t, store, ingest.Options{}, `{"type":"campaign","advertiser":"A","name":"C","paused_by":["end_date"]}`+"\n")
	for i, c := range []struct{ row, want string }{
		{"C|||Campaign Status=Enabled", "C enabled end_date"}, {"C|||Budget=1", "C enabled end_date"}, {"C|G|k|End Date=2025-01-01", "C enabled"},
	} {
		importing(t, store, ingest.Options{}, holdColumns+rowsOf(c.row))
		if got, _, _ := strings.Cut(states(t, store), ", "); got != c.want {
			t.Errorf("after %d, %s: %s, want %s", i, c.row, got, c.want)
		}
	}
}

// TestServedMoreWidely: restrictions that are not applied are reported for each campaign that exists at the end of
// the import.
func TestServedMoreWidely(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	head := "Account,Campaign,Ad Group,Keyword,Criterion Type,Audience segment,Placement,Location,Ad Schedule,Age,Start Date,End Date,Targeting method," +
		"Content exclusions,Campaign Type,Link Text,Topic,Dynamic Ad Target Value 1,IP address,Status\n"
	row := func(pairs ...string) string {
		names := strings.Split(strings.TrimSpace(head), ",")
		cells := make([]string, len(names))
		cells[0] = "A"
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			for i, n := range names {
				if n == name {
					cells[i] = value
				}
			}
		}
		return strings.Join(cells, ",") + "\n"
	}
	file := head + row("Campaign=X", "Campaign Type=Search", "Ad Schedule=(Monday[08:00-17:30])", "Start Date=2099-01-01", "End Date=2099-12-31") +
		row("Campaign=X", "Ad Group=G", "Audience segment=Buyers") + row("Campaign=X", "Ad Group=G", "Audience segment=Staff", "Status=Paused") +
		row("Campaign=X", "Ad Group=G", "Audience segment=Others") + row("Campaign=X", "Ad Group=G", "Placement=a.example") +
		row("Campaign=X", "Link Text=Sale") + row("Campaign=X", "Dynamic Ad Target Value 1=x", "Criterion Type=Negative") +
		row("Campaign=Y", "Start Date=2020-01-01", "Targeting method=Location of presence", "Status=Enabled") +
		row("Campaign=Y", "Location=Czechia") + row("Campaign=Y", "IP address=10.0.0.1") + row("Campaign=Y", "Ad Group=G", "Keyword=k", "End Date=2099-12-31") +
		row("Campaign=Y", "Ad Group=G", "Keyword=l", "End Date=2099-12-31") + row("Campaign=Gone", "Location=Czechia") +
		row("Campaign=Z", "Link Text=Sale") + row("Campaign=Z", "Status=Enabled")
	var lines []string
	for _, w := range importing(t, store, ingest.Options{BatchRows: 3}, file).Wider {
		lines = append(lines, w.String())
	}
	want := `campaign "X" of "A" is served more widely than the file says: 3 audience segments, 1 dynamic ad target, 1 placement are not applied
campaign "Y" of "A" is served more widely than the file says: 1 IP exclusion is not applied`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestRenames: the entity gets the new name in the row and keeps its id.
func TestRenames(t *testing.T) {
	head := "Account,Campaign,Campaign#Original,Ad Group,Ad Group#Original,Keyword,Budget\n"
	before := head + "A,Old,,G,,lamp,\nA,Old,,H,,desk,\nA,Both,,G,,x,\nA,Both2,,G,,y,\n"
	for _, c := range []struct{ name, rows, want, told, reject string }{
		{"a campaign", "A,New,Old,,,,5\nA,New,Old,G,,chair,\n", "Both, Both/G: x, Both2, Both2/G: y, New, New/G: lamp chair, New/H: desk", `campaign "Old" of "A" was renamed to "New"`, ""},
		{"a group", "A,Old,,G2,G,lamp,\nA,Old,,G2,G,chair,\n", "Both, Both/G: x, Both2, Both2/G: y, Old, Old/G2: lamp chair, Old/H: desk", `ad group "G" of campaign "Old" of "A" was renamed to "G2"`, ""},
		{"both", "A,New,Old,G2,G,lamp,\n", "Both, Both/G: x, Both2, Both2/G: y, New, New/G2: lamp, New/H: desk",
			`campaign "Old" of "A" was renamed to "New"; ad group "G" of campaign "New" of "A" was renamed to "G2"`, ""},
		{"both are there", "A,Both,Both2,G,,z,\n", "Both, Both/G: x, Both2, Both2/G: y, Old, Old/G: lamp, Old/H: desk", "", "Campaign#Original"},
		{"both groups are there, and nothing is renamed", "A,New,Old,H,G,z,\n", "Both, Both/G: x, Both2, Both2/G: y, Old, Old/G: lamp, Old/H: desk", "", "Ad Group#Original"},
		{"neither is there", "A,New,None,G,F,z,\n", "Both, Both/G: x, Both2, Both2/G: y, New, New/G: z, Old, Old/G: lamp, Old/H: desk", "", ""},
		{"the same name", "A,Old,Old,G,G,z,\n", "Both, Both/G: x, Both2, Both2/G: y, Old, Old/G: lamp z, Old/H: desk", "", ""},
		{"a rejected row", "A,New,Old,,,,nonsense\n", "Both, Both/G: x, Both2, Both2/G: y, Old, Old/G: lamp, Old/H: desk", "", "Campaign Daily Budget"},
	} {
		for _, rows := range []int{1, 1000} {
			store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
			importing(t, store, ingest.Options{}, before)
			ids := idsOf(t, store)
			var first string
			for run := range 2 {
				sum := importing(t, store, ingest.Options{BatchRows: rows}, head+c.rows)
				var told []string
				for i := range sum.FirstRenamed {
					told = append(told, sum.FirstRenamed[i].String())
				}
				if run == 0 {
					first = strings.Join(told, "; ")
				}
				if got := names(t, store); got != c.want || run == 1 && len(told) > 0 || int(sum.Renamed) != len(told) {
					t.Errorf("%s, run %d: %s, told %v\nwant %s", c.name, run, got, told, c.want)
				}
				if c.reject != "" && (len(sum.First) != 1 || sum.First[0].Column != c.reject) || c.reject == "" && sum.Rejected > 0 {
					t.Errorf("%s: rejected %v", c.name, sum.First)
				}
			}
			if first != c.told {
				t.Errorf("%s: told %s, want %s", c.name, first, c.told)
			}
			if c.told != "" && idsOf(t, store) != ids {
				t.Errorf("%s: other ids: %s, before %s", c.name, idsOf(t, store), ids)
			}
			if err := store.Health(t.Context()); err != nil {
				t.Error(err)
			}
			store.Close()
		}
	}
}

// idsOf returns the ids of campaigns and groups.
func idsOf(t testing.TB, store backend.Store) (ids string) {
	each(t, store, func(c *backend.Campaign) { ids += fmt.Sprint("c", c.ID, " ") }, func(_ string, it *backend.Item) { ids += fmt.Sprint("g", it.Group.ID, " ") })
	return ids
}

// names returns campaigns and groups with their keywords.
func names(t testing.TB, store backend.Store) string {
	var list []string
	each(t, store, func(c *backend.Campaign) { list = append(list, c.Name) }, func(campaign string, it *backend.Item) {
		text := campaign + "/" + it.Group.Name + ":"
		for _, k := range it.Keywords {
			text += " " + k.Text
		}
		list = append(list, text)
	})
	return sorted(list)
}

// TestExportChangesNothing: the lines of an export include the holds of campaigns and groups. Importing them changes
// nothing in the same database and releases nothing in another.
func TestExportChangesNothing(t *testing.T) {
	earlier, file := heldFiles()
	for _, crash := range []int{0, 5, 9} {
		store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		importing(t, store, ingest.Options{}, earlier)
		if crash == 0 {
			importing(t, store, ingest.Options{}, file)
		} else {
			_, _ = ingest.Run(t.Context(), &crashing{store, crash, true}, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file), BatchRows: 1})
		}
		lines, was := export(t, store), states(t, store)
		sum := importing(t, store, ingest.Options{}, lines)
		if sum.Rejected > 0 || sum.ClockAfter != sum.ClockBefore || states(t, store) != was {
			t.Errorf("crash %d: %+v\n%s\nbefore %s", crash, sum, states(t, store), was)
		}
		elsewhere := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		importing(t, elsewhere, ingest.Options{}, lines)
		if there := served(states(t, elsewhere)); there != served(was) {
			t.Errorf("crash %d: elsewhere %s is served, here %s", crash, there, served(was))
		}
		var editor bytes.Buffer
		if _, err := ingest.WriteEditorFile(&editor, strings.NewReader(lines)); err != nil {
			t.Fatal(err)
		}
		spreadsheet := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
		importing(t, spreadsheet, ingest.Options{}, editor.String())
		if there := served(states(t, spreadsheet)); there != served(was) {
			t.Errorf("crash %d: from an Editor file %s is served, here %s", crash, there, served(was))
		}
		for _, s := range []backend.Store{store, elsewhere, spreadsheet} {
			s.Close()
		}
	}
}

// TestTwoImportsAtOnce: another file that is imported meanwhile releases no entity of the first file, except those for which it
// has a row.
func TestTwoImportsAtOnce(t *testing.T) {
	store := openDatabase(t, filepath.Join(t.TempDir(), "ads.db"))
	defer store.Close()
	var during []string
	other := []string{holdColumns + rowsOf("C|G|other|Max CPC=1", "D|G|other|Max CPC=1"), holdColumns + rowsOf(rightCampaign, "C|G|another|")}
	file := holdColumns + rowsOf(keywordRow, "D|G|a|Max CPC=1", "C|H|a|Max CPC=1", wrongGroup, "D|||Budget=7", wrongCampaign)
	sum, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file), BatchRows: 1, Now: time.Now(),
		Progress: func(p ingest.Progress) {
			if p.Rows >= 3 && len(other) > 0 {
				importing(t, store, ingest.Options{}, other[0])
				other = other[1:]
				during = append(during, served(states(t, store)))
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(during, ";") != ";" {
		t.Errorf("while it was under way these were served: %q", during)
	}
	// The other file's row for C was accepted before this file's row for it was rejected, so C existed then.
	want := "C enabled, C/G enabled refused_row, C/H enabled, D enabled, D/G enabled"
	if got := states(t, store); got != want {
		t.Errorf("%s\nwant %s\n%s", got, want, toldShut(sum))
	}
}
