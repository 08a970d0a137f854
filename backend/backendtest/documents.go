package backendtest

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"adshard/backend"
	"adshard/fault"
)

func documentClauses() []clause {
	return []clause{
		{"a document is saved, replaced, removed and made again", testDocument},
		{"a document is saved if its version is as expected", testDocumentConflict},
		{"a document is read as of one version", testDocumentReplaced},
		{"documents that are too large are refused", testLargeDocument},
		{"documents are listed by version", testDocuments},
		{"of those who save at once one wins", testDocumentsAtOnce},
	}
}

// readDocument returns the present data of a document, or nil if it does not exist.
func readDocument(t testing.TB, s backend.Store, name string) []byte {
	t.Helper()
	d, err := s.Document(t.Context(), name)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	check(t, err)
	data, err := backend.ReadDocument(t.Context(), d, s.DocumentPart)
	check(t, err)
	return data
}

func testDocument(t *testing.T, f Factory) {
	p := f(t)
	s := p.Open(t, Patience)
	clock := clockOf(t, s)
	version := uint64(0)
	for i, data := range [][]byte{
		{}, []byte("a"), bytes.Repeat([]byte("b"), backend.DocumentPart), bytes.Repeat([]byte("0123456789"), backend.DocumentPart), nil, []byte("c"), nil,
	} {
		was := version
		if i > 0 && readDocument(t, s, "x") == nil {
			was = 0
		}
		d, err := s.SaveDocument(t.Context(), "x", was, data)
		check(t, err)
		if d.Version <= version || d.Removed != (data == nil) {
			t.Errorf("%+v after version %d", d, version)
		}
		version = d.Version
		if got := readDocument(t, s, "x"); !bytes.Equal(got, data) || (got == nil) != (data == nil) {
			t.Errorf("%d bytes, not %d", len(got), len(data))
		}
	}
	if clockOf(t, s) != clock {
		t.Error("documents moved the clock")
	}
	_, err := s.SaveDocument(t.Context(), "y", 0, []byte("kept"))
	check(t, err)
	closing(t, s)
	if got := readDocument(t, openAt(t, p), "y"); string(got) != "kept" {
		t.Errorf("%q", got)
	}
}

func testDocumentConflict(t *testing.T, f Factory) {
	s := open(t, f)
	d, err := s.SaveDocument(t.Context(), "x", 0, []byte("a"))
	check(t, err)
	for _, was := range []uint64{0, d.Version + 1, d.Version - 1} {
		if _, err := s.SaveDocument(t.Context(), "x", was, []byte("b")); !fault.Is(err, fault.Conflict) {
			t.Errorf("%d: %v", was, err)
		}
	}
	if _, err := s.SaveDocument(t.Context(), "other", d.Version, nil); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	if got := readDocument(t, s, "x"); string(got) != "a" {
		t.Errorf("%q", got)
	}
}

func testDocumentReplaced(t *testing.T, f Factory) {
	s := open(t, f)
	long := bytes.Repeat([]byte("a"), backend.DocumentPart+1)
	d, err := s.SaveDocument(t.Context(), "x", 0, long)
	check(t, err)
	if part, err := s.DocumentPart(t.Context(), "x", d.Version, 1); err != nil || string(part) != "a" {
		t.Errorf("%q, %v", part, err)
	}
	next, err := s.SaveDocument(t.Context(), "x", d.Version, []byte("b"))
	check(t, err)
	for what, err := range map[string]error{
		"an older version": failure(s.DocumentPart(t.Context(), "x", d.Version, 0)), "no such part": failure(s.DocumentPart(t.Context(), "x", next.Version, 1)),
		"none of the name": failure(s.DocumentPart(t.Context(), "y", next.Version, 0)), "no document": failure(s.Document(t.Context(), "y")),
	} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func failure[T any](_ T, err error) error { return err }

func testLargeDocument(t *testing.T, f Factory) {
	if _, err := open(t, f).SaveDocument(t.Context(), "x", 0, make([]byte, backend.MaxDocument+1)); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func testDocuments(t *testing.T, f Factory) {
	s := open(t, f)
	versions := map[string]uint64{}
	save := func(name string, data []byte) {
		d, err := s.SaveDocument(t.Context(), name, versions[name], data)
		check(t, err)
		if versions[name] = d.Version; d.Removed {
			versions[name] = 0
		}
	}
	save("a", []byte("1"))
	save("b", []byte("2"))
	save("c", []byte("3"))
	save("a", []byte("4"))
	save("b", nil)
	list := func(after uint64, limit int) (all []string, last uint64) {
		heads, err := s.Documents(t.Context(), after, limit)
		check(t, err)
		for _, d := range heads {
			all, last = append(all, fmt.Sprint(d.Name, d.Removed)), d.Version
		}
		return all, last
	}
	first, last := list(0, 2)
	if rest, _ := list(last, 9); !slices.Equal(first, []string{"cfalse", "afalse"}) || !slices.Equal(rest, []string{"btrue"}) {
		t.Errorf("%v, then %v", first, rest)
	}
	if none, _ := list(1<<63, 9); len(none) > 0 {
		t.Error(none)
	}
}

func testDocumentsAtOnce(t *testing.T, f Factory) {
	s := open(t, f)
	var wait sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 8 {
		wait.Go(func() {
			_, err := s.SaveDocument(t.Context(), "x", 0, []byte{byte(i)})
			if err != nil && !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			}
		})
	}
	wait.Wait()
	if won != 1 {
		t.Errorf("%d saved it", won)
	}
}
