package querylog

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/internal/outfile"
)

// RecordConfig says what is recorded.
type RecordConfig struct {
	// File is the file in which searches are recorded; if it is empty, none are. Older files are FILE.1 (the newest of them), FILE.2
	// and so on.
	File string `yaml:"file"`
	// Share is the share of searches that are recorded, above 0 and at most 1. They are chosen at random.
	Share float64 `yaml:"share"`
	// Size is the size at which a new file is begun. Files bounds the number of files.
	Size  config.Size `yaml:"size"`
	Files int         `yaml:"files"`
}

// DefaultRecordConfig returns the defaults: nothing is recorded.
func DefaultRecordConfig() RecordConfig {
	return RecordConfig{Share: 1, Size: 64 << 20, Files: 4}
}

// Check checks the configuration; `key` is its key.
func (c *RecordConfig) Check(k *config.Check, key string) {
	k.That(c.Share > 0 && c.Share <= 1, key+".share", "%v is not a share above 0, up to 1", c.Share)
	k.That(c.Size >= 4<<10, key+".size", "%v is too little; give at least 4 KiB", c.Size)
	k.Number(key+".files", c.Files, 1, 1000)
}

// Outputs returns all files of the log, or nil if nothing is recorded.
func (c *RecordConfig) Outputs() []outfile.Output {
	if c.File == "" {
		return nil
	}
	return c.log().Outputs()
}

// CheckFiles returns an error if one of the files exists and is not a query log. It creates no files. Errors: fault.Invalid.
func (c *RecordConfig) CheckFiles() error {
	if c.File == "" {
		return nil
	}
	return c.log().Check()
}

// Paths returns the paths of all files of the log.
func (c *RecordConfig) Paths() (paths []string) {
	for _, o := range c.Outputs() {
		paths = append(paths, o.Path)
	}
	return paths
}

// log describes the log file and its older files. A query log is recognized by its first line: a text, a tab and a time, and perhaps
// further tabs and fields.
func (c *RecordConfig) log() *outfile.Log {
	line := func(text string) bool {
		_, at, tab := strings.Cut(text, "\t")
		at, _, _ = strings.Cut(at, "\t")
		_, err := time.Parse(time.RFC3339Nano, at)
		return tab && err == nil
	}
	return &outfile.Log{Files: c.Files, Output: outfile.Output{Flag: "--query-log-file", Path: c.File,
		Kind: outfile.Kind{Name: "a query log", Is: outfile.FirstLine(line)}}}
}

const (
	// flushEvery is the time between two writes to the file. most bounds the bytes of the lines that wait for a write.
	flushEvery = 100 * time.Millisecond
	most       = 4 << 20
	// longest bounds a line's text and context together. Data of one request must not push others' lines out of the file; adbench
	// reads lines of up to four times this length.
	longest = 1 << 20
)

// Recorder writes searches to a file, for adbench to replay. Each is a line with its text, a tab and the time of arrival (RFC 3339),
// in the order of arrival. After another tab come the other parts of the search that decide its ads, as parameters, with the time for
// which it was answered (searchapi.Observation). Where these ask for corrections of misspelt words, the version of the vocabulary follows
// after a third tab. Make it with NewRecorder; Run writes the file.
type Recorder struct {
	cfg RecordConfig
	log *slog.Logger

	mu      sync.Mutex
	waiting []byte    // lines to be written; under mu
	last    time.Time // of the last line; under mu
	lost    uint64    // number of lines; under mu

	file *os.File // this and the fields below are used only by Run
	size config.Size
	free []byte // buffer for the next lines
	bad  bool   // the last attempt to write failed
}

// NewRecorder opens the file, or creates it.
func NewRecorder(cfg RecordConfig, log *slog.Logger) (*Recorder, error) {
	r := &Recorder{cfg: cfg, log: log}
	return r, r.open()
}

// open opens the file for appending. Only the file's owner can read what users asked.
func (r *Recorder) open() error {
	f, err := r.cfg.log().Open()
	if err != nil {
		return fault.New(fault.Invalid, "query log: open", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fault.New(fault.Unavailable, "query log: open", err), f.Close())
	}
	r.file, r.size = f, config.Size(info.Size())
	return nil
}

// oneLine replaces the characters of a query that separate fields or lines. In a query they only separate words.
var oneLine = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// Record records a search with its context and vocabulary (searchapi.Config), or skips it, as chance and Share decide.
func (r *Recorder) Record(query, context, vocabulary string) {
	if r.cfg.Share < 1 && rand.Float64() >= r.cfg.Share {
		return
	}
	if query = oneLine.Replace(query); strings.TrimSpace(query) == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > most || len(query)+len(context) > longest {
		r.lost++
		return
	}
	now := time.Now().UTC().Round(0)
	if now.Before(r.last) { // the clock was set back, but lines must be in order
		now = r.last
	}
	r.last = now
	r.waiting = append(append(r.waiting, query...), '\t')
	r.waiting = now.AppendFormat(r.waiting, time.RFC3339Nano)
	if context != "" {
		r.waiting = append(append(r.waiting, '\t'), context...)
	}
	if vocabulary != "" { // the search has a context, which says that it asks for corrections
		r.waiting = append(append(r.waiting, '\t'), vocabulary...)
	}
	r.waiting = append(r.waiting, '\n')
}

// Lost returns how many searches could not be recorded, because the disk was too slow or could not be written to, or because they
// were too long.
func (r *Recorder) Lost() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// Run writes until ctx is done.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.flush()
		}
	}
}

// Close writes the remaining lines and closes the file. Run must have ended, or must never have begun.
func (r *Recorder) Close() error {
	r.flush()
	return r.file.Close()
}

// flush writes the waiting lines.
func (r *Recorder) flush() {
	r.mu.Lock()
	lines := r.waiting
	r.waiting = r.free[:0]
	r.mu.Unlock()
	r.free = lines
	if len(lines) == 0 {
		return
	}
	var err error
	if r.bad {
		_ = r.file.Close() // it may be closed already
		err = r.open()
	}
	if err == nil {
		err = r.write(lines)
	}
	if err != nil {
		r.mu.Lock()
		r.lost += uint64(strings.Count(string(lines), "\n"))
		r.mu.Unlock()
	}
	if err != nil && !r.bad {
		r.log.Error("searches cannot be recorded; answers do not need that", "err", err)
	}
	r.bad = err != nil
}

func (r *Recorder) write(lines []byte) error {
	if r.size > 0 && r.size+config.Size(len(lines)) > r.cfg.Size {
		if err := r.rotate(); err != nil {
			return err
		}
	}
	if _, err := r.file.Write(lines); err != nil {
		return errors.Join(err, r.file.Truncate(int64(r.size))) // so that no part of a line is left
	}
	r.size += config.Size(len(lines))
	return nil
}

// rotate begins a new file, and removes the oldest one.
func (r *Recorder) rotate() error {
	_ = r.file.Close() // its contents have been written
	err := r.cfg.log().Rotate()
	if err != nil {
		return errors.Join(err, r.open()) // continue with the same file
	}
	return r.open()
}
