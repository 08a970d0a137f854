package blocklist

import (
	"context"
	"slices"
	"strings"

	"adshard/backend"
	"adshard/fault"
)

// Stored is a list in a database.
type Stored struct {
	Name string
	// Version grows with each change of any list. No version is used twice.
	Version uint64
	// Sum is the checksum of the document. It distinguishes a list from one with the same version in a database that was restored from a
	// backup.
	Sum uint64
	List

	text string // text of the document
	data []byte // packed text
}

// headsAtOnce is the number of document heads read in one call.
const headsAtOnce = 1000

// Heads returns the heads of all lists' documents, sorted by the names of the lists.
func Heads(ctx context.Context, s backend.Documents) ([]Stored, error) {
	var all []Stored
	for after := uint64(0); ; {
		heads, err := s.Documents(ctx, after, headsAtOnce)
		if err != nil {
			return nil, err
		}
		for _, d := range heads {
			after = d.Version
			if name, ok := strings.CutPrefix(d.Name, backend.BlocklistDocument); ok && !d.Removed {
				all = append(all, Stored{Name: name, Version: d.Version, Sum: d.Sum})
			}
		}
		if len(heads) < headsAtOnce {
			slices.SortFunc(all, func(a, b Stored) int { return strings.Compare(a.Name, b.Name) })
			return all, nil
		}
	}
}

// Load returns a list, or an error: fault.NotFound, fault.Corrupt.
func Load(ctx context.Context, s backend.Documents, name string) (Stored, error) {
	d, text, data, err := backend.LoadDocument(ctx, s, backend.BlocklistDocument+name)
	if fault.Is(err, fault.NotFound) {
		return Stored{}, fault.Newf(fault.NotFound, "block list", "there is no block list %q", name)
	}
	if err != nil {
		return Stored{}, err
	}
	l, err := Parse(text)
	if err != nil {
		return Stored{}, err
	}
	return Stored{name, d.Version, d.Sum, *l, text, data}, nil
}

// Save saves a list in place of version `was`, where 0 means that there is none yet, and returns the new version. If nothing changes, the
// version stays the same. The entries of l must be normalised but may be in any order. Errors: fault.Conflict if the stored version is
// another one, fault.Invalid.
func Save(ctx context.Context, s backend.Documents, name string, was uint64, l *List) (uint64, error) {
	if err := CheckName(name); err != nil {
		return 0, err
	}
	if err := l.Order(); err != nil {
		return 0, err
	}
	text, before, data := l.Text(), "", []byte(nil)
	if was != 0 {
		var d backend.Document
		var err error
		if d, before, data, err = backend.LoadDocument(ctx, s, backend.BlocklistDocument+name); err == nil && d.Version == was && before == text {
			return was, nil
		}
	}
	d, err := s.SaveDocument(ctx, backend.BlocklistDocument+name, was, backend.RepackDocument(text, before, data))
	return d.Version, err
}

// Remove removes a list with the given version. It returns fault.Conflict if the stored version is another one.
func Remove(ctx context.Context, s backend.Documents, name string, was uint64) error {
	_, err := s.SaveDocument(ctx, backend.BlocklistDocument+name, was, nil)
	return err
}

// Change replaces a list by what f makes of it. If others change the list at the same time, f is called again. If f returns nil, the list
// is removed. f gets a list of version 0 if there is none; it must not change entries in place, and must return a normalised list. If
// nothing changes, the version stays the same. Errors: those of f, and fault.Invalid for the name.
func Change(ctx context.Context, s backend.Documents, name string, f func(was *Stored) (*List, error)) (Stored, error) {
	if err := CheckName(name); err != nil {
		return Stored{}, err
	}
	for {
		was, err := Load(ctx, s, name)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return Stored{}, err
		}
		now, err := f(&was)
		if err != nil {
			return Stored{}, err
		}
		stored, err := replace(ctx, s, name, &was, now)
		if !fault.Is(err, fault.Conflict) || ctx.Err() != nil {
			return stored, err
		}
	}
}

// replace saves a list in place of the one that was loaded. It returns fault.Conflict if another writer was faster.
func replace(ctx context.Context, s backend.Documents, name string, was *Stored, now *List) (Stored, error) {
	document := backend.BlocklistDocument + name
	if now == nil {
		_, err := s.SaveDocument(ctx, document, was.Version, nil)
		return Stored{}, err
	}
	text := now.Text()
	if was.Version != 0 && text == was.text {
		return *was, nil
	}
	data := backend.RepackDocument(text, was.text, was.data)
	d, err := s.SaveDocument(ctx, document, was.Version, data)
	return Stored{name, d.Version, d.Sum, *now, text, data}, err
}
