// Package zone loads time zones from a database that is a part of the program.
//
// It is used wherever the wall clock of an advertiser decides what is shown: every master and slave must
// decide alike, whatever zones are installed on its machine.
//
//	z, err := zone.Load("Europe/Prague")
//
// zoneinfo.zip is that of Go 1.26 (lib/time): the IANA time zone database, which is in the public domain.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"sync"
	"time"

	"adshard/fault"
)

// Version is the release of the IANA time zone database.
const Version = "2025c"

//go:embed zoneinfo.zip
var database []byte

// opened reads the index of the database once; loaded keeps the zones by name.
var (
	opened = sync.OnceValues(func() (*zip.Reader, error) {
		return zip.NewReader(bytes.NewReader(database), int64(len(database)))
	})
	loaded sync.Map
)

// Load returns the zone with an IANA name, such as Europe/Prague, the same value each time. Errors:
// fault.Invalid.
func Load(name string) (*time.Location, error) {
	if z, ok := loaded.Load(name); ok {
		return z.(*time.Location), nil
	}
	z, err := read(name)
	if err != nil || name == "" || name[0] < 'A' || name[0] > 'Z' {
		return nil, fault.Field("time zone", "time_zone", "unknown time zone %.40q: a name of the IANA database, e.g. Europe/Prague or UTC", name)
	}
	kept, _ := loaded.LoadOrStore(name, z)
	return kept.(*time.Location), nil
}

func read(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	r, err := opened()
	if err != nil {
		return nil, err
	}
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // of bytes in memory
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}
