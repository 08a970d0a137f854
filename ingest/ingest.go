package ingest

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/conflicts"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
	"adshard/ingest/values"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	FormatAuto   Format = ""       // JSON lines when the first character is {, else Editor
	FormatEditor Format = "editor" // Google Ads Editor export
	FormatJSONL  Format = "jsonl"  // JSON lines
)

// ParseFormat reads a format's name; "" and "auto" are FormatAuto.
func ParseFormat(name string) (Format, error) {
	switch f := Format(strings.ToLower(name)); f {
	case FormatAuto, FormatEditor, FormatJSONL:
		return f, nil
	case "auto":
		return FormatAuto, nil
	}
	return "", fault.Field("ingest: format", "format", "unknown format %q: editor or jsonl", name)
}

// DefaultBatchRows is the number of rows in a transaction.
const DefaultBatchRows = 10_000

// Options configure Run. The zero value is ready to use.
type Options struct {
	Format Format
	// Advertiser is the advertiser of files without a column Account, and of JSON lines without the field advertiser.
	Advertiser string
	// Rejects, if not nil, receives the rejected rows as tab-separated lines without a header: file, row, column,
	// reason.
	Rejects io.Writer
	// Rejected, if not nil, is called from the goroutine of Run with each rejected row and, if it is a row of an
	// Editor file, with its cells.
	Rejected func(rejected.Row, []Cell)
	// Conflicts, if not nil, receives the report of package conflicts after the last file.
	Conflicts io.Writer
	// BatchRows is about the number of rows in a transaction; 0 means DefaultBatchRows. A transaction also ends when
	// it is half a second old, so that it does not keep out other writers.
	BatchRows int
	// Progress, if not nil, is called after each commit, from the goroutine
	// of Run.
	Progress func(Progress)
	// Patience is for how long a failed transaction is repeated if another one writes the same rows (fault.Locked) or
	// the database cannot be reached (fault.Unavailable). 0 means DefaultPatience.
	Patience time.Duration
	// Repeating, if not nil, is called from the goroutine of Run with the error of a
	// transaction that is about to be repeated, once for each such transaction.
	Repeating func(error)
	// Stdin is read for the file named "-", or nil if there is no standard input.
	Stdin io.Reader
	// Now is the time of the import; the zero time means the present.
	Now time.Time
	// StdinName is the name of standard input in errors; "" means "-".
	StdinName string
	places    *placeBook
}

// Progress is the progress of an import. It counts only rows that are durable.
type Progress struct {
	File string
	// Bytes is how much of the file was read; Size is the size of the file, or 0 if unknown.
	Bytes, Size int64
	// Rows is the number of this file's rows that were committed; Rejected is how many of them were rejected.
	Rows, Rejected int64
}

// Summary is the result of an import. After an error it counts what was committed.
type Summary struct {
	Files        int
	Bytes        int64
	Rows         int64 // without headers, but with rejected rows
	Rejected     int64
	Transactions int
	// First holds the first rejects, at most rejected.Listed.
	First []rejected.Row
	// Skipped holds the kinds of rows that are not imported with their numbers of rows, the most frequent kind first.
	Skipped []Skipped
	// Warnings counts the warnings about imported rows; FirstWarnings holds the
	// first, at most rejected.Listed.
	Warnings      int64
	FirstWarnings []Warning
	// Unused holds the columns that were filled and not used: first those that resemble a known name, then those
	// filled in most rows.
	Unused []Unused
	// Notes are other findings that may not be as intended.
	Notes []Note
	// Wider are the campaigns that are served more widely than the files say.
	Wider []Wider
	// Shut holds the entities that are served as paused whatever their status is, by reason.
	Shut []Shut
	// Renamed counts the campaigns and groups that got a new name; FirstRenamed holds the first, at most rejected.Listed.
	Renamed      int64
	FirstRenamed []Renamed
	// Entities counts effects by kind of entity.
	Entities [backend.Entities]EffectCounts
	// Blocklists counts effects on block lists.
	Blocklists EffectCounts
	// ClockBefore and ClockAfter are the store's clock before and after the import. They are equal if nothing
	// changed.
	ClockBefore, ClockAfter uint64
	// Position is the position of the newest change after the import: it includes the whole import.
	Position backend.Position
	// Conflicts is the number of lines of the report, if it was asked for.
	Conflicts int64
}

