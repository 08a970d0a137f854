package db

import (
	"errors"

	"adshard/ingest"
	"adshard/ingest/conflicts"
	"adshard/internal/outfile"
)

// report is a file that an import writes in addition to its work, readable only by its owner: it has
// advertisers' texts. It is written to a temporary file, and gets its name once complete.
type report struct{ *outfile.File }

// rejectsTo and conflictsTo are the reports of an import.
func rejectsTo(f *importFlags) outfile.Output {
	return outfile.Output{Flag: "--rejects", Path: f.rejects, Forcing: "--force", Force: f.force,
		Kind: outfile.Kind{Name: "a report of rejected rows", Is: ingest.IsRejects}}
}

func conflictsTo(f *importFlags) outfile.Output {
	return outfile.Output{Flag: "--conflicts", Path: f.conflicts, Forcing: "--force", Force: f.force,
		Kind: outfile.Kind{Name: "a report of conflicts", Is: conflicts.IsReport}}
}

// publish gives the report its name; the file it replaces keeps its mode.
func (r *report) publish() error { return r.End(nil) }

// discard removes what was written; the previous file stays.
func (r *report) discard() { _ = r.End(errors.New("discarded")) }
