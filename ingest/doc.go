// Package ingest imports advertisers' data from files: Google Ads Editor
// exports and JSON lines (serving.md §6 and §7, docs/import.md).
//
// A file is read as a stream: bytes → UTF-8 → records or lines (package textfile) → entries, which are rows that have
// passed every check (editor.go, jsonlines.go; package values) → a transaction (apply.go). Reading and checking run
// in one goroutine, writing in another; between them lie a few small chunks, so that a file of any size needs the
// same memory.
//
// A row that cannot be imported is rejected and changes nothing. A file that cannot be read any further (damaged
// quoting, cut in the middle of a character, no usable columns) is an error of kind fault.Invalid that names file and
// row. What was committed before the error stays, and a second run does not change it again.
//
// An import reports what files contain and it does not use (unused.go, told.go). Explain says how a file is read,
// without a database.
//
// WriteEditorFile does the reverse: it turns JSON lines into an Editor file.
//
// The effects that transactions report are counted by kind of entity (counts.go). DryRun runs an import on a copy of
// the database and compares the copy's snapshots.
//
// Goals: bounded memory, exact rejects, whole transactions, a second run that changes nothing. Non-goals: guessing
// what a wrong cell may have meant; formats of other systems.
package ingest
