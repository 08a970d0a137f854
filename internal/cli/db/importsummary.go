package db

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"adshard/backend"
	"adshard/ingest"
	"adshard/ingest/rejected"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/search"
)

// showSummary shows what an import did or, with --dry-run, would do. After an error it shows what was committed
// before the error. Rejects and warnings go to standard error.
func showSummary(s cmdline.Streams, f *importFlags, sum *ingest.Summary, took time.Duration) error {
	if f.json {
		if err := jsonSummary(s, f, sum); err != nil {
			return err
		}
	} else if err := textSummary(s, f, sum, took); err != nil {
		return err
	}
	for _, r := range sum.First {
		fmt.Fprintf(s.Err, "rejected: %v\n", r)
	}
	if more := sum.Rejected - int64(len(sum.First)); more > 0 {
		where := "--rejects FILE writes all of them to a file"
		if f.rejects != "" {
			where = "all are in " + f.rejects
		}
		fmt.Fprintf(s.Err, "and %d more; %s\n", more, where)
	}
	for _, w := range sum.FirstWarnings {
		fmt.Fprintf(s.Err, "warning: %v\n", w)
	}
	if more := sum.Warnings - int64(len(sum.FirstWarnings)); more > 0 {
		fmt.Fprintf(s.Err, "and %s\n", terminal.Many(uint64(more), "more warning"))
	}
	tellShut(s, sum)
	return nil
}

// tellShut shows which statements of the files are not in effect.
func tellShut(s cmdline.Streams, sum *ingest.Summary) {
	for i := range sum.Shut {
		fmt.Fprintf(s.Err, "warning: %v\n", &sum.Shut[i])
	}
	first := sum.Wider[:min(len(sum.Wider), rejected.Listed)]
	for i := range first {
		fmt.Fprintf(s.Err, "warning: %v\n", &first[i])
	}
	if more := len(sum.Wider) - len(first); more > 0 {
		fmt.Fprintf(s.Err, "and %s served more widely; --json names all\n", terminal.Many(uint64(more), "more campaign"))
	}
}

func textSummary(s cmdline.Streams, f *importFlags, sum *ingest.Summary, took time.Duration) error {
	if f.dryRun {
		fmt.Fprint(s.Out, "dry run, the database is unchanged: ")
	}
	rate := float64(sum.Rows) / max(took.Seconds(), 1e-9)
	fmt.Fprintf(s.Out, "%d rows in %.1f s (%.0f rows/s), %d rejected", sum.Rows, took.Seconds(), rate, sum.Rejected)
	if sum.ClockBefore == sum.ClockAfter {
		fmt.Fprint(s.Out, ", nothing changed")
	}
	fmt.Fprintf(s.Out, "; clock %d", sum.ClockAfter)
	if !f.dryRun {
		fmt.Fprintf(s.Out, ", min_clock %v", search.Position(sum.Position))
	}
	fmt.Fprintln(s.Out)
	if err := entityTable(s, sum); err != nil {
		return err
	}
	var skipped []string
	var rows int64
	for _, k := range sum.Skipped {
		skipped = append(skipped, fmt.Sprintf("%s %d", k.Kind, k.Rows))
		rows += k.Rows
	}
	if rows > 0 {
		fmt.Fprintf(s.Out, "skipped %s: %s\n", terminal.Many(uint64(rows), "row"), strings.Join(skipped, ", "))
	}
	unusedColumns(s, sum.Unused)
	notes(s, sum.Notes)
	for i := range sum.FirstRenamed {
		fmt.Fprintln(s.Out, &sum.FirstRenamed[i])
	}
	if more := sum.Renamed - int64(len(sum.FirstRenamed)); more > 0 {
		fmt.Fprintf(s.Out, "and %s renamed\n", terminal.Many(uint64(more), "more"))
	}
	if f.conflicts != "" {
		fmt.Fprintf(s.Out, "%d keywords are blocked by negatives of their own advertiser: %s\n", sum.Conflicts, f.conflicts)
	}
	return nil
}

// unusedShown is the most unused columns that are listed.
const unusedShown = 10

// unusedColumns lists filled columns that were not used.
func unusedColumns(s cmdline.Streams, list []ingest.Unused) {
	for i, u := range list {
		if i == unusedShown {
			fmt.Fprintf(s.Out, "and %s not used: --json lists all\n", terminal.Many(uint64(len(list)-i), "more column"))
			return
		}
		fmt.Fprintln(s.Out, "not used:", u.String())
	}
}

