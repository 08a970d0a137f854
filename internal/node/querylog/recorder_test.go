package querylog

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/internal/node/config"
)

func newRecorder(t *testing.T, change func(*RecordConfig)) (*Recorder, *bytes.Buffer) {
	t.Helper()
	cfg := DefaultRecordConfig()
	cfg.File = filepath.Join(t.TempDir(), "queries")
	if change != nil {
		change(&cfg)
	}
	log := new(bytes.Buffer)
	r, err := NewRecorder(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return r, log
}

// recorded returns the lines of a file.
func recorded(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// TestRecord: each search has a line, whatever it contains. Lines are in order of time, including from many
// goroutines, and other users cannot read them.
func TestRecord(t *testing.T) {
	r, _ := newRecorder(t, nil)
	r.Record("  \n", "", "")
	r.Record("red\tlamp\r\nof glass", "location=2203&time=2026-03-04T12%3A00%3A00Z", "0123456789abcdef")
	ahead := time.Now().UTC().Add(time.Hour).Round(0)
	r.last = ahead // the clock is set back
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 250 {
				r.Record("žlutý kůň", "", "")
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	list := recorded(t, r.cfg.File)
	if len(list) != 1001 || !strings.HasPrefix(list[0], "red lamp  of glass\t") || !strings.HasPrefix(list[1], "žlutý kůň\t") {
		t.Fatalf("%d lines: %q", len(list), list[:2])
	}
	if fields := strings.Split(list[0], "\t"); len(fields) != 4 || fields[2] != "location=2203&time=2026-03-04T12%3A00%3A00Z" || fields[3] != "0123456789abcdef" {
		t.Errorf("the first line is %q", list[0])
	}
	last := ahead
	for _, line := range list[1:] {
		_, text, _ := strings.Cut(line, "\t")
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || at.Before(last) {
			t.Fatalf("%q after %v: %v", line, last, err)
		}
		last = at
	}
	if info, err := os.Stat(r.cfg.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

// TestShare: about the configured share of searches is recorded.
func TestShare(t *testing.T) {
	r, _ := newRecorder(t, func(c *RecordConfig) { c.Share = 0.25 })
	defer r.Close()
	for range 10_000 {
		r.Record("q", "", "")
	}
	if n := bytes.Count(r.waiting, []byte("\n")); n < 2200 || n > 2800 {
		t.Errorf("%d of 10,000 at a share of 0.25", n)
	}
}

// TestRotation: the size and number of files stay within their limits, and the files contain the newest
// searches. A new recorder continues in the existing file.
func TestRotation(t *testing.T) {
	r, _ := newRecorder(t, func(c *RecordConfig) { c.Size, c.Files = 4<<10, 3 })
	for i := range 1000 {
		if r.Record(fmt.Sprint("query ", i), "", ""); i%10 == 9 {
			r.flush()
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := NewRecorder(r.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	again.Record("query 1000", "", "")
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, suffix := range []string{".2", ".1", ""} {
		name := r.cfg.File + suffix
		if info, err := os.Stat(name); err != nil || config.Size(info.Size()) > r.cfg.Size {
			t.Errorf("%s: %v, %v", name, info.Size(), err)
		}
		list = append(list, recorded(t, name)...)
	}
	if files, _ := filepath.Glob(r.cfg.File + "*"); len(files) != 3 || len(list) < 150 {
		t.Errorf("%v with %d lines", files, len(list))
	}
	for i, line := range list {
		if want := fmt.Sprintf("query %d\t", 1001-len(list)+i); !strings.HasPrefix(line, want) {
			t.Fatalf("line %d is %q, want %q", i, line, want)
		}
	}
}

// TestLongLines: a search whose line would be too long is counted as lost, and one that just fits is
// recorded.
func TestLongLines(t *testing.T) {
	r, _ := newRecorder(t, nil)
	r.Record("q", strings.Repeat("x", longest-1), "")
	r.Record("q", strings.Repeat("x", longest), "")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(r.cfg.File)
	if err != nil || r.Lost() != 1 || info.Size() < longest || info.Size() > longest+100 {
		t.Errorf("%v, %d lost", err, r.Lost())
	}
}

// TestADiskThatFails: what cannot be written is counted, and logged once. Searches do not wait, memory is
// bounded, and recording continues when the disk works again.
func TestADiskThatFails(t *testing.T) {
	r, log := newRecorder(t, nil)
	gone := r.cfg.File
	r.cfg.File = filepath.Join(t.TempDir(), "missing", "queries")
	_ = r.file.Close()
	for range 3 {
		r.Record("lost", "", "")
		r.flush()
	}
	if n := strings.Count(log.String(), "cannot be recorded"); r.Lost() != 3 || n != 1 {
		t.Errorf("%d lost, %d lines: %s", r.Lost(), n, log)
	}
	r.cfg.File = gone
	r.Record("back", "", "")
	r.flush()
	if list := recorded(t, gone); len(list) != 1 || !strings.HasPrefix(list[0], "back\t") {
		t.Errorf("%q", list)
	}
	long := strings.Repeat("x", 1000)
	for range 2 * most / 1000 {
		r.Record(long, "", "")
	}
	if r.Lost() < 1000 || len(r.waiting) > most+2000 {
		t.Errorf("%d lost, %d bytes wait", r.Lost(), len(r.waiting))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
