package data

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/fault"
	"adshard/ingest"
	"adshard/ingest/conflicts"
	"adshard/ingest/rejected"
	"adshard/internal/node/httpapi/api"
)

// Bounds of imports.
const (
	MaxImport  = 1 << 20 // bytes of a file
	maxCopied  = 100_000 // entities with which a file is compared
	maxNamed   = 10_001  // advertisers that are copied by name only; ingest compares new names with at most this many
	maxShown   = 1000    // rejects, and differences, in an answer
	maxImports = 100     // imports that are listed
	// importPatience is how long an import waits for another writer.
	importPatience = 5 * time.Second
)

// Import is a file to be imported.
type Import struct {
	File []byte
	// Name is the name of the file, and Advertiser the advertiser of rows that name none, both as
	// given by the sender.
	Name, Advertiser string
	Caller           string
	DryRun           bool
	// Wait is how long to wait for the slaves; 0 means not at all.
	Wait time.Duration
}

// Import imports a file, or with DryRun imports it into a copy of its advertisers' data. Errors:
// those of ingest; fault.Invalid if the copy would be too large. What was committed before an error
// stays.
func (s *Service) Import(ctx context.Context, im *Import) (*api.ImportAnswer, error) {
	a := &api.ImportAnswer{DryRun: im.DryRun, Rejects: []api.ImportReject{}, Warnings: []api.ImportWarning{}, Differences: []api.ImportDifference{},
		Conflicts: []api.ImportConflict{}}
	o := ingest.Options{Advertiser: im.Advertiser, Stdin: bytes.NewReader(im.File), StdinName: cmp.Or(im.Name, "the file"), Patience: importPatience,
		Rejected: func(r rejected.Row, cells []ingest.Cell) {
			if len(a.Rejects) < maxShown {
				a.Rejects = append(a.Rejects, rejectItem(r, cells))
			}
		}}
	if err := s.importing.take(ctx); err != nil {
		return nil, err
	}
	sum, err := s.load(ctx, im, o, a) // other imports may run while this one waits for the slaves
	count(a, &sum)
	if im.DryRun {
		return a, renamed(err)
	}
	a.MinClock = position(sum.Position)
	durable := s.now()
	if err == nil && im.Wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, im.Wait)
		defer cancel()
		served := s.served(ctx, sum.Position.Clock) == nil
		a.Served = &served
	}
	s.latest.note(im, a, err, durable, s.now())
	return a, renamed(err)
}

// load imports into the database, or with DryRun into a copy, and then gives its place back.
func (s *Service) load(ctx context.Context, im *Import, o ingest.Options, a *api.ImportAnswer) (ingest.Summary, error) {
	defer s.importing.leave()
	if im.DryRun {
		return s.tried(ctx, im, o, a)
	}
	return ingest.Run(ctx, s.db, []string{"-"}, o)
}

// renamed renames the field of an error to the name that the call uses.
func renamed(err error) error {
	e := (*fault.Error)(nil)
	if errors.As(err, &e) && e.Field == "advertiser" {
		return fault.Field(op, "advertiser_name", "%w", e.Err)
	}
	return err
}

// tried imports into a copy, and notes in the answer how the copy changes and which conflicts it
// then has.
func (s *Service) tried(ctx context.Context, im *Import, o ingest.Options, a *api.ImportAnswer) (sum ingest.Summary, err error) {
	names, err := ingest.Advertisers(ctx, bytes.NewReader(im.File), o)
	if err != nil {
		return sum, err
	}
	lines, err := s.export(ctx, names)
	if err != nil {
		return sum, err
	}
	nothing := filepath.Join(os.TempDir(), "adshard-import-"+rand.Text()+".db") // a file that does not exist
	scratch, err := sqlite.OpenScratch(ctx, nothing, sqlite.Options{})
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	if lines.Len() > 0 {
		if _, err = ingest.Run(ctx, scratch, []string{"-"}, ingest.Options{Format: ingest.FormatJSONL, Stdin: &lines.Buffer}); err != nil {
			return sum, err
		}
	}
	sum, err = ingest.DryRun(ctx, scratch, []string{"-"}, o, func(d *ingest.Difference) error {
		if a.Different++; len(a.Differences) < maxShown {
			a.Differences = append(a.Differences, difference(d))
		}
		return nil
	})
	if err != nil {
		return sum, err
	}
	if a.Reading, err = reading(ctx, im, o); err != nil {
		return sum, err
	}
	return sum, findConflicts(ctx, scratch, a)
}

