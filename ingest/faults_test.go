package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFileFaults: for a file that cannot be read to its end, the error says where reading stopped, and the
// transactions before stay.
func TestFileFaults(t *testing.T) {
	const head = "Account,Campaign,Ad Group,Keyword\n"
	wide := func(s string) string {
		out := "\xff\xfe"
		for _, r := range s {
			out += string([]byte{byte(r), 0})
		}
		return out
	}
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "row 1: the file is empty"},
		{"no columns", "this is\nnot it\n", "row 1: no column of a Google Ads Editor file"},
		{"utf-16 without a mark", wide(head)[2:], "row 1: the header has zero bytes"},
		{"compressed", "\x1f\x8b\x08", "row 1: the file is compressed"},
		{"cut in a unit", wide(head + "A,C,G,k\nA,C,G,l\n")[:2*len(head)+2*8+2+5], "row 3: the file ends in the middle of a UTF-16 character"},
		{"bare quote", head + "A,C,G,k\nA,C,\"G\n\",k\nA,C,G\"x,k\n", "row 4 (line 5): cell 3: a quote inside a cell"},
		{"past quote", head + "A,C,\"G\"x,k\n", "row 2: cell 3: text after the quote"},
		{"open quote", head + "A,C,G,k\nA,C,\"G,k\nA,C,G,l\n", "row 3: cell 3: a quote that opens a cell is never closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := newFakeStore()
			path := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			sum, err := ingest.Run(context.Background(), store, []string{path}, ingest.Options{BatchRows: 1})
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), path+": "+c.want) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if kept := strings.Contains(store.dump(), "broad k"); kept != strings.Contains(c.file, "k\n") && kept != (sum.Rows > 0) {
				t.Errorf("%d rows, entities:\n%s", sum.Rows, store.dump())
			}
			if sum.Rows != int64(store.commits) {
				t.Errorf("%d rows reported, %d transactions", sum.Rows, store.commits)
			}
		})
	}
}

// TestWholeTransactions: rows before a fault that were not committed are neither in the store nor in the reports.
func TestWholeTransactions(t *testing.T) {
	file := "Account,Campaign\n" + strings.Repeat("A,C\n", 3) + "A,\"D\"x\n"
	store := newFakeStore()
	var rejects bytes.Buffer
	sum, err := ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(file), Rejects: &rejects})
	if err == nil || sum.Rows != 0 || store.dump() != "" || sum.Transactions != 0 {
		t.Errorf("%v, %+v, %s", err, sum, store.dump())
	}
	store.failCommit = fault.Newf(fault.NoSpace, "test", "the disk is full")
	sum, err = ingest.Run(context.Background(), store, []string{"-"}, ingest.Options{Stdin: strings.NewReader("Account,Campaign\nA,C\n")})
	if !fault.Is(err, fault.NoSpace) || sum.Rows != 0 || store.dump() != "" {
		t.Errorf("%v, %+v, %s", err, sum, store.dump())
	}
}