// notes lists findings that may not be as intended.
func notes(s cmdline.Streams, list []ingest.Note) {
	for i := range list {
		fmt.Fprintln(s.Out, terminal.Printable(list[i].String()))
	}
}

// entityTable shows the counts for each kind of entities that the files named.
func entityTable(s cmdline.Streams, sum *ingest.Summary) error {
	t := terminal.NewTable(s.Out, "", "created", "changed", "removed", "left")
	row := func(name string, n ingest.EffectCounts) {
		if n == (ingest.EffectCounts{}) {
			return
		}
		cells := []string{name}
		for _, count := range []int64{n.Created, n.Changed, n.Removed, n.Left} {
			cells = append(cells, strconv.FormatInt(count, 10))
		}
		t.Row(cells...)
	}
	for e, n := range sum.Entities {
		row(backend.Entity(e).String(), n)
	}
	row("block list", sum.Blocklists)
	if t.Empty() {
		return nil
	}
	return t.Flush()
}

// summaryJSON is the last line of output with --json.
type summaryJSON struct {
	DryRun      bool                           `json:"dry_run"`
	Files       int                            `json:"files"`
	Rows        int64                          `json:"rows"`
	Rejected    int64                          `json:"rejected"`
	Entities    map[string]ingest.EffectCounts `json:"entities"`
	Skipped     map[string]int64               `json:"skipped"`
	Unused      []ingest.Unused                `json:"unused_columns"`
	Notes       []ingest.Note                  `json:"notes"`
	Warnings    int64                          `json:"warnings"`
	Paused      []pausedJSON                   `json:"paused,omitempty"`
	Wider       []widerJSON                    `json:"served_more_widely,omitempty"`
	Renamed     int64                          `json:"renamed,omitempty"`
	Conflicts   *int64                         `json:"conflicts,omitempty"`
	ClockBefore uint64                         `json:"clock_before"`
	ClockAfter  uint64                         `json:"clock_after"`
	MinClock    string                         `json:"min_clock,omitempty"` // without --dry-run
}

func jsonSummary(s cmdline.Streams, f *importFlags, sum *ingest.Summary) error {
	out := summaryJSON{DryRun: f.dryRun, Files: sum.Files, Rows: sum.Rows, Rejected: sum.Rejected, Warnings: sum.Warnings, Renamed: sum.Renamed,
		Entities: make(map[string]ingest.EffectCounts), Skipped: make(map[string]int64), ClockBefore: sum.ClockBefore, ClockAfter: sum.ClockAfter}
	out.Unused, out.Notes = append([]ingest.Unused{}, sum.Unused...), append([]ingest.Note{}, sum.Notes...)
	for e, n := range sum.Entities {
		out.Entities[backend.Entity(e).String()] = n
	}
	if sum.Blocklists != (ingest.EffectCounts{}) {
		out.Entities["block list"] = sum.Blocklists
	}
	for _, k := range sum.Skipped {
		out.Skipped[k.Kind] = k.Rows
	}
	out.shut(sum)
	if f.conflicts != "" {
		out.Conflicts = &sum.Conflicts
	}
	if !f.dryRun {
		out.MinClock = search.Position(sum.Position).String()
	}
	return json.NewEncoder(s.Out).Encode(map[string]summaryJSON{"summary": out})
}

// pausedJSON lists the entities that are served as paused for one reason.
type pausedJSON struct {
	By    string       `json:"paused_by"`
	Count int64        `json:"count"`
	First []entityJSON `json:"first"`
}

// entityJSON names a campaign or ad group.
type entityJSON struct {
	Advertiser string `json:"advertiser"`
	Campaign   string `json:"campaign"`
	Group      string `json:"group,omitempty"`
}

// widerJSON is a campaign that is served more widely than the files say.
type widerJSON struct {
	entityJSON
	NotApplied map[string]int64 `json:"not_applied"`
}

func (out *summaryJSON) shut(sum *ingest.Summary) {
	for _, p := range sum.Shut {
		paused := pausedJSON{By: p.Why, Count: p.Count}
		for _, e := range p.First {
			paused.First = append(paused.First, entityJSON{e.Advertiser, e.Campaign, e.Group})
		}
		out.Paused = append(out.Paused, paused)
	}
	for _, w := range sum.Wider {
		rows := make(map[string]int64)
		for _, r := range w.Restrictions {
			rows[r.Kind] = r.Rows
		}
		out.Wider = append(out.Wider, widerJSON{entityJSON{w.Advertiser, w.Campaign, ""}, rows})
	}
}