// reading describes how a file is read.
func reading(ctx context.Context, im *Import, o ingest.Options) (*api.ImportReading, error) {
	o.Stdin = bytes.NewReader(im.File)
	x, err := ingest.Explain(ctx, "-", o)
	r := &api.ImportReading{Format: x.Title(), Columns: []api.ImportColumn{}, Kinds: []api.ImportRowKind{}}
	for _, c := range x.Columns {
		r.Columns = append(r.Columns, api.ImportColumn{Heading: c.Heading, Use: c.Use()})
	}
	for _, k := range x.Kinds {
		r.Kinds = append(r.Kinds, api.ImportRowKind{Kind: k.Kind, Done: api.ImportRowKindDone(k.Does.Done()), Rows: k.Rows, Example: k.Example()})
	}
	return r, err
}

// findConflicts notes the negatives that block keywords of their own group, campaign or advertiser.
func findConflicts(ctx context.Context, db backend.Store, a *api.ImportAnswer) error {
	after, err := db.Snapshot(ctx)
	if err != nil {
		return err
	}
	err = conflicts.Find(ctx, after, func(c *conflicts.Conflict) error {
		if a.Conflicting++; len(a.Conflicts) < maxShown {
			a.Conflicts = append(a.Conflicts, api.ImportConflict{
				Advertiser: c.Advertiser, Campaign: c.Campaign, Group: c.Group,
				Negative: c.Negative, NegativeType: api.MatchType(c.NegativeType), NegativeOf: api.ImportConflictNegativeOf(c.Owner),
				Keyword: c.Keyword, KeywordType: api.MatchType(c.KeywordType),
			})
		}
		return nil
	})
	return errors.Join(err, after.Close())
}

// export returns the data of the advertisers with these names, and only the names of the others.
func (s *Service) export(ctx context.Context, names []string) (*copied, error) {
	n, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	to := &copied{most: s.copied}
	x := exporter{state: n, to: to}
	others := 0
	return to, x.pages(ctx, backend.KindAdvertiser, 0, func(ctx context.Context, ids []uint64) error {
		list, err := n.Advertisers(ctx, ids)
		for i := 0; i < len(list) && err == nil; i++ {
			if slices.Contains(names, list[i].Name) {
				err = x.advertisers(ctx, []uint64{list[i].ID})
			} else if others++; others <= maxNamed {
				err = x.send(ingest.AppendAdvertiser(x.buf, list[i]))
			}
		}
		return err
	})
}

// copied holds the lines of an export, at most `most`.
type copied struct {
	bytes.Buffer
	lines, most int
}

// Write implements Lines.
func (c *copied) Write(lines []byte) error {
	if c.lines += bytes.Count(lines, []byte("\n")); c.lines > c.most {
		return fault.Newf(fault.Invalid, op, "the advertisers of the file have more than %d entities: use `adshard import --dry-run`", c.most)
	}
	c.Buffer.Write(lines)
	return nil
}

// JSON implements Lines. An export does not use it.
func (*copied) JSON(any) error { return nil }

// Flush implements Lines.
func (*copied) Flush() error { return nil }

// Imports lists the latest imports, newest first.
func (s *Service) Imports() *api.ImportList { return s.latest.list(s.now()) }

// latest holds the latest imports.
type latest struct {
	mu  sync.Mutex
	all []noted
}

type noted struct {
	at time.Time
	api.ImportRecord
}

// note adds an import that became durable at `durable` and no longer waits for slaves.
func (l *latest) note(im *Import, a *api.ImportAnswer, err error, durable, now time.Time) {
	v := noted{durable, api.ImportRecord{By: im.Caller, File: im.Name, Rows: a.Rows, Rejected: a.Rejected}}
	for _, e := range a.Entities {
		v.Created, v.Changed, v.Removed = v.Created+e.Created, v.Changed+e.Changed, v.Removed+e.Removed
	}
	switch {
	case err != nil:
		v.Failed = fault.Cause(err)
	case a.Served != nil && *a.Served:
		ms := max(0, now.Sub(durable).Milliseconds())
		v.ServedMs = &ms
		fallthrough
	default:
		v.MinClock = a.MinClock
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := len(l.all)
	for at > 0 && l.all[at-1].at.After(durable) { // that import has waited for less time
		at--
	}
	l.all = slices.Insert(l.all, at, v)
	l.all = l.all[max(0, len(l.all)-maxImports):]
}

func (l *latest) list(now time.Time) *api.ImportList {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := &api.ImportList{Imports: []api.ImportRecord{}}
	for _, v := range slices.Backward(l.all) {
		v.AgeMs = max(0, now.Sub(v.at).Milliseconds())
		out.Imports = append(out.Imports, v.ImportRecord)
	}
	return out
}