func TestOpenFaults(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out.csv")
	if err := errors.Join(os.Mkdir(inside, 0o700), os.WriteFile(outside, []byte("Account,Campaign\nA,C\n"), 0o600),
		os.Symlink(outside, filepath.Join(inside, "away.csv")), os.Symlink("out.csv", filepath.Join(dir, "near.csv")),
		os.Symlink("none.csv", filepath.Join(inside, "dangling"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		kind fault.Kind
		text string
	}{
		filepath.Join(dir, "none.csv"):    {fault.NotFound, "does not exist"},
		inside:                            {fault.Invalid, "a directory or a device"},
		"/dev/null":                       {fault.Invalid, "a directory or a device"},
		filepath.Join(inside, "dangling"): {fault.NotFound, "does not exist"},
		"-":                               {fault.Invalid, "no standard input"},
	} {
		_, err := ingest.Run(context.Background(), newFakeStore(), []string{name}, ingest.Options{})
		if !fault.Is(err, want.kind) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, link := range []string{filepath.Join(dir, "near.csv"), filepath.Join(inside, "away.csv")} {
		if sum, err := ingest.Run(context.Background(), newFakeStore(), []string{link}, ingest.Options{}); err != nil || sum.Rows != 1 {
			t.Errorf("%s: %v, %+v", link, err, sum)
		}
	}
	if _, err := ingest.Run(context.Background(), newFakeStore(), nil, ingest.Options{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ingest.Run(context.Background(), newFakeStore(), []string{outside}, ingest.Options{Advertiser: "\xff"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("advertiser: %v", err)
	}
}

// TestPipes imports from a named pipe, as of `<(zcat export.gz)`, by its own name and by a link.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, link} {
		written := make(chan error, 1)
		go func() { written <- os.WriteFile(pipe, []byte("Account,Campaign\nA,C\nA,D\n"), 0o600) }()
		sum, err := ingest.Run(t.Context(), newFakeStore(), []string{name}, ingest.Options{})
		if err := errors.Join(err, <-written); err != nil || sum.Rows != 2 {
			t.Errorf("%s: %v, %+v", name, err, sum)
		}
	}
}

// TestBrokenOffWhileWaiting: waiting for a pipe's writer, and for standard input, can be
// interrupted.
func TestBrokenOffWhileWaiting(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, writer := io.Pipe()
	defer writer.Close()
	for _, name := range []string{pipe, "-"} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := ingest.Run(ctx, newFakeStore(), []string{name}, ingest.Options{Stdin: silent}); !fault.Is(err, fault.Cancelled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	late, err := os.OpenFile(pipe, os.O_WRONLY, 0) // lets the goroutine that waited for a writer end
	if err != nil {
		t.Fatal(err)
	}
	_ = late.Close()
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	store := newFakeStore()
	_, err := ingest.Run(ctx, store, []string{"-"}, ingest.Options{Stdin: &endless{}, BatchRows: 100, Progress: func(ingest.Progress) { cancel() }})
	if !fault.Is(err, fault.Cancelled) {
		t.Errorf("%v", err)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken disk")
	src := io.MultiReader(strings.NewReader("Account,Campaign\nA,C\n"), iotest.ErrReader(broken))
	if _, err := ingest.Run(context.Background(), newFakeStore(), []string{"-"}, ingest.Options{Stdin: src}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// endless is an Editor file of limit bytes, or without end if limit is 0.
type endless struct {
	limit, n int64
	rest     []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if e.limit > 0 && e.n >= e.limit {
		return 0, io.EOF
	}
	if len(e.rest) == 0 {
		e.rest = []byte(strings.Repeat("A,C,G,k,"+strings.Repeat("ignored ", 10)+"\n", 100))
		if e.n == 0 {
			e.rest = []byte("Account,Campaign,Ad Group,Keyword,Foo\n")
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	e.n += int64(n)
	return n, nil
}

// nullStore accepts all entities and keeps none.
type nullStore struct {
	backend.Store
	peak uint64
}

func (*nullStore) Changes(context.Context, backend.Position, int) ([]backend.Change, error) {
	return nil, nil
}

func (s *nullStore) Newest(context.Context) (backend.Position, error) { return backend.Position{}, nil }
func (s *nullStore) Snapshot(context.Context) (backend.Snapshot, error) {
	return fakeSnapshot{s: newFakeStore()}, nil
}
func (s *nullStore) Begin(context.Context) (backend.Tx, error) { return nullTx{s: s}, nil }

type nullTx struct {
	backend.Tx
	s *nullStore
}

func (nullTx) Advertiser(context.Context, string) (uint64, error) { return 1, nil }
func (nullTx) Campaign(context.Context, uint64, string, backend.CampaignPatch) (uint64, error) {
	return 1, nil
}
func (nullTx) Group(context.Context, uint64, string, backend.GroupPatch) (uint64, error) {
	return 1, nil
}
func (nullTx) Keyword(context.Context, uint64, backend.KeywordPatch) error { return nil }
func (nullTx) Held(context.Context, backend.HeldQuery, uint64, int, func(backend.Held) backend.Hold) (int, error) {
	return 0, nil
}
func (nullTx) Watch(backend.Watcher) {}
func (nullTx) Rollback() error       { return nil }

func (t nullTx) Commit(context.Context) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.s.peak = max(t.s.peak, m.HeapAlloc)
	return nil
}

// TestMemory: a file of 200 MB, and records far over the limit, need no more memory than a small file.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 200 MB")
	}
	peak := func(src io.Reader) uint64 {
		runtime.GC()
		s := &nullStore{}
		if _, err := ingest.Run(context.Background(), s, []string{"-"}, ingest.Options{Stdin: src}); err != nil {
			t.Fatal(err)
		}
		return s.peak
	}
	small := peak(&endless{limit: 10 << 20})
	large := peak(&endless{limit: 200 << 20})
	if large > small+16<<20 {
		t.Errorf("10 MB: %d bytes of heap, 200 MB: %d", small, large)
	}
	long := io.MultiReader(strings.NewReader("Account,Campaign\nA,\""), io.LimitReader(zeros{}, 200<<20), strings.NewReader("\"\nA,C\n"))
	if got := peak(long); got > small+16<<20 {
		t.Errorf("a record of 200 MB: %d bytes of heap", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
