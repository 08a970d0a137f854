package db

import (
	"errors"

	"adshard/ingest"
	"adshard/ingest/conflicts"
	"adshard/internal/outfile"
)

// report is a file that an import writes in addition to its work. It is readable only by its owner, since it contains
// advertisers' texts. It is written to a temporary file, and gets its name when it is complete.
type report struct{ *outfile.File }

// rejectsTo and conflictsTo return the outputs of an import's reports.
func rejectsTo(f *importFlags) outfile.Output {
	return outfile.Output{Flag: "--rejects", Path: f.rejects, Forcing: "--force", Force: f.force,
		Kind: outfile.Kind{Name: "a report of rejected rows", Is: ingest.IsRejects}}
}

func conflictsTo(f *importFlags) outfile.Output {
	return outfile.Output{Flag: "--conflicts", Path: f.conflicts, Forcing: "--force", Force: f.force,
		Kind: outfile.Kind{Name: "a report of conflicts", Is: conflicts.IsReport}}
}

// publish gives the report its name. If it replaces a file, it takes over the file's mode.
func (r *report) publish() error { return r.End(nil) }

// discard removes what was written and keeps the previous file.
func (r *report) discard() { _ = r.End(errors.New("discarded")) }