// Skipped is how many rows of a kind were skipped.
type Skipped struct {
	Kind string
	Rows int64
}

// Run imports files into store, one after the other, each in whole transactions. A rejected row is not an error.
// Errors: fault.Invalid for a file that cannot be read any further, with its name and row; fault.NotFound for a
// missing file; those of the store. What was committed before stays, and a second run does not change it again.
func Run(ctx context.Context, store backend.Store, files []string, o Options) (Summary, error) {
	o.Advertiser = strings.TrimSpace(o.Advertiser)
	if o.BatchRows <= 0 {
		o.BatchRows = DefaultBatchRows
	}
	var sum Summary
	err := values.CheckText([]byte(o.Advertiser))
	if err == nil {
		err = values.CheckName(o.Advertiser)
	}
	if err != nil {
		return sum, fault.Field("ingest: run", "advertiser", "%w", err)
	}
	before, err := store.Newest(ctx)
	if err != nil {
		return sum, err
	}
	sum.ClockBefore = before.Clock
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	o.places = placesOf(ctx, store)
	r := &run{at: before, store: store, options: o, sum: &sum, rejects: rejected.NewWriter(o.Rejects)}
	if err = r.files(ctx, files); err == nil {
		err = r.saveLists(ctx)
	}
	sum.Skipped, sum.Entities = r.skipped.list(), r.effects.counts()
	sum.Unused = r.told.unused.list()
	if err == nil {
		sum.Notes, err = r.told.notes(ctx, store)
	}
	if e := r.tellShut(context.WithoutCancel(ctx)); err == nil {
		err = e
	}
	if e := r.rejects.Flush(); err == nil && e != nil {
		err = fault.Newf(fault.KindOf(e), "ingest: rejects", "the file of rejects: %w", e)
	}
	// This also holds after an interrupted import, whose commits count.
	if newest, e := store.Newest(context.WithoutCancel(ctx)); e == nil {
		sum.ClockAfter, sum.Position = newest.Clock, newest
	}
	if err == nil && o.Conflicts != nil {
		sum.Conflicts, err = reportConflicts(ctx, store, o.Conflicts)
	}
	return sum, err
}

func reportConflicts(ctx context.Context, store backend.Store, w io.Writer) (int64, error) {
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	n, err := conflicts.Write(ctx, snapshot, w)
	if e := snapshot.Close(); err == nil {
		err = e
	}
	return n, err
}

// Advertisers returns the names of the advertisers that the rows of a file name, except for skipped and rejected
// rows. It returns the errors that Run returns for a file that cannot be read.
func Advertisers(ctx context.Context, file io.Reader, o Options) (names []string, err error) {
	o.Advertiser = strings.TrimSpace(o.Advertiser) // as Run does
	in, err := textfile.Open(ctx, "-", file)
	if err != nil {
		return nil, err
	}
	in.Name = cmp.Or(o.StdinName, "-")
	src, err := openSource(in, o, &campaignTypes{})
	if err != nil {
		return nil, textfile.Fault(in.Name, 1, 1, err)
	}
	for {
		var e entry
		if err := src.next(&e); err == io.EOF {
			return names, nil
		} else if err != nil {
			record, line := src.position()
			return nil, textfile.Fault(in.Name, record, line, err)
		}
		if e.reject == nil && e.list == nil && (e.skipped == "" || e.pauses) && !slices.Contains(names, e.advertiser) {
			names = append(names, e.advertiser)
		}
	}
}
